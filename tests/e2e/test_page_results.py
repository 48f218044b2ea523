"""The list of records in a real browser, on the real service: the demo corpus, and a small one with hostile words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import rispy
from support.browser import PHONE, WIDE, Watched, until, violations, watched_page
from support.live_service import LiveService, serving, small_services
from support.page_talk import LOOK_NAMES, LOOKS, PAGE_DIR, PAYLOADS
from support.small_corpus import RECORDS, make_record

from medcite_core.types import Notice

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOSTILE = make_record(
    "106",
    f"Hostile markup {PAYLOADS[0]} in titles.",
    f"Hostile {PAYLOADS[1]} and 𝛽𝛽 {PAYLOADS[4]} hostile again.",
    journal=PAYLOADS[3],
    notices=(Notice("corrected", "9990", PAYLOADS[5]),),
)
QUERY = "blood pressure"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("small"), records=(*RECORDS, HOSTILE))
    with serving(services, settings, PAGE_DIR) as live:
        yield live


def records_view(watched: Watched, query: str = "", **parameters: str) -> Page:
    """The view at an address of its own; with a query, once its list stands."""
    page = watched.page
    address = "&".join(["view=records", *(f"{k}={v}" for k, v in {"q": query, **parameters}.items() if v)])
    page.goto(f"{page.url.partition('?')[0]}?{address}")
    page.wait_for_selector("#records-query")
    if query:
        page.wait_for_selector("li .title, .empty, .notice")
    return page


def search(page: Page, query: str) -> None:
    page.fill("#records-query", query)
    with page.expect_response("**/api/results"):
        page.press("#records-query", "Enter")


def listed(page: Page) -> list[str]:
    until(page, "!document.querySelector('ol[aria-busy=true]')")
    return page.locator("li[data-pmid]").evaluate_all("all => all.map(li => li.dataset.pmid)")


def total_of(page: Page) -> int:
    return int(page.locator("#records-total").inner_text().split()[0].replace(",", ""))


def turn(page: Page) -> bool:
    """To the next page, if there is one."""
    until(page, "!document.querySelector('ol[aria-busy=true]')")
    following = page.get_by_role("button", name="Next", exact=True)
    if not following.count():
        return False
    with page.expect_response("**/api/results"):
        following.click()
    until(page, "!document.querySelector('ol[aria-busy=true]')")
    return True


def api_page(live: LiveService, query: str, **body: Any) -> dict[str, Any]:
    reply = live.client.post("/api/results", json={"query": query, "limit": 100, "offset": 0, **body})
    assert reply.status_code == 200, reply.text
    return reply.json()


def saved(page: Page, button: str, format_name: str = "ris") -> str:
    """The text of the file that an export button yields."""
    page.select_option("#export-format", format_name)
    with page.expect_download() as download:
        page.click(button)
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_paging_to_the_end_yields_as_many_records_as_the_total_says_and_the_address_keeps_the_place(
    browser: Browser, demo: LiveService
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY)
        total = total_of(page)
        assert total == api_page(demo, QUERY)["total"] > 40
        seen = listed(page)
        pages = 1
        while turn(page):
            pages += 1
            seen += listed(page)
            assert f"page={pages}" in page.url
            assert page.evaluate("document.activeElement.id") == "records-total"
        assert len(seen) == len(set(seen)) == total
        last = listed(page)
        page.reload()
        page.wait_for_selector("li .title")
        assert listed(page) == last
        with page.expect_response("**/api/results"):
            page.go_back()
        until(page, "n => document.querySelector('nav [aria-current=page].number').textContent === n", str(pages - 1))


@pytest.mark.parametrize(
    ("order", "key", "is_falling"),
    [
        ("newest", "date", True),
        ("oldest", "date", False),
        ("journal", "journal", False),
        ("journal-down", "journal", True),
    ],
)
def test_the_list_stands_in_the_order_that_was_chosen(
    browser: Browser, demo: LiveService, order: str, key: str, is_falling: bool
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY, page="2")
        with page.expect_response("**/api/results"):
            page.select_option("#records-sort", order)
        seen = listed(page)
        assert f"sort={order}" in page.url
        assert "page=" not in page.url
        while turn(page):
            seen += listed(page)
        found = [demo.client.get(f"/api/records/{pmid}").json()["record"] for pmid in seen]
        values = [str(record[key]).casefold() for record in found]
        if key == "date":
            values = [value[:4] for value in values]
        else:
            # Journals stand in their place without an article, as in their abbreviations.
            values = [value.removeprefix("the ") for value in values if re.fullmatch(r"[a-z ]+", value)]
        assert len(set(values)) > 5
        assert values == sorted(values, reverse=is_falling)


def test_marks_survive_pages_searches_and_reloads_and_the_exported_file_holds_just_them(
    browser: Browser, demo: LiveService
) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY)
        page.check("#mark-page")
        page.locator("li input").nth(3).uncheck()
        wanted = [pmid for at, pmid in enumerate(listed(page)) if at != 3]
        assert page.locator("#mark-page").evaluate("box => box.indeterminate")
        turn(page)
        page.locator("li input").nth(1).check()
        wanted.append(listed(page)[1])
        search(page, "asthma")
        until(page, "document.querySelector('#records-query').value === 'asthma'")
        other = next(pmid for pmid in listed(page) if pmid not in wanted)
        page.check(f"li[data-pmid='{other}'] input")
        wanted.append(other)
        page.reload()
        page.wait_for_selector("li .title")
        assert page.locator("[data-testid=marked]").inner_text().startswith(f"{len(wanted)} marked")
        assert page.locator(f"li[data-pmid='{other}'] input").is_checked()
        assert len(rispy.loads(saved(page, "#export-marked"))) == len(wanted)
        text = saved(page, "#export-marked", "nbib")
        assert re.findall(r"^PMID- (\d+)", text, re.MULTILINE) == wanted
        until(page, "document.querySelector('[data-testid=exported]').textContent.includes('exported to')")
        line = page.locator("[data-testid=exported]").inner_text()
        assert line.startswith(f"{len(wanted)} of {len(wanted)} exported to ")
        page.get_by_role("button", name="Clear marks").click()
        assert page.locator("#export-marked").count() == 0
        assert page.locator("li input:checked").count() == 0


def test_the_export_of_all_hits_holds_as_many_records_as_the_list_says(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY, sort="oldest", page="2")
        total = total_of(page)
        in_order = [hit["record"]["pmid"] for hit in api_page(demo, QUERY, sort="date", descending=False)["records"]]
        text = saved(page, "#export-all", "nbib")
        pmids = re.findall(r"^PMID- (\d+)", text, re.MULTILINE)
        assert len(pmids) == total
        assert pmids[:100] == in_order
        until(
            page,
            "line => document.querySelector('[data-testid=exported]').textContent.includes(line)",
            f"{total:,} of {total:,} exported to ",
        )


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_records_are_found_read_marked_and_exported_by_keyboard_alone(
    browser: Browser, demo: LiveService, size: tuple[int, int]
) -> None:
    def tab_to(selector: str, key: str = "Tab") -> None:
        for _ in range(60):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press(key)
        pytest.fail(f"Tab does not lead to {selector}")

    with watched_page(browser, demo.base_url, size=size) as watched:
        page = watched.page
        page.wait_for_selector("#view-records")
        tab_to("#view-records")
        page.keyboard.press("Enter")
        tab_to("#records-query")
        page.keyboard.type("hypertension jk")
        page.keyboard.press("Enter")
        page.wait_for_selector("li .title")
        pmids = listed(page)
        tab_to("li .title")
        page.keyboard.press("Enter")
        until(page, "document.activeElement.closest('#record-panel') !== null")
        for _ in range(2):
            page.keyboard.press("j")
        until(page, "document.querySelector('#record-heading').textContent.includes('Record 3 of')")
        page.keyboard.press("x")
        page.keyboard.press("k")
        until(page, "document.querySelector('#record-heading').textContent.includes('Record 2 of')")
        page.keyboard.press("Escape")
        until(page, "document.querySelector('#record-panel') === null")
        until(page, "pmid => document.activeElement.closest('li')?.dataset.pmid === pmid", pmids[1])
        if size == WIDE:
            page.keyboard.press("j")
            until(page, "pmid => document.activeElement.closest('li')?.dataset.pmid === pmid", pmids[2])
            page.keyboard.press("Escape")
        assert page.locator("li input:checked").count() == 1
        tab_to("#export-marked", "Shift+Tab")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert len(rispy.loads(Path(download.value.path()).read_text(encoding="utf-8"))) == 1


def test_going_past_the_end_of_a_page_opens_the_first_record_of_the_next(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY)
        page.locator("li .title").last.click()
        page.wait_for_selector("#record-panel")
        page.keyboard.press("j")
        until(page, "document.querySelector('#record-heading')?.textContent.includes('Record 21 of')")
        assert page.locator("li.open").get_attribute("data-pmid") == listed(page)[0]
        page.get_by_role("button", name="Previous record").click()
        until(page, "document.querySelector('#record-heading')?.textContent.includes('Record 20 of')")


def test_the_words_marked_are_those_the_service_found_counted_in_code_points(
    browser: Browser, small: LiveService
) -> None:
    hit = api_page(small, "hostile")["records"][0]
    text = hit["record"]["text"]
    words = [text[span["start"] : span["end"]] for span in hit["matches"]]
    assert [word.lower() for word in words] == ["hostile"] * 3
    with watched_page(browser, small.base_url) as watched:
        page = records_view(watched, "hostile")
        page.locator("li .title").first.click()
        page.wait_for_selector("#record-panel")
        assert page.locator("#record-panel mark").filter(has_not_text="marked").all_inner_texts() == words


def test_hostile_markup_in_the_list_and_in_the_query_stays_text(browser: Browser, small: LiveService) -> None:
    """FR-133."""
    with watched_page(browser, small.base_url) as watched:
        page = records_view(watched)
        search(page, f"hostile {PAYLOADS[0]}")
        page.locator("li .title").first.click()
        page.wait_for_selector("#record-panel")
        assert PAYLOADS[0] in page.locator("li .title").first.inner_text()
        assert PAYLOADS[4] in page.locator("#record-panel").inner_text()
        search(page, "<img src=x onerror=zzzz>")
        assert page.locator("#app img, #app iframe, #app script, [onerror], [onload]").count() == 0


def test_a_citation_is_copied_and_said_to_be(browser: Browser, demo: LiveService) -> None:
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched, QUERY)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator("li .title").first.click()
        pmid = listed(page)[0]
        for style, name in (("vancouver", "Vancouver"), ("apa", "APA")):
            page.get_by_role("button", name=f"Copy citation, {name}").click()
            said = page.locator("[data-testid=copied]")
            until(page, "name => document.querySelector('[data-testid=copied]').textContent.includes(name)", name)
            assert said.inner_text() == f"Citation copied ({name})."
            assert said.get_attribute("role") == "status"
            text = demo.client.get(f"/api/records/{pmid}/citation", params={"style": style}).json()["text"]
            assert page.evaluate("navigator.clipboard.readText()") == text


def test_what_goes_wrong_is_said_in_words_with_the_request_id(browser: Browser, small: LiveService) -> None:
    with watched_page(browser, small.base_url) as watched:
        page = records_view(watched)
        search(page, "?!")
        notice = page.locator(".notice")
        notice.wait_for()
        assert re.search(r"Request\s+[0-9a-f]{8,}", notice.inner_text())
        search(page, "aspirin")
        page.check("li input >> nth=0")
        page.evaluate("localStorage.setItem('medcite-marks', '[\"101\", \"777777\"]')")
        page.reload()
        page.wait_for_selector("li .title")
        page.click("#export-marked")
        until(page, "document.querySelector('section[aria-label^=Marked]').textContent.includes('777777')")
        page.get_by_role("button", name="Remove this mark").click()
        assert rispy.loads(saved(page, "#export-marked"))[0]["accession_number"] == "101"
        page.route("**/api/export", lambda route: route.abort())
        page.click("#export-all")
        page.get_by_text("The medcite service does not answer.").wait_for()


def test_without_words_and_filter_the_whole_corpus_is_listed_newest_first(browser: Browser, demo: LiveService) -> None:
    records = demo.client.get("/api/corpus").json()["records"]
    with watched_page(browser, demo.base_url) as watched:
        page = records_view(watched)
        page.wait_for_selector("li .title")
        assert page.locator("#records-total").inner_text() == f"All {records:,} records"
        assert page.locator("#records-sort").input_value() == "newest"
        assert page.locator("#records-sort option[value=relevance]").count() == 0
        wanted = api_page(demo, "", sort="date", descending=True)
        assert wanted["total"] == records
        assert listed(page) == [hit["record"]["pmid"] for hit in wanted["records"][:20]]
        page.select_option("#records-sort", "oldest")
        until(page, "location.search.includes('sort=oldest')")
        search(page, QUERY)
        assert page.locator("#records-sort option[value=relevance]").count() == 1


def test_a_list_without_records_says_why(browser: Browser, small: LiveService, tmp_path: Path) -> None:
    with watched_page(browser, small.base_url) as watched:
        page = records_view(watched)
        search(page, "quasar")
        page.get_by_text("No record has words of “quasar”.").wait_for()
        page.click("#filter-switch")
        page.fill("#year-from", "2018")
        search(page, "warfarin")
        page.get_by_text("that passes the filter (from 2018)").wait_for()
        page.get_by_role("button", name="Search without the filter").click()
        page.wait_for_selector("li[data-pmid='102']")
    services, settings = small_services(tmp_path, records=())
    with serving(services, settings, PAGE_DIR) as empty, watched_page(browser, empty.base_url) as watched:
        page = records_view(watched)
        page.get_by_text("The corpus is empty").wait_for()


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=LOOK_NAMES)
def test_axe_finds_no_violation_in_any_state_of_the_list(
    browser: Browser, demo: LiveService, small: LiveService, scheme: str, size: tuple[int, int]
) -> None:
    name = f"{scheme}-{size[0]}"
    with watched_page(browser, demo.base_url, size=size, scheme=scheme) as watched:
        page = records_view(watched)
        assert violations(page) == []
        search(page, QUERY)
        page.locator("li input").nth(0).check()
        assert violations(page) == []
        watched.shot(f"records-{name}")
        page.locator("li .title").nth(1).click()
        page.wait_for_selector("#record-panel mark")
        page.get_by_role("button", name="Copy citation, APA").click()
        until(page, "document.querySelector('[data-testid=copied]').textContent !== ''")
        assert violations(page) == []
        watched.shot(f"records-open-{name}")
        page.keyboard.press("Escape")
        saved(page, "#export-marked", "csv")
        page.locator("nav.pages, nav[aria-label='Pages of the list']").scroll_into_view_if_needed()
        assert violations(page) == []
        watched.shot(f"records-foot-{name}")
        search(page, "quasarzzz")
        page.wait_for_selector(".empty")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    with watched_page(browser, small.base_url, size=size, scheme=scheme) as watched:
        page = records_view(watched, "asthma")
        page.locator("li[data-pmid='104'] .title").click()
        page.wait_for_selector("#record-panel .grave")
        assert violations(page) == []
        watched.shot(f"records-retracted-{name}")
        page.keyboard.press("Escape")
        search(page, "?!")
        page.wait_for_selector(".notice")
        assert violations(page) == []
