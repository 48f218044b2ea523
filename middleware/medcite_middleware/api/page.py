"""Serves the built page: hashed assets for ever, the page itself fresh, and words for an address that leads nowhere."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

FOR_EVER = "public, max-age=31536000, immutable"
FRESH = "no-cache"
API_PREFIXES = ("api/", "healthz", "readyz", "server_status", "openapi.json")
NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>medcite</title></head>
<body><main><h1>medcite is running, its page is not built</h1>
<p>The service answers at <code>/api</code>; <a href="/openapi.json">openapi.json</a> describes it.</p>
<p>To build the page, run <code>python3 scripts/up.py</code> in the checkout (it needs Node 20 or newer),
or install the wheel, which contains it.</p></main></body></html>
"""
NOT_FOUND = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>No such page - medcite</title></head>
<body><main><h1>There is no page at this address</h1>
<p><a href="/">To medcite</a></p><p>Status 404, request <code>{request_id}</code></p></main></body></html>
"""
# What the built page has in its place.
_NOT_FOUND_FILE = "404.html"
# The page has one address; its views and filters stand in the query.
_ADDRESSES = ("", "index.html")


class Page:
    """What answers when no route does. `folder` is the built page, None when there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._files = StaticFiles(directory=folder) if folder is not None else None
        built = folder / _NOT_FOUND_FILE if folder is not None else None
        self._not_found = built.read_text(encoding="utf-8") if built and built.is_file() else NOT_FOUND

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A file of the page, the page itself, or a 404: in words for a person's browser, JSON for programs.

        Raises:
            HTTPException: 404 for addresses of the service, for missing files and for programs.
        """
        if scope["type"] != "http":
            raise HTTPException(404)
        path = scope["path"].lstrip("/")
        if scope["method"] not in ("GET", "HEAD") or path == "api" or path.startswith(API_PREFIXES):
            raise HTTPException(404)
        try:
            response = await self._response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or not _is_read_by_a_person(path, scope):
                raise
            # Guard's ids are letters, digits and ._- alone.
            text = self._not_found.replace("{request_id}", scope["state"]["request_id"])
            response = HTMLResponse(text, 404, headers={"Cache-Control": FRESH})
        await response(scope, receive, send)

    async def _response(self, path: str, scope: Scope) -> Response:
        if self._files is None:
            if path not in _ADDRESSES:
                raise HTTPException(404)
            return HTMLResponse(NOT_BUILT, headers={"Cache-Control": FRESH})
        if path == _NOT_FOUND_FILE:
            raise HTTPException(404)
        response = await self._files.get_response(path or "index.html", scope)
        response.headers["Cache-Control"] = FOR_EVER if path.startswith("assets/") else FRESH
        return response


def _is_read_by_a_person(path: str, scope: Scope) -> bool:
    """Whether words are wanted: a browser that opens a page asks for HTML, for a script or a picture it does not."""
    accepted = Headers(scope=scope).get("accept", "")
    is_file = "." in path.rpartition("/")[2]
    return "text/html" in accepted or (not is_file and "application/json" not in accepted)
