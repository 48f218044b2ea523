"""What a sentence shows when its claims differ: the worst of them (docs/contracts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from medcite_core.answers import Claim, Verdict, VerdictLabel
from medcite_core.types import Span

SentenceLabel = VerdictLabel | Literal["partly_supported"]


def worst_label(labels: Sequence[VerdictLabel]) -> SentenceLabel:
    """The label of a sentence with these claims: contradicted if any is; `partly_supported` if only some are supported.

    Without a supported one: unsupported before unchecked. At least one label is needed.
    """
    distinct = set(labels)
    if len(distinct) == 1:
        return labels[0]
    for worst in ("contradicted", "conflicting"):
        if worst in distinct:
            return worst
    if "supported" in distinct:
        return "partly_supported"
    return "unsupported"


def sentence_labels(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[tuple[Span, SentenceLabel]]:
    """Each sentence that holds claims, in the order of the text, and the worst of their labels."""
    by_sentence: dict[Span, list[VerdictLabel]] = {}
    for claim, verdict in zip(claims, verdicts, strict=True):
        by_sentence.setdefault(claim.sentence or claim.span, []).append(verdict.label)
    return [(span, worst_label(by_sentence[span])) for span in sorted(by_sentence)]
