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


KEPT = "Object.keys(localStorage).filter(key => key.startsWith('medcite-conversation')).length"


def test_a_conversation_that_was_forgotten_in_another_tab_is_not_brought_back_by_the_next_question(
    browser: Browser, live: LiveService
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        until(page, f"{KEPT} === 1")
        other = page.context.new_page()
        other.goto(live.base_url)
        other.get_by_role("button", name=f"Forget the conversation “{QUESTION}”").click()
        page.get_by_text("This conversation was forgotten in another tab").wait_for()
        assert violations(page) == []
        ask(page, BLEEDING_QUESTION)
        wait_until_over(page, 2)
        page.wait_for_timeout(600)
        assert page.evaluate(KEPT) == 0
        page.get_by_role("button", name="Keep it again").click()
        assert page.evaluate(KEPT) == 1
        page.reload()
        wait_until_over(page, 2)
        assert page.locator(".turn h2").all_inner_texts() == [QUESTION, BLEEDING_QUESTION]


def test_a_conversation_that_is_gone_when_it_is_opened_leaves_the_page_ready_and_overwrites_nothing(
    browser: Browser, live: LiveService
) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_role("button", name="New conversation").click()
        # What another tab does just before the reader's click is not heard of in time.
        page.evaluate("localStorage.clear()")
        page.get_by_role("region", name="Earlier conversations").get_by_role("button", name=QUESTION).first.click()
        page.get_by_text("That conversation is kept no more").wait_for()
        assert violations(page) == []
        ask(page, BLEEDING_QUESTION)
        wait_until_over(page)
        until(page, f"{KEPT} === 1")
        page.reload()
        wait_until_over(page)
        assert page.locator(".turn h2").all_inner_texts() == [BLEEDING_QUESTION]


def test_two_tabs_in_one_conversation_each_keep_what_was_asked_in_them(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        until(page, f"{KEPT} === 1")
        with page.expect_popup() as opened:
            # A window that a page opens has a copy of the page's session, as a duplicated tab has.
            page.evaluate("void window.open(location.href)")
        twin = opened.value
        wait_until_over(twin)
        ask(twin, "Does warfarin increase major bleeding?")
        wait_until_over(twin, 2)
        twin.wait_for_timeout(600)
        ask(page, BLEEDING_QUESTION)
        wait_until_over(page, 2)
        page.wait_for_timeout(600)
        for tab, second in ((page, BLEEDING_QUESTION), (twin, "Does warfarin increase major bleeding?")):
            tab.reload()
            wait_until_over(tab, 2)
            assert tab.locator(".turn h2").all_inner_texts() == [QUESTION, second]
        assert page.evaluate(KEPT) == 2


def test_forget_all_takes_away_what_other_versions_of_the_page_kept_too(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_role("button", name="New conversation").click()
        page.evaluate("localStorage.setItem('medcite-conversation-old', JSON.stringify({ version: 0, turns: [] }))")
        page.reload()
        earlier = page.get_by_role("region", name="Earlier conversations")
        assert "1 of another version of this page cannot be shown here" in earlier.inner_text()
        assert violations(page) == []
        earlier.get_by_role("button", name="Forget all").click()
        assert page.evaluate(KEPT) == 0
        assert earlier.count() == 0
        assert page.evaluate("document.activeElement.id") == "question"


def test_a_full_disk_costs_no_other_conversation_and_is_said(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_role("button", name="New conversation").click()
        ask(page, BLEEDING_QUESTION)
        wait_until_over(page)
        until(page, f"{KEPT} === 2")
        before = page.evaluate("({ ...localStorage })")
        page.evaluate(
            "{ let text = 'x'.repeat(1 << 20); while (text) try {"
            " localStorage.setItem('other', (localStorage.getItem('other') ?? '') + text); }"
            " catch { text = text.slice(text.length / 2 + 1); } }"
        )
        ask(page, "Does warfarin increase major bleeding?")
        wait_until_over(page, 2)
        page.get_by_text("This browser has no room for the newest words of this conversation").wait_for()
        assert violations(page) == []
        after = page.evaluate("({ ...localStorage })")
        assert {key: after.get(key) for key in before} == before
        page.reload()
        wait_until_over(page)
        assert page.locator(".turn h2").all_inner_texts() == [BLEEDING_QUESTION]
