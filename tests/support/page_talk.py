"""What the page's tests have in common: where the built page is, what they ask, and what they wait for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.browser import PHONE, WIDE, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
PAGE_DIR = ROOT / "frontend" / "dist"
PAYLOADS = [
    line
    for line in (ROOT / "frontend/tests/inputs/FR-133-payloads.txt").read_text(encoding="utf-8").splitlines()
    if line
]
QUESTION = "Does aspirin lower recurrent stroke?"
BLEEDING_QUESTION = "Does aspirin cause bleeding?"
ANSWER = ("Aspirin lowered recurrent stroke ", "from 18.4% to 12.1% in 2,431 patients [1].")
MIXED_ANSWER = (
    *ANSWER,
    " Aspirin lowered recurrent stroke from 18.4% to 2.1% in 2,431 patients [1].",
    " Most doctors like it. It is cheap [9].",
)
"""A sentence that is supported, one that is contradicted, one without a citation, and one whose source is none."""
LOOKS = [("light", WIDE), ("dark", WIDE), ("light", PHONE), ("dark", PHONE)]
LOOK_NAMES = [f"{scheme}-{width}" for scheme, (width, _) in LOOKS]


def ask(page: Page, question: str) -> None:
    """Type a question and send it."""
    page.fill("#question", question)
    page.press("#question", "Enter")


def wait_until_over(page: Page, turns: int = 1) -> None:
    """Wait until so many turns have ended, in whatever way."""
    until(page, "n => document.querySelectorAll('.turn[aria-busy=false]').length >= n", turns)


def answers(page: Page) -> list[str]:
    """The answers on the page, as text."""
    return [" ".join(text.split()) for text in page.locator(".turn .answer").all_inner_texts()]


def slow_down(page: Page, latency_ms: int, bytes_per_s: int = 40_000) -> None:
    """Make the page's network slow, as Chromium emulates it."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    slow = {"offline": False, "latency": latency_ms, "downloadThroughput": bytes_per_s, "uploadThroughput": bytes_per_s}
    network.send("Network.emulateNetworkConditions", slow)
