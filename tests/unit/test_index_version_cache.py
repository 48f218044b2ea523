"""What is kept of one version of a table is never given for another."""

from __future__ import annotations

from medcite_core.index.version_cache import VersionCache


def test_a_value_is_read_once_a_version() -> None:
    cache: VersionCache[str, int] = VersionCache(10)
    reads = iter(range(10))
    assert [cache.value(1, "a", lambda: next(reads)) for _ in range(3)] == [0, 0, 0]
    assert cache.value(2, "a", lambda: next(reads)) == 1
    assert cache.kept(1, ["a"]) == {}
    assert cache.kept(2, ["a", "b"]) == {"a": 1}


def test_what_was_read_of_an_older_version_is_not_kept_for_a_newer_one() -> None:
    cache: VersionCache[str, int] = VersionCache(10)
    cache.keep(5, {"a": 5})
    cache.keep(4, {"a": 4, "b": 4})
    assert cache.kept(5, ["a", "b"]) == {"a": 5}
    assert cache.value(4, "a", lambda: 4) == 4  # a slow reader still gets its own


def test_the_least_recently_used_go_first() -> None:
    cache: VersionCache[str, int] = VersionCache(2)
    cache.keep(1, {"a": 1, "b": 2})
    cache.kept(1, ["a"])
    cache.keep(1, {"c": 3})
    assert cache.kept(1, ["a", "b", "c"]) == {"a": 1, "c": 3}
