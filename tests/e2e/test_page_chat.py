"""The chat page as a tool that stays open: follow-ups, copying, scrolling, and how all of it looks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.browser import PHONE, until, violations, watched_page
from support.live_service import LiveService
from support.llm_server import LLMServer, Reply
from support.page_talk import ANSWER, LOOK_NAMES, LOOKS, QUESTION, ask, wait_until_over

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_a_rewritten_question_is_shown_and_can_be_asked_in_other_words(browser: Browser, live: LiveService) -> None:
    """FR-117: the question as it was searched is on the screen."""
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        ask(page, "And in children?")
        wait_until_over(page, 2)
        understood = page.locator(".turn").nth(1).locator(".understood")
        assert "Searched for:" in understood.inner_text()
        assert "aspirin" in understood.inner_text().lower()
        understood.get_by_role("button", name="Edit this question").click()
        box = page.get_by_label("Ask this instead, without the questions before it")
        assert "aspirin" in box.input_value().lower()
        assert violations(page) == []
        box.fill("Does aspirin harm children with stroke?")
        box.press("Enter")
        wait_until_over(page, 3)
        assert watched.bodies[2]["question"] == "Does aspirin harm children with stroke?"
        assert watched.bodies[2]["history"] == []
        assert page.locator(".turn").nth(2).locator(".understood").count() == 0


def test_an_answer_is_copied_with_its_references(browser: Browser, live: LiveService) -> None:
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        ask(page, QUESTION)
        wait_until_over(page)
        page.get_by_role("button", name="Copy answer with citations").click()
        page.get_by_text("Copied with its references").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        assert text.startswith(f"{QUESTION}\n\n{''.join(ANSWER)}")
        assert re.search(r"\n\nReferences\n\[1\].*Aspirin after ischaemic stroke.*PMID: 101\.", text)
        assert "https://pubmed.ncbi.nlm.nih.gov/101/" in text


def test_the_page_follows_the_words_only_while_the_reader_is_at_the_bottom(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    sentences = tuple(f" Aspirin lowered recurrent stroke in group {n} of the trial [1].\n\n" for n in range(80))
    llm_server.default = Reply(pieces=sentences, gap_s=0.08)
    bottom = "document.documentElement.scrollHeight - innerHeight - scrollY < 60"
    with watched_page(browser, live.base_url, size=PHONE) as watched:
        page = watched.page
        ask(page, QUESTION)
        until(page, "scrollY > 200")
        assert page.evaluate(bottom)
        page.mouse.move(180, 300)
        page.mouse.wheel(0, -400)
        page.get_by_role("button", name="To the newest words").wait_for()
        place = page.evaluate("scrollY")
        page.wait_for_timeout(600)
        assert page.evaluate("scrollY") == place
        assert page.locator(".turn").get_attribute("aria-busy") == "true"
        page.get_by_role("button", name="To the newest words").click()
        page.wait_for_timeout(300)
        assert page.evaluate(bottom)
        page.click("#stop-button")


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=LOOK_NAMES)
def test_axe_finds_no_violation_with_filters_open_and_in_a_conversation(
    browser: Browser, live: LiveService, scheme: str, size: tuple[int, int]
) -> None:
    name = f"{scheme}-{size[0]}"
    with watched_page(browser, live.base_url, size=size, scheme=scheme) as watched:
        page = watched.page
        page.click("#filter-switch")
        page.get_by_text("More filters").click()
        page.fill("#year-from", "2016")
        page.fill("#filter-keywords", "Stroke,")
        for label in ("Year from", "Words in the title", "Journal", "Author", "Publication type", "Language"):
            assert page.get_by_label(label, exact=True).count() == 1, label
        assert page.get_by_role("switch", name="Filter records").get_attribute("aria-checked") == "true"
        assert violations(page) == []
        watched.shot(f"filters-{name}")
        page.click("#filter-switch")
        for turn, question in enumerate((QUESTION, "And in children?", "Does zetamab cure asthma?"), 1):
            ask(page, question)
            wait_until_over(page, turn)
        assert violations(page) == []
        # One line, whatever stands in it.
        assert page.locator("header").evaluate("header => header.offsetHeight") < 66
        assert page.get_by_role("button", name="New conversation").is_visible()
        watched.shot(f"conversation-{name}")
        page.reload()
        wait_until_over(page, 3)
        assert violations(page) == []
        page.get_by_role("button", name="New conversation").click()
        page.get_by_role("region", name="Earlier conversations").wait_for()
        assert violations(page) == []
        watched.shot(f"earlier-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
