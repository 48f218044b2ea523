"""Counting the values of a corpus stays within bounds, and keeps those that matter."""

from __future__ import annotations

import pytest

from medcite_core.index import lance_catalogue
from medcite_core.index.lance_catalogue import ValueTally
from medcite_core.types import ValueCount


def test_above_the_bound_the_rarest_values_go_and_the_frequent_keep_their_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lance_catalogue, "MAX_VALUES", 10)
    tally = ValueTally()
    for number in range(1000):
        tally.add(["Humans", f"rare {number}"])
        assert len(tally.with_prefix("", 10_000)) <= 20
    assert tally.with_prefix("h", 5) == [ValueCount("Humans", 1000)]


def test_spellings_that_a_filter_takes_for_equal_are_one_value():
    tally = ValueTally(is_name=True)
    tally.add(["Doe J.A."])
    tally.add(["doe JA", "Doe, JA"])
    assert tally.with_prefix("doe j", 5) == [ValueCount("Doe J.A.", 2)]
