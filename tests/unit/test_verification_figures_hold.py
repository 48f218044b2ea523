"""A model's *supported* falls when a figure of the claim is not borne out by the words that it shows."""

from __future__ import annotations

import pytest

from medcite_core.answers import ComputationProof, Operand, Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Notice, Record, Span, assemble_text
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.figures import figures_hold
from medcite_middleware.verification.policy import combine
from medcite_middleware.verification.sources import quote_proof


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Half a gram (500 mg) was given.", "They took 0.5 g a day."),
        ("45% of patients improved.", "Improvement was seen in 47 of 104."),
        ("More than 40% improved.", "Improvement was seen in 45%."),
        ("The effect was significant (p < 0.05).", "It was significant (p = 0.03)."),
        ("In 2019 three groups of type 2 diabetics were seen.", "Type 2 diabetics were seen in 2019."),
        ("Nothing was counted.", "Nor here."),
    ],
)
def test_figures_that_the_words_bear_out_hold(claim: str, text: str) -> None:
    assert figures_hold(claim, [text]) == ()


@pytest.mark.parametrize(
    ("claim", "text", "figure"),
    [
        ("5 g was given.", "They took 5 mg a day.", "5 g"),
        ("45% improved.", "Improvement was seen in 54%.", "45%"),
        ("Weight fell by 4 kg.", "Weight fell by 4%.", "4 kg"),
        ("The odds ratio was 0.7.", "The hazard ratio was 0.7.", "0.7"),
        ("Exactly 35% came.", "Attendance was 32 to 46 percent.", "35%"),
        ("45% improved.", "About 45% improved.", "45%"),
        ("It was seen in 2018.", "It was seen in 2019.", "2018"),
    ],
)
def test_a_figure_that_they_do_not_bear_out_is_named(claim: str, text: str, figure: str) -> None:
    (told,) = figures_hold(claim, [text])
    assert f"The figure {figure} does not stand" in told


def judged(*, notices: tuple[Notice, ...] = (), cites: int = 1) -> Verdict:
    """What the policy makes of a chat model's computation over figures of the second of two records."""
    evidence = []
    for number, body in enumerate(("Nothing of it.", "Of them 47 and 57 improved."), 1):
        text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", body)])
        record = Record(str(number), 1, "A trial.", sections, text, notices=notices if number == 2 else ())
        evidence.append(Evidence(number, record, "", "", Span(0, len(text)), text, 1.0))
    section = evidence[1].source.sections[-1].span
    operands = tuple(
        Operand(name, value, quote_proof(evidence[1], section, "supports"))
        for name, value in (("a", 47.0), ("b", 57.0))
    )
    proof = ComputationProof("a + b", operands, 104.0, 104.0, 0.5, "supports")
    claim = f"In all 104 got better [{cites}]."
    case = Case(claim_of(claim), claim, tuple(evidence))
    rules = Verdict("c1", "unchecked", "formula_unknown", "")
    chat = Verdict("c1", "supported", "computed", "It follows.", (proof,), judge="chat")
    return combine(case, [rules, chat], VerifySettings(), figures_hold)


def test_a_models_computation_stands_and_its_operands_tell_whether_the_source_is_the_one_cited() -> None:
    assert (judged(cites=2).label, judged(cites=2).citation) == ("supported", "right")
    assert (judged(cites=1).label, judged(cites=1).citation) == ("supported", "wrong_source")


def test_a_computation_over_a_retracted_record_supports_nothing() -> None:
    found = judged(notices=(Notice("retracted", "3"),), cites=2)
    assert (found.label, found.reason) == ("unsupported", "only_retracted")
    assert [(p.kind, p.shows) for p in found.proofs] == [("quote", "closest")]
