"""The veto that every judge's `supported` passes: what keeps a claim from saying what its quote says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from medcite_middleware.verification.quotes import meaning_differs

GOLDEN = Path(__file__).parent.parent / "golden" / "verification"


@pytest.mark.parametrize(
    ("claim", "quote", "kind"),
    [
        ("Mortality fell to 21.1%.", "Mortality fell from 18.4% to 12.1%.", "number"),
        ("The dose was 5 g.", "The dose was 5 mg.", "unit"),
        ("Fever rose by 3 percentage points.", "Fever rose by 4 percentage points.", "number"),
        ("Temperature was -5.", "Temperature was 5.", "number"),
        ("Cells grew to 10 per mL.", "Cells grew to 10⁶ per mL.", "number"),
        ("Aspirin reduced the risk.", "Aspirin did not reduce the risk.", "negation"),
        ("Aspirin failed to reduce the risk.", "Aspirin reduced the risk.", "negation"),
        ("The vaccine was unsafe.", "The vaccine was safe.", "negation"),
        ("Aspirin raises the risk of death.", "The risk of death was lowered by aspirin.", "direction"),
        ("Hypertension was common.", "Patients often had hypotension, which was common.", "direction"),
        ("More than 40 patients died.", "At most 40 patients died.", "comparison"),
        ("The value was p > 0.05.", "The value was p < 0.05.", "comparison"),
        ("Aspirin reduces stroke.", "Aspirin may reduce stroke.", "certainty"),
        ("Coffee reduces dementia.", "Coffee was associated with less dementia.", "certainty"),
        ("All patients recovered.", "Patients recovered.", "certainty"),
        ("Survival improved in men.", "Survival improved in women.", "group"),
        ("Zetamab prolonged survival.", "Zetamab prolonged survival only in mice with melanoma.", "left out"),
        ("IL-6 rose in adults.", "IL-8 rose in adults.", "name"),
        ("BDNF rose in adults.", "Insulin rose in many adults.", "name"),
        ("Zetamab cut deaths from 12 to 30.", "Zetamab cut deaths from 30 to 12.", "order"),
        ("Aspirin reduces stroke.", "Aspirin could reduce stroke.", "certainty"),
        ("Group A did better than group B.", "Group B did better than group A.", "order"),
        ("Vitamin D lowers mortality.", "Vitamin C lowers mortality.", "word"),
        ("CD4+ cells fell.", "CD8+ cells fell.", "name"),
        ("Placebo was superior to zetamab.", "Zetamab was superior to placebo.", "order"),
        ("Sitagliptin lowered HbA1c by 1.1 points.", "Metformin lowered HbA1c by 1.1 points.", "word"),
    ],
)
def test_a_claim_that_says_otherwise_is_told_by_kind(claim: str, quote: str, kind: str) -> None:
    assert meaning_differs(claim, quote).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Mortality fell to 12.1%.", "In the treatment arm, mortality fell from 18.4% to 12.1%."),
        ("Aspirin is not effective.", "Aspirin was ineffective."),
        ("Stroke was reduced by aspirin.", "Aspirin reduced stroke."),
        ("Aspirin may reduce stroke.", "Aspirin might lower the rate of stroke."),
        ("Twelve patients died.", "12 patients died of sepsis."),
        ("The dose was 5 mg per day.", "A dose of 5 mg daily was given."),
        ("Survival improved in men and women.", "Survival improved in women and in men."),
        ("p was below 0.05.", "This was significant (p < 0.05)."),
        ("It works.", "It works."),
        ("X is ineffective.", "X did not work."),
        ("X did not increase risk.", "X was not associated with increased risk."),
        ("TNF-alpha rose.", "TNF-α rose."),
        ("IL-2 rose.", "Interleukin 2 rose."),
        ("Treatment lasted 6 weeks.", "The six-week treatment ended."),
        ("BMI rose in adults.", "The body mass index of adults rose."),
        ("IL-6 rose in adults.", "Interleukin-6 (IL6) rose in adults and children."),
    ],
)
def test_a_claim_that_says_the_same_or_less_passes(claim: str, quote: str) -> None:
    assert meaning_differs(claim, quote) == ""


@pytest.mark.parametrize("name", ["FR-204-pairs.csv", "FR-214-pairs.csv"])
def test_fr_204_and_fr_214_every_altered_sentence_differs_in_meaning_and_no_sentence_from_itself(name: str) -> None:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as lines:
        rows = [tuple(row.values())[:2] for row in csv.DictReader(lines)]
    assert len(rows) == 10
    for source, altered in rows:
        assert meaning_differs(altered, source)
        assert meaning_differs(source, source) == ""
