"""The page on bad connections: dropped and slow ones, a service that is gone, replies that are cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.browser import until, watched_page
from support.cutting_proxy import cutting_proxy
from support.live_service import LiveService
from support.llm_server import LLMServer, Reply
from support.page_talk import MIXED_ANSWER, QUESTION, answers, ask, wait_until_over

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
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        slow = {"offline": False, "latency": 700, "downloadThroughput": 40_000, "uploadThroughput": 20_000}
        network.send("Network.emulateNetworkConditions", slow)
        page.reload(wait_until="commit")
        page.get_by_text("Connecting").wait_for()
        ask(page, QUESTION)
        page.locator(".turn .stage").wait_for()
        assert page.locator("#stop-button").is_visible()
        wait_until_over(page)
        assert page.locator(".turn .notice").all_inner_texts() == []
        assert "2,431 patients" in answers(page)[0]
