"""Debian's Chromium driven by playwright, and what every page test asks of the page."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
RESULTS = Path(__file__).resolve().parents[2] / "test-results"
WIDE, PHONE = (1280, 900), (360, 780)


def chromium_path() -> str:
    """Where Chromium is: TEST_CHROMIUM, or the first known name on the path."""
    found = os.environ.get("TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "no Chromium on the path (Debian: apt install chromium)"
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and what it did that no test wants: errors of scripts, of the content policy, and requests elsewhere."""

    page: Page
    problems: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def shot(self, name: str) -> None:
        """Keep a picture for people to look at."""
        RESULTS.mkdir(exist_ok=True)
        self.page.screenshot(path=RESULTS / f"{name}.png")


@contextlib.contextmanager
def watched_page(
    browser: Browser, base_url: str, *, size: tuple[int, int] = WIDE, scheme: str = "light"
) -> Iterator[Watched]:
    """The start page of the service at `base_url` in a fresh context; fails when the page did what it must not."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    watched = Watched(page)

    def on_request(request: Any) -> None:
        # A file that the page made and offers for saving is a blob of its own.
        if not request.url.removeprefix("blob:").startswith((base_url, "data:")):
            watched.problems.append(f"request to {request.url}")
        elif request.method == "POST" and request.url.endswith("/api/ask"):
            watched.bodies.append(request.post_data_json)

    def on_console(message: Any) -> None:
        # The browser itself notes failed loads; the tests make some fail on purpose.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            watched.problems.append(f"console: {message.text}")

    def on_dialog(dialog: Any) -> None:
        watched.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("dialog", on_dialog)
    page.on("pageerror", lambda error: watched.problems.append(f"script: {error}"))
    try:
        page.goto(base_url)
        yield watched
    finally:
        context.close()
    assert watched.problems == [], watched.problems


def until(page: Page, expression: str, arg: object = None, seconds: float = 60.0) -> None:
    """Wait until a JavaScript expression, or a function of `arg`, is true.

    Playwright's own `wait_for_function` evaluates text inside the page, which the content security policy forbids.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, f"not within {seconds} s: {expression}"
        page.wait_for_timeout(50)


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it stands, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for rule in found
        for node in rule["nodes"]
    ]
