"""The verdict of a quotation: do these words stand in the record that is quoted, and mean there what they mean here?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from medcite_core.answers import Verdict
from medcite_core.types import Evidence, Source
from medcite_middleware.verification.quote_alignment import Alignment, align_quote
from medcite_middleware.verification.quotes import quoted_words
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import quote_proof


def quotation_verdict(ruling: Ruling, cited: Sequence[Evidence], is_usable: Callable[[Source], bool]) -> Verdict:
    """Supported when the words stand in a quoted record; proof and explanation tell how they were found."""
    words = quoted_words(ruling.claim.text)
    altered: tuple[Evidence, Alignment] | None = None
    for evidence in cited:
        found = align_quote(words, evidence.source.text, ruling.quote_threshold)
        if found.span is None:
            continue
        if not found.stands:
            altered = altered or (evidence, found)
            continue
        proof = quote_proof(evidence, found.span, "supports")
        if not is_usable(evidence.source):
            closest = replace(proof, shows="closest")
            return ruling.verdict("unsupported", "only_retracted", "The quoted record is retracted.", (closest,))
        if found.difference:
            proof = replace(proof, alignment="repaired", difference=found.difference)
        return ruling.verdict("supported", "verbatim", _explained(found), (proof,))
    if altered is not None and altered[1].span is not None:
        evidence, found = altered
        closest = replace(quote_proof(evidence, altered[1].span, "closest"), difference=found.difference)
        explanation = f"The source does not say this in these words ({found.difference})."
        return ruling.verdict("unsupported", "quote_altered", explanation, (closest,))
    explanation = "These words do not stand in the source that is quoted."
    return ruling.verdict("unsupported", "not_in_sources", explanation)


def _explained(found: Alignment) -> str:
    if found.state == "ambiguous":
        return f"Quoted word for word. {found.difference.rstrip('.')}; the first is shown."
    if found.state == "repaired":
        return f"Quoted word for word, but for what says the same: {found.difference}."
    return "Quoted word for word."
