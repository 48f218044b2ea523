"""The page is served from the folder it was built into, and never hides the service's own addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.live_service import LiveService, serving, small_services


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>medcite</title>", encoding="utf-8")
    (folder / "assets" / "app-abc123.js").write_text("export {}", encoding="utf-8")
    (folder / "icon.svg").write_text("<svg/>", encoding="utf-8")
    (folder.parent / "secret.txt").write_text("secret", encoding="utf-8")
    services, settings = small_services(tmp_path_factory.mktemp("data"))
    with serving(services, settings, folder) as service:
        yield service


def test_the_page_is_fresh_and_its_hashed_files_last_for_ever(live: LiveService) -> None:
    page = live.client.get("/")
    assert "<title>medcite" in page.text
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    script = live.client.get("/assets/app-abc123.js")
    assert "immutable" in script.headers["cache-control"]
    assert "javascript" in script.headers["content-type"]
    assert live.client.get("/icon.svg").headers["content-type"].startswith("image/svg+xml")
    assert live.client.head("/").status_code == 200


def test_a_page_that_is_known_already_is_not_sent_again(live: LiveService) -> None:
    etag = live.client.get("/").headers["etag"]
    again = live.client.get("/", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/index.html", "/?view=records&q=stroke", "/?nonsense"])
def test_every_address_of_the_page_leads_to_it(live: LiveService, path: str) -> None:
    reply = live.client.get(path, headers={"Accept": "text/html"})
    assert reply.status_code == 200
    assert "<title>medcite" in reply.text


@pytest.mark.parametrize(
    "path", ["/nopage", "/records/101", "/nopage/", "/assets", "/assets/", "/nopage.html", "/404.html"]
)
def test_an_address_that_leads_nowhere_says_so_in_words_with_a_way_home(live: LiveService, path: str) -> None:
    reply = live.client.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "X-Request-ID": "r7"})
    assert reply.status_code == 404
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.headers["cache-control"] == "no-cache"
    assert "There is no page at this address" in reply.text
    assert '<a href="/">' in reply.text
    assert "<code>r7</code>" in reply.text
    assert live.client.head(path, headers={"Accept": "text/html"}).status_code == 404
    program = live.client.get(path, headers={"Accept": "application/json"})
    assert (program.status_code, program.json()["error"]["code"]) == (404, "not_found")


def test_missing_files_are_an_error_of_the_service(live: LiveService) -> None:
    for path in ("/assets/gone.js", "/favicon.png", "/robots.txt"):
        missing = live.client.get(path)
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nope", "/api/records", "/healthz/x", "/openapi.json/x"])
def test_addresses_of_the_service_never_lead_to_the_page(live: LiveService, path: str) -> None:
    reply = live.client.get(path)
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/a%00.js"])
def test_nothing_outside_the_folder_is_served(live: LiveService, path: str) -> None:
    reply = live.client.get(path)
    assert "secret" not in reply.text
    assert reply.status_code in (200, 404)


def test_without_a_built_page_the_address_says_how_to_build_it(tmp_path: Path) -> None:
    services, settings = small_services(tmp_path)
    with serving(services, settings) as bare:
        page = bare.client.get("/")
        assert page.status_code == 200
        assert "scripts/up.py" in page.text
        assert bare.client.get("/assets/x.js").status_code == 404
        nowhere = bare.client.get("/nopage")
        assert (nowhere.status_code, "There is no page" in nowhere.text) == (404, True)
        assert bare.client.get("/api/corpus").status_code == 200
