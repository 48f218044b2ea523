"""What the service takes: request bodies, checked so that a person is told which field is wrong and why."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from medcite_core.answers import Turn
from medcite_core.errors import InvalidInput, UnknownKey
from medcite_core.filters import SearchFilter
from medcite_core.types import RecordOrder
from medcite_middleware.export.formats import ExportFormat

MAX_QUESTION_CHARS = 2_000
MAX_HISTORY_TURNS = 20
MAX_TURN_CHARS = 20_000
MAX_TEXT_CHARS = 20_000
MAX_SOURCES = 50
MAX_CLAIMS = 200
MAX_SOURCE_CHARS = 500_000
MAX_K = 50
MAX_LIMIT = 100


def clean_question(value: Any, name: str = "question", limit: int = MAX_QUESTION_CHARS) -> str:
    """What a person typed, trimmed.

    Raises:
        InvalidInput: it is empty, longer than `limit`, not text, or holds control characters.
    """
    text = _text(value, name).strip()
    if not text:
        raise InvalidInput(f"{name} is empty", "Write something in words.")
    if len(text) > limit:
        raise InvalidInput(
            f"{name} has {len(text):,} characters; at most {limit:,} are taken", "Shorten it to what matters."
        )
    return text


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text")
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    for place, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            raise InvalidInput(
                f"{name} holds a character that cannot be shown (U+{ord(character):04X}, the {place + 1:,}th)",
                "Remove control characters; they often come in with copied text.",
            )
    return text


def _said_before(value: Any) -> str:
    # An earlier answer comes back as it was shown, odd characters of a model and all: they are dropped, not refused.
    if not isinstance(value, str):
        raise InvalidInput("history: text of a turn must be text")
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in value)


def _list_query(value: Any) -> str:
    return clean_question(value, "query") if _text(value, "query").strip() else ""


def _filter(value: Any) -> SearchFilter:
    for text in _texts(value):
        _text(text, "filters")
    return SearchFilter.from_mapping(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


Question = Annotated[str, BeforeValidator(clean_question), Field(min_length=1, max_length=MAX_QUESTION_CHARS)]
Filters = Annotated[
    SearchFilter, BeforeValidator(_filter), WithJsonSchema(TypeAdapter(SearchFilter).json_schema(mode="validation"))
]
ListQuery = Annotated[str, BeforeValidator(_list_query), Field(max_length=MAX_QUESTION_CHARS)]
SaidBefore = Annotated[str, BeforeValidator(_said_before), Field(max_length=MAX_TURN_CHARS)]


class Body(BaseModel):
    """A JSON object with known keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):
            known = list(cls.model_fields)
            for key in raw:
                if key not in known:
                    near = difflib.get_close_matches(str(key).casefold(), known, n=1, cutoff=0.4)
                    raise UnknownKey(
                        f"key {str(key)[:60]!r} does not exist" + (f"; did you mean {near[0]!r}?" if near else ""),
                        f"Keys are: {', '.join(known)}.",
                    )
        return raw


class TurnIn(Body):
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    text: SaidBefore


class OptionsIn(Body):
    """How a question is answered."""

    k: int | None = Field(None, ge=1, le=MAX_K, description="Passages to answer from.")


class AskIn(Body):
    """A question, which records may answer it, and what was said before."""

    question: Question
    filters: Filters = SearchFilter()
    history: list[TurnIn] = Field([], max_length=MAX_HISTORY_TURNS)
    options: OptionsIn = OptionsIn()

    def turns(self) -> tuple[Turn, ...]:
        """The history as the pipeline takes it."""
        return tuple(Turn(turn.role, turn.text) for turn in self.history)


class SearchIn(Body):
    """A search for records."""

    query: Annotated[str, BeforeValidator(lambda value: clean_question(value, "query"))]
    filters: Filters = SearchFilter()
    k: int = Field(10, ge=1, le=MAX_K, description="Passages to find; they are grouped by record.")


class ResultsIn(Body):
    """A page of a result list. A blank query lists every record that passes the filters, the newest first."""

    query: ListQuery = ""
    filters: Filters = SearchFilter()
    sort: RecordOrder = "relevance"
    descending: bool | None = Field(None, description="By itself: best first, newest first, journals from A to Z.")
    mode: Literal["hybrid", "lexical"] | None = Field(
        None, description="`search.mode` of the first page, so that the pages after it keep to its order."
    )
    offset: int = Field(0, ge=0, le=100_000_000)
    limit: int = Field(20, ge=1, le=MAX_LIMIT)


class ExportIn(Body):
    """Which records to export: those of `pmids`, in that order, or all of a search."""

    format: ExportFormat
    pmids: list[Annotated[str, Field(pattern=r"^[1-9]\d{0,8}$")]] | None = Field(None, min_length=1)
    query: ListQuery | None = None
    filters: Filters = SearchFilter()
    sort: RecordOrder = "relevance"
    descending: bool | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        searched = {"query", "filters", "sort", "descending"} & self.model_fields_set
        if self.pmids is not None and searched:
            raise InvalidInput(f"pmids and {min(searched)} exclude each other", "Export a search or some of its PMIDs.")
        if self.pmids is None and not {"query", "filters"} & self.model_fields_set:
            raise InvalidInput("nothing says what to export", "Give pmids, or the query and filters of a search.")
        return self


class InlineSource(Body):
    """A text to check against, sent with the request."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=MAX_SOURCE_CHARS)]


def _checked_sources(value: Any) -> Any:
    if value == "corpus":
        return value
    if not isinstance(value, list):
        raise InvalidInput('sources must be "corpus" or a list', "Give PMIDs, or texts with a name.")
    if not value:
        raise InvalidInput("sources is empty", 'Give "corpus", PMIDs, or texts with a name.')
    if len(value) > MAX_SOURCES:
        raise InvalidInput(f"sources has {len(value)} entries; at most {MAX_SOURCES} are taken", "Check them in parts.")
    for at, item in enumerate(value):
        is_pmid = isinstance(item, str) and item.isascii() and item.isdigit() and len(item) <= 9
        hint = 'A PMID is a number; a text is {"name": …, "text": …}.'
        if not is_pmid and not isinstance(item, dict):
            raise InvalidInput(f"sources.{at} is no PMID", hint)
        if isinstance(item, dict):
            try:
                InlineSource.model_validate(item)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                raise InvalidInput(f"sources.{at}.{'.'.join(map(str, first['loc']))}: {first['msg']}", hint) from None
    return value


class VerifyIn(Body):
    """A text, or claims one by one, to check.

    `sources` is "corpus", or a list of PMIDs and of texts `{"name", "text"}`; `[n]` in a text cites the n-th of them,
    PMIDs before texts. `question` is what the text answers: it explains it and is never evidence.
    """

    text: str = ""
    claims: list[str] = Field([], max_length=MAX_CLAIMS)
    question: str = ""
    sources: Annotated[Literal["corpus"] | list[str | InlineSource], BeforeValidator(_checked_sources)]
    ask_anew: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.text.strip() and self.claims:
            raise InvalidInput(
                "give either text or claims", "A text is split into claims; claims are taken as they are."
            )
        if not self.claims:
            clean_question(self.text, "text", MAX_TEXT_CHARS)
        for claim in self.claims:
            clean_question(claim, "a claim")
        if self.question:
            clean_question(self.question)
        return self
