"""How quantities are read: grouping signs and decimals, units, ranges, fractions, and what is no quantity at all."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_middleware.verification.number_forms import convention_of, numerals
from medcite_middleware.verification.quantities import Quantity, quantities
from medcite_middleware.verification.units import factor, unit_name

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"


def shown(text: str) -> list[str]:
    """The quantities of a text, each in one line: words | value(s) | kind and what else there is to say."""
    return [line_of(quantity, text) for quantity in quantities(text)]


def plain(value: Decimal) -> str:
    return format(value.normalize() if value else Decimal(0), "f")


def line_of(q: Quantity, text: str) -> str:
    value = (
        "/".join(plain(p) for p in q.parts) if q.parts else plain(q.low) + (f"..{plain(q.high)}" if q.is_range else "")
    )
    marks = [q.kind, q.unit, q.comparator, q.role if q.role != "value" else "", q.name]
    marks += [
        "ambiguous" if q.is_ambiguous else "",
        "about" if q.is_approximate else "",
        "change" if q.is_changing else "",
    ]
    return f"{q.span.of(text)} | {value} | {' '.join(mark for mark in marks if mark)}"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8").strip()


def test_fr_185_commas_that_group_group_in_every_number_of_a_text() -> None:
    assert [line for line in shown(golden("FR-185-doc.txt")) if "two" not in line] == [
        "6,120,480 | 6120480 | number",
        "514,208 | 514208 | number",
    ]
    assert shown("514,208 people")[0].startswith("514,208 | 514208")
    assert shown("514.208 people")[0] == "514.208 | 514.208 | number ambiguous"


def test_fr_186_a_comma_before_two_digits_begins_decimals() -> None:
    assert shown(golden("FR-186-doc.txt")) == ["30,00 EUR | 30 | money EUR", "28,50 EUR | 28.5 | money EUR"]
    assert shown("costs were 3000 euros") == ["3000 euros | 3000 | money EUR"]


def test_fr_187_a_point_before_three_digits_is_read_by_the_numbers_around_it_or_not_at_all() -> None:
    assert shown(golden("FR-187-de.txt"))[0] == "1.234 | 1234 | number"
    assert shown(golden("FR-187-en.txt"))[0] == "1.234 | 1.234 | number"
    assert shown(golden("FR-187-alone.txt")) == ["1.234 | 1.234 | number ambiguous"]


def test_fr_188_every_sign_that_groups_is_known() -> None:
    assert {plain(q.low) for q in quantities(golden("FR-188-doc.txt"))} == {"1000.5"}
    assert len(quantities(golden("FR-188-doc.txt"))) == 6


def test_fr_190_an_amount_with_two_commas_is_read_whole() -> None:
    assert shown(golden("FR-190-doc.txt")) == ["$2,400,350.75 | 2400350.75 | money USD"]
    (claimed,) = quantities("cost was about 2.4 million dollars")
    assert (claimed.low, claimed.step, claimed.is_approximate, claimed.unit) == (2_400_000, 100_000, True, "USD")


def test_fr_192_a_range_stays_a_range() -> None:
    assert shown(golden("FR-192-doc.txt")) == ["32 to 46 percent | 32..46 | percent"]


def test_fr_193_seasons_and_spaced_thousands_are_read_as_what_they_are() -> None:
    assert shown(golden("FR-193-doc.txt")) == [
        "523 000 t | 523000 | measure tonne",
        "$1271 million | 1271000000 | money USD",
        "2018–19 | 2018..2019 | year",
        "$11 007 million | 11007000000 | money USD",
    ]


def test_fr_194_a_range_in_words_is_not_added_up() -> None:
    assert shown(golden("FR-194-doc.txt")) == ["between seven and eight days | 7..8 | measure day"]
    assert shown("7 to 8 days") == ["7 to 8 days | 7..8 | measure day"]


def test_fr_195_the_scale_of_a_range_is_that_of_both_ends() -> None:
    assert shown(golden("FR-195-doc.txt")) == ["30 to 40 million | 30000000..40000000 | number"]
    assert shown("30 million to 40 million") == ["30 million to 40 million | 30000000..40000000 | number"]
    assert shown("30 cells to 40 million") == ["30 | 30 | number", "40 million | 40000000 | number"]


def test_fr_196_percent_has_one_meaning_however_it_is_written() -> None:
    read = quantities(golden("FR-196-doc.txt"))
    assert [(plain(q.low), q.kind) for q in read] == [("65", "percent")] * 5 + [("0.65", "number")]


def test_fr_197_signs_between_numbers_compute_nothing() -> None:
    assert shown(golden("FR-197-doc.txt")) == [
        "120/80 mmHg | 120/80 | pair mmHg",
        "3/5 | 3/5 | fraction",
        "1:4 | 1/4 | ratio",
        "9.4–9.8 kPa | 9.4..9.8 | measure kPa",
        "3/4/2020 | 3/4/2020 | date",
    ]


def test_fr_200_a_p_above_one_is_another_variable_and_ns_is_no_number() -> None:
    assert shown(golden("FR-200-doc.txt")) == [
        "6.7 | 6.7 | number",
        "0.4 | 0.4 | number spread",
        "p = 0.03 | 0.03 | p",
        "P<.001 | 0.001 | p <",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "Mortality was 12.3% (95% CI 10.1-14.5%) vs 47 of 104 patients (HR 0.71, 95% CI 0.55 to 0.92; p<0.001).",
            [
                "12.3% | 12.3 | percent",
                "95% | 95 | percent level",
                "10.1-14.5% | 10.1..14.5 | percent interval",
                "47 of 104 | 47/104 | fraction",
                "0.71 | 0.71 | number HR",
                "95% | 95 | percent level",
                "0.55 to 0.92 | 0.55..0.92 | number interval",
                "p<0.001 | 0.001 | p <",
            ],
        ),
        (
            "Mean age was 54.3 ± 12.1 years; 12-week follow-up in group 2 at day 28.",
            [
                "54.3 | 54.3 | measure year",
                "12.1 years | 12.1 | measure year spread",
                "12-week | 12 | measure week",
                "2 | 2 | label",
                "28 | 28 | label",
            ],
        ),
        (
            "more than 500 mg/day, at least 3 of 5, 1 in 5 and 12 per 1000; 2.5-fold, doubled",
            [
                "more than 500 mg/day | 500 | measure mg/day >",
                "at least 3 of 5 | 3/5 | fraction ≥",
                "1 in 5 | 1/5 | fraction",
                "12 per 1000 | 12/1000 | fraction",
                "2.5-fold | 2.5 | fold",
                "doubled | 2 | fold",
            ],
        ),
        (
            "In 2019, 2019 patients were seen between 2010 and 2014.",
            ["2019 | 2019 | year", "2019 | 2019 | number", "2010 | 2010 | year", "2014 | 2014 | year"],
        ),
        (
            "It fell from 12.1 to 8.3 mmol/L, by -4.2 mmHg, and by 8 percentage points.",
            [
                "from 12.1 to 8.3 mmol/L | 12.1..8.3 | measure mmol/liter change",
                "-4.2 mmHg | -4.2 | measure mmHg",
                "8 percentage points | 8 | points",
            ],
        ),
        (
            "3 × 10⁶ cells, 5E-8, 10⁶, 2x10^-3 g and two hundred and four mice; half of them, two thirds of mice",
            [
                "3 × 10⁶ | 3000000 | number",
                "5E-8 | 0.00000005 | number",
                "10⁶ | 1000000 | number",
                "2x10^-3 g | 0.002 | measure g",
                "two hundred and four | 204 | number",
                "half | 1/2 | fraction",
                "two thirds | 2/3 | fraction",
            ],
        ),
        (
            "IL-6, CD4, COVID-19 and SARS-CoV-2 in type 2 diabetes, the 3rd time, p53 and x²",
            ["2 | 2 | label", "3 | 3 | label"],
        ),
    ],
)
def test_what_abstracts_write_is_read_as_what_it_is(text: str, lines: list[str]) -> None:
    assert shown(text) == lines


@given(st.integers(0, 10**9), st.sampled_from([",", "\u202f", "\u2009", "'", "’", " "]))
def test_a_grouped_whole_number_has_the_value_of_its_digits(value: int, sign: str) -> None:
    written = f"{value:,}".replace(",", sign)
    (read,) = numerals(written)
    assert (read.value, read.span.of(written), read.is_ambiguous) == (value, written, False)


@given(st.text(alphabet="0123456789.,'/:%-–± to\u202fxe×⁶anpmg<≤(", max_size=40))
def test_any_text_is_read_without_failing_and_spans_follow_each_other(text: str) -> None:
    end = 0
    for quantity in quantities(text):
        assert end <= quantity.span.start < quantity.span.end <= len(text)
        end = quantity.span.end


@pytest.mark.parametrize(
    ("text", "convention"),
    [
        ("12,5 % und 1.234", "comma"),
        ("12.5% of 1,234,567", "point"),
        ("1.234", ""),
        ("the mean was 1.234 in men", "point"),
    ],
)
def test_the_decimal_sign_of_a_text_is_taken_from_what_is_beyond_doubt(text: str, convention: str) -> None:
    assert convention_of(text) == convention


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [("g", "mg", "1000"), ("week", "days", "7"), ("years", "months", "12"), ("µg/ml", "mg/L", "1"), ("IU", "IU", "1")],
)
def test_units_of_the_same_thing_are_converted(one: str, other: str, times: str) -> None:
    assert factor(unit_name(one), unit_name(other)) == Decimal(times)


@pytest.mark.parametrize(
    ("one", "other"), [("mg", "mL"), ("mM", "mm"), ("IU", "mg"), ("mg/dL", "mmol/L"), ("°C", "days")]
)
def test_units_of_different_things_are_not(one: str, other: str) -> None:
    assert factor(unit_name(one), unit_name(other)) is None


def test_every_unit_that_is_read_can_be_compared_with_every_other() -> None:
    written = ["mg", "mg/100 mL", "mg/dL", "mmHg", "kPa", "mg/kg per day", "°C", "IU", "weeks", "cells", "mM", "m²"]
    names = [q.unit for w in written for q in quantities(f"It was 5 {w}.")]
    for one in names:
        for other in names:
            there, back = factor(one, other), factor(other, one)
            assert (there is None) == (back is None)
            if there is not None and back is not None:
                assert float(there * back) == pytest.approx(1)
    assert factor("mg/(100*milliliter)", "mg/deciliter") == 1


def test_from_may_be_written_in_capitals() -> None:
    (quantity,) = quantities("İt rose. It fell: From 12% to 4%.")
    assert quantity.is_changing
    assert quantity.span.of("İt rose. It fell: From 12% to 4%.") == "From 12% to 4%"
