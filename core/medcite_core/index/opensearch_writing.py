"""Writes to an OpenSearch index: new chunks first, then one write that switches a record over, then the old ones go."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medcite_core.errors import IndexBroken
from medcite_core.index.checks import newest_withdrawals
from medcite_core.index.lance_rows import pmid_number
from medcite_core.index.opensearch_client import Action, BulkWriter
from medcite_core.index.opensearch_mapping import (
    STATE_FIELDS,
    chunk_docs,
    record_doc,
    record_doc_id,
    state_of,
    withdrawal_doc,
    withdrawal_doc_id,
)
from medcite_core.index.opensearch_search import ClusterSearch
from medcite_core.index.precedence import Withdrawal, newest_copies
from medcite_core.ports import IndexedRecord, WriteCounts
from medcite_core.types import Record, Tombstone

_ATTEMPTS = 5
TICKET_AGE_S = 900
"""After so long a write that has not ended was cut off."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of the records of a write, by pmid; `refused` with the cluster's reason."""

    done: tuple[str, ...]
    beaten: frozenset[str]
    refused: dict[str, str]


class ClusterWriter:
    """Writes one index (or alias) of a cluster; any number of processes may at the same time."""

    def __init__(self, client: Any, index: str, search: ClusterSearch, bulk: BulkWriter) -> None:
        self._client = client
        self._index = index
        self._search = search
        self._bulk = bulk

    def plan(self, records: Sequence[Record]) -> tuple[list[Record], WriteCounts]:
        """Which of `records` are to be written, and counts for the rest."""
        numbers = [number for record in records if (number := pmid_number(record.pmid)) is not None]
        stored = {pmid: state_of(doc["_source"]) for pmid, doc in self._stored(numbers).items()}
        chosen, counts = newest_copies(records, stored, self._withdrawals(numbers))
        return [records[position] for position in chosen.values()], counts

    def replace(self, batch: list[IndexedRecord]) -> WriteCounts:
        """Store records that `check_batch` has passed; what another writer stored meanwhile is looked at again.

        Raises:
            IndexBroken: the cluster refused some of them, which are as they were before; the others are stored.
        """
        total = WriteCounts()
        refused: dict[str, str] = {}
        given = len(batch)
        for _ in range(_ATTEMPTS):
            numbers = [int(entry.record.pmid) for entry in batch]
            stored = self._stored(numbers)
            states = {pmid: state_of(doc["_source"]) for pmid, doc in stored.items()}
            chosen, counts = newest_copies([e.record for e in batch], states, self._withdrawals(numbers))
            total += counts
            entries = [batch[position] for position in chosen.values()]
            if entries:
                outcome = self._switch_over(entries, stored)
                refused.update(outcome.refused)
                replaced = sum(pmid in stored for pmid in outcome.done)
                total += WriteCounts(inserted=len(outcome.done) - replaced, replaced=replaced)
                # Another writer stored the same records meanwhile: look again at which copy is the newer one.
                batch = [entry for entry in entries if entry.record.pmid in outcome.beaten]
            if not entries or not batch:
                break
        else:
            refused.update({e.record.pmid: "somebody else writes it again and again" for e in batch})
        if refused:
            pmid, reason = next(iter(refused.items()))
            raise IndexBroken(
                f"the cluster refused {len(refused)} of {given} records, the first of them PMID {pmid}: {reason}",
                "These records are as they were before; the others are stored. Load the same files again.",
            )
        return total

    def _switch_over(self, entries: Sequence[IndexedRecord], stored: dict[str, Any]) -> _Outcome:
        """Chunks first, then the record documents, then the old chunks go."""
        new_docs = {entry.record.pmid: chunk_docs(entry) for entry in entries}
        owner = {doc_id: pmid for pmid, docs in new_docs.items() for doc_id in docs}
        ticket = self._open_ticket(list(new_docs))
        failures = self._bulk.send([_index(doc_id, doc) for docs in new_docs.values() for doc_id, doc in docs.items()])
        refused = {owner[failure.doc_id]: failure.reason for failure in failures}
        self._refresh()
        heads = []
        for entry in entries:
            pmid = entry.record.pmid
            if pmid in refused:
                continue
            action: Action = {
                "op": "create",
                "_id": record_doc_id(pmid),
                "source": record_doc(entry, list(new_docs[pmid])),
            }
            if pmid in stored:
                seen = stored[pmid]
                action.update(op="index", if_seq_no=seen["_seq_no"], if_primary_term=seen["_primary_term"])
            heads.append(action)
        beaten = set()
        for failure in self._bulk.send(heads):
            pmid = failure.doc_id.removeprefix("record:")
            if failure.status == 409:
                beaten.add(pmid)
            else:
                refused[pmid] = failure.reason
        done = tuple(pmid for pmid in new_docs if pmid not in beaten and pmid not in refused)
        old = [
            doc_id
            for pmid in done
            if pmid in stored
            for doc_id in stored[pmid]["_source"]["chunk_docs"]
            if doc_id not in new_docs[pmid]
        ]
        self._delete([*old, *self._useless(new_docs, beaten | refused.keys())])
        self._refresh()
        self._client.delete(index=self._index, id=ticket, params={"refresh": "true"})
        return _Outcome(done, frozenset(beaten), refused)

    def _useless(self, new_docs: dict[str, dict[str, Any]], pmids: set[str]) -> list[str]:
        """The chunks just written of records that were not switched over, unless somebody else wrote the same ones."""
        current = self._stored([int(pmid) for pmid in pmids])
        return [
            doc_id
            for pmid in sorted(pmids)
            for doc_id in new_docs[pmid]
            if pmid not in current or doc_id not in current[pmid]["_source"]["chunk_docs"]
        ]

    def _delete(self, doc_ids: Sequence[str]) -> None:
        self._write([{"op": "delete", "_id": doc_id} for doc_id in doc_ids], "old chunks")

    def _write(self, actions: Sequence[Action], what: str) -> None:
        failures = self._bulk.send(actions)
        if failures:
            first = failures[0]
            raise IndexBroken(
                f"{len(failures)} of {len(actions)} {what} were refused, {first.doc_id} first: {first.reason}",
                "Load the same files again.",
            )

    def _open_ticket(self, pmids: Sequence[str]) -> str:
        """Note which records are being written, so that what a kill leaves behind can be found."""
        ticket = f"ticket:{uuid.uuid4().hex}"
        body = {"kind": "ticket", "pmids": list(pmids), "at": int(time.time())}
        self._client.index(index=self._index, id=ticket, body=body)
        return ticket

    def _clear(self, pmids: set[str]) -> None:
        """Delete the chunks of `pmids` that do not belong to the current revision."""
        numbers = sorted(int(pmid) for pmid in pmids)
        revisions = self._search.revisions(numbers)
        for number in numbers:
            must_not = [{"term": {"revision": revisions[number]}}] if number in revisions else []
            query = {
                "bool": {"filter": [{"term": {"kind": "chunk"}}, {"term": {"pmid": number}}], "must_not": must_not}
            }
            body = {
                "query": query,
                "sort": [{"pmid": "asc"}, {"chunk_id": "asc"}, {"chunk_key": "asc"}],
                "_source": False,
            }
            doomed = [hit["_id"] for page in self._search.pages(body, 1000) for hit in page]
            self._delete(doomed)
        self._refresh()

    def _refresh(self) -> None:
        self._client.indices.refresh(index=self._index)

    def _stored(self, numbers: Sequence[int]) -> dict[str, dict[str, Any]]:
        """The record documents that exist, with what an update needs of them, by pmid."""
        fields = ",".join([*STATE_FIELDS, "chunk_docs", "revision"])
        found: dict[str, dict[str, Any]] = {}
        ids = [record_doc_id(number) for number in dict.fromkeys(numbers)]
        for start in range(0, len(ids), 500):
            body = {"ids": ids[start : start + 500]}
            docs = self._client.mget(body=body, index=self._index, params={"_source_includes": fields})["docs"]
            found.update({doc["_id"].removeprefix("record:"): doc for doc in docs if doc.get("found")})
        return found

    def _withdrawals(self, numbers: Sequence[int]) -> dict[str, Withdrawal]:
        found: dict[str, Withdrawal] = {}
        ids = [withdrawal_doc_id(number) for number in dict.fromkeys(numbers)]
        for start in range(0, len(ids), 500):
            docs = self._client.mget(body={"ids": ids[start : start + 500]}, index=self._index)["docs"]
            for doc in docs:
                if doc.get("found"):
                    source = doc["_source"]
                    pmid = doc["_id"].removeprefix("withdrawal:")
                    found[pmid] = Withdrawal(source["version"], source["release"], source["file_number"])
        return found

    def remove(self, tombstones: Sequence[Tombstone]) -> int:
        """Apply withdrawals; returns how many records went. Older records of the same pmid stay out from then on."""
        newest = newest_withdrawals(tombstones)
        if not newest:
            return 0
        known = self._withdrawals([int(pmid) for pmid in newest])
        fresh = {p: w for p, w in newest.items() if p not in known or not w.is_older_than(known[p])}
        # The withdrawal first: after a kill in between, the next write or load takes the records out.
        self._write([_index(withdrawal_doc_id(p), withdrawal_doc(p, w)) for p, w in fresh.items()], "withdrawals")
        return self._take_out([int(pmid) for pmid in newest])

    def _take_out(self, numbers: Sequence[int]) -> int:
        """Delete those of `numbers` that are withdrawn; returns how many records went."""
        withdrawn = self._withdrawals(numbers)
        stored = self._stored([int(pmid) for pmid in withdrawn])
        gone = {p: doc for p, doc in stored.items() if withdrawn[p].withdraws(state_of(doc["_source"]))}
        # Without its record document no chunk is shown, so that the record goes in one step.
        self._write([{"op": "delete", "_id": record_doc_id(pmid)} for pmid in gone], "withdrawn records")
        chunks = [doc_id for doc in gone.values() for doc_id in doc["_source"]["chunk_docs"]]
        self._write([{"op": "delete", "_id": doc_id} for doc_id in chunks], "chunks of withdrawn records")
        self._refresh()
        return len(gone)

    def finish_load(self) -> None:
        """Clear what interrupted writes left behind, and take out what was withdrawn meanwhile."""
        self._refresh()
        tickets = {"query": {"term": {"kind": "ticket"}}, "sort": [{"at": "asc"}], "_source": ["pmids", "at"]}
        found = [hit for page in self._search.pages(tickets, 100) for hit in page]
        # A younger ticket may be that of a load which goes on elsewhere: what it writes is left alone.
        oldest = int(time.time()) - TICKET_AGE_S
        at_work = {pmid for hit in found if hit["_source"]["at"] >= oldest for pmid in hit["_source"]["pmids"]}
        for hit in found:
            if hit["_source"]["at"] < oldest:
                self._clear(set(hit["_source"]["pmids"]) - at_work)
                self._client.delete(index=self._index, id=hit["_id"], params={"ignore": 404})
        withdrawn = {"query": {"term": {"kind": "withdrawal"}}, "sort": [{"pmid": "asc"}], "_source": False}
        for page in self._search.pages({**withdrawn, "docvalue_fields": ["pmid"]}, 1000):
            self._take_out([int(hit["fields"]["pmid"][0]) for hit in page])
        self._refresh()


def _index(doc_id: str, source: dict[str, Any]) -> Action:
    return {"op": "index", "_id": doc_id, "source": source}
