"""Records, chunks and vectors made by hand for the index's contract, and the list of adapters it is run against."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.opensearch_node import opensearch_node

from medcite_core.ports import CorpusIndex, EmbedderIdentity, IndexedRecord, IndexIdentity
from medcite_core.settings import OpenSearchSettings
from medcite_core.types import Chunk, PartialDate, Provenance, Record, Span, Tombstone, assemble_text

DIMENSION = 32
IDENTITY = IndexIdentity(EmbedderIdentity("hash-words", "1", "mean", "", DIMENSION), 500, 200)


def open_lance(folder: Path, identity: IndexIdentity = IDENTITY, *, create: bool = True) -> CorpusIndex:
    from medcite_core.index.lance_index import LanceIndex

    return LanceIndex(folder, identity, create=create)


def open_cluster(folder: Path, identity: IndexIdentity = IDENTITY, *, create: bool = True) -> CorpusIndex:
    """An index of its own on the running node for each folder."""
    from medcite_core.index.opensearch_index import OpenSearchIndex

    name = f"t{hashlib.sha256(str(folder).encode()).hexdigest()[:20]}"
    return OpenSearchIndex(OpenSearchSettings(hosts=(opensearch_node(),), index=name), identity, create=create)


# A new adapter is tested by adding one line.
ADAPTERS: dict[str, Callable[..., CorpusIndex]] = {
    "lancedb": open_lance,
    "opensearch": open_cluster,
}


def make_record(pmid: str | int, title: str = "A title", *parts: str, year: int | None = 2020, **fields: Any) -> Record:
    """A record whose abstract has `parts`, given as plain texts or as `LABEL: text`."""
    split = [part.partition(": ") if ": " in part else ("", "", part) for part in parts]
    text, sections = assemble_text(title, [(label, "", body) for label, _, body in split])
    fields.setdefault("version", 1)
    fields.setdefault("date", PartialDate(year, raw=str(year)))
    return Record(pmid=str(pmid), title=title, sections=sections, text=text, **fields)


def from_file(record: Record, file_number: int | None, release: int | None = 21) -> Record:
    """`record` as it would come out of a numbered PubMed file."""
    name = f"pubmed{release}n{file_number:04d}.xml.gz" if file_number is not None else "mine.xml"
    place = Provenance(name, "0" * 64, 0, release if file_number is not None else None, file_number)
    return replace(record, provenance=place)


def tombstone(pmid: str | int, file_number: int | None = 1, *, version: int = 1, release: int | None = 21) -> Tombstone:
    return Tombstone(str(pmid), version, from_file(make_record(pmid), file_number, release).provenance)


def embed(text: str) -> np.ndarray:
    """A deterministic unit vector: texts that share words are near."""
    vector = np.full(DIMENSION, 0.01)
    for word in text.casefold().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        vector += np.random.default_rng(seed).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def indexed(record: Record) -> IndexedRecord:
    """`record` with one chunk a section."""
    chunks = tuple(
        Chunk(
            f"{record.pmid}:{s.span.start}-{s.span.end}",
            record.pmid,
            ordinal,
            "title" if s.kind == "title" else s.label or "abstract",
            Span(s.span.start, s.span.end),
            s.text,
        )
        for ordinal, s in enumerate(record.sections)
    )
    return IndexedRecord(record, chunks, np.stack([embed(chunk.text) for chunk in chunks]))


def load(index: CorpusIndex, *records: Record) -> Any:
    """Store `records` in one batch."""
    return index.replace([indexed(record) for record in records])


def pmids(hits: Sequence[Any]) -> list[str]:
    """PMIDs of chunk or record hits, in order."""
    return [hit.chunk.pmid if hasattr(hit, "chunk") else hit.pmid for hit in hits]


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """The makers of test values, for files that cannot import this one."""
    return SimpleNamespace(
        identity=IDENTITY,
        dimension=DIMENSION,
        record=make_record,
        from_file=from_file,
        tombstone=tombstone,
        embed=embed,
        indexed=indexed,
        load=load,
        pmids=pmids,
    )


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.cluster if name == "opensearch" else ()) for name in sorted(ADAPTERS)]
)
def open_any(request: pytest.FixtureRequest) -> Callable[..., CorpusIndex]:
    """The function that opens an index of each adapter: `(folder, identity, create=…)`."""
    return ADAPTERS[request.param]


@pytest.fixture
def index(open_any: Callable[..., CorpusIndex], tmp_path: Path) -> CorpusIndex:
    """An empty index of each adapter."""
    return open_any(tmp_path / "index")
