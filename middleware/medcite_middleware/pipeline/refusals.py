"""When the corpus does not hold an answer, and how that is said: in words, with numbers, and without a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from medcite_core.answers import SearchReport
from medcite_core.types import Evidence, Passage


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that says why there is none."""

    outcome: Literal["nothing_relevant", "corpus_empty"]
    text: str


def refusal(
    report: SearchReport, passages: Sequence[Passage], relevant: Sequence[Passage], min_cosine: float
) -> Refusal | None:
    """Why the question cannot be answered from what was found; None when it can.

    An empty corpus, a filter that lets nothing pass and a search that finds nothing are told apart.
    """
    if report.corpus_records == 0:
        return Refusal(
            "corpus_empty",
            "The corpus holds no records yet, so there is nothing to answer from. "
            "Load some with `medcite ingest files PATH…`, or try the demo corpus with `medcite up`.",
        )
    if report.passed == 0:
        return Refusal("nothing_relevant", _nothing_passed(report))
    if not relevant:
        return Refusal("nothing_relevant", _nothing_relevant(report, passages, min_cosine))
    return None


def nothing_to_quote(evidence: Sequence[Evidence], *, allow_retracted: bool) -> Refusal:
    """Why relevant evidence gives no quotation: it is withdrawn, or no sentence of it answers."""
    usable = {e.record.pmid for e in evidence if allow_retracted or e.record.is_usable_as_support}
    if not usable:
        count = len({e.record.pmid for e in evidence})
        which = "The one record that bears on this is" if count == 1 else f"All {count} records that bear on this are"
        text = f"{which} retracted or a notice of retraction, so nothing is quoted as support."
    else:
        them = "it" if len(usable) == 1 else "them"
        text = f"{_records(len(usable))} came close, but no sentence in {them} answers this question."
    return Refusal("nothing_relevant", text)


def _holds(report: SearchReport) -> str:
    return f"The corpus holds {_records(report.corpus_records)}"


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _nothing_passed(report: SearchReport) -> str:
    text = f"{_holds(report)}; none passes the filter, so none was searched."
    if len(report.passed_by) > 1:
        each = ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in report.passed_by.items())
        text += f" Records that pass each part of it alone: {each}."
    if report.note:
        text += f" {report.note}"
    return text + " Widen the filter, or switch it off."


def _nothing_relevant(report: SearchReport, passages: Sequence[Passage], min_cosine: float) -> str:
    searched = f", of which {report.passed:,} passed the filter" if report.applied_filter else ""
    text = f"{_holds(report)}{searched}; none was relevant enough to answer this question from."
    cosines = [p.cosine for p in passages if p.cosine is not None]
    if cosines:
        closest = math.floor(100 * max(cosines)) / 100  # rounded up, it could read as if it had reached the threshold
        if closest < min_cosine:
            text += f" The closest passage has a similarity of {closest:.2f}; at least {min_cosine:.2f} is needed."
        else:
            text += " What came close speaks of something else: it holds too few of the question's words."
    elif report.mode == "lexical":
        text += " The search was by words alone."
    return text
