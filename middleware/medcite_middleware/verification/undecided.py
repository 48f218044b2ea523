"""What the rules say of a claim that no sentence confirms or denies: overstated, a figure without a source, or open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from medcite_core.answers import QuoteProof, Verdict, VerdictLabel
from medcite_core.types import Evidence
from medcite_middleware.verification.claims import without_marks
from medcite_middleware.verification.comparison import MIN_CONTENT_WORDS, OVERSTATEMENTS, Comparison
from medcite_middleware.verification.matches import Match
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.scanning import known_roots
from medcite_middleware.verification.sources import quote_proof, source_sentences, states
from medcite_middleware.verification.synonyms import roots
from medcite_middleware.verification.vocabulary import AUXILIARIES, LABEL_NOUNS, NEGATIONS
from medcite_middleware.verification.words import meaning_words

MIN_OVERSTATED_WORDS = {"hedge": MIN_CONTENT_WORDS, "association": 2, "quantifier": 3}
"""Least words in common from which a stronger claim is called overstated, and not another statement."""

CLOSEST_SHOWN = 60.0
"""Least similarity (0..100) at which the closest sentence of an undecided claim is shown."""

MIN_SHARE_DENIED = 0.6
"""Share of a claim's words that a sentence must hold to be shown as one that may deny it."""

_NEGATION = re.compile(rf"\b(?:{'|'.join(sorted(NEGATIONS))})\b|n['’]t\b", re.IGNORECASE)
_MAY_DENY = "A sentence of the source may deny this."
_FUNCTION_ROOTS = NEGATIONS | AUXILIARIES | frozenset("a an the of in on at to for with by and or as from".split())
_NUMBER_WORDS = re.compile(
    r"\b(?:half|third|quarter|twice|double\w*|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\w+)?|hundred|"
    r"thousand|million|dozen|both|majority)\b",
    re.IGNORECASE,
)


def undecided(ruling: Ruling, matches: Sequence[Match], cited: Sequence[Evidence]) -> Verdict:
    """The verdict of a claim that stays open, with the closest sentence of the sources it names."""
    near = [m for m in matches if (m.is_cited or not cited) and m.comparison.similarity >= CLOSEST_SHOWN]
    best = near[0] if near else next((m for m in matches if m.is_cited and _shares_much(m)), None)
    strong = next((m for m in near if m.is_cited and _is_overstated(m)), None)
    proofs = (best.proof("closest"),) if best else ()
    if strong is not None:
        explanation = _overstatement(strong.comparison)
        return ruling.verdict("unsupported", "overstated", explanation, (strong.proof("closest"),))
    without_source = _figures_without_source(ruling.claim.standalone, cited) if cited else None
    if without_source is not None:
        label, reason, explanation = without_source
        return ruling.verdict(label, reason, explanation, proofs)
    if best and best.comparison.difference == "word" and best.comparison.common_words >= MIN_CONTENT_WORDS:
        says, claims = best.comparison.source_words, best.comparison.claim_words
        explanation = f"The closest sentence says “{' '.join(says)}” where the answer says “{' '.join(claims)}”."
        return ruling.verdict("unchecked", "subject_differs", explanation, proofs)
    denying = _may_deny(ruling.claim.standalone, cited)
    if denying is not None:
        explanation = "A sentence of the source may deny this; no judge that can read a paraphrase is set up."
        return ruling.verdict("unchecked", "no_judge_for_paraphrase", explanation, (denying,), review=_MAY_DENY)
    if best and best.comparison.difference == "left_out":
        explanation = "The source's sentence says more; what was left out may change the meaning."
    else:
        explanation = "Not in the source's own words, and no judge that can read a paraphrase is set up."
    return ruling.verdict("unchecked", "no_judge_for_paraphrase", explanation, proofs)


def _may_deny(claim: str, cited: Sequence[Evidence]) -> QuoteProof | None:
    """A sentence with most words of a claim and a negation that the claim does not have, or the other way round."""
    wanted = {root for root in roots(without_marks(claim)) if root not in _FUNCTION_ROOTS}
    if len(wanted) < MIN_CONTENT_WORDS:
        return None
    is_negated = _has_negation(claim)
    best, most = None, MIN_SHARE_DENIED * len(wanted)
    for item in cited:
        for span in source_sentences(item.source):
            sentence = span.of(item.source.text)
            if _has_negation(sentence) == is_negated:
                continue
            shared = len(wanted & known_roots(sentence))
            if shared >= most and states(item, span):
                best, most = quote_proof(item, span, "closest"), shared + 1
    return best


def _has_negation(text: str) -> bool:
    return bool(_NEGATION.search(text))


def _shares_much(match: Match) -> bool:
    """Whether a long sentence holds most of a claim's words, so that a reader will want to see it."""
    comparison = match.comparison
    return comparison.common_words >= MIN_CONTENT_WORDS and len(comparison.claim_words) <= comparison.common_words // 2


def _is_overstated(match: Match) -> bool:
    comparison = match.comparison
    return (
        comparison.difference in OVERSTATEMENTS
        and comparison.common_words >= MIN_OVERSTATED_WORDS[comparison.difference]
        and states(match.evidence, match.span)
    )


def _overstatement(comparison: Comparison) -> str:
    says, claims = " ".join(comparison.source_words), " ".join(comparison.claim_words)
    if comparison.difference == "association":
        return f"The source tells that two things go together (“{says}”), the answer that one makes the other."
    if comparison.difference == "quantifier":
        return f"The source says this of “{says}”, the answer of {f'“{claims}”' if claims else 'all'}."
    return f"The source is less sure: it says “{says}”."


def figures_of(text: str) -> set[str]:
    """Measures written in digits: no names such as "type 1", "OCT3/4" or "one of", which are no figures."""
    bare = without_marks(text)
    words = meaning_words(bare)
    return {
        word.form
        for at, word in enumerate(words)
        if word.is_number
        and any(c.isdigit() for c in word.span.of(bare))
        and (at == 0 or words[at - 1].form not in LABEL_NOUNS | {"/"})
        and (at + 1 == len(words) or words[at + 1].form != "/")
    }


def _figures_without_source(text: str, cited: Sequence[Evidence]) -> tuple[VerdictLabel, str, str] | None:
    figures = figures_of(text)
    record_figures = set().union(*(figures_of(e.source.text) for e in cited))
    missing = sorted(figures - record_figures)
    if not missing:
        return None
    has_number_words = any(_NUMBER_WORDS.search(e.source.text) for e in cited)
    if not record_figures and not has_number_words and set(missing) & _shares(text):
        explanation = f"No source cited here gives the figure {', '.join(missing)}, or figures to work it out from."
        return "unsupported", "operands_absent", explanation
    figure = ", ".join(missing)
    explanation = f"The figure {figure} is not in the source cited, and no known formula gives it from those that are."
    return "unchecked", "formula_unknown", explanation


def _shares(text: str) -> set[str]:
    """Percentages and decimals: figures that a text without any figures cannot bear out."""
    bare = without_marks(text)
    words = meaning_words(bare)
    return {
        word.form
        for at, word in enumerate(words)
        if word.is_number and ("." in word.form or (at + 1 < len(words) and words[at + 1].form == "%"))
    }
