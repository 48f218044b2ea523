"""The result list, its export, citations, and completions for filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from medcite_core.types import SuggestField
from medcite_middleware.api.bodies import ExportIn, ResultsIn
from medcite_middleware.api.errors import client_errors, medcite_error_response, request_id_of, require_json
from medcite_middleware.citation.styles import CitationStyle
from medcite_middleware.export.formats import FORMATS
from medcite_middleware.services import Services
from medcite_middleware.services.exporting import ExportedFile, RecordsMissing
from medcite_middleware.services.result_list import ResultQuery
from medcite_middleware.services.results import (
    CitationOut,
    ResultsOut,
    SuggestionOut,
    SuggestionsOut,
    results_out,
)

_BLOCK_BYTES = 65_536
_NAMED_MISSING = 1000
FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "The file. `X-Medcite-Exported` holds how many records it has, `X-Medcite-Asked` how many were asked for, "
            "and `X-Medcite-Repeated` how many of those were PMIDs given before."
        ),
        "content": {form.media_type.partition(";")[0]: {} for form in FORMATS.values()},
    }
}


def results_router(services: Services) -> APIRouter:
    """The routes of the result list."""
    router = APIRouter(prefix="/api", tags=["results"], responses=client_errors())
    posted = [Depends(require_json)]

    @router.post("/results", dependencies=posted)
    async def results(body: ResultsIn) -> ResultsOut:
        """A page of all records that hold a word of the query and pass the filters."""
        wanted = ResultQuery(body.query, body.filters, body.sort, body.descending, body.mode)
        return results_out(await services.results.page(wanted, body.offset, body.limit))

    @router.post("/export", response_class=StreamingResponse, responses=FILE, dependencies=posted)
    async def export(body: ExportIn, request: Request) -> Response:
        """Records as a file, up to `server.max_export_records`; a PMID that the corpus does not hold is an error.

        `X-Medcite-Missing` of that error holds such PMIDs with commas between them, at most 1,000.
        """
        if body.pmids is not None:
            try:
                return _file(await services.exports.export_pmids(body.pmids, body.format))
            except RecordsMissing as error:
                response = medcite_error_response(error, request_id_of(request))
                response.headers["X-Medcite-Missing"] = ",".join(filter(_is_pmid, error.missing[:_NAMED_MISSING]))
                return response
        wanted = ResultQuery(body.query or "", body.filters, body.sort, body.descending)
        return _file(await services.exports.export_search(wanted, body.format))

    @router.get("/records/{pmid}/citation")
    async def citation(pmid: str, style: CitationStyle = "vancouver") -> CitationOut:
        """A record as one line of a reference list."""
        return CitationOut(style=style, text=await services.records.citation(pmid, style))

    @router.get("/suggestions")
    async def suggestions(
        field: SuggestField,
        prefix: Annotated[str, Query(max_length=100)] = "",
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> SuggestionsOut:
        """Values of a filter field in which a word begins with `prefix`, and how many records hold each."""
        found = await services.results.suggest(field, prefix, limit)
        return SuggestionsOut(values=[SuggestionOut(value=item.value, records=item.records) for item in found])

    return router


def _is_pmid(text: str) -> bool:
    # A header is no place for whatever else was sent as a PMID.
    return text.isascii() and text.isdigit() and len(text) < 20


def _file(exported: ExportedFile) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{exported.name}"',
        "Content-Length": str(exported.size),
        "Cache-Control": "no-store",
        "X-Medcite-Asked": str(exported.asked),
        "X-Medcite-Exported": str(exported.records),
        "X-Medcite-Repeated": str(exported.asked - exported.records),
    }
    close = BackgroundTask(exported.content.close)
    return StreamingResponse(
        _blocks(exported.content), headers=headers, media_type=exported.media_type, background=close
    )


def _blocks(content: IO[bytes]) -> Iterator[bytes]:
    with content:
        while block := content.read(_BLOCK_BYTES):
            yield block
