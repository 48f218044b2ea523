"""Questions and checks as runs: `/api/ask`, `/api/verify`, `/api/answer`, `/api/runs` and their reports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from medcite_core.errors import InvalidInput
from medcite_core.plain_documents import text_document
from medcite_middleware.api.bodies import AskIn, InlineSource, VerifyIn
from medcite_middleware.api.errors import client_errors, request_id_of, require_json
from medcite_middleware.api.sse import MEDIA_TYPE, RUN_ID_HEADER, EventStream
from medcite_middleware.api.whole_answers import whole_answer
from medcite_middleware.events import AnswerOut
from medcite_middleware.export.verdicts.formats import VerdictFormat, write_report
from medcite_middleware.pipeline.ask import AskRequest
from medcite_middleware.services import Services
from medcite_middleware.services.runs import Run
from medcite_middleware.services.verifying import Against, CheckInput

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: each has `id`, `event` and `data` (JSON).",
        "content": {MEDIA_TYPE: {}},
        "headers": {RUN_ID_HEADER: {"description": "The run, as in its first event.", "schema": {"type": "string"}}},
    }
}


REPORT_FILES: dict[VerdictFormat, tuple[str, str]] = {
    "json": ("application/json", ".json"),
    "original": ("application/json", ".claims.json"),
    "csv": ("text/csv", ".csv"),
    "markdown": ("text/markdown", ".md"),
    "trec-biogen": ("application/json", ".trec-biogen.json"),
    "scifact": ("application/x-ndjson", ".scifact.jsonl"),
}
REPORT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {media_type: {} for media_type, _ in REPORT_FILES.values()}}
}


def runs_router(services: Services, heartbeat_s: float) -> APIRouter:
    """The routes of runs."""
    router = APIRouter(prefix="/api", tags=["runs"], responses=client_errors())
    posted = [Depends(require_json)]

    def stream(run: Run, after: int = 0) -> EventStream:
        return EventStream(run, after, heartbeat_s)

    @router.post("/ask", response_class=StreamingResponse, responses=STREAM, dependencies=posted)
    async def ask(body: AskIn, request: Request) -> Response:
        """Answer a question from the corpus, as events; the last is finished, incomplete, cancelled or error."""
        return stream(services.ask.start(_ask_request(body, request)))

    @router.post("/answer", dependencies=posted)
    async def answer(body: AskIn, request: Request) -> AnswerOut:
        """Answer a question from the corpus, whole."""
        return await whole_answer(services.ask, _ask_request(body, request), request)

    @router.post("/verify", response_class=StreamingResponse, responses=STREAM, dependencies=posted)
    async def verify(body: VerifyIn, request: Request) -> Response:
        """Check a text in which `[n]` cites the n-th of `sources`, or claims one by one, as events."""
        given = CheckInput(
            body.text.strip(),
            tuple(claim.strip() for claim in body.claims),
            body.question.strip(),
            body.ask_anew,
            request_id_of(request),
        )
        return stream(await services.verify.start(given, _against(body)))

    @router.get("/runs/{run_id}/events", response_class=StreamingResponse, responses=STREAM)
    async def resume(run_id: str, request: Request) -> Response:
        """Go on with a run's events after the header `Last-Event-ID`; without it from the first."""
        return stream(services.runs.get(run_id), _last_event_id(request))

    @router.get("/runs/{run_id}/report", response_class=Response, responses=REPORT)
    async def report(run_id: str, form: Annotated[VerdictFormat, Query(alias="format")] = "json") -> Response:
        """The report of a finished check as a file; it is kept for an hour."""
        media_type, suffix = REPORT_FILES[form]
        text = write_report(services.verify.report(run_id), form)
        name = f"medcite-check-{run_id[:8]}{suffix}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(text.encode("utf-8"), headers=headers, media_type=f"{media_type}; charset=utf-8")

    @router.delete("/runs/{run_id}", status_code=204)
    async def cancel(run_id: str) -> Response:
        """Stop a run at once; a finished one stays as it is."""
        await services.runs.get(run_id).cancel()
        return Response(status_code=204)

    return router


def _against(body: VerifyIn) -> Against:
    if body.sources == "corpus":
        return Against(corpus=True)
    pmids = tuple(source for source in body.sources if isinstance(source, str))
    texts = [source for source in body.sources if isinstance(source, InlineSource)]
    return Against(pmids=pmids, documents=tuple(text_document(source.name, source.text) for source in texts))


def _ask_request(body: AskIn, request: Request) -> AskRequest:
    return AskRequest(
        question=body.question,
        search_filter=body.filters,
        history=body.turns(),
        k=body.options.k,
        request_id=request_id_of(request),
    )


def _last_event_id(request: Request) -> int:
    given = request.headers.get("last-event-id", "").strip() or "0"
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise InvalidInput("Last-Event-ID must be the number of an event of this run")
    return int(given)
