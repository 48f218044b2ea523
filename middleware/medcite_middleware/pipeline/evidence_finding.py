"""Finds what may speak for a claim, and what may speak against it, in the corpus or in sources that were given.

A vector cannot see a negation, so what speaks against a claim is looked for by words: the claim's own statement denied,
its directions turned round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from medcite_core.answers import Claim
from medcite_core.chunking import chunk_spans
from medcite_core.errors import EmbedderUnavailable, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.index.filter_keys import folded
from medcite_core.ports import CorpusIndex, Embedder, FoundEvidence, Reranker
from medcite_core.sentences import sentence_spans
from medcite_core.settings import IndexSettings, VerifySettings
from medcite_core.stemming import stem_words
from medcite_core.types import Evidence, Section, Source, Span
from medcite_middleware.retrieval.hybrid import Retriever
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.vocabulary import OPPOSITES

MAX_QUERY_CHARS = 900
_WORD = re.compile(r"[^\W_]+(?:[-.,/][^\W_]+)*")
_K1, _B = 1.2, 0.75
_LEXICAL_SHARE = 0.5
_MAX_OPPOSITES = 12


def query_for(claim: Claim, digit_weight: int) -> str:
    """The words of a claim; those with digits stand in it `digit_weight` times, so that figures count more."""
    words = without_marks(claim.standalone)[:MAX_QUERY_CHARS]
    figures = [word for word in _WORD.findall(words) if any(c.isdigit() for c in word)]
    return " ".join([words, *figures * (digit_weight - 1)])


def queries_against(claim: Claim) -> list[str]:
    """Words by which the opposite of a claim would be found: directions turned round, and the statement denied."""
    words = without_marks(claim.standalone)[:MAX_QUERY_CHARS]
    turned = _turned(words)
    denied = f"{words} not no without"
    return [query for query in (turned, denied) if query]


def _turned(words: str) -> str:
    """`words` with every word that has an opposite replaced by its opposites; empty when none has."""
    opposites: dict[str, list[str]] = {}
    for left, right in sorted(OPPOSITES):
        opposites.setdefault(left, []).append(right)
    pieces = [" ".join(opposites.get(word.casefold(), [word])[:_MAX_OPPOSITES]) for word in _WORD.findall(words)]
    turned = " ".join(pieces)
    return turned if turned.split() != _WORD.findall(words) else ""


def widened(section: Section, span: Span) -> Span:
    """`span` grown to the whole sentences of its section that it touches."""
    touched = [
        Span(section.span.start + s.start, section.span.start + s.end)
        for s in sentence_spans(section.text)
        if Span(section.span.start + s.start, section.span.start + s.end).overlaps(span)
    ]
    return Span(touched[0].start, touched[-1].end) if touched else section.span


def _evidence(source: Source, span: Span, chunk_id: str, score: float) -> Evidence | None:
    section = source.section_at(span.start)
    if section is None:
        return None
    wide = widened(section, Span(span.start, min(span.end, section.span.end)))
    return Evidence(0, source, chunk_id, section.label or section.kind, wide, wide.of(source.text), score)


def _distinct(found: Iterable[Evidence | None], known: Sequence[Evidence], limit: int) -> list[Evidence]:
    """The first `limit` passages that are not within one another, nor within what is known already."""
    kept: list[Evidence] = []
    for one in found:
        if one is None or len(kept) == limit:
            continue
        # A source that is given whole is no reason not to show its best passages.
        others = (*(o for o in known if o.chunk_id), *kept)
        if not any(o.source.source_id == one.source.source_id and o.span.contains(one.span) for o in others):
            kept.append(one)
    first = len(known) + 1
    return [replace(one, number=number) for number, one in enumerate(kept, start=first)]


class CorpusFinder:
    """Evidence from the corpus: what a claim cites is known already; this looks wider."""

    def __init__(
        self,
        retriever: Retriever,
        index: CorpusIndex,
        settings: VerifySettings,
        *,
        search_filter: SearchFilter | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._retriever = retriever
        self._index = index
        self._settings = settings
        self._filter = search_filter or SearchFilter()
        self._reranker = reranker

    def find(self, claim: Claim, known: Sequence[Evidence]) -> FoundEvidence:
        """The passages nearest to the claim, then those found by the words of its opposite."""
        limit = self._settings.corpus_evidence
        try:
            result = self._retriever.find(query_for(claim, self._settings.digit_weight), self._filter, 3 * limit)
        except InvalidInput:
            return FoundEvidence((), "The claim holds no word to search for.")
        passages = list(result.passages)
        if self._reranker is not None:
            passages = self._reranker.rerank(without_marks(claim.standalone), passages, len(passages))
        supporting = [_evidence(p.record, p.chunk.span, p.chunk.id, p.score) for p in passages]
        against = list(self._against(claim))
        # Half of the room is kept for what speaks against: it must not be crowded out by what is merely alike.
        found = _distinct([*supporting[:limit], *against[:limit], *supporting[limit:]], known, 2 * limit)
        read = len({one.source.source_id for one in found})
        mode = "words and meaning" if result.report.mode == "hybrid" else "words only"
        note = (
            f"Searched {result.report.corpus_records:,} records by {mode}, for the claim and for its opposite; "
            f"read {len(found)} passages of {read} records beside what is cited."
        )
        return FoundEvidence(tuple(found), note)

    def _against(self, claim: Claim) -> Iterable[Evidence | None]:
        for query in queries_against(claim):
            try:
                hits = self._index.lexical_chunks(query, self._filter, self._settings.corpus_evidence)
            except InvalidInput:
                continue
            records = self._index.get([hit.chunk.pmid for hit in hits])
            for hit in hits:
                record = records.get(hit.chunk.pmid)
                # Between the two reads the record may have been replaced by a newer revision.
                if record is not None and hit.chunk.span.of(record.text) == hit.chunk.text:
                    yield _evidence(record, hit.chunk.span, hit.chunk.id, hit.score)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk of a given source, with what it is ranked by."""

    source: Source
    chunk_id: str
    span: Span
    stems: tuple[str, ...]


class DocumentFinder:
    """Evidence from sources that were given. They are cut by the chunker of the index and ranked in memory.

    A few sources need no index on disk: BM25 over stems (k1 1.2, b 0.75) and cosine similarity, half and half.
    """

    def __init__(self, sources: Sequence[Source], embedder: Embedder | None, settings: VerifySettings) -> None:
        self._settings = settings
        self._embedder = embedder
        sizes = IndexSettings(chunk_size=settings.chunk_size, chunk_overlap=settings.chunk_overlap)
        self._pieces = [piece for source in sources for piece in _pieces(source, sizes)]
        self._sources = len(sources)
        self._lengths = np.array([len(piece.stems) for piece in self._pieces], dtype=np.float64)
        self._vectors: npt.NDArray[np.float32] | None = None

    def find(self, claim: Claim, known: Sequence[Evidence]) -> FoundEvidence:
        """The best passages for the claim and for its opposite."""
        limit = self._settings.document_evidence
        if not self._pieces:
            return FoundEvidence((), "The sources hold no readable text.")
        scores = self._scores(query_for(claim, self._settings.digit_weight), without_marks(claim.standalone))
        best = np.argsort(-scores, kind="stable")[:limit]
        found = [self._of(int(at), float(scores[at])) for at in best if scores[at] > 0]
        for query in queries_against(claim):
            words = self._bm25(query)
            found += [self._of(int(at), float(words[at])) for at in np.argsort(-words, kind="stable")[: limit // 3]]
        kept = _distinct(found, known, limit)
        left_out = len(self._pieces) - len(kept)
        note = f"Read {len(kept)} of {len(self._pieces)} passages of {self._sources} sources."
        return FoundEvidence(tuple(kept), note if left_out > 0 else f"Read all passages of {self._sources} sources.")

    def _of(self, at: int, score: float) -> Evidence | None:
        piece = self._pieces[at]
        return _evidence(piece.source, piece.span, piece.chunk_id, score)

    def _scores(self, query: str, text: str) -> npt.NDArray[np.float64]:
        words = self._bm25(query)
        top = words.max() or 1.0
        near = self._cosines(text)
        if near is None:
            return words / top
        return _LEXICAL_SHARE * words / top + (1 - _LEXICAL_SHARE) * np.clip(near, 0.0, 1.0)

    def _bm25(self, query: str) -> npt.NDArray[np.float64]:
        wanted = stem_words(folded(query))
        total = len(self._pieces)
        mean = self._lengths.mean() or 1.0
        scores = np.zeros(total)
        for stem in dict.fromkeys(wanted):
            counts = np.array([piece.stems.count(stem) for piece in self._pieces], dtype=np.float64)
            holding = int((counts > 0).sum())
            if holding:
                rarity = np.log(1 + (total - holding + 0.5) / (holding + 0.5))
                saturated = counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * self._lengths / mean))
                scores += wanted.count(stem) * rarity * saturated
        return scores

    def _cosines(self, text: str) -> npt.NDArray[np.float64] | None:
        """Similarities to every passage; None while there is no embedding model."""
        if self._embedder is None or self._embedder.state != "ready":
            return None
        try:
            if self._vectors is None:
                self._vectors = self._embedder.embed_passages([p.span.of(p.source.text) for p in self._pieces])
            return np.asarray(self._vectors @ self._embedder.embed_query(text), dtype=np.float64)
        except EmbedderUnavailable:
            return None


def _pieces(source: Source, sizes: IndexSettings) -> Iterable[_Piece]:
    for section in source.sections:
        for span in chunk_spans(section.text, sizes):
            place = Span(section.span.start + span.start, section.span.start + span.end)
            stems = tuple(stem_words(folded(place.of(source.text))))
            if stems:
                yield _Piece(source, f"{source.source_id}:{place.start}-{place.end}", place, stems)
