"""The one shape of a filter: what it takes, refuses and echoes."""

from __future__ import annotations

import pytest

from medcite_core.errors import InvalidInput, UnknownKey
from medcite_core.filters import SearchFilter


def test_nothing_given_filters_nothing() -> None:
    for raw in (None, {}, {"title": "", "keywords": [], "year_from": None, "has_pmcid": False}):
        assert SearchFilter.from_mapping(raw).is_empty


def test_an_unknown_key_is_refused_and_the_nearest_one_named() -> None:
    with pytest.raises(UnknownKey, match="keywords") as caught:
        SearchFilter.from_mapping({"keyword": ["asthma"]})
    assert "year_from" in caught.value.hint


@pytest.mark.parametrize("year", ["abc", 3.5, True, 99, 99999, [], "20 20"])
def test_what_is_no_year_is_refused(year: object) -> None:
    with pytest.raises(InvalidInput, match="year_from"):
        SearchFilter.from_mapping({"year_from": year})


def test_a_reversed_range_is_refused_with_the_right_way_round() -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchFilter.from_mapping({"year_from": 2020, "year_to": 2010})
    assert "2010 to 2020" in caught.value.hint


def test_years_are_taken_as_numbers_or_digits() -> None:
    assert SearchFilter.from_mapping({"year_from": "2013", "year_to": 2015}) == SearchFilter(2013, 2015)


@pytest.mark.parametrize(
    "raw",
    [
        {"title": ["x"]},
        {"title": "x" * 301},
        {"keywords": [1]},
        {"keywords": ["x"] * 51},
        {"has_pmcid": "maybe"},
        [],
        "year_from",
    ],
)
def test_values_of_another_kind_or_too_large_are_refused(raw: object) -> None:
    with pytest.raises(InvalidInput):
        SearchFilter.from_mapping(raw)  # type: ignore[arg-type]


def test_white_space_and_repeats_in_values_do_not_count() -> None:
    parsed = SearchFilter.from_mapping({"keywords": [" Asthma ", "Asthma", " ", "COPD\t2"], "title": "  a  b "})
    assert parsed.keywords == ("Asthma", "COPD 2")
    assert parsed.title == "a b"


def test_what_is_echoed_is_only_what_filters() -> None:
    chosen = SearchFilter(year_to=2020, keywords=("Asthma",), exclude_retracted=True)
    assert chosen.applied() == {"year_to": 2020, "keywords": ["Asthma"], "exclude_retracted": True}
    assert chosen.active_fields() == ["years", "keywords", "exclude_retracted"]
    assert chosen.only("years") == SearchFilter(year_to=2020)
    assert chosen.only("keywords") == SearchFilter(keywords=("Asthma",))
    assert SearchFilter.from_mapping(chosen.to_dict()) == chosen
