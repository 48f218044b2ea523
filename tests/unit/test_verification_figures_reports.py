"""Field reports on figures, from the claim to its verdict; each test names its report."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from medcite_core.answers import ComputationProof, Verdict
from medcite_core.documents import Block, Document
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.rules import RulesJudge

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text("utf-8").strip()


def rows(name: str) -> Iterator[tuple[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["claim"], row["expected"]


def verdict(claim: str, text: str) -> Verdict:
    digest = hashlib.sha256(text.encode()).hexdigest()
    source = Document(f"doc:{digest[:16]}", "source.txt", text, (Block("paragraph", Span(0, len(text))),), digest)
    evidence = (Evidence(1, source, "", "", Span(0, len(text)), text, 1.0),)
    return RulesJudge(VerifySettings()).judge(Case(claim_of(claim), claim, evidence, frozenset({source.source_id})))


def computation(found: Verdict) -> ComputationProof:
    (proof,) = (p for p in found.proofs if isinstance(p, ComputationProof))
    return proof


def test_fr_185_a_grouped_number_is_the_same_as_the_plain_one_and_no_decimal() -> None:
    source = golden("FR-185-doc.txt")
    assert verdict("Region two had 514208 people.", source).label == "supported"
    assert verdict("Region one had 6120480 people.", source).label == "supported"
    assert verdict("Region two had 514.208 people.", source).label not in ("supported", "conflicting")
    assert verdict("Region one had 514208 people.", source).label not in ("supported", "conflicting")


def test_fr_186_an_amount_with_a_decimal_comma_is_read_as_written() -> None:
    source = golden("FR-186-doc.txt")
    assert verdict("Die Kosten lagen bei 30 Euro pro Tag.", source).label == "supported"
    assert verdict("Die Kosten lagen bei 3000 Euro pro Tag.", source).label == "contradicted"


def test_fr_187_a_number_that_may_be_read_two_ways_gets_no_verdict() -> None:
    found = verdict("People enrolled: 1234.", "People enrolled: 1.234.")
    assert (found.label, found.reason) == ("unchecked", "ambiguous_number")


def test_fr_190_a_rounded_amount_agrees_with_the_whole_one() -> None:
    source = golden("FR-190-doc.txt")
    found = verdict("The programme cost about 2.4 million dollars.", source)
    assert (found.label, found.reason) == ("supported", "computed")
    assert computation(found).tolerance > 0
    assert verdict("The programme cost about 2.7 million dollars.", source).label == "contradicted"
    assert verdict("The programme cost about 2.4 million euros.", source).label not in ("supported", "conflicting")


def test_fr_192_a_range_is_stated_only_by_itself() -> None:
    source = golden("FR-192-doc.txt")
    (stated, _), (inside, _), (outside, _) = rows("FR-192-claims.csv")
    assert verdict(f"{stated} in winter", source).label == "supported"
    for within in (35, 39):
        found = verdict(f"Attendance fell to {within} percent in winter", source)
        assert (found.label, found.reason) == ("unsupported", "overstated")
        assert "within the stated range" in found.explanation
    assert verdict(f"{outside} in winter", source).label == "contradicted"
    # Without "in winter" the claims say more than the source: the rules leave them open, whatever their figures.
    assert {verdict(claim, source).label for claim in (stated, inside, outside)} == {"unchecked"}


def test_fr_194_a_range_in_words_is_the_same_in_digits() -> None:
    source = golden("FR-194-doc.txt")
    assert verdict("Fever lasted 7 to 8 days.", source).label == "supported"
    assert verdict("Fever lasted 15 days.", source).label == "contradicted"


def test_fr_195_the_scale_of_a_range_belongs_to_both_ends() -> None:
    source = golden("FR-195-doc.txt")
    assert verdict("Counts ranged from 30 million to 40 million cells.", source).label == "supported"
    assert verdict("Counts ranged from 30 cells to 40 million cells.", source).label == "contradicted"


@pytest.mark.parametrize("written", ["65 per cent", "65 pct", "65%", "65 %", "sixty-five percent"])
def test_fr_196_per_cent_is_per_cent_however_written(written: str) -> None:
    for other in ("65 per cent", "65 pct", "65%", "65 %", "sixty-five percent"):
        assert verdict(f"The cure rate was {written}.", f"The cure rate was {other}.").label == "supported"
        assert verdict(f"The cure rate was {written}.", "The cure rate was 56%.").label == "contradicted"


def test_fr_196_a_proportion_is_a_percentage_where_it_is_called_one() -> None:
    assert verdict("65% were cured.", "The proportion cured was 0.65.").label == "supported"
    assert verdict("65% were cured.", "The cured score was 0.65.").label not in ("supported", "conflicting")


def test_fr_197_three_of_five_patients_are_sixty_percent_and_a_pressure_is_none() -> None:
    source = golden("FR-197-doc.txt")
    found = verdict("60% of patients improved.", source)
    assert (found.label, found.reason) == ("supported", "computed")
    assert verdict("70% of patients improved.", source).label == "contradicted"
    assert verdict("Blood pressure was 1.5 mmHg.", source).label not in ("supported", "conflicting")


def test_fr_201_points_and_relative_change_are_told_apart() -> None:
    source = golden("FR-201-doc.txt")
    points, percent, tripled, twofold, threefold = (claim for claim, _ in rows("FR-201-claims.csv"))
    for right in (points, tripled, twofold):
        found = verdict(right, source)
        assert (found.label, found.reason) == ("supported", "computed"), right
    open_one = verdict(percent, source)
    assert (open_one.label, open_one.reason) == ("unchecked", "ambiguous_number")
    assert "8 percentage points, or 200%" in open_one.explanation
    assert verdict(threefold, source).label == "contradicted"


def test_fr_203_a_proportion_agrees_with_per_cent_and_per_thousand() -> None:
    source = golden("FR-203-doc.txt")
    expected = {"supported": "supported", "refuted": "contradicted"}
    for claim, right in rows("FR-203-claims.csv"):
        assert verdict(claim, source).label == expected[right], claim


def test_fr_216_totals_and_the_largest_category_of_a_table_are_computed() -> None:
    source = golden("FR-216-data.csv")
    total, wrong, largest = (verdict(c, source) for c in ("total 426", "total 462", "largest category is c07"))
    assert [total.label, wrong.label, largest.label] == ["supported", "contradicted", "supported"]
    proof = computation(total)
    assert (proof.result, proof.claimed, len(proof.operands)) == (426, 426, 20)
    assert {o.quote.text for o in proof.operands} >= {"c00,20", "c19,18"}
    assert verdict("The largest category is c04.", source).label == "contradicted"
    assert verdict("The total number of deaths is 426.", source).label == "unchecked"


def test_fr_217_claims_about_all_of_a_list_are_compared_with_each() -> None:
    source = golden("FR-217-doc.txt")
    expected = {"supported": "supported", "refuted": "contradicted"}
    for claim, right in rows("FR-217-claims.csv"):
        assert verdict(claim, source).label == expected[right], claim
    mean = computation(verdict("The mean score was 74.7%.", source))
    assert mean.result == evaluate_formula(mean.formula, {o.name: o.value for o in mean.operands})
    assert [o.value for o in mean.operands] == [72, 74, 78.2]
    # A mean of groups may be weighted: within their range another one is left open, outside of it it cannot be.
    assert verdict("The mean score was 76%.", source).label == "unchecked"
    assert verdict("The mean score was 79%.", source).label == "contradicted"
