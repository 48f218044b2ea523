"""The demo corpus: real records, cut unchanged, with vectors and questions that fit them."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from support.small_corpus import WordHashEmbedder

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder, known_identity
from medcite_core.errors import IndexMismatch, SourceUnreadable
from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import EmbedderIdentity, IndexIdentity
from medcite_core.settings import EmbeddingSettings, IndexSettings
from medcite_core.types import Record
from medcite_ingestion.demo import CORPUS_FILE, DEMO_DIR, demo_questions, demo_records, load_demo, worked_example
from medcite_ingestion.demo.shipped_vectors import VECTORS_FILE, ShippedVectors

SETTINGS = IndexSettings()
SAMPLED_CHUNKS = 240


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    return {record.pmid: record for record in demo_records()}


@pytest.fixture(scope="module")
def shipped() -> ShippedVectors:
    return ShippedVectors.read(DEMO_DIR / VECTORS_FILE)


# ---------------------------------------------------------------- records


def test_the_corpus_is_large_enough_and_every_record_has_an_abstract(records: dict[str, Record]) -> None:
    assert len(records) >= 1000
    assert all(record.has_abstract for record in records.values())
    assert len(list(demo_records())) == len(records)


def test_retracted_and_corrected_records_are_among_them(records: dict[str, Record]) -> None:
    states = [record.status for record in records.values()]
    assert states.count("retracted") >= 3
    assert states.count("corrected") >= 10


def test_every_record_says_where_it_was_found(records: dict[str, Record]) -> None:
    with (DEMO_DIR / "provenance.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["pmid"]: row for row in csv.DictReader(stream)}
    assert rows.keys() == records.keys()
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", row["repository"]) and row["path"] for row in rows.values())
    invented = re.compile(r"jabref|net-synergy|pubmed2db|pubtrends", re.IGNORECASE)
    assert not [row for row in rows.values() if invented.search(row["repository"])]
    for pmid, row in rows.items():
        assert (int(row["version"]), row["date_revised"]) == (records[pmid].version, records[pmid].date_revised.iso())


def test_the_archive_is_the_same_whenever_it_is_written() -> None:
    stored = (DEMO_DIR / CORPUS_FILE).read_bytes()
    assert stored[4:8] == b"\0\0\0\0", "the gzip header carries a time"
    assert stored[3] == 0, "the gzip header carries a name"
    assert gzip.decompress(stored).endswith(b"</PubmedArticleSet>\n")


def test_provenance_of_a_record_is_the_checksum_of_the_shipped_file(records: dict[str, Record]) -> None:
    digest = hashlib.sha256((DEMO_DIR / CORPUS_FILE).read_bytes()).hexdigest()
    assert {record.provenance.sha256 for record in records.values()} == {digest}


def test_the_readme_acknowledges_nlm_and_warns_of_publishers_copyright(records: dict[str, Record]) -> None:
    readme = (DEMO_DIR / "README.md").read_text(encoding="utf-8")
    assert "Courtesy of the U.S. National Library of Medicine" in readme
    assert "may hold copyright in single abstracts" in readme
    assert f"{len(records):,} real PubMed records" in readme


def test_a_few_megabytes_at_most() -> None:
    assert sum(path.stat().st_size for path in Path(DEMO_DIR).iterdir() if path.is_file()) < 9_000_000


def test_every_chunk_of_every_record_is_exact_and_covers_its_section(records: dict[str, Record]) -> None:
    for record in records.values():
        chunks = chunk_record(record, SETTINGS)
        assert chunks[0].span.start == 0
        assert all(chunk.span.of(record.text) == chunk.text for chunk in chunks)
        covered = np.zeros(len(record.text), dtype=bool)
        for chunk in chunks:
            covered[chunk.span.start : chunk.span.end] = True
        for section in record.sections:
            bare = [char.isspace() for char in section.text]
            assert np.all(covered[section.span.start : section.span.end] | bare)


# ---------------------------------------------------------------- vectors


def test_there_is_one_shipped_vector_for_each_chunk_in_order(
    records: dict[str, Record], shipped: ShippedVectors
) -> None:
    chunk_ids = tuple(chunk.id for record in records.values() for chunk in chunk_record(record, SETTINGS))
    assert shipped.chunk_ids == chunk_ids
    assert shipped.rows.dtype == np.float16
    assert shipped.identity == IndexIdentity(known_identity(EmbeddingSettings()), 500, 200)
    rows = shipped.unit_rows(list(chunk_ids[:50]))
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_the_shipped_vectors_are_those_the_model_makes(records: dict[str, Record], shipped: ShippedVectors) -> None:
    texts: dict[str, str] = {}
    for record in records.values():
        chunks = chunk_record(record, SETTINGS)
        texts.update(zip((chunk.id for chunk in chunks), embedding_texts(record, chunks), strict=True))
    step = max(1, len(texts) // SAMPLED_CHUNKS)
    sample = list(texts)[::step]
    assert len(sample) >= 200
    rebuilt = build_embedder(EmbeddingSettings()).embed_passages([texts[chunk_id] for chunk_id in sample])
    cosines = np.sum(rebuilt * shipped.unit_rows(sample), axis=1)
    assert cosines.min() >= 0.999


def test_a_chunk_without_a_shipped_vector_is_refused(shipped: ShippedVectors) -> None:
    with pytest.raises(SourceUnreadable, match="1 of 2"):
        shipped.unit_rows([shipped.chunk_ids[0], "1:0-5"])


def test_damaged_vectors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    path.write_bytes((DEMO_DIR / VECTORS_FILE).read_bytes()[:1000])
    with pytest.raises(SourceUnreadable):
        ShippedVectors.read(path)


# ---------------------------------------------------------------- loading


def test_the_demo_loads_without_a_model_and_again_changes_nothing(
    tmp_path: Path, records: dict[str, Record], shipped: ShippedVectors
) -> None:
    store = LanceIndex(tmp_path / "index", shipped.identity)
    report = load_demo(store, SETTINGS)
    assert (report.inserted, report.problems) == (len(records), 0)
    assert report.chunks == store.count_chunks() == len(shipped.chunk_ids)
    again = load_demo(store, SETTINGS)
    assert (again.unchanged, again.chunks) == (len(records), 0)
    # A shipped vector finds its own chunk: rows and chunks belong together.
    place = len(shipped.chunk_ids) // 2
    (hit,) = store.vector_chunks(shipped.unit_rows([shipped.chunk_ids[place]])[0], SearchFilter(), 1)
    assert hit.chunk.id == shipped.chunk_ids[place]
    assert hit.score == pytest.approx(1, abs=0.01)


def test_another_model_needs_an_embedder_of_its_own(tmp_path: Path) -> None:
    embedder = WordHashEmbedder()
    store = LanceIndex(tmp_path / "index", IndexIdentity(embedder.identity, 500, 200))
    with pytest.raises(IndexMismatch, match="minilm"):
        load_demo(store, SETTINGS)
    assert store.count() == 0
    other = LanceIndex(tmp_path / "other", IndexIdentity(EmbedderIdentity("x", "", "mean", "", 256), 500, 200))
    with pytest.raises(IndexMismatch, match="word-hash"):
        load_demo(other, SETTINGS, embedder=embedder)


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("words", "pmid"),
    [
        ("atorvastatin", "30073290"),
        ("nivolumab plus ipilimumab", "29355075"),
        ("smoking", "28459936"),
        ("hyperbaric oxygen", "12029402"),
        ("DEHP", "2635147"),
    ],
)
def test_each_example_question_is_answered_by_its_record(words: str, pmid: str, records: dict[str, Record]) -> None:
    (entry,) = [entry for entry in demo_questions() if words in entry["question"]]
    assert entry["pmid"] == pmid
    assert entry["answer"] in records[pmid].text
    assert records[pmid].is_usable_as_support
    assert entry["why"]


def test_there_are_five_questions_and_one_has_a_retracted_record_near(records: dict[str, Record]) -> None:
    questions = demo_questions()
    assert len(questions) == 5
    (near,) = [entry["near_retracted"] for entry in questions if "near_retracted" in entry]
    assert records[near].status == "retracted"


def test_in_the_worked_example_only_the_altered_sentence_is_not_its_records(records: dict[str, Record]) -> None:
    example = worked_example()
    answer, altered = example["answer"], example["altered"]
    sentences = re.findall(r"(.+?) \[(\d)\]\.\s?", answer)
    assert len(sentences) == 4
    assert "".join(f"{text} [{number}]. " for text, number in sentences).strip() == answer
    verbatim = [text for text, number in sentences if f"{text}." in records[example["pmids"][int(number) - 1]].text]
    assert [text for text, _ in sentences if text not in verbatim] == [altered["sentence"]]
    assert f"{altered['original']}." in records[altered["source"]].text
    assert altered["sentence"] not in records[altered["source"]].text
    (number,) = [int(number) for text, number in sentences if text == altered["sentence"]]
    assert example["pmids"][number - 1] == altered["source"]
