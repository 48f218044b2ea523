"""Checking a text in a real browser: against texts, records and the corpus; kept, stopped, downloaded, by keyboard."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import PHONE, WIDE, Watched, until, violations, watched_page
from support.live_service import LiveService, serving, small_services
from support.page_talk import LOOK_NAMES, LOOKS, PAGE_DIR, PAYLOADS, slow_down
from support.small_corpus import RECORDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NOTE = (
    "# Zetamab\n\nZetamab reduced exacerbations from 40% to 30% in adults with asthma.\n\n"
    "Patients received 500 mg of zetamab daily for 12 weeks.\n\nNo deaths occurred."
)
TEXT = (
    "Zetamab reduced exacerbations by 10 percentage points in adults with asthma. "
    "Patients received 0.5 g of zetamab daily for 12 weeks. "
    "Deaths occurred. Zetamab is well liked by nurses in large hospitals. Is it cheap?"
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("small"), records=RECORDS)
    with serving(services, settings, PAGE_DIR) as live:
        yield live


def check_view(watched: Watched) -> Page:
    page = watched.page
    page.goto(f"{page.url.partition('?')[0]}?view=check")
    page.wait_for_selector("#check-text")
    return page


def against_a_text(page: Page, text: str = NOTE, name: str = "note.md") -> None:
    page.get_by_label("My own texts").check()
    page.set_input_files("#source-files", [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()}])
    page.wait_for_selector("#source-text-0")


def check(page: Page, text: str = TEXT) -> None:
    page.fill("#check-text", text)
    page.click("#check-start")
    page.wait_for_selector("#check-result[aria-busy=false]", timeout=60_000)


def verdicts(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator("#check-result .answer .verdict").all_inner_texts()]


def test_a_text_is_checked_against_a_file_and_each_verdict_shows_its_words(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        against_a_text(page)
        check(page)
        assert verdicts(page) == ["Supported", "Supported", "Contradicted", "Unchecked"]
        said = page.locator("#check-result").inner_text()
        assert "Checked against “note.md”" in said
        assert "2 of 4 claims supported; 3 of 4 could be checked" in said
        assert "1 part states nothing that can be checked" in said
        page.locator(".verdict").nth(0).click()
        panel = page.locator("#evidence-panel")
        panel.wait_for()
        told = panel.inner_text()
        assert "10 percentage points" in told
        assert "Recomputed" in told
        assert "from 40% to 30%" in told
        page.locator(".verdict").nth(2).click()
        until(page, "document.querySelector('#evidence-panel mark.contradicts')?.textContent.includes('No deaths')")
        assert panel.locator("h4").first.inner_text() == "Zetamab"
        page.locator(".verdict").nth(3).click()
        until(page, "document.querySelector('#evidence-panel').textContent.includes('Why unchecked')")
        watched.shot("check-wide")


def test_the_report_is_saved_in_the_format_chosen_and_a_lost_one_says_what_to_do(
    browser: Browser, demo: LiveService
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        against_a_text(page)
        check(page)
        with page.expect_download() as download:
            page.click("#report-save")
        rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
        assert [row["verdict"] for row in rows] == [
            "supported",
            "supported",
            "contradicted",
            "unchecked",
            "not_checkable",
        ]
        assert re.fullmatch(r"medcite-check-[0-9a-f]{8}\.csv", download.value.suggested_filename)
        page.select_option("#report-format", "json")
        with page.expect_download() as download:
            page.click("#report-save")
        assert json.loads(Path(download.value.path()).read_text("utf-8"))["groundedness"] == 0.5
        page.route(
            "**/report?*",
            lambda route: route.fulfill(
                status=404,
                json={
                    "error": {"code": "not_found", "message": "gone", "hint": "", "retryable": False, "request_id": "r"}
                },
            ),
        )
        page.click("#report-save")
        page.get_by_role("button", name="Check again", exact=True).wait_for()
        assert "kept for an hour" in page.locator("#check-result .notice").inner_text()


def test_claims_line_by_line_against_records_and_against_the_corpus(browser: Browser, small: LiveService) -> None:
    with watched_page(browser, small.base_url) as watched:
        page = check_view(watched)
        page.get_by_label("Claims, one on each line").check()
        page.get_by_label("Records by PMID").check()
        page.fill("#check-pmids", "PMID 101,")
        check(
            page,
            "Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients.\n"
            "Aspirin lowered recurrent stroke from 18.4% to 2.1% in 2,431 patients.",
        )
        assert verdicts(page) == ["Supported", "Contradicted"]
        assert "Checked against PMID 101" in page.locator("#check-result").inner_text()
        page.get_by_label("The corpus").check()
        page.click("#check-start")
        until(page, "document.querySelector('#check-result').textContent.includes('Checked against the corpus')")
        page.wait_for_selector("#check-result[aria-busy=false]")
        assert verdicts(page)[0] == "Supported"
        page.locator(".verdict").first.click()
        page.locator("#evidence-panel").get_by_role("link", name=re.compile("PubMed")).first.wait_for()


def test_what_stands_in_the_way_is_said_at_the_button(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        start = page.locator("#check-start")
        start.press("Enter")
        assert page.locator("#check-problem").inner_text() == "Paste the text to check."
        page.fill("#check-text", "Zetamab works.")
        page.get_by_label("Records by PMID").check()
        page.fill("#check-pmids", "PMC12")
        start.press("Enter")
        assert "“PMC12” is no PMID" in page.locator("#check-problem").inner_text()
        page.get_by_label("My own texts").check()
        page.set_input_files("#source-files", [{"name": "p.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}])
        until(page, "document.querySelector('.texts').textContent.includes('p.pdf is not read here')")
        page.get_by_label("Records by PMID").check()
        page.fill("#check-pmids", "999")
        page.click("#check-start")
        until(page, "document.querySelector('.notice')?.textContent.includes('Not in the corpus: PMID 999')")


def test_a_check_and_what_was_filled_in_are_there_after_a_reload_and_can_be_cleared(
    browser: Browser, demo: LiveService
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        against_a_text(page)
        check(page)
        before = verdicts(page)
        page.reload()
        page.wait_for_selector("#check-result[aria-busy=false]")
        assert verdicts(page) == before
        assert page.input_value("#check-text") == TEXT
        assert page.input_value("#source-text-0") == NOTE
        page.get_by_role("button", name="Answers", exact=True).click()
        page.wait_for_selector("#question")
        page.get_by_role("button", name="Check a text", exact=True).click()
        assert verdicts(page) == before
        page.get_by_role("button", name="Clear", exact=True).click()
        until(page, "!document.querySelector('#check-result') && localStorage.getItem('medcite-check') === null")
        assert page.input_value("#check-text") == ""


def test_a_long_check_shows_its_progress_is_taken_up_after_a_reload_and_can_be_stopped(
    browser: Browser, demo: LiveService
) -> None:
    sentence = "Zetamab number {} reduced the exacerbations of the adults with severe asthma in hospital."
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        slow_down(page, 30, 60_000)
        page.get_by_label("Claims, one on each line").check()
        page.fill("#check-text", "\n".join(sentence.format(n) for n in range(200)))
        page.click("#check-start")
        until(page, "/Checking: [1-9]\\d* of 200 claims/.test(document.querySelector('.stage')?.textContent ?? '')")
        page.reload()
        page.wait_for_selector("#check-result")
        if page.locator("#check-stop").count():
            page.locator("#check-stop").click(timeout=5_000)
        until(page, "!document.querySelector('.stage')")
        said = page.locator("#check-result").inner_text()
        assert "of 200 claims were checked" in said or "of 200 could be checked" in said


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=LOOK_NAMES)
def test_the_check_can_be_read_and_has_no_violation_in_every_look(
    browser: Browser, demo: LiveService, scheme: str, size: tuple[int, int]
) -> None:
    with watched_page(browser, demo.base_url, size=size, scheme=scheme) as watched:
        page = check_view(watched)
        assert violations(page) == []
        against_a_text(page)
        check(page)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        watched.shot(f"check-{scheme}-{size[0]}")
        page.locator(".verdict").nth(0).click()
        page.wait_for_selector("#evidence-panel")
        assert violations(page) == []
        watched.shot(f"check-evidence-{scheme}-{size[0]}")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_text_is_checked_by_keyboard_alone(browser: Browser, demo: LiveService, size: tuple[int, int]) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(60):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"Tab does not lead to {selector}")

    with watched_page(browser, demo.base_url, size=size) as watched:
        page = watched.page
        page.wait_for_selector("#view-check")
        tab_to("#view-check")
        page.keyboard.press("Enter")
        tab_to("#check-text")
        page.keyboard.insert_text("No deaths occurred.")
        tab_to("input[value=corpus]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        tab_to(".add button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#source-text-0")
        page.keyboard.press("Shift+Tab")
        page.keyboard.insert_text("No deaths occurred.")
        tab_to("#check-start")
        page.keyboard.press("Enter")
        page.wait_for_selector("#check-result[aria-busy=false]")
        until(page, "document.querySelector('#announcements').textContent.includes('Check finished: 1 supported')")
        tab_to("#check-result .verdict")
        page.keyboard.press("Enter")
        page.wait_for_selector("#evidence-panel")
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('#evidence-panel')")
        assert page.evaluate("document.activeElement.matches('.verdict')")


def test_markup_in_a_text_or_a_source_stays_text(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = check_view(watched)
        against_a_text(page, "\n\n".join(f"Hostile {payload} words stay words." for payload in PAYLOADS), "<b>x</b>.md")
        check(page, f"Hostile {PAYLOADS[0]} words stay words.")
        page.locator(".verdict").first.click()
        page.wait_for_selector("#evidence-panel article")
        assert page.locator("#evidence-panel article h3").inner_text() == "<b>x</b>.md"
        assert page.locator("#evidence-panel article img, #evidence-panel article script").count() == 0
