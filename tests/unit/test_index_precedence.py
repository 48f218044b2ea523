"""Which of two copies of a citation is kept, whatever the order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from medcite_core.index.precedence import CopyState, Withdrawal, decide


def _final(events):
    stored = withdrawal = None
    for event in events:
        if isinstance(event, Withdrawal):
            withdrawal = event if withdrawal is None or not event.is_older_than(withdrawal) else withdrawal
            if stored is not None and withdrawal.withdraws(stored):
                stored = None
        elif decide(event, stored, withdrawal) in ("insert", "replace"):
            stored = event
    return stored


@given(st.data())
def test_numbered_files_may_arrive_in_any_order(data):
    # As PubMed writes them: neither the version nor the revision date falls from one file to the next.
    places = sorted(data.draw(st.sets(st.tuples(st.integers(20, 22), st.integers(1, 9)), min_size=1, max_size=7)))
    versions = sorted(data.draw(st.lists(st.integers(1, 3), min_size=len(places), max_size=len(places))))
    dates = sorted(data.draw(st.lists(st.sampled_from(["", "2020", "2020-02", "2021"]), min_size=7, max_size=7)))
    events = [
        Withdrawal(version, *place)
        if data.draw(st.booleans())
        else CopyState(f"content {place}", version, date, *place)
        for place, version, date in zip(places, versions, dates, strict=False)
    ]
    expected = events[-1] if isinstance(events[-1], CopyState) else None
    if expected is None:
        # A withdrawal is the last word on its own version and the ones below.
        assert _final(events) is None
    assert _final(data.draw(st.permutations(events))) == _final(events)
    if expected is not None:
        assert _final(events) == expected


def test_files_without_a_number_are_taken_in_the_order_of_arrival():
    first, second = CopyState("a", 1, "2020", None, None), CopyState("b", 1, "2020", None, None)
    numbered = CopyState("c", 1, "2020", 21, 5)
    assert decide(second, first, None) == "replace"
    assert decide(numbered, first, None) == "replace"
    assert decide(first, numbered, None) == "replace"


def test_a_later_revision_date_beats_the_file_number_and_the_version_beats_both():
    base = CopyState("a", 1, "2020-01-02", 21, 50)
    assert decide(CopyState("b", 1, "2020-01-03", 21, 4), base, None) == "replace"
    assert decide(CopyState("b", 1, "2020-01-01", 21, 99), base, None) == "outdated"
    assert decide(CopyState("b", 2, "", 20, 1), base, None) == "replace"
    assert decide(CopyState("a", 1, "2020-01-02", 22, 1), base, None) == "unchanged"
