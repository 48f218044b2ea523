"""Serves the built page: hashed assets for ever, the page itself fresh, and the page for its own addresses."""

from __future__ import annotations

from pathlib import Path

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


class Page:
    """What answers when no route does. `folder` is the built page, None when there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._files = StaticFiles(directory=folder) if folder is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A file of the page, or the page itself for an address that only the page knows.

        Raises:
            HTTPException: 404 for addresses of the service and missing files.
        """
        if scope["type"] != "http":
            raise HTTPException(404)
        path = scope["path"].lstrip("/")
        if scope["method"] not in ("GET", "HEAD") or path == "api" or path.startswith(API_PREFIXES):
            raise HTTPException(404)
        response = await self._response(path, scope)
        await response(scope, receive, send)

    async def _response(self, path: str, scope: Scope) -> Response:
        if self._files is None:
            if path not in ("", "index.html"):
                raise HTTPException(404)
            return HTMLResponse(NOT_BUILT, headers={"Cache-Control": FRESH})
        is_address = "." not in path.rpartition("/")[2]
        name = "index.html" if is_address else path
        response = await self._files.get_response(name, scope)
        response.headers["Cache-Control"] = FOR_EVER if path.startswith("assets/") else FRESH
        return response
