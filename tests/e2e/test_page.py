"""The page in a real browser, on the real service: answers, evidence, keyboard, looks, hostile words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.browser import PHONE, WIDE, until, violations, watched_page
from support.live_service import LiveService
from support.llm_server import LLMServer, Reply
from support.page_talk import LOOK_NAMES, LOOKS, MIXED_ANSWER, PAYLOADS, QUESTION, ask, wait_until_over

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def answer_to(live: LiveService, question: str, **body: Any) -> dict[str, Any]:
    reply = live.client.post("/api/answer", json={"question": question, **body}, timeout=60)
    assert reply.status_code == 200, reply.text
    return reply.json()


def marked(page: Page) -> list[str]:
    return page.locator("#evidence-panel mark").filter(has_not_text="marked").all_inner_texts()


def test_an_example_question_is_answered_with_each_sentence_marked_and_its_words_highlighted(
    browser: Browser, demo: LiveService
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = watched.page
        examples = page.locator("section[aria-labelledby=examples] button")
        examples.first.wait_for()
        assert examples.count() == 5
        question = examples.first.inner_text().strip()
        examples.first.click()
        wait_until_over(page)
        answer = answer_to(demo, question)
        shown = page.locator(".turn .answer").inner_text()
        sentences = page.locator(".turn [data-claim]")
        assert sentences.count() == len(answer["claims"]) > 0
        assert page.locator(".turn .kind").inner_text() == "Quotations: words of the sources, no summary"
        assert "sentences supported" not in page.locator(".turn").inner_text()
        records = {e["number"]: e["record"] for e in answer["evidence"]}
        for claim, verdict in zip(answer["claims"], answer["verdicts"], strict=True):
            assert claim["text"].rpartition(" [")[0] in shown.replace("\n", " ")
            mark = page.locator(f".turn [data-claim={claim['id']}] button.verdict")
            # A quotation is said to be one, and no more: it need not answer the question.
            assert (verdict["label"], mark.inner_text().strip()) == ("supported", "Quoted word for word")
            mark.click()
            proofs = [p for p in verdict["proofs"] if p["kind"] == "quote"]
            record = records[proofs[0]["evidence_number"]]
            quotes = [p for p in proofs if p["pmid"] == record["pmid"]]
            assert [record["text"][p["span"]["start"] : p["span"]["end"]] for p in quotes] == [
                p["text"] for p in quotes
            ]
            assert "".join(marked(page)) == "".join(p["text"] for p in quotes)
        page.locator("#evidence-panel mark").first.scroll_into_view_if_needed()
        watched.shot("answer-of-quotations")
        links = page.locator(".turn a").evaluate_all("all => all.map(a => [a.href, a.target, a.rel])")
        assert any(href.startswith("https://pubmed.ncbi.nlm.nih.gov/") for href, _, _ in links)
        assert {(target, rel) for _, target, rel in links} == {("_blank", "noopener noreferrer")}


def test_the_altered_sentence_of_the_worked_example_is_caught_and_only_that_one(
    browser: Browser, demo: LiveService
) -> None:
    altered = demo.client.get("/api/corpus").json()["worked_example"]["altered"]
    with watched_page(browser, demo.base_url) as watched:
        page = watched.page
        page.locator("[data-testid=caught]").wait_for()
        contradicted = page.locator(".example .sentence.contradicted")
        assert contradicted.count() == 1
        assert altered["sentence"] in contradicted.inner_text()
        until(page, "!document.querySelector('.example .checking')")
        words = page.locator(".example button.verdict").all_inner_texts()
        assert [w.strip() for w in words].count("Contradicted") == 1
        watched.shot("start")
        page.get_by_role("button", name="See it in the abstract").click()
        assert altered["original"] in " ".join(marked(page))
        watched.shot("worked-example-evidence")


def test_a_worked_example_left_while_it_is_being_checked_leaves_nothing_behind(
    browser: Browser, demo: LiveService
) -> None:
    """The page watched here fails on any warning, such as one of what is read of a component that is gone."""
    with watched_page(browser, demo.base_url) as watched:
        page = watched.page
        held: list[Any] = []
        page.route("**/api/verify", lambda route: held.append(route))
        page.reload()
        page.locator("section[aria-labelledby=examples] button").first.click()
        wait_until_over(page)
        page.locator(".turn button.verdict").first.click()
        assert held
        assert marked(page)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_everything_can_be_done_by_keyboard(browser: Browser, generating: LiveService, size: tuple[int, int]) -> None:
    with watched_page(browser, generating.base_url, size=size) as watched:
        page = watched.page
        page.wait_for_selector("#question")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className").startswith("skip")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "question"
        page.keyboard.type("First line")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type(QUESTION)
        assert watched.bodies == []
        page.keyboard.press("Enter")
        wait_until_over(page)
        assert watched.bodies[0]["question"] == f"First line\n{QUESTION}"
        assert page.evaluate("document.activeElement.id") == "question"
        for _ in range(40):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.matches('button.verdict.contradicted')"):
                break
        opener = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert opener.startswith("Contradicted: show the evidence")
        page.keyboard.press("Enter")
        until(page, "document.activeElement.closest('#evidence-panel') !== null")
        assert "18.4% to 12.1%" in " ".join(marked(page))
        page.keyboard.press("Escape")
        until(page, "document.querySelector('#evidence-panel') === null")
        until(page, "label => document.activeElement.getAttribute('aria-label') === label", opener)


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=LOOK_NAMES)
def test_axe_finds_no_violation_on_any_view(
    browser: Browser,
    demo: LiveService,
    generating: LiveService,
    llm_server: LLMServer,
    scheme: str,
    size: tuple[int, int],
) -> None:
    name = f"{scheme}-{size[0]}"
    with watched_page(browser, demo.base_url, size=size, scheme=scheme) as watched:
        page = watched.page
        page.locator("[data-testid=caught]").wait_for()
        until(page, "!document.querySelector('.example .checking')")
        assert violations(page) == []
        watched.shot(f"start-{name}")
    with watched_page(browser, generating.base_url, size=size, scheme=scheme) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert violations(page) == []
        watched.shot(f"answer-{name}")
        page.locator("button.verdict.contradicted").click()
        page.wait_for_selector("#evidence-panel mark")
        assert violations(page) == []
        watched.shot(f"evidence-{name}")
        page.keyboard.press("Escape")
        llm_server.script(Reply(status=500), Reply(pieces=MIXED_ANSWER[:2], cut="clean"))
        ask(page, QUESTION)
        wait_until_over(page, 2)
        ask(page, QUESTION)
        wait_until_over(page, 3)
        ask(page, "Which telescope found the farthest quasar?")
        wait_until_over(page, 4)
        page.click("#filter-switch")
        page.fill("#year-from", "12")
        page.fill("#filter-keywords", "Stroke,")
        assert violations(page) == []
        watched.shot(f"errors-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_hostile_markup_in_sources_and_answers_stays_text(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    """FR-133 and FR-134."""
    llm_server.default = Reply(
        pieces=("<img src=x onerr", "or=alert(1)> ", *(f"{p} is harmless [1]. " for p in PAYLOADS))
    )
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, "Was hostile markup harmless?")
        wait_until_over(page)
        text = page.locator(".turn .answer").inner_text()
        assert all(payload in text for payload in PAYLOADS)
        page.locator("button.citation").first.click()
        page.wait_for_selector("#evidence-panel")
        assert PAYLOADS[0] in page.locator("#evidence-panel").inner_text()
        assert page.locator("#app img, #app iframe, #app script, [onerror], [onload]").count() == 0


def test_a_question_that_only_a_retracted_record_answers_is_refused_and_says_why(
    browser: Browser, generating: LiveService
) -> None:
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, "Does zetamab cure asthma?")
        wait_until_over(page)
        turn = page.locator(".turn").first
        assert "retracted" in turn.inner_text().lower()
        assert turn.locator("button.verdict").count() == 0
        assert turn.locator("a[href*='pubmed.ncbi.nlm.nih.gov/104']").count() == 1
        watched.shot("retracted")


def test_the_theme_can_be_chosen_and_is_kept(browser: Browser, generating: LiveService) -> None:
    with watched_page(browser, generating.base_url, scheme="light") as watched:
        page = watched.page
        colour = "getComputedStyle(document.documentElement).backgroundColor"
        light = page.evaluate(colour)
        page.get_by_role("button", name="Use the dark theme").click()
        dark = page.evaluate(colour)
        assert dark != light
        page.reload()
        assert page.evaluate(colour) == dark
        page.get_by_role("button", name="Use the light theme").click()
        assert page.evaluate(colour) == light
