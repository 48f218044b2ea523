"""The chat page as a tool that stays open: conversations, reloads, filters in the address, copying, slow networks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import PHONE, WIDE, chromium, until, violations, watched_page
from support.live_service import LiveService, serving, small_services
from support.llm_server import LLMServer, Reply

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PAGE_DIR = Path(__file__).resolve().parents[2] / "frontend" / "dist"
QUESTION = "Does aspirin lower recurrent stroke?"
ANSWER = ("Aspirin lowered recurrent stroke ", "from 18.4% to 12.1% in 2,431 patients [1].")
OTHER_QUESTION = "Does zetamab cure asthma?"
LOOKS = [("light", WIDE), ("dark", WIDE), ("light", PHONE), ("dark", PHONE)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert (PAGE_DIR / "index.html").is_file(), "the page is not built: `npm ci && npm run build` in frontend/"
    with chromium() as opened:
        yield opened


@pytest.fixture
def live(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A small corpus with a scripted chat server."""
    llm_server.default = Reply(pieces=ANSWER)
    services, settings = small_services(
        tmp_path, llm_server.base_url, server__heartbeat_s=0.2, llm__timeout_s=20.0, llm__retries=0
    )
    with serving(services, settings, PAGE_DIR) as served:
        yield served


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def wait_until_over(page: Page, turns: int = 1) -> None:
    until(page, "n => document.querySelectorAll('.turn[aria-busy=false]').length >= n", turns)


def answers(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".turn .answer").all_inner_texts()]


def test_answers_sources_and_verdicts_come_back_after_a_reload(
    browser: Browser, live: LiveService, llm_server: LLMServer
) -> None:
    """FR-109: each answer keeps its own sources."""
    with watched_page(browser, live.base_url) as watched:
        page = watched.page
        ask(page, QUESTION)
        wait_until_over(page)
        ask(page, "Does aspirin cause bleeding?")
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
        ask(page, "Does aspirin cause bleeding?")
        page.locator(".turn").nth(1).get_by_text("2,431 patients").wait_for()
        page.click("#stop-button")
        wait_until_over(page, 2)
        page.reload()
        wait_until_over(page, 2)
        second = page.locator(".turn").nth(1)
        assert "Does aspirin cause bleeding?" in second.inner_text()
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


@pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=[f"{s}-{w}" for s, (w, _) in LOOKS])
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
        for turn, question in enumerate((QUESTION, "And in children?", OTHER_QUESTION), 1):
            ask(page, question)
            wait_until_over(page, turn)
        assert violations(page) == []
        watched.shot(f"conversation-{name}")
        page.reload()
        wait_until_over(page, 3)
        assert violations(page) == []
        page.get_by_role("button", name="New conversation").click()
        page.get_by_role("region", name="Earlier conversations").wait_for()
        assert violations(page) == []
        watched.shot(f"earlier-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
