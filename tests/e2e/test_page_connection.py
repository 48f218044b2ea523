"""The page on bad connections: dropped and slow ones, a service that is gone, replies that are cut."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from support.browser import until, violations, watched_page
from support.cutting_proxy import AFTER_HEAD, cutting_proxy
from support.live_service import LiveService
from support.llm_server import LLMServer, Reply
from support.page_talk import MIXED_ANSWER, QUESTION, answers, ask, slow_down, wait_until_over

from medcite_middleware.services.result_list import ResultPage, ResultQuery

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_a_stream_that_drops_is_taken_up_where_it_broke(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=MIXED_ANSWER, gap_s=0.4)
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
    llm_server.default = Reply(pieces=MIXED_ANSWER[:3], hang=True)
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        page.get_by_text("2,431 patients").wait_for()
        page.click("#stop-button")
        notice = page.locator(".turn .notice")
        assert "Stopped" in notice.inner_text()
        assert "2,431 patients" in page.locator(".turn .answer").inner_text()
        assert llm_server.client_left.wait(10)
        llm_server.default = Reply(pieces=MIXED_ANSWER)
        notice.get_by_role("button", name="Ask again").click()
        wait_until_over(page)
        assert page.locator(".turn").count() == 1
        assert (
            page.locator(".groundedness").inner_text().strip() == "1 of 4 sentences supported; 2 of 4 could be checked"
        )


def test_a_cut_reply_is_incomplete_and_an_error_has_its_hint_and_request_id(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=MIXED_ANSWER[:2], cut="clean"), Reply(status=500))
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


def test_a_slow_network_shows_what_is_going_on_and_still_answers(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        slow_down(page, 700)
        page.reload(wait_until="commit")
        page.get_by_text("Connecting").wait_for()
        ask(page, QUESTION)
        page.locator(".turn .stage").wait_for()
        assert page.locator("#stop-button").is_visible()
        wait_until_over(page)
        assert page.locator(".turn .notice").all_inner_texts() == []
        assert "2,431 patients" in answers(page)[0]


def test_a_stream_that_drops_before_its_first_event_is_taken_up_by_the_run_id_of_the_reply(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    with (
        cutting_proxy(generating.base_url, b"POST /api/ask", AFTER_HEAD) as proxy,
        watched_page(browser, f"http://127.0.0.1:{proxy.port}") as watched,
    ):
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        assert page.locator(".turn .notice").all_inner_texts() == []
        assert answers(page)[0].count("2,431 patients") == 2
        resumed = [line for line in proxy.requests if line.startswith("GET /api/runs/")]
        assert len(resumed) == 1
        assert resumed[0].endswith("/events")
        assert (len(watched.bodies), len(llm_server.chats)) == (1, 1)


def test_a_slow_network_shows_that_a_list_is_being_fetched_and_asks_for_it_once(
    browser: Browser, generating: LiveService
) -> None:
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        page.goto(f"{generating.base_url}/?view=records&q=bleeding")
        page.wait_for_selector("li .title")
        posted: list[str] = []
        page.on("request", lambda r: posted.append(r.post_data or "") if r.url.endswith("/api/results") else None)
        slow_down(page, 1_500)
        page.fill("#records-query", "aspirin")
        for _ in range(3):
            page.press("#records-query", "Enter")
        page.locator(".busy").get_by_text("Searching…").wait_for()
        assert page.locator("ol[aria-busy=true]").count() == 1
        until(page, "document.querySelector('#records-announcements').textContent === 'Searching…'")
        assert violations(page) == []
        until(page, "!document.querySelector('ol[aria-busy=true]')")
        assert page.locator("li[data-pmid='101']").count() == 1
        assert page.locator(".busy").count() == 0
        assert len(posted) == 1
        assert "match" in page.locator("#records-announcements").inner_text()


def test_a_slow_network_never_lets_an_older_list_replace_a_newer_one(
    browser: Browser, generating: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = generating.services.results.page

    async def page_of(wanted: ResultQuery, offset: int, limit: int) -> ResultPage:
        found = await real(wanted, offset, limit)
        if wanted.query == "aspirin":
            await asyncio.sleep(1.5)
        return found

    monkeypatch.setattr(generating.services.results, "page", page_of)
    with watched_page(browser, generating.base_url) as watched:
        page = watched.page
        page.goto(f"{generating.base_url}/?view=records")
        page.wait_for_selector("li .title")
        with page.expect_request("**/api/results"):
            page.fill("#records-query", "aspirin")
            page.press("#records-query", "Enter")
        page.fill("#records-query", "warfarin")
        page.press("#records-query", "Enter")
        until(page, "document.querySelectorAll('li[data-pmid]').length === 1", seconds=1.2)
        page.wait_for_timeout(2_000)
        assert page.locator("li[data-pmid]").evaluate_all("all => all.map(li => li.dataset.pmid)") == ["102"]
        assert page.locator("#records-total").inner_text() == "1 record matches"
        assert "q=warfarin" in page.url


def test_a_slow_network_sends_a_question_once_however_often_it_is_sent(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.wait_for_selector("#send-button")
        slow_down(page, 1_200)
        page.fill("#question", QUESTION)
        for _ in range(3):
            page.press("#question", "Enter")
            page.locator("#send-button").click(force=True)
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        wait_until_over(page)
        page.wait_for_timeout(500)
        assert (len(watched.bodies), page.locator(".turn").count()) == (1, 1)
