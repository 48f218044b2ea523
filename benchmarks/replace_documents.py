"""Replacing 1,000 records in an index of 100,000 chunks, and 200 writers killed while they replace.

Peer for the time, in the same run: LanceDB's own `merge_insert` of the same rows into a bare table of the same size,
which checks nothing and keeps no order of truth. After each kill every record must be whole and of one revision.

    .venv/bin/python benchmarks/replace_documents.py [--chunks 100000] [--kills 200]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_corpus import CHUNKS_A_RECORD, IDENTITY, SyntheticCorpus

from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import IndexedRecord

RESULTS = Path(__file__).parent / "results"
REPLACED = 1_000
KILLED_RECORDS = 50


def revised(entry: IndexedRecord, version: int) -> IndexedRecord:
    """The same record in a later version."""
    return replace(entry, record=replace(entry.record, version=version))


def time_replacing(chunks: int, folder: Path) -> dict[str, Any]:
    """Seconds to replace, and how soon the new revision is found."""
    import lancedb

    corpus = SyntheticCorpus(chunks)
    index = LanceIndex(folder / "ours", IDENTITY)
    first: list[IndexedRecord] = []
    for batch in corpus.batches():
        first = first or batch[:REPLACED]
        index.replace(batch)
    index.finish_load()
    rows = lancedb.connect(str(folder / "ours")).open_table("chunks").to_arrow()
    bare = lancedb.connect(str(folder / "bare")).create_table("chunks", rows)
    numbers = {int(e.record.pmid) for e in first}
    replaced_rows = rows.filter(np.isin(rows["pmid"].to_numpy(), list(numbers)))

    ours, peer = [], []
    for version in range(2, 7):
        batch = [revised(entry, version) for entry in first]
        started = time.perf_counter()
        counts = index.replace(batch)
        ours.append(time.perf_counter() - started)
        assert counts.replaced == REPLACED, counts
        seen = index.get([first[0].record.pmid])[first[0].record.pmid]
        assert seen.version == version
        where = f"pmid in ({', '.join(str(n) for n in sorted(numbers))})"
        started = time.perf_counter()
        (
            bare.merge_insert("id")
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .when_not_matched_by_source_delete(where)
            .execute(replaced_rows)
        )
        peer.append(time.perf_counter() - started)
    return {
        "chunks": chunks,
        "records_replaced": REPLACED,
        "chunks_replaced": REPLACED * CHUNKS_A_RECORD,
        "seconds_median": round(float(np.median(ours)), 2),
        "peer_merge_insert_seconds_median": round(float(np.median(peer)), 2),
        "ratio_to_peer": round(float(np.median(ours) / np.median(peer)), 2),
        "visible": "at once: the next read after the commit sees the new revision",
    }


def write_for_ever(folder: Path, version: int) -> None:
    """The process that is killed: replaces all records of an index with ever newer versions."""
    entries = next(iter(SyntheticCorpus(KILLED_RECORDS * CHUNKS_A_RECORD).batches()))
    index = LanceIndex(folder, IDENTITY)
    while True:
        index.replace([revised(entry, version) for entry in entries])
        print(version, flush=True)
        version += 1


def kill_writers(kills: int, folder: Path) -> dict[str, int]:
    """Kill a writer at a random moment, open, count; `mixed` and `lost` must be 0."""
    rng = random.Random(5)
    outcome = {"kills": 0, "lost": 0, "mixed": 0, "versions_committed": 0}
    version = 1
    while outcome["kills"] < kills:
        command = [sys.executable, __file__, "--write", str(folder), "--version", str(version)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # it has begun to commit
            # Several kills of one start would need several starts; a start costs seconds, a moment is cheap.
            time.sleep(rng.random() * 0.4)
            os.kill(writer.pid, signal.SIGKILL)
        outcome["kills"] += 1
        index = LanceIndex(folder, IDENTITY)
        versions = {record.version for record in index.scan(SearchFilter())}
        outcome["lost"] += KILLED_RECORDS - index.count()
        outcome["lost"] += abs(KILLED_RECORDS * CHUNKS_A_RECORD - index.count_chunks())
        outcome["mixed"] += len(versions) - 1
        outcome["versions_committed"] = max(versions)
        version = max(versions) + 1
        if outcome["kills"] % 20 == 0:
            print(outcome, flush=True)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--version", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write_for_ever(arguments.write, arguments.version)
    with tempfile.TemporaryDirectory(prefix="medcite-bench-") as name:
        report = {"kills": kill_writers(arguments.kills, Path(name) / "killed")}
        if arguments.chunks:
            report["replace"] = time_replacing(arguments.chunks, Path(name))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "replace_documents.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 1 if report["kills"]["lost"] or report["kills"]["mixed"] else 0


if __name__ == "__main__":
    sys.exit(main())
