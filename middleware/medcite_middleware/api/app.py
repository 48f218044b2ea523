"""The HTTP service of one set of services: routes, errors, guard and page put together."""

from __future__ import annotations

from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from medcite_core.settings import ServerSettings
from medcite_middleware.api.errors import add_error_handlers
from medcite_middleware.api.guard import Guard
from medcite_middleware.api.page import Page
from medcite_middleware.api.routes_corpus import corpus_router, status_router
from medcite_middleware.api.routes_original import original_router
from medcite_middleware.api.routes_results import results_router
from medcite_middleware.api.routes_runs import runs_router
from medcite_middleware.api.sse import RUN_ID_HEADER
from medcite_middleware.services import Services

EXPORT_HEADERS = ("X-Medcite-Asked", "X-Medcite-Exported", "X-Medcite-Missing")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def create_app(services: Services, server: ServerSettings, page_dir: Path | None) -> FastAPI:
    """The application. It builds nothing and starts nothing; `page_dir` is the built page, if there is one.

    On a loopback address it answers to loopback names only; a client must call it `127.0.0.1`, `localhost` or `[::1]`.
    """
    app = FastAPI(
        title="medcite",
        version=version("medcite"),
        description="Cited, checked answers from a PubMed corpus.",
        # Their pages load scripts from another site, which the content security policy forbids.
        docs_url=None,
        redoc_url=None,
    )
    app.state.services = services
    add_error_handlers(app)
    app.include_router(runs_router(services, server.heartbeat_s))
    app.include_router(corpus_router(services))
    app.include_router(results_router(services))
    app.include_router(status_router(services))
    app.include_router(original_router(services, server.cors_origins))
    app.router.default = Page(page_dir)
    app.add_middleware(Guard, hosts=_host_names(server.host), max_body_bytes=server.max_body_bytes)
    if server.cors_origins:
        # Outermost, so that pages of these origins can read errors of the guard too. No cookies: there are none.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=server.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Content-Type", "Last-Event-ID", "X-Request-ID"],
            expose_headers=["X-Request-ID", RUN_ID_HEADER, "Retry-After", "Content-Disposition", *EXPORT_HEADERS],
        )
    return app


def _host_names(host: str) -> frozenset[str] | None:
    """The names to answer to: loopback names when listening there; None, any name, when others are let in."""
    name = host.strip("[]").casefold()
    try:
        is_loopback = name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        is_loopback = False
    return LOOPBACK | {name} if is_loopback else None
