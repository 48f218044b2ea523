"""What was read from one version of a table, kept until there is another version."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class VersionCache(Generic[K, V]):
    """At most `limit` values, the least recently used go first; all go when the version is another one.

    Read the version before what is kept under it: a value may then be newer than its version, and never older. Safe to
    use from several threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._version = -1
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def value(self, version: int, key: K, read: Callable[[], V]) -> V:
        """The value of `key`, read if it is not kept."""
        kept = self.kept(version, (key,))
        if key in kept:
            return kept[key]
        value = read()
        self.keep(version, {key: value})
        return value

    def kept(self, version: int, keys: Iterable[K]) -> dict[K, V]:
        """Those of `keys` whose values are kept."""
        found: dict[K, V] = {}
        with self._lock:
            if version == self._version:
                for key in keys:
                    if key in self._values:
                        self._values.move_to_end(key)
                        found[key] = self._values[key]
        return found

    def keep(self, version: int, values: Mapping[K, V]) -> None:
        """Keep `values`; those of an older version than the newest one seen are not kept."""
        with self._lock:
            if version < self._version:
                return
            if version > self._version:
                self._values.clear()
                self._version = version
            self._values.update(values)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
