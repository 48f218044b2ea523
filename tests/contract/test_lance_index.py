"""What only the embedded index promises: whole commits under kills and beside readers, damaged folders, exactness."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock

from medcite_core.errors import Busy, IndexBroken, IndexMismatch, IndexMissing
from medcite_core.filters import SearchFilter
from medcite_core.index.factory import index_folder, open_index
from medcite_core.index.lance_index import LanceIndex
from medcite_core.index.lance_search import probe_count
from medcite_core.index.lance_table import VECTOR_INDEX_ROWS, list_count, vector_lists
from medcite_core.ports import IndexedRecord, IndexIdentity, WriteCounts
from medcite_core.settings import Settings
from medcite_core.types import Chunk, Span

ALL = SearchFilter()
RECORDS = 30

# Writes to several folders at once, so that one kill meets several writes, each at another point.
WRITER = """
import os, sys, threading
from pathlib import Path
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1]).parent)]
import conftest as made
first = int(sys.argv[2])
def write(folder):
    index = made.open_lance(Path(folder))
    for generation in range(first, first + 5000):
        parts = [f"generation{generation} part {n}." for n in range(1 + generation % 3)]
        records = [made.make_record(i, f"generation{generation}", *parts, version=generation) for i in range(1, 31)]
        made.load(index, *records)
        if generation == first:
            os.write(1, b"written\\n")
        if generation % 4 == 0:
            index.finish_load()
threads = [threading.Thread(target=write, args=(folder,)) for folder in sys.argv[3:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def _generation(made, number):
    parts = [f"generation{number} part {n}." for n in range(1 + number % 3)]
    return [made.record(i, f"generation{number}", *parts, version=number) for i in range(1, RECORDS + 1)]


def _assert_one_generation(index) -> int:
    """Every record is there, with all its chunks and no others, and all are of one write; returns which."""
    versions = {record.version for record in index.scan()}
    assert len(versions) == 1
    version = versions.pop()
    parts = 1 + version % 3
    assert (index.count(), index.count_chunks()) == (RECORDS, RECORDS * (1 + parts))
    hits = index.lexical_chunks(f"generation{version}", ALL, 1000)
    assert len(hits) == RECORDS * (1 + parts)
    records = index.get([str(i) for i in range(1, RECORDS + 1)])
    assert all(hit.chunk.span.of(records[hit.chunk.pmid].text) == hit.chunk.text for hit in hits)
    return version


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_leaves_the_state_before_or_after_a_write(tmp_path, made):
    folders = [tmp_path / str(n) for n in range(4)]
    for folder in folders:
        made.load(LanceIndex(folder, made.identity), *_generation(made, 1))
    for first, delay_s in ((2, 0.5), (5002, 0.23)):
        command = [sys.executable, "-c", WRITER, str(Path(__file__).parent), str(first), *folders]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            try:
                assert [writer.stdout.readline() for _ in folders] == ["written\n"] * len(folders)
                time.sleep(delay_s)
            finally:
                os.kill(writer.pid, signal.SIGKILL)
        for folder in folders:
            index = LanceIndex(folder, made.identity, create=False)
            assert _assert_one_generation(index) >= first
    made.load(index, *_generation(made, 20_000))
    index.finish_load()
    assert _assert_one_generation(index) == 20_000


def test_a_reader_beside_a_writer_always_sees_whole_records(tmp_path, made):
    writer = LanceIndex(tmp_path / "i", made.identity)
    reader = LanceIndex(tmp_path / "i", made.identity, create=False)
    made.load(writer, *_generation(made, 1))
    problems: list[str] = []
    reads = 0
    is_over = threading.Event()

    def read() -> None:
        nonlocal reads
        while not is_over.is_set():
            hits = reader.lexical_chunks("part", ALL, 1000)
            texts = {hit.chunk.text.split()[0] for hit in hits}
            if len(texts) != 1 or len(hits) not in (RECORDS * 1, RECORDS * 2, RECORDS * 3):
                problems.append(f"{len(hits)} chunks of {texts}")
            titles = {hit.chunk.text.split()[0] for hit in reader.vector_chunks(made.embed("part"), ALL, 1000)}
            if len(titles) != 1:
                problems.append(f"vectors of {titles}")
            if reader.count() != RECORDS or len(reader.get([str(i) for i in range(1, RECORDS + 1)])) != RECORDS:
                problems.append("records missing")
            reads += 1

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for number in range(2, 16):
            made.load(writer, *_generation(made, number))
            if number % 5 == 0:
                writer.finish_load()
    finally:
        is_over.set()
        thread.join()
    assert problems == []
    assert reads > 3
    assert _assert_one_generation(reader) == 15


def test_two_writers_wait_for_each_other_and_the_newer_copy_is_kept(tmp_path, made):
    LanceIndex(tmp_path / "i", made.identity)

    def write(versions) -> None:
        index = LanceIndex(tmp_path / "i", made.identity, create=False)
        for number in versions:
            made.load(index, *_generation(made, number))

    threads = [threading.Thread(target=write, args=(versions,)) for versions in ((9, 2, 5), (3, 8, 4))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _assert_one_generation(LanceIndex(tmp_path / "i", made.identity)) == 9


def test_a_writer_that_must_wait_too_long_says_who_is_in_its_way(tmp_path, made, monkeypatch):
    index = LanceIndex(tmp_path / "i", made.identity)
    monkeypatch.setattr("medcite_core.index.lance_index._WRITE_LOCK_TIMEOUT_S", 0.1)
    with FileLock(tmp_path / "i" / "write.lock"):
        with pytest.raises(Busy, match="another process"):
            made.load(index, made.record(1))
        assert index.count() == 0
    assert made.load(index, made.record(1)) == WriteCounts(inserted=1)


def test_a_withdrawal_noted_before_a_kill_is_carried_out_by_the_next_load(tmp_path, made, monkeypatch):
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, made.record(1), made.record(2))
    with monkeypatch.context() as patch:
        patch.setattr(LanceIndex, "_take_out", lambda *_: 0)
        index.remove([made.tombstone(1)])
    assert index.count() == 2
    index.finish_load()
    assert list(index.get(["1", "2"])) == ["2"]


def test_updates_after_compaction_are_not_lost(tmp_path, made):
    """FR-104."""
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, *(made.record(i, f"Title {i}") for i in range(1, 501)))
    index.finish_load()
    for first in (1, 129):
        changed = [made.record(i, f"Changed {i}", version=2) for i in range(first, first + 128)]
        assert made.load(index, *changed) == WriteCounts(replaced=128)
        index.finish_load()
    assert sum(record.title.startswith("Changed") for record in index.scan()) == 256
    assert index.lexical_records("changed", ALL, 0, 0)[1] == 256
    assert (index.count(), index.count_chunks()) == (500, 500)


def test_a_write_that_stores_less_than_it_should_fails_loudly(tmp_path, made):
    """FR-104: the updated count is checked."""
    index = LanceIndex(tmp_path / "i", made.identity)

    class Forgetful:
        def __init__(self, table) -> None:
            self._table = table

        def add(self, rows) -> None:
            self._table.add(rows.slice(1))

        def __getattr__(self, name):
            return getattr(self._table, name)

    index._chunks = Forgetful(index._chunks)
    with pytest.raises(IndexBroken, match=r"2 records with 4 chunks were written .* but 1 with 3 are there"):
        made.load(index, made.record(1, "T", "x."), made.record(2, "T", "x."))


# ------------------------------------------------------------------ formats and damage


def _rewrite(folder: Path, change) -> None:
    database = lancedb.connect(folder)
    table = database.open_table("chunks").to_arrow()
    database.create_table("chunks", change(table), mode="overwrite")


def test_a_table_of_an_older_release_without_a_column_is_refused_and_nothing_is_lost(tmp_path, made):
    """FR-105."""
    made.load(LanceIndex(tmp_path / "i", made.identity), made.record(1))
    _rewrite(tmp_path / "i", lambda table: table.drop_columns(["is_retracted"]))
    with pytest.raises(IndexMismatch, match="is_retracted") as caught:
        LanceIndex(tmp_path / "i", made.identity)
    assert "medcite ingest files" in caught.value.hint
    assert lancedb.connect(tmp_path / "i").open_table("chunks").count_rows() == 1


@pytest.mark.parametrize(("version", "hint"), [(2, "Update medcite"), (0, "Build a new one"), ("x", "Build a new one")])
def test_another_format_is_refused_in_words(tmp_path, made, version, hint):
    LanceIndex(tmp_path / "i", made.identity)
    values = {**made.identity.to_dict(), "format_version": version, "something_new": 1}
    _rewrite(tmp_path / "i", lambda table: table.replace_schema_metadata({"medcite_index": json.dumps(values)}))
    with pytest.raises(IndexMismatch, match=r"format .* this medcite reads and writes format 1") as caught:
        LanceIndex(tmp_path / "i", made.identity)
    assert hint in caught.value.hint


@pytest.mark.parametrize("metadata", [{}, {"medcite_index": "{"}, {"medcite_index": "[]"}, {"medcite_index": "{}"}])
def test_a_table_that_medcite_did_not_make_is_refused(tmp_path, made, metadata):
    LanceIndex(tmp_path / "i", made.identity)
    _rewrite(tmp_path / "i", lambda table: table.replace_schema_metadata(metadata))
    with pytest.raises(IndexBroken, match="does not say how it was made"):
        LanceIndex(tmp_path / "i", made.identity)


@pytest.mark.parametrize("pattern", ["chunks.lance/_versions/*", "chunks.lance/data/*", "chunks.lance/_indices/*/*"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damage_is_said_in_words_and_never_answered_with_less(tmp_path, made, pattern, damage):
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, *_generation(made, 1))
    index.finish_load()
    for file in (tmp_path / "i").glob(pattern):
        file.write_bytes(file.read_bytes()[:20]) if damage == "cut" else file.unlink()
    with pytest.raises(IndexBroken) as caught:
        LanceIndex(tmp_path / "i", made.identity).lexical_chunks("part", ALL, 100)
    assert str(tmp_path / "i") in caught.value.message
    assert ".rs:" not in caught.value.message
    assert "load the records again" in caught.value.hint


def test_a_file_in_the_place_of_the_folder_is_said_in_words(tmp_path, made):
    (tmp_path / "i").write_text("x")
    for create in (False, True):
        with pytest.raises(IndexBroken, match="is a file"):
            LanceIndex(tmp_path / "i", made.identity, create=create)


def test_a_creation_that_was_killed_is_done_again(tmp_path, made):
    (tmp_path / "i" / "chunks.lance" / "_versions").mkdir(parents=True)
    with pytest.raises(IndexMissing):
        LanceIndex(tmp_path / "i", made.identity, create=False)
    made.load(LanceIndex(tmp_path / "i", made.identity), made.record(1))
    table = lancedb.connect(tmp_path / "i").open_table("chunks")
    for name in ("search_text_idx", "year_idx"):
        table.drop_index(name)
    again = LanceIndex(tmp_path / "i", made.identity, create=False)
    assert len(again.lexical_chunks('"the title"', SearchFilter(year_from=2000), 5)) == 0
    assert len(again.lexical_chunks('"a title"', SearchFilter(year_from=2000), 5)) == 1


def test_a_damaged_record_is_said_in_words(tmp_path, made):
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, made.record(1))
    index._chunks.update(values={"payload": b"junk"})
    with pytest.raises(IndexBroken, match="stored record cannot be read"):
        index.get(["1"])


def test_the_settings_name_the_folder_and_the_chunking(tmp_path, made):
    settings = Settings(data_dir=tmp_path)
    with pytest.raises(IndexMissing):
        open_index(settings, made.identity.embedder, create=False)
    index = open_index(settings, made.identity.embedder, create=True)
    assert index.identity == IndexIdentity(made.identity.embedder, 500, 200)
    assert (index_folder(settings) / "chunks.lance").is_dir()
    other = settings.model_copy(update={"index": settings.index.model_copy(update={"chunk_size": 700})})
    with pytest.raises(IndexMismatch, match="chunk size 500, now 700"):
        open_index(other, made.identity.embedder, create=False)


# ------------------------------------------------------------------ planner


def test_filters_are_answered_from_their_indexes_not_by_reading_every_row(tmp_path, made):
    """A list column whose child is not called `item` makes the engine wrap it in a cast and scan the whole table."""
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, made.record(1))
    index.finish_load()
    for condition in (
        "array_has_any(keyword_keys, ['x'])", "array_has_all(title_stems, ['x'])", "array_has_any(author_keys, ['x'])",
        "array_has_any(journal_keys, ['x'])", "array_has_any(type_keys, ['x'])", "year >= 2000", "has_pmcid",
        "array_has_any(language_keys, ['x'])", "NOT is_retracted", "is_head", "pmid IN (1, 2)",
    ):  # fmt: skip
        plan = index._chunks.search().where(condition).explain_plan(True)
        assert "ScalarIndexQuery" in plan, condition
        assert "CAST" not in plan.upper(), condition


def test_more_lists_are_read_of_larger_tables_and_under_narrower_filters():
    assert probe_count(100_000, 100_000, list_count(100_000)) == 32
    assert probe_count(1_000_000, 1_000_000, list_count(1_000_000)) >= 120
    assert probe_count(1_000_000, 30_000, list_count(1_000_000)) > 300
    assert probe_count(25_000, 21_000, 10) == 10


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [64, 20])
def test_vectors_are_found_as_an_exact_search_finds_them_with_and_without_filter(tmp_path, made, dimension):
    rng = np.random.default_rng(5)
    identity = replace(made.identity, embedder=replace(made.identity.embedder, dimension=dimension))
    index = LanceIndex(tmp_path / "i", identity)
    records, chunks_each = 2_500, 10
    centres = rng.standard_normal((200, dimension))
    points = centres[rng.integers(200, size=records * chunks_each)]
    points = (points + 0.6 * rng.standard_normal(points.shape)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    text = "0123456789"

    def entry(number: int) -> IndexedRecord:
        record = made.record(number, text, year=2000 + number % 100, keywords=("common",) if number % 8 else ("other",))
        chunks = tuple(Chunk(f"{number}:{i}-{i + 1}", str(number), i, "x", Span(i, i + 1), text[i]) for i in range(10))
        return IndexedRecord(record, chunks, points[number * 10 - 10 : number * 10])

    for start in range(1, records + 1, 500):
        index.replace([entry(number) for number in range(start, start + 500)])
    index.finish_load()
    assert index.count_chunks() == 25_000 > VECTOR_INDEX_ROWS
    assert vector_lists(index._chunks) == list_count(25_000)

    number = np.arange(records * chunks_each) // chunks_each + 1
    cases = {
        ALL: np.ones(len(points), dtype=bool),
        SearchFilter(keywords=("common",)): number % 8 != 0,
        SearchFilter(year_from=2099): number % 100 == 99,
    }
    for search_filter, passes in cases.items():
        found = 0
        for query in points[rng.integers(len(points), size=25)] + 0.1 * rng.standard_normal((25, dimension)):
            query = query.astype(np.float32)
            cosines = np.where(passes, points @ (query / np.linalg.norm(query)), -2)
            best = set(np.argsort(-cosines, kind="stable")[:10].tolist())
            hits = index.vector_chunks(query, search_filter, 10)
            assert len(hits) == 10
            places = [(int(hit.chunk.pmid) - 1) * chunks_each + hit.chunk.ordinal for hit in hits]
            assert np.allclose([hit.score for hit in hits], cosines[places], atol=1e-3)
            found += len(best & set(places))
        assert found / 250 >= 0.98, search_filter

    # Rows that came after the index was trained are found at once.
    fresh = replace(entry(1), record=made.record(9_999_999, text))
    chunks = tuple(replace(c, id=c.id.replace("1:", "9999999:", 1), pmid="9999999") for c in fresh.chunks)
    target = -points[0]
    index.replace([IndexedRecord(fresh.record, chunks, np.tile(target, (10, 1)))])
    assert {hit.chunk.pmid for hit in index.vector_chunks(target, ALL, 5)} == {"9999999"}


def test_the_record_table_is_readable_by_any_arrow_tool(tmp_path, made):
    index = LanceIndex(tmp_path / "i", made.identity)
    made.load(index, made.record(1, "T", "x."))
    table = lancedb.connect(tmp_path / "i").open_table("chunks").to_arrow()
    assert table.schema.field("vector").type == pa.list_(pa.float32(), made.dimension)
    assert table.column("is_head").to_pylist() == [True, False]
    assert table.column("payload").null_count == 1
