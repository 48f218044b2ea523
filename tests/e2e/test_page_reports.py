"""Field reports that end on the page: what other products showed wrongly, tried here in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import rispy
from support.browser import until, watched_page
from support.live_service import LiveService, serving, small_services
from support.llm_server import LLMServer, Reply
from support.page_talk import ANSWER, BLEEDING_QUESTION, PAGE_DIR, QUESTION, answers, ask, wait_until_over
from support.small_corpus import RECORDS, make_record

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def lines_of(name: str) -> list[str]:
    return [line for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def test_fr_066_and_067_a_highlight_lands_on_the_quoted_words_at_the_end_of_a_long_abstract(
    browser: Browser, tmp_path: Path, llm_server: LLMServer
) -> None:
    body = f"𝛽-blockers 🫀 were given.  {(GOLDEN / 'chunking/FR-066-doc.txt').read_text(encoding='utf-8').strip()}"
    last = "Sentence number 20 reports a value of 60 units."
    llm_server.default = Reply(pieces=(f"{last[:-1]} [1].",))
    services, settings = small_services(
        tmp_path, llm_server.base_url, (make_record("201", "Values of 𝛽-blockers.", body),)
    )
    with serving(services, settings, PAGE_DIR) as live, watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, "Which value does sentence number 20 report?")
        wait_until_over(page)
        page.locator("button.verdict.supported").click()
        marks = page.locator("#evidence-panel .record mark, #evidence-panel mark").filter(has_not_text="marked")
        assert "".join(marks.all_inner_texts()).strip() == last
        shown = page.locator("#evidence-panel").inner_text()
        for sentence in re.findall(r"Sentence number \d+ reports a value of \d+ units\.", body):
            assert sentence in " ".join(shown.split())


def test_fr_099_whatever_a_searcher_types_is_text_to_look_for(browser: Browser, tmp_path: Path) -> None:
    phrase = make_record("301", "Septic shock in adults.", "Septic shock was treated. TNF-α and IL-6 rose (p<0.05).")
    apart = make_record("302", "Shock.", "Shock came late and was not septic at first.")
    services, settings = small_services(tmp_path, records=(phrase, apart))
    with serving(services, settings, PAGE_DIR) as live, watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.goto(f"{live.base_url}/?view=records")
        page.wait_for_selector("li .title")
        for query in lines_of("index/FR-099-queries.txt"):
            page.fill("#records-query", query)
            with page.expect_response("**/api/results") as got:
                page.press("#records-query", "Enter")
            assert got.value.status == 200, query
            until(page, "!document.querySelector('ol[aria-busy=true]')")
            assert page.locator(".notice").count() == 0, query
            if query == '"septic shock"':
                assert page.locator("li[data-pmid]").evaluate_all("all => all.map(li => li.dataset.pmid)") == ["301"]


def test_fr_108_a_number_opens_the_source_that_the_list_and_the_copied_text_have_under_it(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=("Aspirin and warfarin were studied [1]. Bleeding was too [2].",))
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        ask(page, "Do aspirin or warfarin increase bleeding?")
        wait_until_over(page)
        page.get_by_role("button", name="Copy answer with citations").click()
        page.get_by_text("Copied with its references").wait_for()
        copied = dict(re.findall(r"^\[(\d+)\].*PMID: (\d+)", page.evaluate("navigator.clipboard.readText()"), re.M))
        assert len(copied) == len(set(copied.values())) == 2
        for number, pmid in copied.items():
            page.get_by_role("button", name=f"Source {number}", exact=True).first.click()
            panel = page.locator("#evidence-panel")
            panel.locator(f"a[href*='/{pmid}/']").first.wait_for()
            in_list = page.locator(f".references li:has(button[aria-label^='Source {number}: '])")
            assert in_list.locator(f"a[href*='/{pmid}/']").count() == 1


def test_fr_110_what_the_browser_keeps_leads_from_each_number_to_the_sentence_after_a_reload(
    browser: Browser, live: LiveService
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        kept = (
            "Object.entries(localStorage).filter(([key]) => key.startsWith('medcite-conversation')).map(e => e[1])[0]"
        )
        until(page, f"({kept} ?? '').includes('\"finished\"')")
        run = page.evaluate(f"JSON.parse({kept}).turns[0].run")
        texts = {record["pmid"]: record["text"] for record in run["records"]}
        assert run["evidence"]
        for item in run["evidence"]:
            # Spans count code points, as Python does.
            assert texts[item["pmid"]][item["span"]["start"] : item["span"]["end"]] == item["text"]
        page.reload()
        wait_until_over(page)
        page.locator("button.citation").first.click()
        assert "Aspirin lowered recurrent stroke from 18.4% to 12.1%" in page.locator("#evidence-panel").inner_text()


def test_fr_111_invented_references_are_marked_and_the_list_holds_retrieved_records_alone(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    invented = (GOLDEN / "answering/FR-111-stub-answer.txt").read_text(encoding="utf-8").strip()
    llm_server.default = Reply(pieces=(*ANSWER, f" {invented}"))
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert "91234567" not in answers(page)[0] or "not verified" in answers(page)[0]
        links = page.locator(".turn a[href*='pubmed']").evaluate_all("all => all.map(a => a.href)")
        assert links
        assert {re.search(r"/(\d+)/?$", link).group(1) for link in links} <= {record.pmid for record in RECORDS}  # type: ignore[union-attr]


def test_fr_123_an_answer_that_is_long_in_coming_is_waited_for(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=ANSWER, delay_s=2.0, gap_s=2.0)
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        page.get_by_text("Writing the answer").first.wait_for()
        wait_until_over(page)
        assert page.locator(".turn .notice").count() == 0
        assert answers(page)[0].count("2,431 patients") == 1
        assert len(llm_server.chats) == 1


def test_fr_131_asking_again_replaces_the_last_answer_alone(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        for turn, question in enumerate((QUESTION, BLEEDING_QUESTION, "And in children?"), 1):
            ask(page, question)
            wait_until_over(page, turn)
        page.reload()
        wait_until_over(page, 3)
        before = answers(page)
        llm_server.default = Reply(pieces=("Bleeding did not increase [1].",))
        page.locator(".turn").nth(2).get_by_role("button", name="Ask again").click()
        page.locator(".turn").nth(2).locator(".answer").get_by_text("Bleeding did not increase").first.wait_for()
        wait_until_over(page, 3)
        assert answers(page)[:2] == before[:2]
        assert "12.1%" not in answers(page)[2]
        page.reload()
        wait_until_over(page, 3)
        assert answers(page)[:2] == before[:2]


def test_fr_140_and_141_nothing_relevant_and_nothing_loaded_are_two_messages(
    browser: Browser, live: LiveService, llm_server: LLMServer, tmp_path: Path
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, lines_of("retrieval/FR-140-questions.txt")[0])
        wait_until_over(page)
        nothing = page.locator(".turn .nothing").inner_text()
        assert "Nothing relevant found" in nothing
        assert re.search(r"\b5 records\b", nothing)
        assert page.locator(".turn button.citation, .turn button.verdict").count() == 0
        assert llm_server.chats == []
    services, settings = small_services(tmp_path / "empty", records=())
    with serving(services, settings, PAGE_DIR) as bare, watched_page(browser, bare.base_url) as watched:
        page = watched.page
        page.get_by_text("No records are loaded yet.").wait_for()
        ask(page, QUESTION)
        wait_until_over(page)
        nothing = page.locator(".turn").inner_text()
        assert "The corpus is empty" in nothing
        assert "medcite ingest" in nothing
        assert "Nothing relevant found" not in nothing


EXPORTED = make_record(
    "401",
    "100% remission with CO₂ & 10⁶ A_b cells.",
    "Remission was 100%.",
    journal="Science & Practice",
    journal_abbreviation="Brain Dev.",
    pages="845-6",
)


def test_fr_241_to_253_what_the_page_saves_is_read_back_as_the_record_says(browser: Browser, tmp_path: Path) -> None:
    """FR-241, FR-244, FR-245, FR-247, FR-248, FR-251 and FR-253, as the files come out of the browser."""
    services, settings = small_services(tmp_path, records=(*RECORDS, EXPORTED))
    with serving(services, settings, PAGE_DIR) as live, watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.goto(f"{live.base_url}/?view=records&q=remission")
        page.wait_for_selector("li[data-pmid='401']")

        def saved(format_name: str) -> str:
            page.select_option("#export-format", format_name)
            with page.expect_download() as download:
                page.click("#export-all")
            return Path(download.value.path()).read_bytes().decode("utf-8")

        ris = saved("ris")
        tags = [line for line in re.split(r"\r?\n", ris) if line]
        assert all(re.match(r"[A-Z][A-Z0-9]  -( |$)", line) for line in tags)
        assert tags[0] == "TY  - JOUR"
        assert tags[-1].rstrip() == "ER  -"
        entry = rispy.loads(ris)[0]
        assert (entry["start_page"], entry["end_page"]) == ("845", "846")
        assert "100% remission" in (entry.get("title") or entry["primary_title"])
        bibtex = saved("bibtex")
        assert "845--846" in bibtex
        assert r"100\% remission" in bibtex
        assert r"Science \& Practice" in bibtex
        assert r"A\_b" in bibtex
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator("li .title").first.click()
        page.get_by_role("button", name="Copy citation, Vancouver").click()
        until(page, "document.querySelector('[data-testid=copied]').textContent !== ''")
        cited = page.evaluate("navigator.clipboard.readText()")
        assert "401" in cited
        assert not re.search(r"\.\.|;:|\(\)", cited)
