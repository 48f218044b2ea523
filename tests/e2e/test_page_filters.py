"""The filter in a real browser: its switch, its fields, the address that holds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import until, violations, watched_page
from support.live_service import LiveService
from support.page_talk import QUESTION, ask, wait_until_over

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def answer_to(live: LiveService, question: str, **body: Any) -> dict[str, Any]:
    reply = live.client.post("/api/answer", json={"question": question, **body}, timeout=60)
    assert reply.status_code == 200, reply.text
    return reply.json()


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


def test_filters_live_in_the_address_and_come_back_from_it(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.click("#filter-switch")
        page.fill("#year-from", "2001")
        page.fill("#filter-title", "aspirin & stroke")
        page.fill("#filter-keywords", "Stroke,")
        page.get_by_text("More filters").click()
        page.fill("#filter-journal", "Lancet (London, England)")
        page.press("#filter-journal", "Enter")
        page.check("#filter-exclude_retracted")
        until(page, "location.search.includes('exclude_retracted')")
        address = page.evaluate("location.href")
        ask(page, QUESTION)
        wait_until_over(page)
        sent = watched.bodies[0]["filters"]
        assert sent == {
            "year_from": 2001,
            "title": "aspirin & stroke",
            "keywords": ["Stroke"],
            "journal": ["Lancet (London, England)"],
            "exclude_retracted": True,
        }
        line = page.locator(".searched").inner_text()
        assert "journal “Lancet (London, England)”" in line
        assert "retracted records left out" in line
        assert "Each by itself:" in line
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.goto(address)
        ask(page, QUESTION)
        wait_until_over(page)
        assert watched.bodies[0]["filters"] == sent
        page.click("#filter-switch")
        until(page, "location.search.includes('filter=off')")
        page.reload()
        ask(page, QUESTION)
        wait_until_over(page, 2)
        assert watched.bodies[1]["filters"] == {}


def test_a_hostile_address_is_answered_with_words_at_its_fields(browser: Browser, live: LiveService) -> None:
    query = (
        "?year_from=banana&title=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&has_pmcid=perhaps&keyword=x"
        f"&author={'a' * 4000}&view=%3Cscript%3E&year_to=99999&%=%&__proto__=1"
    )
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.goto(f"{live.base_url}/{query}")
        assert page.locator("#year-from-problem").inner_text() == "Four digits, such as 2012."
        assert page.locator("#year-to-problem").inner_text() == "Four digits, such as 2012."
        notes = page.locator("#filter-fields .notes").inner_text()
        assert "has_pmcid=perhaps" in notes
        assert "did it mean “keywords”?" in notes
        assert page.input_value("#filter-title") == "<img src=x onerror=alert(1)>"
        assert page.locator("#app img").count() == 0
        assert violations(page) == []
        ask(page, QUESTION)
        assert watched.bodies == []
        page.get_by_role("button", name="Clear all fields").click()
        page.press("#question", "Enter")
        wait_until_over(page)
        assert watched.bodies[0]["filters"] == {}


def test_years_can_be_drawn_and_are_told_in_words(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.click("#filter-fields-button")
        chart = page.get_by_role("img", name=re.compile("Records per year, "))
        box = chart.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 1, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        page.mouse.up()
        first, last = int(page.input_value("#year-from")), int(page.input_value("#year-to"))
        years = live.client.get("/api/corpus").json()["years"]
        assert first == min(y["year"] for y in years)
        assert first < last < max(y["year"] for y in years)
        within = sum(y["records"] for y in years if first <= y["year"] <= last)
        assert page.locator(".within").inner_text() == f"{within} record{'s' * (within != 1)} in these years"


def test_keywords_are_suggested_and_chosen_by_keyboard(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        asked: list[str] = []

        def suggest(route: Any) -> None:
            asked.append(route.request.url.partition("?")[2])
            values = [{"value": f"Diabetes Mellitus, Type {n}", "records": n} for n in (1, 2)]
            route.fulfill(json={"schema_version": 1, "values": values})

        page.route("**/api/suggestions?*", suggest)
        page.click("#filter-switch")
        field = page.get_by_role("combobox", name="Keywords or MeSH headings")
        field.press_sequentially("diabetes mellitus, t")
        page.get_by_role("option", name="Diabetes Mellitus, Type 2").wait_for()
        assert field.get_attribute("aria-expanded") == "true"
        assert violations(page) == []
        field.press("ArrowDown")
        field.press("ArrowDown")
        active = field.get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        field.press("Enter")
        page.get_by_role("button", name="Remove Diabetes Mellitus, Type 2").wait_for()
        assert page.locator(".chip").count() == 1
        assert all(query.startswith("field=keywords&prefix=") for query in asked)
        page.unroute("**/api/suggestions?*")
        page.route("**/api/suggestions?*", lambda route: route.fulfill(status=404, body="none"))
        field.press_sequentially("Stroke")
        page.wait_for_timeout(400)
        field.press("Enter")
        assert page.locator(".chip").all_inner_texts() == ["Diabetes Mellitus, Type 2", "Stroke"]


def test_the_filter_is_worked_by_keyboard_alone(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.focus("#question")

        def tab_to(element_id: str) -> None:
            for _ in range(25):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.id") == element_id:
                    return
            raise AssertionError(f"Tab does not reach #{element_id}")

        tab_to("filter-switch")
        page.keyboard.press("Space")
        tab_to("year-from")
        page.keyboard.type("2010")
        tab_to("filter-keywords")
        page.keyboard.type("Stroke")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        tab_to("filter-languages")
        page.keyboard.type("eng")
        page.keyboard.press("Enter")
        tab_to("filter-has_pmcid")
        page.keyboard.press("Space")
        page.focus("#question")
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        wait_until_over(page)
        assert watched.bodies[0]["filters"] == {
            "year_from": 2010,
            "keywords": ["Stroke"],
            "languages": ["eng"],
            "has_pmcid": True,
        }


def test_a_filter_that_is_filled_in_but_off_is_said_to_be_off_wherever_it_matters(
    browser: Browser, live: LiveService
) -> None:
    """FR-096: nothing of a filter that is off stays in what is searched next."""
    off = "Filters are off: they are not applied"
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.click("#filter-fields-button")
        announced = page.locator("#filter-controls [role=status]")
        assert announced.inner_text() == ""
        page.fill("#year-from", "2018")
        assert announced.inner_text() == off
        assert violations(page) == []
        page.click("#filter-fields-button")
        assert announced.is_visible()
        assert page.locator("#filter-controls .summary").inner_text() == f"{off} (from 2018)"
        ask(page, QUESTION)
        wait_until_over(page)
        assert watched.bodies[0]["filters"] == {}
        page.click("#view-records")
        page.fill("#records-query", "bleeding")
        page.press("#records-query", "Enter")
        page.wait_for_selector("li[data-pmid='102']")
        assert f"{off}." in page.locator(".head").inner_text()
        assert violations(page) == []
        page.click("#filter-fields-button")
        page.get_by_role("button", name="Switch the filters on").click()
        page.get_by_text("that passes the filter (from 2018)").wait_for()
        assert page.get_by_text(off).count() == 0
        page.click("#filter-switch")
        page.wait_for_selector("li[data-pmid='102']")
        assert f"{off}." in page.locator(".head").inner_text()
