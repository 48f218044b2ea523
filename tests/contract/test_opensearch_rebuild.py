"""A new index built beside the one that serves: nothing is lost, nothing is down, and who reads or writes is told."""

from __future__ import annotations

import uuid
from dataclasses import replace

import numpy as np
import pytest
from support.opensearch_node import opensearch_node

from medcite_core.errors import EmbedderUnavailable, IndexMismatch, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.index import opensearch_alias
from medcite_core.index.opensearch_client import build_client
from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.index.opensearch_rebuild import ClusterRebuild, drop_old, list_indexes
from medcite_core.ports import IndexIdentity
from medcite_core.settings import IndexSettings, OpenSearchSettings
from medcite_ingestion.rebuild import rebuild

pytestmark = pytest.mark.cluster
ALL = SearchFilter()
SENTENCE = "Zetamab lowered exacerbations in adults with severe asthma. "


class CountingEmbedder:
    """Hash vectors; counts texts, and calls `before` ahead of each batch."""

    state = "ready"
    problem = ""

    def __init__(self, made, before=lambda batch: None) -> None:
        self._made = made
        self._before = before
        self.batches = self.texts = 0
        self.identity = made.identity.embedder

    def embed_passages(self, texts):
        self._before(self.batches)
        self.batches += 1
        self.texts += len(texts)
        return np.stack([self._made.embed(text) for text in texts])

    def embed_query(self, text):
        return self._made.embed(text)


@pytest.fixture
def settings() -> OpenSearchSettings:
    return OpenSearchSettings(hosts=(opensearch_node(),), index=f"t{uuid.uuid4().hex[:20]}")


@pytest.fixture
def serving(settings, made) -> OpenSearchIndex:
    index = OpenSearchIndex(settings, made.identity)
    made.load(index, *(made.record(n, f"Title {n}", SENTENCE * 12) for n in range(1, 301)))
    return index


@pytest.fixture(autouse=True)
def _look_at_once(monkeypatch) -> None:
    monkeypatch.setattr(opensearch_alias, "LOOK_AGAIN_S", 0)


def coarser(made) -> tuple[IndexIdentity, IndexSettings]:
    sizes = IndexSettings(chunk_size=800, chunk_overlap=100)
    return replace(made.identity, chunk_size=800, chunk_overlap=100), sizes


def test_a_rebuild_with_another_chunk_size_serves_all_records_from_new_chunks(settings, serving, made) -> None:
    identity, sizes = coarser(made)
    seen = []
    report = rebuild(
        ClusterRebuild(settings, identity),
        CountingEmbedder(made),
        sizes,
        lambda done, total: seen.append((done, total)),
    )
    assert (report.records, report.written, report.may_lack_writes) == (300, 300, False)
    assert (300, 300) in seen
    now = OpenSearchIndex(settings, identity, create=False)
    assert (now.count(), now.count_chunks()) == (300, report.chunks)
    assert now.get(["7"]) == serving.get(["7"])
    (hit,) = now.vector_chunks(made.embed(SENTENCE * 12), ALL, 1)
    assert len(hit.chunk.text) > 500
    assert [(i.number, i.is_serving, i.records) for i in list_indexes(settings)] == [(1, False, 300), (2, True, 300)]


def test_who_opened_the_old_index_reads_on_in_it_and_may_not_write_once_the_new_one_is_made_otherwise(
    settings, serving, made
) -> None:
    identity, sizes = coarser(made)
    rebuild(ClusterRebuild(settings, identity), CountingEmbedder(made), sizes)
    assert serving.lexical_records("zetamab", ALL, 0, 1)[1] == 300
    with pytest.raises(IndexMismatch, match="rebuilt meanwhile"):
        made.load(serving, made.record(999, "Late"))
    assert OpenSearchIndex(settings, identity, create=False).get(["999"]) == {}
    assert drop_old(settings) == 1
    assert [i.number for i in list_indexes(settings)] == [2]
    with pytest.raises(IndexMismatch, match="rebuilt meanwhile"):
        serving.count()


def test_who_opened_the_old_index_follows_to_a_new_one_that_was_made_alike(settings, serving, made) -> None:
    denser = settings.model_copy(update={"m": 32})
    rebuild(ClusterRebuild(denser, made.identity), CountingEmbedder(made), IndexSettings())
    assert drop_old(settings) == 1
    assert serving.count() == 300
    made.load(serving, made.record(999, "Late"))
    assert list(OpenSearchIndex(settings, made.identity, create=False).get(["999"])) == ["999"]
    (name,) = (i.name for i in list_indexes(settings))
    method = build_client(settings).indices.get_mapping(index=name)[name]["mappings"]["properties"]["embedding"][
        "method"
    ]
    assert method["parameters"]["m"] == 32


def test_an_interrupted_rebuild_leaves_the_old_index_serving_and_the_next_one_goes_on(settings, serving, made) -> None:
    identity, sizes = coarser(made)

    def fail_at_the_second(batch: int) -> None:
        if batch == 1:
            raise EmbedderUnavailable("the model went away")

    with pytest.raises(EmbedderUnavailable):
        rebuild(ClusterRebuild(settings, identity), CountingEmbedder(made, fail_at_the_second), sizes)
    assert [(i.number, i.is_serving, i.records) for i in list_indexes(settings)] == [(1, True, 300), (2, False, 256)]
    job = ClusterRebuild(settings, identity)
    assert job.is_resumed
    assert rebuild(job, CountingEmbedder(made), sizes).written == 44
    assert OpenSearchIndex(settings, identity, create=False).count() == 300


def test_what_another_kind_of_rebuild_left_is_deleted(settings, serving, made) -> None:
    left = ClusterRebuild(settings, coarser(made)[0])
    job = ClusterRebuild(settings.model_copy(update={"m": 32}), made.identity)
    assert (job.is_resumed, left.new_name == job.new_name) == (False, False)
    assert [i.name for i in list_indexes(settings)] == [job.old_name, job.new_name]


def test_what_is_written_and_withdrawn_while_a_rebuild_runs_is_so_in_the_new_index_too(settings, serving, made) -> None:
    identity, sizes = coarser(made)
    early = made.tombstone(5, file_number=40)
    serving.remove([early])

    def somebody_else(batch: int) -> None:
        if batch == 1:
            made.load(serving, made.record(3, "Revised title", SENTENCE, version=2), made.record(400, "New", SENTENCE))
            serving.remove([made.tombstone(9, file_number=40)])

    rebuild(ClusterRebuild(settings, identity), CountingEmbedder(made, somebody_else), sizes)
    now = OpenSearchIndex(settings, identity, create=False)
    assert now.count() == 299
    assert now.get(["3"])["3"].title == "Revised title"
    assert list(now.get(["400", "5", "9"])) == ["400"]
    made.load(now, made.from_file(made.record(5, "Old copy"), 39))
    assert now.get(["5"]) == {}


def test_an_index_that_is_no_alias_cannot_be_rebuilt(settings, serving, made) -> None:
    (only,) = list_indexes(settings)
    with pytest.raises(InvalidInput, match="not an alias"):
        ClusterRebuild(settings.model_copy(update={"index": only.name}), made.identity)
