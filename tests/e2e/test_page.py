"""The page in a real browser, on the real service: the demo corpus, and a small one with a scripted chat server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import PHONE, WIDE, chromium, until, violations, watched_page
from support.cutting_proxy import cutting_proxy
from support.live_service import LiveService, serving, small_services
from support.llm_server import LLMServer, Reply
from support.small_corpus import RECORDS, make_record

from medcite.assembly import open_demo, services_of, wait_for_embedder
from medcite_core.settings import load_settings
from medcite_core.types import Notice

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PAGE_DIR = Path(__file__).resolve().parents[2] / "frontend" / "dist"
PAYLOADS = [
    line
    for line in (Path(__file__).resolve().parents[2] / "frontend/tests/inputs/FR-133-payloads.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if line
]
QUESTION = "Does aspirin lower recurrent stroke?"
ANSWER = (
    "Aspirin lowered recurrent stroke ",
    "from 18.4% to 12.1% in 2,431 patients [1].",
    " Aspirin lowered recurrent stroke from 18.4% to 2.1% in 2,431 patients [1].",
    " Most doctors like it. It is cheap [9].",
)
HOSTILE = make_record(
    "106",
    f"Hostile markup {PAYLOADS[0]} in titles.",
    f"Hostile markup {PAYLOADS[1]} and {PAYLOADS[4]} was harmless in 12 pages.",
    year=2020,
    journal=PAYLOADS[3],
    notices=(Notice("corrected", "9990", PAYLOADS[5]),),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert (PAGE_DIR / "index.html").is_file(), "the page is not built: `npm ci && npm run build` in frontend/"
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """medcite on its demo corpus, with the packaged model, answering by quotation."""
    settings = load_settings({"data_dir": tmp_path_factory.mktemp("demo")}, environ={}, env_file=None).settings
    corpus = open_demo(settings, lambda *_, **__: None)
    assert wait_for_embedder(corpus.embedder) == ""
    with serving(services_of(corpus), corpus.settings, PAGE_DIR) as live:
        yield live


@pytest.fixture
def generating(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A small corpus with a scripted chat server."""
    llm_server.default = Reply(pieces=ANSWER)
    services, settings = small_services(
        tmp_path,
        llm_server.base_url,
        (*RECORDS, HOSTILE),
        server__heartbeat_s=0.2,
        llm__timeout_s=20.0,
        llm__retries=0,
    )
    with serving(services, settings, PAGE_DIR) as live:
        yield live


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def wait_until_over(page: Page, turns: int = 1) -> None:
    until(page, "n => document.querySelectorAll('.turn[aria-busy=false]').length >= n", turns)


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


def test_the_filter_goes_with_the_question_only_while_its_switch_is_on(browser: Browser, demo: LiveService) -> None:
    question = demo.client.get("/api/corpus").json()["example_questions"][0]["question"]
    with watched_page(browser, demo.base_url) as watched:
        page = watched.page
        page.click("#filter-switch")
        page.fill("#year-from", "2020")
        page.fill("#year-to", "2010")
        ask(page, question)
        assert page.locator("#year-to-problem").inner_text() == "2020 to 2010 runs backwards."
        assert watched.bodies == []
        watched.shot("filter-problem")
        page.fill("#year-from", "2000")
        page.fill("#filter-keywords", "Humans,")
        page.press("#question", "Enter")
        wait_until_over(page)
        passed = answer_to(demo, question, filters=watched.bodies[0]["filters"])["search"]["passed"]
        line = page.locator(".searched").first.inner_text()
        assert "years 2000 to 2010, keywords “Humans”" in line
        assert f"{passed:,} of " in line
        page.click("#filter-switch")
        ask(page, question)
        wait_until_over(page, 2)
        assert "no filter" in page.locator(".searched").nth(1).inner_text()
        assert [body["filters"] for body in watched.bodies] == [
            {"year_from": 2000, "year_to": 2010, "keywords": ["Humans"]},
            {},
        ]


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


LOOKS = [("light", WIDE), ("dark", WIDE), ("light", PHONE), ("dark", PHONE)]


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=[f"{s}-{w}" for s, (w, _) in LOOKS])
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
        llm_server.script(Reply(status=500), Reply(pieces=ANSWER[:2], cut="clean"))
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


def test_a_stream_that_drops_is_taken_up_where_it_broke(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=ANSWER, gap_s=0.4)
    with (
        cutting_proxy(generating.base_url, b"POST /api/ask", cut_after=2_500) as proxy,
        watched_page(browser, f"http://127.0.0.1:{proxy.port}") as watched,
    ):
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert page.locator(".turn .notice").all_inner_texts() == []
        text = page.locator(".turn .answer").inner_text()
        assert text.count("2,431 patients") == 2
        assert page.locator(".turn button.verdict").count() == 4
        resumed = [line for line in proxy.requests if line.startswith("GET /api/runs/")]
        assert len(resumed) == 1
        assert re.search(r"/events( \d+)?$", resumed[0])
        assert len(llm_server.chats) == 1


def test_a_run_that_is_stopped_keeps_its_words_and_stops_the_model(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=ANSWER[:3], hang=True)
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        page.get_by_text("2,431 patients").wait_for()
        page.click("#stop-button")
        notice = page.locator(".turn .notice")
        assert "Stopped" in notice.inner_text()
        assert "2,431 patients" in page.locator(".turn .answer").inner_text()
        assert llm_server.client_left.wait(10)
        llm_server.default = Reply(pieces=ANSWER)
        notice.get_by_role("button", name="Ask again").click()
        wait_until_over(page)
        assert page.locator(".turn").count() == 1
        assert (
            page.locator(".groundedness").inner_text().strip() == "1 of 4 sentences supported; 2 of 4 could be checked"
        )


def test_a_cut_reply_is_incomplete_and_an_error_has_its_hint_and_request_id(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=ANSWER[:2], cut="clean"), Reply(status=500))
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert "This answer is incomplete" in page.locator(".turn .notice").inner_text()
        assert "incomplete" in page.locator("#announcements").inner_text()
        ask(page, QUESTION)
        wait_until_over(page, 2)
        assert watched.bodies[1]["history"] == []
        notice = page.locator(".turn .notice").nth(1).inner_text()
        assert "Ask again in a moment" in notice
        assert re.search(r"Request [0-9a-f]{8,}", notice)
        page.locator(".turn").nth(1).get_by_role("button", name="Try again").click()
        wait_until_over(page, 2)
        until(page, "document.querySelectorAll('.turn .notice').length === 1")


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


def test_each_answer_of_a_conversation_keeps_its_own_sources(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=ANSWER), Reply(pieces=("Warfarin increased major bleeding in the elderly [1].",)))
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        ask(page, "Does warfarin increase major bleeding?")
        wait_until_over(page, 2)
        assert [m["role"] for m in watched.bodies[1]["history"]] == ["user", "assistant"]
        turns = page.locator(".turn")
        turns.nth(1).locator("button.verdict").first.click()
        panel = page.locator("#evidence-panel")
        assert "Warfarin and bleeding" in panel.inner_text()
        turns.nth(0).locator("button.verdict").first.click()
        assert "Aspirin after ischaemic stroke" in panel.inner_text()


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


def test_the_status_line_notices_by_itself_that_the_service_is_gone_and_back(
    browser: Browser, generating: LiveService
) -> None:
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        page.get_by_text("6 records · ready").wait_for()
        is_gone = True
        page.route("**/server_status", lambda route: route.abort() if is_gone else route.continue_())
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.get_by_text("Service not reachable; trying again").wait_for()
        is_gone = False
        page.get_by_text("6 records · ready").wait_for()
        watched.problems.clear()
