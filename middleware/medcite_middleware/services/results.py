"""The plain results of the service as they cross the wire: searches, the corpus, readiness. Only ever added to."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from medcite_core.types import Passage
from medcite_middleware.events import SCHEMA_VERSION, RecordOut, SearchReportOut, SpanOut
from medcite_middleware.services.corpus import CorpusState, Found
from medcite_middleware.services.result_list import ResultPage
from medcite_middleware.shaping import record_out, search_out


class PassageOut(BaseModel):
    """A passage found in a record: `span` slices the record's text to `text`; a rank is None where a list lacks it."""

    chunk_id: str
    section: str
    span: SpanOut
    text: str
    score: float
    cosine: float | None
    bm25: float | None
    lexical_rank: int | None
    vector_rank: int | None


class FoundRecordOut(BaseModel):
    """A record and what was found in it, best first."""

    rank: int
    score: float
    record: RecordOut
    passages: list[PassageOut]


class SearchOut(BaseModel):
    """Records in the order of their best passages; `total` counts those that match lexically and pass the filter."""

    schema_version: int = SCHEMA_VERSION
    search: SearchReportOut
    total: int
    records: list[FoundRecordOut]


class RecordReply(BaseModel):
    """One record, whole."""

    schema_version: int = SCHEMA_VERSION
    record: RecordOut


class ListedRecordOut(BaseModel):
    """A record of a result list: `matches` slice its text to words of the query, `snippet` to a whole sentence."""

    record: RecordOut
    matches: list[SpanOut]
    snippet: SpanOut


class ResultsOut(BaseModel):
    """A page of all records that match and pass; `total` counts them, and all pages together hold each once."""

    schema_version: int = SCHEMA_VERSION
    total: int
    offset: int
    limit: int
    sort: Literal["relevance", "date", "journal"]
    descending: bool
    records: list[ListedRecordOut]
    search: SearchReportOut


class SuggestionOut(BaseModel):
    """A value as the corpus writes it, and how many records hold it."""

    value: str
    records: int


class SuggestionsOut(BaseModel):
    """Completions for a filter field, the best first."""

    schema_version: int = SCHEMA_VERSION
    values: list[SuggestionOut]


class CitationOut(BaseModel):
    """A record as one line of a reference list, in plain text."""

    schema_version: int = SCHEMA_VERSION
    style: Literal["vancouver", "apa"]
    text: str


class YearOut(BaseModel):
    """How many records were published in a year."""

    year: int
    records: int


class CorpusOut(BaseModel):
    """What there is to ask, and with what. `chat_model` is empty when answers are made of quotations."""

    schema_version: int = SCHEMA_VERSION
    name: str
    records: int
    chunks: int
    years: list[YearOut]
    mode: Literal["hybrid", "lexical"]
    embedding_model: str
    embedding_revision: str
    embedder_state: Literal["ready", "loading", "failed"]
    embedder_problem: str
    chat_model: str
    example_questions: list[dict[str, Any]]
    worked_example: dict[str, Any] | None
    versions: dict[str, str]
    message: str


class ReadyOut(BaseModel):
    """Whether questions can be answered, and how."""

    schema_version: int = SCHEMA_VERSION
    ready: bool
    message: str
    records: int
    mode: Literal["hybrid", "lexical"]
    embedder_state: Literal["ready", "loading", "failed"]
    chat_model: str


def _passage_out(passage: Passage) -> PassageOut:
    chunk = passage.chunk
    return PassageOut(
        chunk_id=chunk.id,
        section=chunk.section,
        span=SpanOut(start=chunk.span.start, end=chunk.span.end),
        text=chunk.text,
        score=passage.score,
        cosine=passage.cosine,
        bm25=passage.bm25,
        lexical_rank=passage.lexical_rank,
        vector_rank=passage.vector_rank,
    )


def found_out(found: Found) -> SearchOut:
    """Shape the result of a search for the wire."""
    return SearchOut(
        search=search_out(found.report),
        total=found.total,
        records=[
            FoundRecordOut(
                rank=rank,
                score=item.score,
                record=record_out(item.record),
                passages=[_passage_out(p) for p in item.passages],
            )
            for rank, item in enumerate(found.records, start=1)
        ],
    )


def results_out(page: ResultPage) -> ResultsOut:
    """Shape a page of a result list for the wire."""
    return ResultsOut(
        total=page.total,
        offset=page.offset,
        limit=page.limit,
        sort=page.sort,
        descending=page.descending,
        records=[
            ListedRecordOut(
                record=record_out(item.record),
                matches=[SpanOut(start=span.start, end=span.end) for span in item.highlights.matches],
                snippet=SpanOut(start=item.highlights.snippet.start, end=item.highlights.snippet.end),
            )
            for item in page.records
        ],
        search=search_out(page.report),
    )


def corpus_out(state: CorpusState) -> CorpusOut:
    """Shape the corpus for the wire."""
    return CorpusOut(
        name=state.name,
        records=state.records,
        chunks=state.chunks,
        years=[YearOut(year=year, records=count) for year, count in sorted(state.years.items())],
        mode=state.mode,
        embedding_model=state.embedding_model,
        embedding_revision=state.embedding_revision,
        embedder_state=state.embedder_state,
        embedder_problem=state.embedder_problem,
        chat_model=state.chat_model,
        example_questions=[dict(q) for q in state.example_questions],
        worked_example=dict(state.worked_example) if state.worked_example is not None else None,
        versions=dict(state.versions),
        message=state.message(),
    )


def ready_out(state: CorpusState) -> ReadyOut:
    """Shape readiness for the wire."""
    return ReadyOut(
        ready=state.is_ready,
        message=state.message(),
        records=state.records,
        mode=state.mode,
        embedder_state=state.embedder_state,
        chat_model=state.chat_model,
    )
