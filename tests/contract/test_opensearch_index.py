"""What only the index in a cluster has to survive: bad weather, other writers, and readers in the middle of a write."""

from __future__ import annotations

import json
import multiprocessing
import ssl
import threading
import time
import uuid

import pytest
import trustme
from support.node_proxy import Fault, Rules, node_proxy
from support.opensearch_node import opensearch_node

from medcite_core.errors import IndexBroken, IndexMismatch, IndexMissing, IndexRefused, IndexUnreachable
from medcite_core.filters import SearchFilter
from medcite_core.index import opensearch_client, opensearch_search, opensearch_writing
from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.index.opensearch_mapping import index_body
from medcite_core.ports import WriteCounts
from medcite_core.settings import OpenSearchSettings
from medcite_core.types import PartialDate

ALL = SearchFilter()
pytestmark = pytest.mark.cluster


@pytest.fixture
def name() -> str:
    return f"t{uuid.uuid4().hex[:20]}"


def settings(name: str, *hosts: str, **more) -> OpenSearchSettings:
    return OpenSearchSettings(hosts=hosts or (opensearch_node(),), index=name, **more)


@pytest.fixture
def cluster(name, made) -> OpenSearchIndex:
    return OpenSearchIndex(settings(name), made.identity)


@pytest.fixture
def raw():
    """The client under an index, to look at what is really stored."""
    return opensearch_client.build_client(settings("x"))


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch) -> None:
    monkeypatch.setattr(opensearch_client, "_WAITS_S", (0.01, 0.01, 0.02, 0.02))


def stored(raw, name: str, kind: str) -> int:
    return raw.count(index=name, body={"query": {"term": {"kind": kind}}})["count"]


# ------------------------------------------------------------------ readers and writers


def test_a_reader_in_a_loop_of_a_thousand_replacements_never_sees_a_mixed_or_missing_record(cluster, name, made):
    def versions(n: int):
        word = "even" if n % 2 == 0 else "odd"
        return [
            made.record(p, f"Zeta {word}", f"zeta {word} {n}.", f"zeta {word} again.", version=n + 1)
            for p in range(1, 11)
        ]

    made.load(cluster, *versions(0))
    reader = OpenSearchIndex(settings(name), made.identity, create=False)
    wrong: list[str] = []
    looks = 0
    is_over = threading.Event()

    def read() -> None:
        nonlocal looks
        while not is_over.is_set():
            for hits in (reader.lexical_chunks("zeta", ALL, 99), reader.vector_chunks(made.embed("zeta"), ALL, 99)):
                looks += 1
                for pmid in map(str, range(1, 11)):
                    mine = [hit.chunk.text for hit in hits if hit.chunk.pmid == pmid]
                    if len(mine) != 3 or len({"even" in text for text in mine}) != 1:
                        wrong.append(f"{pmid}: {mine}")
            if reader.lexical_records("zeta", ALL, 0, 99)[1] != 10:
                wrong.append("a record is not listed")

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for n in range(1, 101):
            assert made.load(cluster, *versions(n)) == WriteCounts(replaced=10)
    finally:
        is_over.set()
        thread.join()
    assert wrong == []
    assert looks > 50
    assert cluster.count_chunks() == 30


def test_two_writers_of_the_same_records_leave_the_newest_of_each_and_no_other_chunk(name, made, raw):
    one, two = (OpenSearchIndex(settings(name), made.identity) for _ in range(2))

    def write(index, versions) -> None:
        for version in versions:
            made.load(
                index, *(made.record(p, f"V{version}", f"words {version}.", version=version) for p in range(1, 9))
            )

    threads = [
        threading.Thread(target=write, args=(one, range(1, 40, 2))),
        threading.Thread(target=write, args=(two, range(2, 41, 2))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {record.title for record in one.scan()} == {"V40"}
    assert (one.count(), one.count_chunks(), stored(raw, name, "chunk")) == (8, 16, 16)


def _load_until_killed(index, made, started) -> None:
    started.set()
    for version in range(2, 10_000):
        made.load(index, *(made.record(p, f"V{version}", f"words {version}.", version=version) for p in range(1, 31)))


def test_a_writer_killed_at_any_moment_leaves_each_record_whole_and_the_next_load_clears_up(
    cluster, name, made, raw, monkeypatch
):
    made.load(cluster, *(made.record(p, "V1", "words 1.") for p in range(1, 31)))
    context = multiprocessing.get_context("fork")
    for trial in range(6):
        started = context.Event()
        own = OpenSearchIndex(settings(name), made.identity)
        process = context.Process(target=_load_until_killed, args=(own, made, started))
        process.start()
        assert started.wait(30)
        time.sleep(0.15 + 0.11 * trial)
        process.kill()
        process.join()
        seen = {p: r.title.removeprefix("V") for p, r in cluster.get([str(p) for p in range(1, 31)]).items()}
        assert len(seen) == 30
        for hit in cluster.lexical_chunks("words", ALL, 99):
            assert hit.chunk.text in (f"words {seen[hit.chunk.pmid]}.", f"V{seen[hit.chunk.pmid]}")
        assert cluster.count_chunks() == 60
    monkeypatch.setattr(opensearch_writing, "TICKET_AGE_S", -10)
    cluster.finish_load()
    assert (stored(raw, name, "chunk"), stored(raw, name, "ticket")) == (60, 0)


# ------------------------------------------------------------------ refusals


def test_a_request_over_the_cluster_s_limit_is_halved_until_it_fits(name, made):
    """FR-083: 413 above 100 kB; FR-086: any number of chunks."""
    rules = Rules(lambda method, path, body: Fault(413) if len(body) > 100_000 else None)
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        records = [made.record(p, f"Title {p}", "word " * 200) for p in range(1, 502)]
        assert made.load(index, *records) == WriteCounts(inserted=501)
        assert (index.count(), index.count_chunks()) == (501, 1002)
        assert max(size for _, path, size in rules.seen if "_bulk" in path) > 100_000


def test_a_batch_that_is_always_too_large_for_a_busy_node_shrinks_instead_of_waiting(name, made):
    """FR-084: 429 for any large request, however often it is repeated."""
    busy = Fault(429, json.dumps({"error": {"type": "rejected_execution_exception", "reason": "full"}, "status": 429}))
    rules = Rules(lambda method, path, body: busy if "_bulk" in path and len(body) > 50_000 else None)
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        made.load(index, *(made.record(p, f"Title {p}", "word " * 200) for p in range(1, 101)))
        assert index.count() == 100


def test_a_circuit_breaker_that_closes_after_a_while_is_waited_for(name, made, monkeypatch):
    """FR-087."""
    opened = [time.monotonic()]
    broken = Fault(429, json.dumps({"error": {"type": "circuit_breaking_exception", "reason": "Data too large"}}))
    rules = Rules(lambda method, path, body: broken if "_bulk" in path and time.monotonic() < opened[0] + 0.5 else None)
    monkeypatch.setattr(opensearch_client, "_WAITS_S", (0.2, 0.3, 0.5, 0.5))
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        opened[0] = time.monotonic()
        assert made.load(index, made.record(1, "Zeta")) == WriteCounts(inserted=1)
        assert time.monotonic() > opened[0] + 0.5


def test_one_record_too_large_is_named_and_the_others_are_stored(name, made):
    """FR-085."""
    rules = Rules(lambda method, path, body: Fault(413) if len(body) > 300_000 else None)
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        records = [made.record(p, f"Title {p}") for p in range(1, 100)]
        with pytest.raises(IndexBroken, match="1 of 100 records, the first of them PMID 555") as caught:
            made.load(index, *records, made.record(555, "Big", "word " * 80_000))
        assert "the others are stored" in caught.value.hint
        assert (index.count(), index.get(["555"])) == (99, {})


def test_a_bulk_reply_that_refuses_every_item_is_a_failure_with_its_reason(cluster, name, made):
    """FR-082: HTTP 200 with `errors`; FR-088: the old version stays until the new one is in."""
    made.load(cluster, made.record(1, "Old", "old words."))

    def refuse(method: str, path: str, body: bytes) -> Fault | None:
        if "_bulk" not in path:
            return None
        ids = [json.loads(line)["index"]["_id"] for line in body.splitlines() if line.startswith(b'{"index"')]
        error = {"type": "mapper_parsing_exception", "reason": "the vector has the wrong dimension"}
        items = [{"index": {"_id": i, "status": 400, "error": error}} for i in ids]
        return Fault(200, json.dumps({"took": 1, "errors": True, "items": items}))

    with node_proxy(opensearch_node(), Rules(refuse)) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        with pytest.raises(IndexBroken, match="wrong dimension"):
            made.load(index, made.record(1, "New", "new words.", version=2))
    assert cluster.get(["1"])["1"].title == "Old"
    assert made.pmids(cluster.lexical_chunks("old", ALL, 3)) == ["1", "1"]
    assert cluster.lexical_chunks("new", ALL, 3) == []


def test_an_index_made_read_only_refuses_in_words_keeps_what_it_has_and_goes_on_later(cluster, name, made, raw):
    """The flood stage: the disk is nearly full."""
    made.load(cluster, made.record(1, "Old"))
    raw.indices.put_settings(index=name, body={"index.blocks.read_only_allow_delete": True})
    with pytest.raises(IndexBroken) as caught:
        made.load(cluster, made.record(2, "New"))
    assert "disk" in caught.value.hint
    assert cluster.count() == 1
    raw.indices.put_settings(index=name, body={"index.blocks.read_only_allow_delete": None})
    assert made.load(cluster, made.record(2, "New")) == WriteCounts(inserted=1)


# ------------------------------------------------------------------ doors


def test_a_cluster_that_does_not_answer_is_said_and_found_again_once_it_does(name, made):
    is_down = [False]
    rules = Rules(lambda method, path, body: Fault() if is_down[0] else None)
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host), made.identity)
        made.load(index, made.record(1, "Zeta"))
        is_down[0] = True
        with pytest.raises(IndexUnreachable, match="does not answer"):
            index.lexical_chunks("zeta", ALL, 3)
        with pytest.raises(IndexUnreachable):
            OpenSearchIndex(settings(name, host), made.identity, create=False)
        is_down[0] = False
        assert made.pmids(index.lexical_chunks("zeta", ALL, 3)) == ["1"]


def test_a_slow_node_is_given_up_after_the_time_that_is_set(name, made):
    is_slow = [False]
    rules = Rules(lambda method, path, body: Fault(delay_s=2.0) if is_slow[0] and "_search" in path else None)
    with node_proxy(opensearch_node(), rules) as host:
        index = OpenSearchIndex(settings(name, host, timeout_s=0.5), made.identity)
        made.load(index, made.record(1, "Zeta"))
        is_slow[0] = True
        with pytest.raises(IndexUnreachable):
            index.lexical_chunks("zeta", ALL, 3)


def test_a_wrong_password_is_said_and_never_shown(name, made):
    rules = Rules(username="medcite", password="right")
    with node_proxy(opensearch_node(), rules) as host:
        with pytest.raises(IndexRefused) as caught:
            OpenSearchIndex(settings(name, host, username="medcite", password="s3cret-wrong"), made.identity)
        assert "s3cret" not in str(caught.value) + caught.value.hint
        assert not caught.value.retryable
        index = OpenSearchIndex(settings(name, host, username="medcite", password="right"), made.identity)
        assert index.count() == 0


def test_a_certificate_is_trusted_only_when_its_authority_is_named(name, made, tmp_path):
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(bundle))
    with node_proxy(opensearch_node(), Rules(), context) as host:
        with pytest.raises(IndexRefused, match="not trusted") as caught:
            OpenSearchIndex(settings(name, host), made.identity)
        assert "MEDCITE_OPENSEARCH__CA_CERTS" in caught.value.hint
        assert OpenSearchIndex(settings(name, host, ca_certs=str(bundle)), made.identity).count() == 0


def test_a_host_that_is_down_is_passed_over(name, made):
    dead = "http://127.0.0.1:9"
    index = OpenSearchIndex(settings(name, dead, opensearch_node()), made.identity)
    for pmid in range(1, 6):
        made.load(index, made.record(pmid, "Zeta"))
    assert index.count() == 5


# ------------------------------------------------------------------ what it is made of


def test_an_index_of_somebody_else_or_of_another_mapping_is_refused(name, made, raw):
    raw.indices.create(index=f"{name}-a", body={"aliases": {f"{name}x": {}}})
    with pytest.raises(IndexBroken, match="does not say how it was made"):
        OpenSearchIndex(settings(f"{name}x"), made.identity)
    body = index_body(made.identity, settings("x"))
    body["mappings"]["_meta"]["medcite"]["mapping_version"] = 99
    raw.indices.create(index=f"{name}-b", body={**body, "aliases": {f"{name}y": {}}})
    with pytest.raises(IndexMismatch, match="mapping version 99"):
        OpenSearchIndex(settings(f"{name}y"), made.identity)
    with pytest.raises(IndexMissing):
        OpenSearchIndex(settings(f"{name}z"), made.identity, create=False)


def test_a_mapping_for_faiss_is_written_as_intended(made):
    """No native libraries are on the test node, so that it can only be looked at."""
    body = index_body(made.identity, settings("x", "http://x", engine="faiss", m=24, shards=3, replicas=1))
    field = body["mappings"]["properties"]["embedding"]
    assert (field["method"]["engine"], field["method"]["space_type"]) == ("faiss", "cosinesimil")
    assert field["method"]["parameters"] == {"m": 24, "ef_construction": 100}
    assert field["dimension"] == made.dimension
    assert body["settings"]["index"]["number_of_shards"] == 3
    assert body["settings"]["index"]["number_of_replicas"] == 1


def test_the_original_project_s_fields_are_there_and_its_vector_alias_can_be_searched(cluster, name, made, raw):
    made.load(cluster, made.record(1, "Zeta", "RESULTS: zeta words.", date=PartialDate(2020, 3, raw="2020 Mar")))
    hits = raw.search(index=name, body={"query": {"term": {"kind": "chunk"}}, "sort": ["chunk_id"]})["hits"]["hits"]
    found = {key: hits[1]["_source"][key] for key in ("pmid", "chunk_id", "year", "month", "title", "chunk")}
    assert found == {"pmid": 1, "chunk_id": 1, "year": 2020, "month": 3, "title": "Zeta", "chunk": "zeta words."}
    # The engine follows an alias when it compares all vectors, not through its graph.
    for field in ("embedding", "vector_field"):
        wanted = {"field": field, "query_value": made.embed("zeta words.").tolist(), "space_type": "cosinesimil"}
        script = {"lang": "knn", "source": "knn_score", "params": wanted}
        near = {"query": {"script_score": {"query": {"term": {"kind": "chunk"}}, "script": script}}}
        assert raw.search(index=name, body=near)["hits"]["hits"][0]["_source"]["chunk"] == "zeta words."


def test_a_list_can_be_paged_beyond_what_one_request_may_return(cluster, made, monkeypatch):
    monkeypatch.setattr(opensearch_search, "WINDOW", 50)
    made.load(cluster, *(made.record(p, "Zeta words") for p in range(1, 204)))
    pages = [cluster.listed_records("zeta", ALL, "date", o, 20, descending=True) for o in range(0, 220, 20)]
    seen = [hit.pmid for page, _ in pages for hit in page]
    assert {total for _, total in pages} == {203}
    assert seen == [str(p) for p in range(1, 204)]


def test_above_the_exact_limit_the_graph_finds_what_comparing_all_finds(cluster, made, monkeypatch):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
    for start in range(1, 1001, 250):
        some = range(start, start + 250)
        texts = [(f"{words[p % 10]} {p}", f"{words[p // 10 % 10]} {words[p // 100 % 10]} {p}.") for p in some]
        made.load(cluster, *(made.record(p, *text) for p, text in zip(some, texts, strict=True)))
    few = SearchFilter(title="alpha")
    exact = [cluster.vector_chunks(made.embed(f"{word} 77"), ALL, 10) for word in words]
    exact_few = cluster.vector_chunks(made.embed("beta 5"), few, 10)
    monkeypatch.setattr(opensearch_search, "EXACT_ROWS", 0)
    by_graph = [cluster.vector_chunks(made.embed(f"{word} 77"), ALL, 10) for word in words]
    same = sum(len({h.chunk.id for h in a} & {h.chunk.id for h in b}) for a, b in zip(exact, by_graph, strict=True))
    assert same >= 0.98 * 10 * len(words)
    near = cluster.vector_chunks(made.embed("beta 5"), few, 10)
    assert len({h.chunk.id for h in near} & {h.chunk.id for h in exact_few}) >= 9
    assert [h.score for h in near] == pytest.approx([h.score for h in exact_few], abs=1e-3)


def test_records_come_back_equal_whatever_their_letters(cluster, made):
    record = made.record(3, "β–TNF \U0001f600 ‘x’", "10⁶ cells; p<0.05 \u2028 end.")
    made.load(cluster, record)
    assert cluster.get(["3"]) == {"3": record}
    assert [r.text for r in cluster.scan()] == [record.text]
