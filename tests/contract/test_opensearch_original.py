"""An index that the original project made is read as it is, and its metric is measured, not believed."""

from __future__ import annotations

import json
import uuid

import numpy as np
import pytest
from support.cli import medcite
from support.opensearch_node import opensearch_node

from medcite_core.errors import IndexBroken, IndexMissing, InvalidInput
from medcite_core.index.opensearch_client import build_client
from medcite_core.index.opensearch_original import OriginalIndex
from medcite_core.settings import OpenSearchSettings

pytestmark = pytest.mark.cluster
WORDS = "alpha beta gamma delta epsilon".split()


@pytest.fixture
def settings() -> OpenSearchSettings:
    return OpenSearchSettings(hosts=(opensearch_node(),))


@pytest.fixture
def make_original(settings, made):
    """Makes an index the original's way, with chunks of PMIDs 11, 12, … and one without; returns its name."""

    def make(method: dict | None, *, length: float = 1.0, field: str = "embedding", **more) -> str:
        name = f"o{uuid.uuid4().hex[:20]}"
        client = build_client(settings)
        vector = {"type": "knn_vector", "dimension": made.dimension, **({"method": method} if method else {}), **more}
        properties = {
            "pmid": {"type": "text"},
            "chunk_id": {"type": "integer"},
            "year": {"type": "integer"},
            "month": {"type": "integer"},
            "title": {"type": "text"},
            "chunk": {"type": "text"},
            field: vector,
        }
        # Without a method the engine is the cluster's default, faiss, whose native code this node does not have.
        body = {"settings": {"index": {"knn": method is not None}}, "mappings": {"properties": properties}}
        client.indices.create(index=name, body=body)
        for n, word in enumerate(WORDS):
            for part in range(2):
                text = f"{word} part {part}"
                doc = {
                    "pmid": str(11 + n),
                    "chunk_id": part,
                    "year": 2000 + n,
                    "month": 3,
                    "title": word,
                    "chunk": text,
                }
                scale = length if part else 1.0
                client.index(index=name, body={**doc, field: (made.embed(text) * scale).tolist()})
        client.index(index=name, body={"chunk": "of nobody", field: made.embed("of nobody").tolist()})
        client.indices.refresh(index=name)
        return name

    return make


def hnsw(space: str) -> dict:
    return {"name": "hnsw", "engine": "lucene", "space_type": space}


def test_counts_pmids_and_chunks_come_out_as_they_were_stored(settings, make_original, made) -> None:
    index = OriginalIndex(settings, make_original(hnsw("cosinesimil")))
    summary = index.summary()
    assert (summary.chunks, summary.without_pmid, summary.dimension) == (11, 1, made.dimension)
    assert (summary.engine, summary.metric, summary.missing_fields) == ("lucene", "cosinesimil", ())
    assert index.pmids() == ["11", "12", "13", "14", "15"]
    chunks = sorted(index.chunks(), key=lambda c: (c.pmid, c.chunk_id))
    assert [(c.pmid, c.chunk_id, c.text) for c in chunks][:3] == [
        ("11", 0, "alpha part 0"),
        ("11", 1, "alpha part 1"),
        ("12", 0, "beta part 0"),
    ]
    assert (chunks[0].year, chunks[0].month, chunks[0].title) == (2000, 3, "alpha")
    assert np.allclose(chunks[0].vector, made.embed("alpha part 0"), atol=1e-6)


@pytest.mark.parametrize(
    ("method", "length", "more", "metric", "by_cosine"),
    [
        (hnsw("cosinesimil"), 3.0, {}, "cosinesimil", True),
        (hnsw("l2"), 1.0, {}, "l2", True),
        (hnsw("l2"), 3.0, {}, "l2", False),
        (hnsw("innerproduct"), 3.0, {}, "innerproduct", False),
        (None, 3.0, {}, "l2", False),
        (None, 1.0, {"space_type": "cosinesimil"}, "cosinesimil", True),
    ],
)
def test_its_metric_is_read_and_the_vectors_are_measured(
    settings, make_original, method, length, more, metric, by_cosine
) -> None:
    summary = OriginalIndex(settings, make_original(method, length=length, **more)).summary()
    assert (summary.metric, summary.ranks_by_cosine) == (metric, by_cosine)
    assert summary.is_metric_written == (method is not None or bool(more))
    assert summary.norms == pytest.approx((1.0, length), abs=1e-3)


@pytest.mark.parametrize("space", ["l2", "innerproduct"])
def test_the_nearest_by_cosine_are_found_whatever_the_graph_was_built_for(settings, make_original, made, space) -> None:
    index = OriginalIndex(settings, make_original(hnsw(space), length=5.0, field="vector_field"))
    found = index.nearest(made.embed("gamma part 0"), 2)
    assert (found[0][0].text, found[0][1]) == ("gamma part 0", pytest.approx(1.0, abs=1e-5))
    every = {c.text: c.vector / np.linalg.norm(c.vector) for c in index.chunks()}
    second = sorted(every, key=lambda text: -float(every[text] @ made.embed("gamma part 0")))[1]
    assert found[1][0].text == second
    with pytest.raises(InvalidInput):
        index.nearest(np.ones(7, dtype=np.float32), 2)


def test_what_is_no_such_index_is_refused_in_words(settings, made) -> None:
    with pytest.raises(IndexMissing, match="there is no"):
        OriginalIndex(settings, "nothere")
    name = f"o{uuid.uuid4().hex[:20]}"
    build_client(settings).indices.create(index=name, body={"mappings": {"properties": {"chunk": {"type": "text"}}}})
    with pytest.raises(IndexBroken, match="knn_vector"):
        OriginalIndex(settings, name)


def test_the_command_says_what_it_holds_and_writes_the_pmids_to_load(
    settings, make_original, monkeypatch, capsys, tmp_path
) -> None:
    name = make_original(hnsw("l2"), length=3.0)
    environ = {"MEDCITE_INDEX__BACKEND": "opensearch", "MEDCITE_OPENSEARCH__HOSTS": settings.hosts[0]}
    done = medcite(monkeypatch, capsys, tmp_path, "index", "original", name, "--pmids", "ids.txt", **environ)
    assert done.code == 0
    assert "11 chunks, 1 of them without a PMID" in done.out
    assert "metric: l2; its own search orders NOT the order by cosine" in done.out
    assert (tmp_path / "ids.txt").read_text() == "11\n12\n13\n14\n15\n"
    done = medcite(monkeypatch, capsys, tmp_path, "index", "original", name, "--json", **environ)
    assert json.loads(done.out)["ranks_by_cosine"] is False
    done = medcite(monkeypatch, capsys, tmp_path, "index", "original", name)
    assert (done.code, "MEDCITE_INDEX__BACKEND" in done.err) == (2, True)


def test_the_commands_rebuild_list_and_drop_with_the_packaged_model(settings, monkeypatch, capsys, tmp_path) -> None:
    alias = f"t{uuid.uuid4().hex[:20]}"
    citation = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version='1'>91</PMID><Article><Journal>"
        "<Title>J</Title><JournalIssue><PubDate><Year>2020</Year></PubDate></JournalIssue></Journal><ArticleTitle>Zeta.</ArticleTitle>"
        f"<Abstract><AbstractText>{'Zetamab lowered it. ' * 60}</AbstractText></Abstract></Article></MedlineCitation>"
        "</PubmedArticle></PubmedArticleSet>"
    )
    (tmp_path / "one.xml").write_text(citation)
    environ = {
        "MEDCITE_INDEX__BACKEND": "opensearch",
        "MEDCITE_OPENSEARCH__HOSTS": settings.hosts[0],
        "MEDCITE_OPENSEARCH__INDEX": alias,
    }
    assert medcite(monkeypatch, capsys, tmp_path, "ingest", "files", "one.xml", **environ).code == 0
    environ |= {"MEDCITE_INDEX__CHUNK_SIZE": "300", "MEDCITE_INDEX__CHUNK_OVERLAP": "50"}
    refused = medcite(monkeypatch, capsys, tmp_path, "search", "zetamab", **environ)
    assert (refused.code, "medcite index rebuild" in refused.err) == (1, True)
    done = medcite(monkeypatch, capsys, tmp_path, "index", "rebuild", **environ)
    assert (done.code, f"{alias}-000002 serves now: 1 records" in done.out) == (0, True)
    assert medcite(monkeypatch, capsys, tmp_path, "search", "zetamab", **environ).code == 0
    listed = json.loads(medcite(monkeypatch, capsys, tmp_path, "index", "list", "--json", **environ).out)["indexes"]
    assert [(i["name"], i["serving"], i["records"]) for i in listed] == [
        (f"{alias}-000001", False, 1),
        (f"{alias}-000002", True, 1),
    ]
    assert "is deleted" in medcite(monkeypatch, capsys, tmp_path, "index", "drop-old", **environ).out
    assert "no old index" in medcite(monkeypatch, capsys, tmp_path, "index", "drop-old", **environ).out
