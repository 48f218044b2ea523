"""Errors as a reader meets them: in words, with a next step and the number to report them by; and addresses that
lead nowhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from support.browser import until, violations, watched_page
from support.live_service import LiveService
from support.page_talk import LOOK_NAMES, LOOKS, QUESTION, ask, wait_until_over

from medcite_core.errors import MedciteError
from medcite_middleware.api.errors import error_response

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Route

pytestmark = pytest.mark.browser

HTTP_CODES = {
    "bad_host": 400,
    "invalid_json": 400,
    "other_site": 403,
    "method_not_allowed": 405,
    "too_large": 413,
    "unsupported_media_type": 415,
    "http_error": 418,
    "internal": 500,
}
"""Codes that no class of ours has: they come from the service's outermost layers."""


def error_classes() -> list[type[MedciteError]]:
    """One class for every code of ours that the service can answer with, the most general one that has it."""
    found: dict[str, type[MedciteError]] = {}
    kinds = [MedciteError]
    for kind in kinds:
        found.setdefault(kind.code, kind)
        kinds += kind.__subclasses__()
    return list(found.values())


def assert_helps(notice: Locator, message: str, hint: str) -> None:
    """Says what happened, what to do, and the number of the request."""
    text = notice.inner_text()
    assert message in text
    assert hint in text
    assert re.search(r"Request [0-9a-f]{8,}", text), text


def raising(error: Exception) -> Any:
    async def refused(*_: object, **__: object) -> NoReturn:
        raise error

    return refused


def refusing(error: Exception) -> Any:
    def refused(*_: object, **__: object) -> NoReturn:
        raise error

    return refused


def test_every_error_of_ours_has_its_words_a_next_step_and_a_number_below_the_question(
    browser: Browser, live: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = error_classes()
    assert len(kinds) > 12
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        for turn, kind in enumerate(kinds, 1):
            monkeypatch.setattr(live.services.ask, "start", refusing(kind(f"Told by {kind.code}")))
            ask(page, QUESTION)
            wait_until_over(page, turn)
            notice = page.locator(".turn").nth(turn - 1).locator(".notice")
            assert_helps(notice, f"Told by {kind.code}.", kind.default_hint)
            assert notice.get_by_role("button", name="Try again").count() == 1
        assert violations(page) == []
        monkeypatch.undo()
        page.locator(".turn").last.get_by_role("button", name="Try again").click()
        until(page, "document.querySelectorAll('.turn:last-child .answer').length === 1")
        wait_until_over(page, len(kinds))


@pytest.mark.parametrize("code", HTTP_CODES)
def test_errors_of_the_outermost_layers_are_told_in_every_place_where_they_can_come(
    browser: Browser, live: LiveService, code: str
) -> None:
    body = error_response(HTTP_CODES[code], code, f"told by {code}", "Do this next.", request_id="0123abcd").body

    def fail(route: Route) -> None:
        route.fulfill(status=HTTP_CODES[code], content_type="application/json", body=bytes(body))

    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.route(re.compile(r"/api/(ask|results|export|records)"), fail)
        ask(page, QUESTION)
        wait_until_over(page)
        assert_helps(page.locator(".turn .notice"), f"Told by {code}.", "Do this next.")
        page.click("#view-records")
        page.wait_for_selector(".records .notice")
        assert_helps(page.locator(".records .notice"), f"Told by {code}.", "Do this next.")
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("li .title")
        page.route(re.compile(r"/api/(ask|results|export|records)"), fail)
        page.click("#export-all")
        page.wait_for_selector(".records .notice")
        assert_helps(page.locator(".records .notice"), f"Told by {code}.", "Do this next.")
        page.locator("li .title").first.click()
        page.get_by_role("button", name="Copy citation, APA").click()
        notice = page.locator("#record-panel .notice")
        notice.wait_for()
        assert_helps(notice, f"Told by {code}.", "Do this next.")


def test_every_error_of_ours_is_told_above_the_list(
    browser: Browser, live: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.goto(f"{live.base_url}/?view=records")
        page.wait_for_selector("li .title")
        for kind in error_classes():
            monkeypatch.setattr(live.services.results, "page", raising(kind(f"Told by {kind.code}")))
            page.fill("#records-query", kind.code)
            page.press("#records-query", "Enter")
            notice = page.locator(".records .notice").filter(has_text=f"Told by {kind.code}.")
            notice.wait_for()
            assert_helps(notice, f"Told by {kind.code}.", kind.default_hint)
            assert f"Told by {kind.code}" in page.locator("#records-announcements").inner_text()


def test_something_unforeseen_is_told_without_its_inside(
    browser: Browser, live: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.services.ask, "start", refusing(RuntimeError("secret inside")))
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert_helps(page.locator(".turn .notice"), "went wrong inside medcite", "medcite doctor")
        assert "secret" not in page.locator("body").inner_text()


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=LOOK_NAMES)
def test_an_address_that_leads_nowhere_says_so_and_leads_home(
    browser: Browser, live: LiveService, scheme: str, size: tuple[int, int]
) -> None:
    with watched_page(browser, live.base_url, size=size, scheme=scheme) as watched:
        page = watched.page
        reply = page.goto(f"{live.base_url}/nopage")
        assert reply is not None
        assert reply.status == 404
        assert page.locator("h1").inner_text() == "There is no page at this address"
        assert re.search(r"request [0-9a-f]{8,}", page.locator("main").inner_text())
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        watched.shot(f"nopage-{scheme}-{size[0]}")
        page.get_by_role("link", name="Ask a question").click()
        page.wait_for_selector("#question")


def test_the_addresses_of_the_page_still_work_after_a_reload(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        for query, found in (("", "#question"), ("?view=records&q=aspirin&sort=newest", "li[data-pmid='101']")):
            page.goto(f"{live.base_url}/{query}")
            page.wait_for_selector(found)
            reply = page.reload()
            assert reply is not None
            assert reply.status == 200
            page.wait_for_selector(found)
