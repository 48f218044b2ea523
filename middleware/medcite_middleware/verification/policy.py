"""How the judges' votes on one claim become its verdict. The one place that says so; docs/judges.md says it in words.

1. The rules come first. What they decide stands: a quotation, a computation, a scan, an altered copy.
2. Only where they leave a claim open do the models count. One that decides, alone or with others, is followed.
3. A model's *supported* falls when a figure, negation or direction of the claim is not borne out by the words it shows.
4. Models that decide differently leave the claim unchecked, for a person to look at.
5. Without a citation, where one is needed, nothing is supported. Retracted records support nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from medcite_core.answers import CitationState, ComputationProof, QuoteProof, Verdict, Vote
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.meaning_differences import meaning_differs

OPEN_REASONS = frozenset(
    """no_judge_for_paraphrase subject_differs formula_unknown operands_absent ambiguous_number overstated
    not_in_sources""".split()
)
"""Reasons of the rules for leaving a claim open, where a judge that can read a paraphrase may say more."""

NEAR_THRESHOLD = 0.05
"""A confidence so near its threshold is for a person to look at."""

Veto = Callable[[str, Sequence[str]], Sequence[str]]
"""Figures of a claim (its words) that no quote bears out, a sentence each."""


def is_open(case: Case, rules: Verdict) -> bool:
    """Whether the models are asked: the rules left it open, and an answer could count."""
    if case.claim.is_quotation or (case.needs_citation and not case.claim.cited):
        return False
    return rules.label == "unchecked" and rules.reason in OPEN_REASONS


def combine(
    case: Case, votes: Sequence[Verdict], settings: VerifySettings, figures_hold: Veto | None = None
) -> Verdict:
    """The verdict of a claim, from the votes of the judges that were asked; the rules' is the first."""
    rules, models = votes[0], [_checked(case, vote, settings, figures_hold) for vote in votes[1:]]
    cast = tuple(Vote(v.judge, v.label, v.reason, v.confidence) for v in (rules, *models))
    calls = sum(vote.calls for vote in votes)
    decided = [vote for vote in models if vote.label != "unchecked"]
    if rules.label != "unchecked" or not models:
        chosen = rules
    elif not decided:
        chosen = _undecided(rules, models)
    elif len({vote.label for vote in decided}) > 1:
        chosen = _disagreement(rules, decided)
    else:
        chosen = max(decided, key=lambda vote: vote.confidence or 0.0)
    chosen = _with_citation(case, chosen)
    review = chosen.review or _near_threshold(chosen)
    return replace(chosen, votes=cast, review=review, calls=calls)


def _undecided(rules: Verdict, models: Sequence[Verdict]) -> Verdict:
    """The reason of the judge that could have read the paraphrase says more than that of the rules."""
    said = models[-1]
    closest = said.proofs or tuple(p for p in rules.proofs if isinstance(p, QuoteProof) and p.shows == "closest")
    return replace(said, proofs=closest)


def _disagreement(rules: Verdict, decided: Sequence[Verdict]) -> Verdict:
    said = "; ".join(f"{vote.judge}: {vote.label}" for vote in decided)
    proofs = tuple(
        replace(proof, shows="closest") for vote in decided for proof in vote.proofs if isinstance(proof, QuoteProof)
    )
    return replace(
        rules,
        label="unchecked",
        reason="judges_disagree",
        explanation=f"The judges do not agree ({said}).",
        proofs=proofs,
        review="The judges do not agree.",
        judge="policy",
    )


def _checked(case: Case, vote: Verdict, settings: VerifySettings, figures_hold: Veto | None) -> Verdict:
    """A model's vote after the vetoes; what falls is unchecked and keeps its quotes as the closest words."""
    if vote.label not in ("supported", "conflicting"):
        return vote
    quotes = [p for p in vote.proofs if isinstance(p, QuoteProof) and p.shows == "supports"]
    usable = [q for q in quotes if settings.allow_retracted_support or _is_usable(case, q)]
    operands = [o.quote for p in vote.proofs if isinstance(p, ComputationProof) for o in p.operands]
    withdrawn = not settings.allow_retracted_support and not all(_is_usable(case, q) for q in operands)
    if (quotes and not usable) or withdrawn:
        return _fallen(vote, "unsupported", "only_retracted", "Only a retracted record says this.")
    if vote.label == "supported" and any(p.kind == "computation" for p in vote.proofs):
        return vote
    texts = [quote.text for quote in usable]
    words = without_marks(case.claim.standalone)
    problems = [problem for problem in [_meaning(words, texts)] if problem]
    if figures_hold is not None:
        problems += figures_hold(words, texts)
    if problems:
        return _fallen(vote, "unchecked", "not_borne_out", problems[0])
    return vote


def _meaning(claim: str, quotes: Sequence[str]) -> str:
    """What differs between a claim and the words shown for it; empty when nothing does, in any of the quotes.

    In any: a second quotation, about something else, must not lend its negation or its figure to the claim.
    """
    if not quotes:
        return "There are no words that bear it out."
    return next((found for text in quotes if (found := meaning_differs(claim, text))), "")


def _fallen(vote: Verdict, label: str, reason: str, explanation: str) -> Verdict:
    quotes = [p for p in vote.proofs if isinstance(p, QuoteProof)]
    quotes += [o.quote for p in vote.proofs if isinstance(p, ComputationProof) for o in p.operands]
    proofs = tuple(dict.fromkeys(replace(quote, shows="closest") for quote in quotes))
    return replace(vote, label=label, reason=reason, explanation=explanation, proofs=proofs)  # type: ignore[arg-type]


def _is_usable(case: Case, quote: QuoteProof) -> bool:
    source_id = quote.pmid or quote.document
    return all(e.source.is_usable_as_support for e in case.evidence if e.source.source_id == source_id)


def _with_citation(case: Case, verdict: Verdict) -> Verdict:
    """The verdict with what it shows of the citation; without a citation that is needed nothing is supported."""
    if case.needs_citation and not case.claim.cited and verdict.label in ("supported", "conflicting"):
        return _fallen(verdict, "unchecked", "no_citation", "No source is named for this sentence.")
    if verdict.judge == "rules" or not case.claim.cited:
        return verdict
    cited = {e.source.source_id for e in case.cited}
    state: CitationState = "right" if cited else "not_found"
    if verdict.label == "supported":
        quotes = [p for p in verdict.proofs if isinstance(p, QuoteProof) and p.shows == "supports"]
        quotes += [o.quote for p in verdict.proofs if isinstance(p, ComputationProof) for o in p.operands]
        if quotes and not any((q.pmid or q.document) in cited for q in quotes):
            state = "wrong_source"
    return replace(verdict, citation=state)


def _near_threshold(verdict: Verdict) -> str:
    threshold = dict(verdict.thresholds).get(f"{verdict.judge}_threshold")
    if verdict.confidence is None or threshold is None or abs(verdict.confidence - threshold) > NEAR_THRESHOLD:
        return ""
    return f"Its confidence ({verdict.confidence:.2f}) is near the threshold ({threshold:.2f})."
