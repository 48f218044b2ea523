"""Whatever a claim and a source hold, their figures are read without failing, and proofs cut their words exactly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from medcite_core.answers import ComputationProof
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, assemble_text
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.rules import RulesJudge

WORDS = st.sampled_from(
    """Mortality fell rose from to by was 12% 24 0 0.0 1.234 1,234 -5 5/0 0/0 3/5 120/80 1:4 95% CI (0.7-1.1) ± p = 0.03
    5 mg 5 mg/100 mL °C per day 10⁶ 2x10⁶ 5E-8 5E999 half doubled halved tripled two thirds seventy-five million
    about at least more than less than between and versus than compared with respectively, of Of in , ; . ( ) % points
    percentage-points patients aspirin placebo relative risk odds ratio NNT mean total all highest lowest $2,400,350.75
    € 2018–19 3/4/2020 From FROM range not only mice years week IL-6 type n=3 one NaN inf ‰ x1""".split()
)
TEXT = st.lists(WORDS, min_size=2, max_size=16).map(" ".join)
JUDGE = RulesJudge(VerifySettings())


@settings(max_examples=250, deadline=None)
@given(claim=TEXT, body=TEXT)
def test_any_figures_in_any_text_get_a_verdict_whose_computation_can_be_repeated(claim: str, body: str) -> None:
    text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", f"{body}.")])
    record = Record("9", 1, "A trial.", sections, text)
    evidence = (Evidence(1, record, "9:0-1", "", sections[-1].span, sections[-1].text, 1.0),)
    found = JUDGE.judge(Case(claim_of(claim), claim, evidence, frozenset({"9"})))
    for proof in found.proofs:
        if isinstance(proof, ComputationProof):
            values = {operand.name: operand.value for operand in proof.operands}
            assert abs(evaluate_formula(proof.formula, values) - proof.result) <= 1e-6 * max(1.0, abs(proof.result))
            is_within = abs(proof.claimed - proof.result) <= proof.tolerance * (1 + 1e-9) + 1e-12
            assert is_within or proof.shows == "contradicts"
            for operand in proof.operands:
                assert operand.quote.text == operand.quote.span.of(text)


@settings(max_examples=150, deadline=None)
@given(body=TEXT)
def test_a_sentence_of_figures_supports_itself_or_is_left_open(body: str) -> None:
    text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", f"{body}.")])
    record = Record("9", 1, "A trial.", sections, text)
    evidence = (Evidence(1, record, "9:0-1", "", sections[-1].span, sections[-1].text, 1.0),)
    sentence = f"{body}."
    assert JUDGE.judge(Case(claim_of(sentence), sentence, evidence, frozenset({"9"}))).reason != "number_differs"
