"""Which index of a cluster an alias stands for; a rebuild moves it, and what is open follows if it was made alike."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from medcite_core.errors import IndexBroken, IndexMismatch, IndexMissing
from medcite_core.index.opensearch_mapping import index_body, stored_identity
from medcite_core.ports import IndexIdentity
from medcite_core.settings import OpenSearchSettings

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 30.0
"""A reader notices after so long that an alias was moved."""


def resolve(client: Any, alias: str, place: str) -> tuple[str, IndexIdentity]:
    """The name of the index behind `alias` (which may be an index itself), and how it was made.

    Raises:
        IndexMissing: there is none.
        IndexMismatch: made by another version of medcite.
        IndexBroken: not an index that medcite made, or the alias stands for several.
        TransportError: the cluster does not answer.
    """
    from opensearchpy.exceptions import NotFoundError

    try:
        found = client.indices.get_mapping(index=alias)
    except NotFoundError:
        found = {}
    if not found:
        raise IndexMissing(f"there is no {place}")
    if len(found) > 1:
        raise IndexBroken(
            f"{place} stands for {len(found)} indexes: {', '.join(sorted(found))}",
            "Take the alias off all of them but one.",
        )
    ((name, mapping),) = found.items()
    return name, stored_identity(mapping["mappings"], place)


def create_first(client: Any, settings: OpenSearchSettings, identity: IndexIdentity) -> None:
    """Make the first index behind the alias `settings.index`; one that another process has just made is left alone."""
    from opensearchpy.exceptions import RequestError

    body = {**index_body(identity, settings), "aliases": {settings.index: {"is_write_index": True}}}
    try:
        client.indices.create(index=numbered_name(settings.index, 1), body=body)
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise


def numbered_name(alias: str, number: int) -> str:
    """The name of an index behind `alias`."""
    return f"{alias}-{number:06d}"


def numbered(alias: str, name: str) -> int | None:
    """The number of an index that medcite made behind `alias`; None for any other name."""
    match = re.fullmatch(rf"{re.escape(alias)}-(\d{{6}})", name)
    return int(match.group(1)) if match else None


class AliasTarget:
    """The index that an open alias reads and writes. Safe to use from several threads.

    When a rebuild has moved the alias to an index that was made the same way, readers follow within `LOOK_AGAIN_S` and
    writers at their next write. When it was made otherwise (another model), readers stay with the old index as long as
    it exists, because their question vectors fit only that one, and writers are refused.
    """

    def __init__(
        self,
        client: Any,
        alias: str,
        place: str,
        name: str,
        identity: IndexIdentity,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._alias = alias
        self._place = place
        self._name = name
        self._identity = identity
        self._now = now
        self._looked_at = now()
        self._has_warned = False
        self._lock = threading.Lock()

    def for_reading(self) -> str:
        """The index to search now.

        Raises:
            IndexMismatch: the alias was moved to an index that was made otherwise, and the old one is gone.
        """
        if self._now() - self._looked_at < LOOK_AGAIN_S:
            return self._name
        with self._lock:
            if self._now() - self._looked_at >= LOOK_AGAIN_S:
                self._look(is_writing=False)
            return self._name

    def for_writing(self) -> str:
        """The index to write to now.

        Raises:
            IndexMismatch: the alias was moved to an index that was made otherwise.
        """
        with self._lock:
            self._look(is_writing=True)
            return self._name

    def _look(self, *, is_writing: bool) -> None:
        name, identity = resolve(self._client, self._alias, self._place)
        if name != self._name:
            if identity == self._identity:
                log.info("opensearch.alias.moved", extra={"index": name})
                self._name = name
            elif is_writing or not self._client.indices.exists(index=self._name):
                raise IndexMismatch(
                    f"{self._place} was rebuilt meanwhile with the model {identity.embedder.model} "
                    f"({identity.chunk_size} characters a chunk)",
                    "Set the same model and chunk sizes, and start medcite again.",
                )
            elif not self._has_warned:
                log.warning("opensearch.alias.rebuilt_otherwise", extra={"index": name, "still_reading": self._name})
                self._has_warned = True
        self._looked_at = self._now()
