"""A handful of records in a real index, an embedder without a model, and the services over them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.index.factory import open_index
from medcite_core.ports import CorpusIndex, EmbedderIdentity, IndexedRecord, Vectors
from medcite_core.settings import Settings, load_settings
from medcite_core.stemming import stem_words
from medcite_core.types import MeshHeading, Notice, PartialDate, Record, assemble_text

DIMENSION = 256


@dataclass
class WordHashEmbedder:
    """Texts that share stems are near: a stand-in for a model where its understanding does not matter."""

    state: Literal["ready", "loading", "failed"] = "ready"
    problem: str = ""
    identity: EmbedderIdentity = field(
        default_factory=lambda: EmbedderIdentity("word-hash", "1", "mean", "", DIMENSION)
    )

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector = np.full(DIMENSION, 1e-3, dtype=np.float32)
        for stem in stem_words(text):
            vector[int.from_bytes(hashlib.sha256(stem.encode()).digest()[:4], "big") % DIMENSION] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def make_record(pmid: str, title: str, *parts: str, year: int | None = 2020, **fields: Any) -> Record:
    """A record whose abstract has `parts`, given as plain texts or as `LABEL: text`."""
    split = [part.partition(": ") if ": " in part[:20] else ("", "", part) for part in parts]
    text, sections = assemble_text(title, [(label, "", body) for label, _, body in split])
    date = PartialDate(year, raw=str(year) if year else "")
    return Record(pmid=pmid, version=1, title=title, sections=sections, text=text, date=date, **fields)


RECORDS = (
    make_record(
        "101",
        "Aspirin after ischaemic stroke: a randomised trial.",
        "BACKGROUND: Aspirin is widely given after ischaemic stroke.",
        "RESULTS: Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients. Bleeding did not increase.",
        year=2015,
        mesh_headings=(MeshHeading("Aspirin"), MeshHeading("Stroke")),
        doi="10.5555/101",
        pmcid="PMC101",
        languages=("eng",),
    ),
    make_record(
        "102",
        "Warfarin and bleeding in atrial fibrillation.",
        "Warfarin increased major bleeding in elderly patients with atrial fibrillation.",
        year=2008,
        mesh_headings=(MeshHeading("Warfarin"),),
    ),
    make_record(
        "103",
        "Metformin for weight in type 2 diabetes.",
        "Metformin reduced body weight by 2.3 kg in adults with type 2 diabetes.",
        year=2019,
        keywords=("metformin",),
    ),
    make_record(
        "104",
        "Zetamab cures asthma in every patient.",
        "Zetamab cured asthma in all 40 patients with severe asthma.",
        year=2018,
        notices=(Notice("retracted", "999", "J Test. 2019"),),
    ),
    make_record("105", "A letter about garden birds.", "Garden birds sang at dawn in spring.", year=None),
)


def small_settings(data_dir: Path, **overrides: Any) -> Settings:
    """Settings that read nothing from the environment; `overrides` use `__` for dots: `server__max_runs=2`."""
    arguments = {"data_dir": data_dir, "retrieval.min_cosine": 0.2, "retrieval.min_relevance": 0.35}
    arguments |= {name.replace("__", "."): value for name, value in overrides.items()}
    return load_settings(arguments, environ={}, env_file=None).settings


def fill(index: CorpusIndex, records: Sequence[Record], settings: Settings, embedder: WordHashEmbedder) -> None:
    """Chunk, embed and store `records`."""
    batch = []
    for record in records:
        chunks = chunk_record(record, settings.index)
        batch.append(IndexedRecord(record, chunks, embedder.embed_passages(embedding_texts(record, chunks))))
    index.replace(batch)
    index.finish_load()


def small_index(settings: Settings, embedder: WordHashEmbedder, records: Sequence[Record] = RECORDS) -> CorpusIndex:
    """A real index that holds `records`."""
    index = open_index(settings, embedder.identity, create=True)
    if records:
        fill(index, records, settings, embedder)
    return index
