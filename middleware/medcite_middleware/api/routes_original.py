"""The doors of the original medcite, so that its page and its evaluation script work against this service."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from medcite_core.answers import CITATION_MARK
from medcite_core.errors import InvalidInput, UnknownKey
from medcite_core.filters import SearchFilter
from medcite_middleware.api.bodies import clean_question
from medcite_middleware.api.errors import client_errors, request_id_of, require_json
from medcite_middleware.api.whole_answers import whole_answer
from medcite_middleware.events import AnswerOut
from medcite_middleware.pipeline.ask import AskRequest
from medcite_middleware.services import Services
from medcite_middleware.services.asking import AskService

# The old page cuts the message at its first underscore; this sign looks like one and is none.
_LIKE_AN_UNDERSCORE = "\N{FULLWIDTH LOW LINE}"
MAX_YEARS = 1_000

QueryText = Annotated[str, Query(description="The question, 1 to 2,000 characters.")]


class OldFilter(BaseModel):
    """The filter of the original page; all of it may be missing, null or empty."""

    model_config = ConfigDict(extra="allow", frozen=True)

    title: Any = None
    year_range: Any = None
    keywords: Any = None


class OldQuestion(BaseModel):
    """The body of a filtered question."""

    model_config = ConfigDict(frozen=True)

    query_str: Any = None
    filter: OldFilter | None = None


class OldAnswer(BaseModel):
    """`message` is the answer, an underscore, and for each record `|` and its PubMed address."""

    message: str


def original_router(services: Services, origins: Collection[str]) -> APIRouter:
    """The routes of the original project, beside `/server_status`; pages of other sites must be among `origins`."""
    router = APIRouter(tags=["original"], responses=client_errors())

    def refuse_other_sites(request: Request) -> None:
        # A picture on any page can send a GET; it could not read the answer, but it would make the model work.
        if _is_of_another_site(request) and request.headers.get("origin") not in origins:
            raise HTTPException(403)

    ours = [Depends(refuse_other_sites)]

    async def answered(service: AskService, query: Any, chosen: SearchFilter, request: Request) -> OldAnswer:
        question = clean_question(query, "query_str")
        asked = AskRequest(question, chosen, request_id=request_id_of(request))
        return OldAnswer(message=old_message(await whole_answer(service, asked, request)))

    @router.get("/retrieve_documents_dense", dependencies=ours)
    async def dense(request: Request, query_str: QueryText = "") -> OldAnswer:
        """Answer a question from the corpus."""
        return await answered(services.ask, query_str, SearchFilter(), request)

    @router.get("/retrieve_documents_sparse", dependencies=ours)
    async def sparse(request: Request, query_str: QueryText = "") -> OldAnswer:
        """Answer a question from the corpus, searched by words alone."""
        return await answered(services.ask_by_words, query_str, SearchFilter(), request)

    @router.post("/retrieve_documents_dense_f", dependencies=[Depends(require_json)])
    async def dense_filtered(body: OldQuestion, request: Request) -> OldAnswer:
        """Answer a question from the records that pass a filter."""
        chosen = read_old_filter(body.filter) if body.filter else SearchFilter()
        return await answered(services.ask, body.query_str, chosen, request)

    return router


def _is_of_another_site(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("cross-site", "same-site")
    # Older browsers do not say; then the page that asked stands in Origin or Referer. Without either it is no page.
    named = request.headers.get("origin") or request.headers.get("referer")
    return bool(named) and urlsplit(named or "").netloc.casefold() != request.headers.get("host", "").casefold()


def old_message(answer: AnswerOut) -> str:
    """An answer as the original page takes it apart: at the first underscore, then at each `|`.

    A record is listed once, so `[n]` in the text is renumbered to mean the n-th address.
    """
    pmids = list(dict.fromkeys(item.pmid for item in answer.evidence)) if answer.outcome == "answered" else []
    place_of = {item.number: pmids.index(item.pmid) + 1 for item in answer.evidence if item.pmid in pmids}

    def renumbered(mark: Any) -> str:
        numbers = [int(number) for number in mark.group(1).replace(";", ",").split(",")]
        places = dict.fromkeys(str(place_of.get(number, number)) for number in numbers)
        return f"[{', '.join(places)}]"

    text = CITATION_MARK.sub(renumbered, answer.text).replace("_", _LIKE_AN_UNDERSCORE)
    return f"{text}_" + "".join(f"|https://pubmed.ncbi.nlm.nih.gov/{pmid}/" for pmid in pmids)


def read_old_filter(old: OldFilter) -> SearchFilter:
    """Our filter for the original one. Years mean their smallest to their largest.

    Raises:
        UnknownKey: a key that the original filter does not have.
        InvalidInput: a year that is none, or a value of the wrong kind.
    """
    unknown = sorted(old.model_extra or {})
    if unknown:
        raise UnknownKey(
            f"filter key {unknown[0][:60]!r} does not exist", "Filter keys are: title, year_range, keywords."
        )
    year_from, year_to = _years(old.year_range)
    raw: Mapping[str, Any] = {
        "title": clean_question(old.title, "title") if _is_given(old.title) else "",
        "keywords": _keywords(old.keywords),
        "year_from": year_from,
        "year_to": year_to,
    }
    return SearchFilter.from_mapping(raw)


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _keywords(value: Any) -> list[str]:
    if not _is_given(value):
        return []
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        raise InvalidInput("keywords must be a list of texts, or one text with commas")
    return [clean_question(item, "keywords").strip() for item in items if _is_given(item)]


def _years(value: Any) -> tuple[int | None, int | None]:
    """Smallest and largest year; of a pair with one empty end, that end is open."""
    if not _is_given(value):
        return None, None
    items = value if isinstance(value, list) else [value]
    if len(items) > MAX_YEARS:
        raise InvalidInput(f"year_range has {len(items):,} years; at most {MAX_YEARS:,} are taken")
    years = [_year(item) if _is_given(item) else None for item in items]
    given = [year for year in years if year is not None]
    if len(years) == 2 and len(given) == 1:
        return years[0], years[1]
    return (min(given), max(given)) if given else (None, None)


def _year(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    is_digits = isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 20
    if not (is_number or is_digits):
        raise InvalidInput(f"year_range: {str(value)[:40]!r} is not a year", "Give four-digit years, such as 2015.")
    return int(value)
