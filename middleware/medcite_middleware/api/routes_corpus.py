"""What can be read at once: searches, records, the corpus, health and readiness."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from medcite_middleware.api.bodies import SearchIn
from medcite_middleware.api.errors import client_errors, require_json
from medcite_middleware.services import Services
from medcite_middleware.services.results import (
    CorpusOut,
    ReadyOut,
    RecordReply,
    SearchOut,
    corpus_out,
    found_out,
    ready_out,
)
from medcite_middleware.shaping import record_out


def corpus_router(services: Services) -> APIRouter:
    """The routes that read the corpus."""
    router = APIRouter(prefix="/api", tags=["corpus"], responses=client_errors())

    @router.post("/search", dependencies=[Depends(require_json)])
    async def search(body: SearchIn) -> SearchOut:
        """The records that match best, with the passages found in them."""
        return found_out(await services.search.search(body.query, body.filters, body.k))

    @router.get("/records/{pmid}")
    async def record(pmid: str) -> RecordReply:
        """One record, whole."""
        return RecordReply(record=record_out(await services.records.get(pmid)))

    @router.get("/corpus")
    async def corpus() -> CorpusOut:
        """What there is to ask, and with what."""
        return corpus_out(await services.status.state())

    return router


def status_router(services: Services) -> APIRouter:
    """The routes that machines poll."""
    router = APIRouter(tags=["status"])

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @router.get("/readyz", responses={503: {"model": ReadyOut, "description": "Questions cannot be answered."}})
    async def readyz(response: Response) -> ReadyOut:
        """Whether questions can be answered; 503 when not."""
        ready = ready_out(await services.status.state())
        response.status_code = 200 if ready.ready else 503
        return ready

    @router.get("/server_status")
    async def server_status() -> dict[str, str]:
        """The state as the original medcite page reads it: `serverStatus` is OK or NOK."""
        state = await services.status.state()
        return {"serverMessage": state.message(), "serverStatus": "OK" if state.is_ready and state.records else "NOK"}

    return router
