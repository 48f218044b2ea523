"""The judges to be measured: each gives an item its label and its confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from checker_suite import agreeing, figures_veto
from claim_data import Item

from medcite_core.answers import Claim, Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Span
from medcite_middleware.verification.calibration import Calibration
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.entailment import EntailmentJudge, EntailmentModel
from medcite_middleware.verification.policy import combine, is_open
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge


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


@contextmanager
def rules_judging() -> Iterator[Judging]:
    """The rules alone."""
    yield Judging(RULES_VERSION, RulesJudge(VerifySettings()).judge)


@contextmanager
def agreeing_judging() -> Iterator[Judging]:
    """The policy with the worst of models, which supports everything: what its vetoes let through."""
    yield Judging("supports everything", agreeing(VerifySettings(), figures_veto()))


@contextmanager
def entailment_judging(model: str, *, with_rules: bool) -> Iterator[Judging]:
    """A cross-encoder alone, or behind the rules and under the policy's vetoes.

    It decides from a confidence of 0.5 on; what threshold it deserves is for the scores to find.
    """
    settings = VerifySettings()
    judge = EntailmentJudge(EntailmentModel(model), Calibration(model, "", threshold=0.5))
    rules, veto = RulesJudge(settings), figures_veto()

    def decide(case: Case) -> Verdict:
        votes = [rules.judge(case)]
        if is_open(case, votes[0]):
            votes.append(judge.judge(case))
        return combine(case, votes, settings, veto)

    yield Judging(model.rstrip("/").rpartition("/")[2], decide if with_rules else judge.judge)
