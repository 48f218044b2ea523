"""Builds a new index beside the one that serves and puts it in its place in one step: other model, chunking, layout."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from medcite_core.errors import IndexBroken, InvalidInput
from medcite_core.index.opensearch_alias import numbered, numbered_name, resolve
from medcite_core.index.opensearch_client import BulkWriter, build_client, cluster_errors
from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.index.opensearch_mapping import index_body
from medcite_core.index.opensearch_search import ClusterSearch
from medcite_core.index.opensearch_writing import TICKET_AGE_S
from medcite_core.ports import IndexIdentity
from medcite_core.settings import OpenSearchSettings

_WITHDRAWALS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NumberedIndex:
    """An index that medcite made behind an alias. `size_bytes` are those of its primary shards."""

    name: str
    number: int
    is_serving: bool
    records: int
    size_bytes: int


class ClusterRebuild:
    """A new index beside the serving one. `source` serves until `publish`; `target` is filled meanwhile.

    A rebuild that was cut off leaves the old index serving. The next one of the same kind goes on with what it left;
    one of another kind deletes that first.
    """

    def __init__(self, settings: OpenSearchSettings, identity: IndexIdentity) -> None:
        """Open the serving index and make, or find again, the one that is to replace it.

        Raises:
            IndexMissing: nothing serves under `settings.index`.
            InvalidInput: `settings.index` names an index rather than an alias, or the dimension is not known.
            IndexUnreachable, IndexBroken, IndexMismatch: as when an index is opened.
        """
        if identity.embedder.dimension < 1:
            raise InvalidInput("the embedding model's dimension is not known yet; load the model first")
        self._settings = settings
        self._client = build_client(settings)
        self._place = f"the index {settings.index} on {', '.join(settings.hosts)}"
        with cluster_errors("preparing a rebuild", self._place):
            self.old_name, old_identity = resolve(self._client, settings.index, self._place)
            if numbered(settings.index, self.old_name) is None:
                raise InvalidInput(
                    f"{settings.index} is the name of an index, not an alias, so that nothing can take its place",
                    "Load the records under another MEDCITE_OPENSEARCH__INDEX.",
                )
            self.new_name, self.is_resumed = self._find_or_make(identity)
        # By their own names: the alias moves in between.
        self.source = OpenSearchIndex(settings.model_copy(update={"index": self.old_name}), old_identity, create=False)
        self.target = OpenSearchIndex(settings.model_copy(update={"index": self.new_name}), identity, create=False)

    def _find_or_make(self, identity: IndexIdentity) -> tuple[str, bool]:
        settings = self._settings
        body = index_body(identity, settings)
        old_number = numbered(settings.index, self.old_name) or 0
        names = numbered_indexes(self._client, settings.index)
        for name in names:
            if (numbered(settings.index, name) or 0) <= old_number:
                continue
            if self._is_made_as(name, body):
                return name, True
            self._client.indices.delete(index=name)
        number = max((numbered(settings.index, name) or 0 for name in names), default=0) + 1
        name = numbered_name(settings.index, number)
        self._client.indices.create(index=name, body=body)
        return name, False

    def _is_made_as(self, name: str, body: dict[str, Any]) -> bool:
        mapping = self._client.indices.get_mapping(index=name)[name]["mappings"]
        index = self._client.indices.get_settings(index=name)[name]["settings"]["index"]
        wanted = body["mappings"]
        return bool(
            mapping.get("_meta") == wanted["_meta"]
            and mapping["properties"]["embedding"].get("method") == wanted["properties"]["embedding"]["method"]
            and int(index["number_of_shards"]) == body["settings"]["index"]["number_of_shards"]
        )

    def copy_withdrawals(self) -> int:
        """Take over which records are withdrawn from PubMed; returns how many those are."""
        query = {"query": {"term": {"kind": "withdrawal"}}, "sort": [{"pmid": "asc"}]}
        bulk = BulkWriter(self._client, self.new_name, self._settings.bulk_bytes)
        copied = 0
        with cluster_errors("copying withdrawals", self._place):
            for page in ClusterSearch(self._client, self.old_name).pages(query, _WITHDRAWALS_AT_ONCE):
                failures = bulk.send([{"op": "index", "_id": hit["_id"], "source": hit["_source"]} for hit in page])
                if failures:
                    raise IndexBroken(
                        f"{len(failures)} withdrawals were refused, {failures[0].doc_id} first: {failures[0].reason}",
                        "Run the rebuild again.",
                    )
                copied += len(page)
        return copied

    def publish(self) -> None:
        """Let the alias stand for the new index; one step, so that every search finds the old one or the new.

        Raises:
            IndexBroken: somebody else moved the alias meanwhile; nothing was changed.
        """
        alias = self._settings.index
        actions = [
            {"remove": {"index": self.old_name, "alias": alias, "must_exist": True}},
            {"add": {"index": self.new_name, "alias": alias, "is_write_index": True}},
        ]
        with cluster_errors("publishing a rebuilt index", self._place):
            now, _ = resolve(self._client, alias, self._place)
            if now != self.old_name:
                raise IndexBroken(
                    f"{self._place} was moved from {self.old_name} to {now} by somebody else meanwhile",
                    "Nothing was changed. Look with `medcite index list` before you rebuild again.",
                )
            self._client.indices.update_aliases(body={"actions": actions})

    def wait_for_writers(self, longest_s: float = 60.0) -> bool:
        """Wait until no load writes to the old index any more; whether that came about in `longest_s`."""
        until = time.monotonic() + longest_s
        since = int(time.time()) - TICKET_AGE_S
        open_writes: list[dict[str, Any]] = [{"term": {"kind": "ticket"}}, {"range": {"at": {"gte": since}}}]
        with cluster_errors("waiting for writers", self._place):
            while True:
                self._client.indices.refresh(index=self.old_name)
                if ClusterSearch(self._client, self.old_name).count(open_writes) == 0:
                    return True
                if time.monotonic() >= until:
                    return False
                time.sleep(0.25)


def list_indexes(settings: OpenSearchSettings) -> list[NumberedIndex]:
    """All indexes behind, before and after the one that the alias stands for, by number."""
    client = build_client(settings)
    place = f"the index {settings.index} on {', '.join(settings.hosts)}"
    with cluster_errors("listing indexes", place):
        names = numbered_indexes(client, settings.index)
        if not names:
            return []
        serving = set(client.indices.get_alias(index=",".join(names), name=settings.index, params={"ignore": 404}))
        stats = client.indices.stats(index=",".join(names), metric="store")["indices"]
        records = {"query": {"term": {"kind": "record"}}}
        return [
            NumberedIndex(
                name,
                numbered(settings.index, name) or 0,
                name in serving,
                int(client.count(index=name, body=records)["count"]),
                int(stats[name]["primaries"]["store"]["size_in_bytes"]),
            )
            for name in names
        ]


def drop_old(settings: OpenSearchSettings, on_drop: Callable[[NumberedIndex], None] = lambda _: None) -> int:
    """Delete the indexes with lower numbers than the serving one; returns how many.

    Raises:
        IndexMissing: the alias stands for none.
    """
    client = build_client(settings)
    place = f"the index {settings.index} on {', '.join(settings.hosts)}"
    with cluster_errors("deleting old indexes", place):
        serving, _ = resolve(client, settings.index, place)
        limit = numbered(settings.index, serving) or 0
        old = [index for index in list_indexes(settings) if index.number < limit and not index.is_serving]
        for index in old:
            client.indices.delete(index=index.name)
            on_drop(index)
    return len(old)


def numbered_indexes(client: Any, alias: str) -> list[str]:
    """Names of the indexes that medcite made behind `alias`, in order."""
    found = client.indices.get(index=f"{alias}-*")
    return sorted(name for name in found if numbered(alias, name) is not None)
