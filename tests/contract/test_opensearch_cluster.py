"""Three real nodes as one cluster: one of them dies in the middle of a load and of searches, and nothing is lost."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.opensearch_node import node_script

from medcite_core.errors import MedciteError
from medcite_core.filters import SearchFilter
from medcite_core.index.opensearch_client import build_client
from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.settings import OpenSearchSettings

ALL = SearchFilter()
pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The nodes, and a client for all of them."""
    script = node_script()
    ports = [script.free_port() for _ in range(6)]
    nodes = script.cluster(tmp_path_factory.mktemp("cluster"), ports[:3], ports[3:])
    with script.running(nodes):
        hosts = tuple(node.url for node in nodes)
        client = build_client(OpenSearchSettings(hosts=hosts))
        # Copies are given up, and made anew, without the minute's wait for a node that only restarts.
        soon = {"index.unassigned.node_left.delayed_timeout": "0s"}
        client.indices.put_index_template(
            name="soon", body={"index_patterns": ["t*"], "template": {"settings": soon}, "priority": 1}
        )
        yield SimpleNamespace(nodes=nodes, hosts=hosts, client=client)


def wait_for(client, status: str, nodes: int = 3) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        health = client.cluster.health()
        if health["status"] == status and health["number_of_nodes"] == nodes:
            return
        time.sleep(0.3)
    pytest.fail(f"the cluster did not become {status}: {health}")


@pytest.fixture(autouse=True)
def _all_up(three) -> None:
    for node in three.nodes:
        if node.process is None:
            node.start()
            node.wait()
    wait_for(three.client, "green")


def test_a_node_that_dies_during_a_load_and_searches_loses_nothing_and_nobody_sees_an_error(three, made):
    name = f"t{uuid.uuid4().hex[:16]}"
    settings = OpenSearchSettings(hosts=three.hosts, index=name, shards=3, replicas=1, timeout_s=20)
    writer, reader = (OpenSearchIndex(settings, made.identity) for _ in range(2))
    wait_for(three.client, "green")
    made.load(writer, *(made.record(p, "Zeta first", "zeta words.") for p in range(1, 51)))
    errors: list[str] = []
    searches = 0
    is_over = threading.Event()

    def read() -> None:
        nonlocal searches
        while not is_over.is_set():
            try:
                first = [hit.chunk.pmid for hit in reader.lexical_chunks("first", ALL, 99)]
                near = reader.vector_chunks(made.embed("zeta words."), ALL, 10)
                _, total = reader.lexical_records("first", ALL, 0, 5)
            except MedciteError as error:
                errors.append(str(error))
                continue
            searches += 1
            if len(set(first)) != 50 or len(near) != 10 or total != 50:
                errors.append(f"{len(set(first))} of 50 records, {len(near)} near, {total} listed")

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for batch in range(30):
            start = 1000 + batch * 20
            made.load(writer, *(made.record(p, f"Eta {p}", "eta words.") for p in range(start, start + 20)))
            if batch == 10:
                three.nodes[2].kill()
    finally:
        is_over.set()
        thread.join()
    assert errors == []
    assert searches > 20
    assert (writer.count(), writer.count_chunks()) == (650, 1300)
    assert [r.pmid for r in writer.scan()] == [*map(str, range(1, 51)), *map(str, range(1000, 1600))]

    three.nodes[2].start()
    three.nodes[2].wait()
    wait_for(three.client, "green")
    assert OpenSearchIndex(settings, made.identity, create=False).count() == 650


def test_a_rolling_restart_goes_unnoticed(three, made):
    name = f"t{uuid.uuid4().hex[:16]}"
    settings = OpenSearchSettings(hosts=three.hosts, index=name, shards=2, replicas=1, timeout_s=20)
    index = OpenSearchIndex(settings, made.identity)
    wait_for(three.client, "green")
    made.load(index, *(made.record(p, "Zeta", "zeta words.") for p in range(1, 31)))
    for turn, node in enumerate(three.nodes):
        node.stop()
        assert len({hit.chunk.pmid for hit in index.lexical_chunks("zeta", ALL, 99)}) == 30
        made.load(index, made.record(100 + turn, "Theta"))
        node.start()
        node.wait()
        wait_for(three.client, "green")
    assert index.count() == 33


def test_shards_that_move_between_nodes_are_searched_all_the_while(three, made):
    name = f"t{uuid.uuid4().hex[:16]}"
    settings = OpenSearchSettings(hosts=three.hosts, index=name, shards=3, replicas=0)
    index = OpenSearchIndex(settings, made.identity)
    made.load(index, *(made.record(p, "Zeta", "zeta words.") for p in range(1, 201)))
    body = {"index.routing.allocation.exclude._name": "n1"}
    three.client.indices.put_settings(index=name, body=body)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert index.lexical_records("zeta", ALL, 0, 5)[1] == 200
        shards = three.client.cat.shards(index=name, format="json")
        if all(shard["state"] == "STARTED" and shard["node"] != "n1" for shard in shards):
            break
    else:
        pytest.fail(f"shards did not move: {shards}")
    assert len(index.vector_chunks(made.embed("zeta words."), ALL, 99)) == 99


def test_a_snapshot_restored_is_the_index_as_it_was(three, made, tmp_path: Path):
    name = f"t{uuid.uuid4().hex[:16]}"
    settings = OpenSearchSettings(hosts=three.hosts, index=name, replicas=1)
    index = OpenSearchIndex(settings, made.identity)
    made.load(index, *(made.record(p, f"Zeta {p}", "zeta words.") for p in range(1, 41)))
    before = {record.pmid: record for record in index.scan()}
    repository = {"type": "fs", "settings": {"location": str(three.nodes[0].home.parent / "snapshots" / name)}}
    three.client.snapshot.create_repository(repository="copies", body=repository)
    three.client.snapshot.create(
        repository="copies", snapshot="one", body={"indices": name}, params={"wait_for_completion": "true"}
    )
    made.load(index, made.record(1, "Changed", version=2))
    index.remove([made.tombstone(2, None)])
    three.client.indices.delete(index=f"{name}-000001")
    three.client.snapshot.restore(
        repository="copies", snapshot="one", body={"indices": f"{name}-000001"}, params={"wait_for_completion": "true"}
    )
    wait_for(three.client, "green")
    again = OpenSearchIndex(settings, made.identity, create=False)
    assert {record.pmid: record for record in again.scan()} == before
    assert len({hit.chunk.pmid for hit in again.lexical_chunks("zeta", ALL, 99)}) == 40
