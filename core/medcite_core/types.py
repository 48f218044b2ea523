"""The values that flow through medcite, from a PubMed citation to a verdict. All are frozen; each law is a test.

Offsets count Unicode code points, and a span slices the text of the thing that its type names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from medcite_core.documents import Document

# ---------------------------------------------------------------- places in a text


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters: `text[start:end]`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}..{self.end}")

    def of(self, text: str) -> str:
        """The words that this span cuts out of `text`."""
        return text[self.start : self.end]

    def contains(self, other: Span) -> bool:
        """Whether `other` lies wholly inside."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two share at least one character."""
        return self.start < other.end and other.start < self.end


# ---------------------------------------------------------------- a PubMed citation


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as far as it is known. `raw` is PubMed's own wording, for display ("Winter 2016-2017")."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    raw: str = ""

    def iso(self) -> str:
        """`2011`, `2011-02` or `2011-02-28`; empty without a year."""
        if self.year is None:
            return ""
        parts = [f"{self.year:04d}"]
        if self.month is not None:
            parts.append(f"{self.month:02d}")
            if self.day is not None:
                parts.append(f"{self.day:02d}")
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class Author:
    """A person (`last_name`, `initials`) or a group (`collective_name`), in the order of the citation."""

    last_name: str = ""
    fore_name: str = ""
    initials: str = ""
    collective_name: str = ""

    def display(self) -> str:
        """`Doe A`, or the group's name."""
        return self.collective_name or f"{self.last_name} {self.initials}".strip()


@dataclass(frozen=True, slots=True)
class MeshHeading:
    """A MeSH descriptor with its qualifiers. `is_major` when it or a qualifier is a major topic."""

    descriptor: str
    descriptor_ui: str = ""
    qualifiers: tuple[str, ...] = ()
    is_major: bool = False


NoticeKind = Literal[
    "retracted",  # RetractionIn: this record is retracted
    "partially_retracted",  # PartialRetractionIn
    "retraction_notice",  # RetractionOf, PartialRetractionOf: this record announces a retraction
    "expression_of_concern",  # ExpressionOfConcernIn
    "expression_of_concern_notice",  # ExpressionOfConcernFor
    "corrected",  # ErratumIn, CorrectedandRepublishedIn
    "correction_notice",  # ErratumFor, CorrectedandRepublishedFrom
    "updated",  # UpdateIn
    "update_of",  # UpdateOf
    "commented",  # CommentIn
    "comment_on",  # CommentOn
]

RecordStatus = Literal[
    "retracted", "retraction_notice", "partially_retracted", "expression_of_concern", "corrected", "no_notice"
]


@dataclass(frozen=True, slots=True)
class Notice:
    """One entry of CommentsCorrectionsList that changes how a record may be used.

    `pmid` is the notice's own PMID (or the noticed record's, for `…_notice` kinds), empty when PubMed gives none;
    `reference` is PubMed's RefSource text, in which the notice's date stands.
    """

    kind: NoticeKind
    pmid: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled part of a record: the title (`kind` "title") or one AbstractText ("abstract").

    `span` slices `Record.text` to exactly `text`; the label itself stands before the span.
    """

    kind: Literal["title", "abstract"]
    label: str
    nlm_category: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a record came from: the file's name and SHA-256 (of its bytes as stored), and its position in it from 0.

    `release` and `file_number` are read off names such as pubmed21n1016.xml.gz (21, 1016); None for other files.
    """

    file_name: str
    sha256: str
    position: int
    release: int | None = None
    file_number: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One PubMed citation. `text` is the title, then each section with its label; see `assemble_text`.

    `other_abstracts` holds (language, type, text) of abstracts PubMed keeps apart; they are not part of `text`.
    """

    pmid: str
    version: int
    title: str
    sections: tuple[Section, ...]
    text: str
    authors: tuple[Author, ...] = ()
    authors_complete: bool = True
    journal: str = ""
    journal_abbreviation: str = ""
    issn: str = ""
    issn_kind: Literal["Print", "Electronic", "Linking"] = "Linking"
    volume: str = ""
    issue: str = ""
    pages: str = ""
    date: PartialDate = PartialDate()
    date_revised: PartialDate = PartialDate()
    publication_types: tuple[str, ...] = ()
    mesh_headings: tuple[MeshHeading, ...] = ()
    keywords: tuple[str, ...] = ()
    doi: str = ""
    pmcid: str = ""
    languages: tuple[str, ...] = ()
    vernacular_title: str = ""
    other_abstracts: tuple[tuple[str, str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    is_book: bool = False
    provenance: Provenance = field(default_factory=lambda: Provenance("", "", 0))

    @property
    def source_id(self) -> str:
        """What proofs and evidence name it by: its PMID."""
        return self.pmid

    @property
    def status(self) -> RecordStatus:
        """The display state, derived from notices and publication types; the gravest one wins."""
        kinds = {notice.kind for notice in self.notices}
        types = set(self.publication_types)
        # A record can be a retraction notice for one paper and itself be retracted; being retracted is graver.
        if "retracted" in kinds or "Retracted Publication" in types:
            return "retracted"
        if "retraction_notice" in kinds or "Retraction of Publication" in types:
            return "retraction_notice"
        if "partially_retracted" in kinds:
            return "partially_retracted"
        if "expression_of_concern" in kinds:
            return "expression_of_concern"
        if "corrected" in kinds:
            return "corrected"
        return "no_notice"

    @property
    def is_usable_as_support(self) -> bool:
        """Whether its words may support a claim: not for a retracted record, nor for a notice of retraction."""
        return self.status not in ("retracted", "retraction_notice")

    @property
    def has_abstract(self) -> bool:
        """Whether any section beyond the title has words."""
        return any(section.kind == "abstract" for section in self.sections)

    @property
    def year(self) -> int | None:
        """Year of publication, if PubMed gives one."""
        return self.date.year

    def authors_short(self) -> str:
        """`Doe A`, `Doe A, Roe B` or `Doe A et al.`; `[No authors listed]` without any."""
        names = [author.display() for author in self.authors if author.display()]
        if not names:
            return "[No authors listed]"
        return ", ".join(names) if len(names) <= 2 else f"{names[0]} et al."

    def section_at(self, offset: int) -> Section | None:
        """The section whose span holds `offset`, if any."""
        return next((s for s in self.sections if s.span.start <= offset < s.span.end), None)


def assemble_text(title: str, parts: list[tuple[str, str, str]]) -> tuple[str, tuple[Section, ...]]:
    """The canonical text of a record, and its sections.

    `parts` are (label, nlm_category, text) of each AbstractText, in order; empty ones are left out. The title comes
    first; blocks are separated by a blank line; a label stands before its text as `LABEL: `.
    """
    sections: list[Section] = []
    pieces: list[str] = []
    offset = 0
    blocks = [("title", "", "", title), *(("abstract", *part) for part in parts)]
    for kind, label, category, body in blocks:
        if not body:
            continue
        if pieces:
            pieces.append("\n\n")
            offset += 2
        prefix = f"{label}: " if label else ""
        start = offset + len(prefix)
        pieces.append(prefix + body)
        offset = start + len(body)
        sections.append(Section("title" if kind == "title" else "abstract", label, category, body, Span(start, offset)))
    return "".join(pieces), tuple(sections)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A citation withdrawn from PubMed (DeleteCitation)."""

    pmid: str
    version: int
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """One citation, or the rest of a file, that could not be read, and why. `line`/`column` count from 1, 0 unknown."""

    file_name: str
    position: int
    pmid: str
    reason: str
    line: int = 0
    column: int = 0
    is_file_cut: bool = False


# ---------------------------------------------------------------- what is indexed and found


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section of a record: `record.text[span] == text`. `id` is `pmid:start-end`; `ordinal` from 0."""

    id: str
    pmid: str
    ordinal: int
    section: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in one ranked list: `score` is the engine's own (BM25, or cosine similarity), `rank` from 1."""

    chunk: Chunk
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class RecordHit:
    """A record as a lexical search ranked it: `score` is BM25 over the record's whole text, `rank` from 1."""

    pmid: str
    score: float
    rank: int


RecordOrder = Literal["relevance", "date", "journal"]
SuggestField = Literal["keywords", "journal", "author", "publication_types", "languages"]


@dataclass(frozen=True, slots=True)
class ValueCount:
    """A value of a filter field as the corpus writes it, and how many records hold it."""

    value: str
    records: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk found for a question, with its fused score (0..1) and where each list had it."""

    chunk: Chunk
    record: Record
    score: float
    cosine: float | None = None
    bm25: float | None = None
    lexical_rank: int | None = None
    vector_rank: int | None = None


Source: TypeAlias = "Record | Document"
"""What can be cited and quoted. Both have `source_id`, `title`, `text`, `sections` and `is_usable_as_support`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage as it is shown to the model and the reader, numbered 1…n without gaps.

    `span` slices `source.text` to exactly `text`: the chunk widened to whole sentences or, for a record found by its
    title, the end of what its abstract concludes.
    """

    number: int
    source: Source
    chunk_id: str
    section: str
    span: Span
    text: str
    score: float

    @property
    def record(self) -> Record:
        """The source, where it must be a PubMed record.

        Raises:
            TypeError: it is a document.
        """
        if not isinstance(self.source, Record):
            raise TypeError(f"{self.source.source_id} is a document, not a PubMed record")
        return self.source
