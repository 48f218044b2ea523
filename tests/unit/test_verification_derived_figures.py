"""Effects between two arms, figures of lists and tables: recomputed where the words fit, never guessed."""

from __future__ import annotations

import hashlib

import pytest

from medcite_core.answers import Claim, ComputationProof, Verdict
from medcite_core.documents import Block, Document
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.derived_figures import derived_verdict
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.ruling import Ruling

ARMS = "Mortality was 12% in the aspirin group and 24% in the placebo group."
COUNTS = "Infection occurred in 12 of 100 patients on drug A and 24 of 100 patients on placebo (p = 0.03)."
TAIL = "12% of patients on drug A and 24% on placebo died."
BRACKETS = "Mortality was lower with aspirin than with placebo (12% vs 24%, p = 0.01)."
EACH = "Mortality was lower with aspirin (12%) than with placebo (24%)."
IN_TURN = "Mortality was 12% and 24% in the aspirin and placebo groups, respectively (p = 0.01)."
PRESSURE = "Systolic pressure was 130 mmHg with drug A and 140 mmHg with placebo."
LIST = "Three wards scored 72%, 74% and 78.2% on the audit."
TABLE = "category,n\nc00,20\nc01,15\nc02,7\n"


def derived(claim: str, *texts: str) -> Verdict | None:
    evidence = []
    for number, text in enumerate(texts, 1):
        digest = hashlib.sha256(text.encode()).hexdigest()
        source = Document(f"doc:{digest[:16]}", "s.txt", text, (Block("paragraph", Span(0, len(text))),), digest)
        evidence.append(Evidence(number, source, "", "", Span(0, len(text)), text, 1.0))
    return derived_verdict(Ruling(Claim("c1", Span(0, len(claim)), claim), "none"), claim, evidence)


@pytest.mark.parametrize(
    ("claim", "source", "result"),
    [
        ("The relative risk of mortality was 0.5 in the aspirin group versus the placebo group", ARMS, 0.5),
        ("Mortality was halved in the aspirin group compared with the placebo group", ARMS, 0.5),
        ("Mortality with placebo was twice as high as with aspirin", ARMS, 2.0),
        ("The absolute risk reduction of mortality with aspirin versus placebo was 12 percentage points", ARMS, 12.0),
        ("Mortality was 12 percentage points lower with aspirin than with placebo", ARMS, 12.0),
        ("The relative risk reduction of mortality with aspirin versus placebo was 50%", ARMS, 50.0),
        ("The number needed to treat with aspirin versus placebo for mortality was 9", ARMS, 100 / 12),
        ("The odds ratio of infection was 0.43 on drug A versus placebo", COUNTS, (12 / 88) / (24 / 76)),
        ("The relative risk of dying on drug A versus placebo was 0.5", TAIL, 0.5),
        ("Mortality was halved with aspirin compared with placebo", BRACKETS, 0.5),
        ("Mortality was 12 percentage points lower with aspirin than with placebo", EACH, 12.0),
        ("Mortality was halved in the aspirin group compared with the placebo group", IN_TURN, 0.5),
        ("Systolic pressure was 10 mmHg lower with drug A than with placebo", PRESSURE, 10.0),
        ("Infection was 0.5 times as common on drug A as on placebo", COUNTS, 0.5),
        ("The mean score was 74.7%", LIST, 224.2 / 3),
        ("The highest score was 78.2%", LIST, 78.2),
        ("There were 30 deaths in total", "There were 10, 12 and 8 deaths in the three arms.", 30.0),
        ("The total is 42", TABLE, 42.0),
        ("The mean n is 14", TABLE, 14.0),
        ("The smallest category is c02", TABLE, 7.0),
    ],
)
def test_an_effect_is_recomputed_and_shown_with_its_operands(claim: str, source: str, result: float) -> None:
    found = derived(claim, source)
    assert found is not None
    assert (found.label, found.reason) == ("supported", "computed")
    (proof,) = found.proofs
    assert isinstance(proof, ComputationProof)
    assert proof.result == pytest.approx(result)
    assert abs(proof.claimed - proof.result) <= proof.tolerance
    for operand in proof.operands:
        assert operand.quote.text == operand.quote.span.of(source)
    if "…" not in proof.formula:
        assert evaluate_formula(proof.formula, {o.name: o.value for o in proof.operands}) == pytest.approx(result)


@pytest.mark.parametrize(
    ("claim", "source", "reason"),
    [
        ("The relative risk of mortality was 2.0 with aspirin versus placebo", ARMS, "number_differs"),
        ("Mortality was doubled with aspirin compared with placebo", ARMS, "number_differs"),
        ("Mortality was 12 percentage points higher with aspirin than with placebo", ARMS, "direction_differs"),
        ("Mortality was 12 percentage points higher with aspirin than with placebo", EACH, "direction_differs"),
        ("The relative risk of dying on placebo versus drug A was 0.5", TAIL, "number_differs"),
        ("Mortality was halved in the placebo group compared with the aspirin group", IN_TURN, "number_differs"),
        ("Systolic pressure was 20 mmHg lower with drug A than with placebo", PRESSURE, "number_differs"),
        ("Mortality was halved with aspirin compared with placebo", ARMS.replace("12%", "15%"), "number_differs"),
        ("Mortality was doubled with placebo compared with aspirin", ARMS.replace("12%", "15%"), "number_differs"),
        (
            "The relative risk of mortality was 1 with aspirin versus placebo",
            ARMS.replace("12%", "15%"),
            "number_differs",
        ),
        ("All scores were above 73%", LIST, "number_differs"),
        ("The lowest score was 73%", LIST, "number_differs"),
        ("The total is 43", TABLE, "number_differs"),
        ("The largest category is c01", TABLE, "number_differs"),
    ],
)
def test_a_wrong_effect_is_contradicted_by_the_computation(claim: str, source: str, reason: str) -> None:
    found = derived(claim, source)
    assert found is not None
    assert (found.label, found.reason) == ("contradicted", reason)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        # Another group, outcome or certainty than the sentence tells of.
        ("The relative risk of mortality in women was 0.5 with aspirin versus placebo", ARMS),
        ("The relative risk of stroke was 0.5 with aspirin versus placebo", ARMS),
        ("The relative risk of mortality may be 0.5 with aspirin versus placebo", ARMS),
        ("The relative risk of mortality was not 0.5 with aspirin versus placebo", ARMS),
        # Whose risk over whose is not told.
        ("The relative risk of mortality was 0.5", ARMS),
        ("Mortality was halved", ARMS),
        # The sentence bounds what it says; the claim does not.
        ("The relative risk of mortality was 0.5 with aspirin versus placebo", f"In mice, {ARMS[0].lower()}{ARMS[1:]}"),
        (
            "The relative risk of mortality was 0.5 with aspirin versus placebo",
            "Mortality at 5 years was 12% in the aspirin group and 24% in the placebo group.",
        ),
        (
            "The relative risk of mortality was 0.5 with aspirin versus placebo",
            "We hypothesized that mortality was 12% in the aspirin group and 24% in the placebo group.",
        ),
        (
            "The relative risk of mortality was 0.5 with aspirin versus placebo",
            "Mortality in high risk patients was 12% with aspirin and 24% with placebo.",
        ),
        # These are changes, and no risks.
        (
            "The relative risk of mortality was 0.5 with aspirin versus placebo",
            "Mortality was reduced by 12% with aspirin and 24% with placebo.",
        ),
        (
            "The relative risk of mortality was 0.5 with aspirin versus placebo",
            "Mortality reductions were 12% with aspirin and 24% with placebo.",
        ),
        # Which figure is whose does not fit the words about them.
        ("Mortality was halved with aspirin compared with placebo", BRACKETS.replace("12% vs 24%", "24% vs 12%")),
        (
            "Mortality was halved with aspirin compared with placebo",
            BRACKETS.replace("12% vs 24%", "95% CI 12% to 24%"),
        ),
        (
            "Mortality was halved in the aspirin group compared with the placebo group",
            "Mortality was 12% and 24% in the aspirin, heparin and placebo groups, respectively.",
        ),
        ("Mortality was halved with aspirin compared with placebo", ARMS.replace("12%", "about 12%")),
        # Three may be some of many.
        ("All patients scored above 70%", "Three patients scored 72%, 74% and 78.2%."),
        ("All wards scored above 70%", LIST),
        # The source gives another ratio, mean or total of its own.
        ("The relative risk of mortality was 0.6 with aspirin versus placebo", f"{ARMS} The adjusted ratio was 0.6."),
        ("There were 31 deaths in total", "There were 10, 12 and 8 deaths. With one on the way, 31 died."),
        ("The mean score was 79%", f"{LIST} Weighted by size, 79% were reached."),
        # Rounded figures of the source leave it open.
        ("The relative risk of mortality was 0.51 with aspirin versus placebo", ARMS),
        ("The mean score of women was 74.7%", LIST),
        ("Not all scores were above 73%", LIST),
        ("The mean score was 75.9%", LIST),
        ("The total of the scores was 224.2%", LIST),
        ("The mean score was 74.7%", "Three wards may have scored 72%, 74% and 78.2% on the audit."),
        # Counts that add up over time, or of groups within groups, are no parts of a sum.
        ("There were 30 deaths in total", "There were 10, 12 and 8 deaths at 1, 2 and 3 years."),
        ("There were 30 deaths in total", "There were 10, 12 and 8 deaths in Rome, Paris and Europe."),
        ("There were 30 deaths in total", "There were 10, 12 and 8 deaths in men, women and adults."),
        ("The mean score was 74.7%", f"{LIST} Two wards scored 50%, 60% and 70% on the audit."),
        ("The largest category is not c01", TABLE),
        ("The total number of deaths is 42", TABLE),
        ("The largest category is c00", "category,n\nc00,20\nc01,20\nc02,7\n"),
        ("The total is 42", "category,n,m\nc00,20,1\nc01,15,2\nc02,7,3\n"),
    ],
)
def test_where_words_do_not_fit_nothing_is_decided(claim: str, source: str) -> None:
    assert derived(claim, source) is None


def test_two_passages_of_one_source_are_one_source() -> None:
    claim = "The relative risk of mortality was 0.5 with aspirin versus placebo"
    found = derived(claim, ARMS, ARMS)
    assert found is not None
    assert found.label == "supported"


def test_two_sentences_that_fit_leave_it_open() -> None:
    other = "Mortality was 20% in the aspirin group and 24% in the placebo group."
    claim = "The relative risk of mortality was 0.5 with aspirin versus placebo"
    assert derived(claim, ARMS, other) is None
