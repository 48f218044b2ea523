"""Conversations that the browser keeps: over reloads, in several tabs, forgotten for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.browser import until, violations, watched_page
from support.live_service import LiveService
from support.llm_server import LLMServer, Reply
from support.page_talk import ANSWER, BLEEDING_QUESTION, MIXED_ANSWER, QUESTION, answers, ask, wait_until_over

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_answers_sources_and_verdicts_come_back_after_a_reload(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    """FR-109: each answer keeps its own sources."""
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        ask(page, BLEEDING_QUESTION)
        wait_until_over(page, 2)
        before = page.locator(".turn").all_inner_texts()
        page.reload()
        wait_until_over(page, 2)
        assert page.locator(".turn").all_inner_texts() == before
        turns = page.locator(".turn")
        turns.nth(0).locator("button.verdict").first.click()
        assert "Aspirin after ischaemic stroke" in page.locator("#evidence-panel").inner_text()
        ask(page, "And in children?")
        wait_until_over(page, 3)
        assert [m["role"] for m in watched.bodies[2]["history"]] == ["user", "assistant"] * 2
        assert len(llm_server.chats) >= 3


def test_each_answer_of_a_conversation_keeps_its_own_sources(
    browser: Browser, generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(
        Reply(pieces=MIXED_ANSWER), Reply(pieces=("Warfarin increased major bleeding in the elderly [1].",))
    )
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


def test_a_stopped_turn_is_kept_with_its_words_and_its_mark(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    """FR-129 and FR-125."""
    llm_server.script(Reply(pieces=ANSWER))
    llm_server.default = Reply(pieces=(*ANSWER, " More"), hang=True)
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        ask(page, BLEEDING_QUESTION)
        page.locator(".turn").nth(1).get_by_text("2,431 patients").wait_for()
        page.click("#stop-button")
        wait_until_over(page, 2)
        page.reload()
        wait_until_over(page, 2)
        second = page.locator(".turn").nth(1)
        assert BLEEDING_QUESTION in second.inner_text()
        assert "2,431 patients" in second.locator(".answer").inner_text()
        assert "Stopped" in second.locator(".notice").inner_text()
        assert page.locator(".turn").nth(0).locator(".notice").count() == 0
        llm_server.default = Reply(pieces=ANSWER)
        second.get_by_role("button", name="Ask again").click()
        until(page, "document.querySelectorAll('.turn .notice').length === 0")
        wait_until_over(page, 2)
        assert len(watched.bodies[2]["history"]) == 2


def test_a_reload_in_the_middle_takes_the_answer_up_again(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=(*ANSWER, *(" Bleeding did not increase [1]." for _ in range(8))), gap_s=0.4)
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        page.get_by_text("2,431 patients").wait_for()
        page.reload()
        page.locator(".turn .answer").wait_for()
        wait_until_over(page)
        assert page.locator(".turn .notice").all_inner_texts() == []
        assert answers(page)[0].count("Aspirin lowered") == 1
        assert answers(page)[0].count("Bleeding did not increase") == 8
        assert len(watched.bodies) == 1
        assert len(llm_server.chats) == 1


def test_a_reload_after_the_run_is_gone_shows_an_incomplete_answer_that_can_be_asked_again(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=(*ANSWER, " More"), hang=True)
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        page.get_by_text("2,431 patients").wait_for()
        page.route("**/api/runs/*/events", lambda route: route.fulfill(status=404, body="{}"))
        page.reload()
        wait_until_over(page)
        notice = page.locator(".turn .notice")
        assert "This answer is incomplete" in notice.inner_text()
        assert "2,431 patients" in answers(page)[0]
        llm_server.default = Reply(pieces=ANSWER)
        notice.get_by_role("button", name="Ask again").click()
        until(page, "document.querySelectorAll('.turn .groundedness').length === 1")
        assert page.locator(".turn").count() == 1


def test_a_new_conversation_leaves_the_last_one_to_go_on_with_or_to_forget(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_role("button", name="New conversation").click()
        earlier = page.get_by_role("region", name="Earlier conversations")
        assert "1 question, just now" in earlier.inner_text()
        assert violations(page) == []
        earlier.get_by_role("button", name=QUESTION).first.click()
        assert page.locator(".turn h2").all_inner_texts() == [QUESTION]
        page.get_by_role("button", name="New conversation").click()
        earlier.get_by_role("button", name=f"Forget the conversation “{QUESTION}”").click()
        assert earlier.count() == 0
        page.reload()
        page.wait_for_selector("#question")
        assert page.get_by_text(QUESTION).count() == 0


def test_a_browser_that_keeps_nothing_says_so_and_works(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.add_init_script(
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
        )
        page.reload()
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_text("This browser keeps nothing for this page").wait_for()
        assert "2,431 patients" in answers(page)[0]
