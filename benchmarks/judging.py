"""The judges to be measured: each gives an item its label and its confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from claim_data import Item
from rapidfuzz import fuzz

from medcite_core.answers import Claim, Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Span
from medcite_middleware.verification.calibration import Calibration
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.entailment import EntailmentJudge, EntailmentModel
from medcite_middleware.verification.figures import figures_hold
from medcite_middleware.verification.policy import combine, is_open
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge
from medcite_middleware.verification.sources import quote_proof, source_sentences


@dataclass(frozen=True)
class Judging:
    """Calling it with an item gives (label, confidence). `what` names model and version."""

    what: str
    decide: Callable[[Case], Verdict]

    def __call__(self, item: Item) -> tuple[str, float | None]:
        """The claim is judged as one, with its kind as the checker reads it; it names its record."""
        verdict = self.decide(case_of(item))
        return verdict.label, verdict.confidence


def case_of(item: Item) -> Case:
    """An item as a judge is asked it."""
    found = split_text(item.claim).claims
    kind = found[0].kind if len(found) == 1 else "factual"
    claim = Claim("c1", Span(0, len(item.claim)), item.claim, (1,), kind=kind)
    return Case(claim, item.claim, item.evidence, frozenset((item.record.pmid,)))


def string_equality(case: Case) -> Verdict:
    """The named baseline: supported when the text is one of the abstract's sentences, else unchecked."""
    source = case.evidence[0].source
    equal = next((s for s in source_sentences(source) if s.of(source.text) == case.text), None)
    if equal is None:
        return Verdict(case.claim.id, "unchecked", "not_in_sources", "")
    return Verdict(case.claim.id, "supported", "verbatim", "", (quote_proof(case.evidence[0], equal, "supports"),))


def agreeing(settings: VerifySettings) -> Callable[[Case], Verdict]:
    """The policy with the worst of models: one that supports everything and shows the most similar sentence."""
    rules = RulesJudge(settings)

    def judge(case: Case) -> Verdict:
        first = rules.judge(case)
        if not is_open(case, first):
            return combine(case, [first], settings, figures_hold)
        evidence = case.evidence[0]
        text = evidence.source.text
        best = max(source_sentences(evidence.source), key=lambda s: fuzz.token_set_ratio(case.claim.text, s.of(text)))
        proofs = (quote_proof(evidence, best, "supports"),)
        yes = Verdict(case.claim.id, "supported", "entailed", "", proofs, "right", judge="agreeing", confidence=1.0)
        return combine(case, [first, yes], settings, figures_hold)

    return judge


def entailment_behind_the_rules(model: str, threshold: float) -> Callable[[Case], Verdict]:
    """The policy with a cross-encoder: the rules first, then the model, then the vetoes."""
    settings = VerifySettings()
    judge = EntailmentJudge(EntailmentModel(model), Calibration(model, "", threshold=threshold))
    rules = RulesJudge(settings)

    def decide(case: Case) -> Verdict:
        votes = [rules.judge(case)]
        if is_open(case, votes[0]):
            votes.append(judge.judge(case))
        return combine(case, votes, settings, figures_hold)

    return decide


@contextmanager
def rules_judging() -> Iterator[Judging]:
    """The rules alone."""
    yield Judging(RULES_VERSION, RulesJudge(VerifySettings()).judge)


@contextmanager
def agreeing_judging() -> Iterator[Judging]:
    """The policy with the worst of models, which supports everything: what its vetoes let through."""
    yield Judging("supports everything", agreeing(VerifySettings()))


@contextmanager
def entailment_judging(model: str, *, with_rules: bool) -> Iterator[Judging]:
    """A cross-encoder alone, or behind the rules and under the policy's vetoes.

    It decides from a confidence of 0.5 on; what threshold it deserves is for the scores to find.
    """
    alone = EntailmentJudge(EntailmentModel(model), Calibration(model, "", threshold=0.5)).judge
    decide = entailment_behind_the_rules(model, 0.5) if with_rules else alone
    yield Judging(model.rstrip("/").rpartition("/")[2], decide)
