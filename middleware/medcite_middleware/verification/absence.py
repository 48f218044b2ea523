"""Verdicts on claims of absence: of words in a text, by a full scan, and of an event, by an explicit statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from medcite_core.answers import QuoteProof, Verdict
from medcite_core.ports import Case
from medcite_core.types import Evidence, Record, Source, Span
from medcite_middleware.verification.absence_claims import EventAbsence, TextAbsence, read_absence
from medcite_middleware.verification.absence_events import said_of
from medcite_middleware.verification.comparison import compare
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.ruling import Ruling, citation_of, sources_named
from medcite_middleware.verification.scanning import (
    Forms,
    Mention,
    forms_of,
    is_spread,
    mentions,
    name_of,
    reach,
    receipt,
)
from medcite_middleware.verification.sources import quote_proof, source_sentences

_PARTS = frozenset("page section chapter appendix table form supplement".split())
"""What is said of a part of a text cannot be denied by its other parts."""

_ABSTRACTS = frozenset("abstract record source summary text".split())
"""What a PubMed record holds in full; of "the paper" it is only the abstract."""

MAX_FORMS_NAMED = 4


def absence_verdict(case: Case, *, allow_retracted: bool = False) -> Verdict | None:
    """The verdict of a claim of absence, read against the sources it names or that were given to check against.

    None when the claim is of another kind, names no source for an event, or can only be read as any other claim.
    """
    read = read_absence(without_marks(case.claim.standalone))
    named = _one_each(sources_named(case))
    if read is None or (not named and isinstance(read, EventAbsence)):
        return None
    ruling = Ruling(case.claim, citation_of(case.claim, case.evidence))
    if not named:
        explanation = "No source was given to search as a whole; what a search finds cannot show that words are absent."
        return ruling.verdict("unchecked", "scan_incomplete", explanation)
    if isinstance(read, TextAbsence):
        return _of_text(ruling, read, named, case, allow_retracted=allow_retracted)
    return _of_event(ruling, read, named, case, allow_retracted=allow_retracted)


# ---------------------------------------------------------------- of words in a text


def _of_text(
    ruling: Ruling, read: TextAbsence, named: Sequence[Evidence], case: Case, *, allow_retracted: bool
) -> Verdict | None:
    sources = [e.source for e in named]
    forms = [forms_of(term, [case.text, *(s.text for s in sources)]) for term in read.terms]
    tried = [form for f in forms for form in f.tried]
    found = [[m for e in named for m in mentions(e.source, f)] for f in forms]
    exact = [next((m for m in of_term if m.is_exact), None) for of_term in found]
    if any(exact):
        return _found(ruling, read, named, exact, found, tried)
    close = next((m for of_term in found for m in of_term), None)
    if close is not None:
        words = close.span.of(close.source.text)
        explanation = f"{_quoted(read.terms)} was not found, but “{words}” was, which may mean it."
        return ruling.verdict("unchecked", "similar_words", explanation, (_closest(close, named),))
    if any(is_spread(f, sources) for f in forms):
        explanation = f"The words of {_quoted(read.terms)} stand apart from each other in the text; it may be meant."
        return ruling.verdict("unchecked", "similar_words", explanation)
    missing = _out_of_reach(read, sources, case)
    scan = receipt(sources, tried, "supports", missing)
    if not scan.is_complete:
        scan = receipt(sources, tried, "nothing", missing)
        far = reach(scan)
        explanation = f"{_quoted(read.terms)} was not found, but not everything was read: {far}."
        return ruling.verdict("unchecked", "scan_incomplete", explanation, (scan,), searched=far)
    if not allow_retracted and not all(s.is_usable_as_support for s in sources):
        return ruling.verdict("unsupported", "only_retracted", "Only a retracted record was searched.", (scan,))
    explanation = (
        f"Every block ({scan.blocks_scanned}) of {', '.join(map(name_of, sources))} was searched for {_some(tried)}; "
        "none holds it."
    )
    return ruling.verdict("supported", "absence_scan", explanation, (scan,), searched=reach(scan))


def _found(
    ruling: Ruling,
    read: TextAbsence,
    named: Sequence[Evidence],
    exact: Sequence[Mention | None],
    found: Sequence[Sequence[Mention]],
    tried: Sequence[str],
) -> Verdict:
    first = next(m for m in exact if m is not None)
    proof = quote_proof(_evidence_of(first, named), _sentence_around(first), "contradicts")
    words = first.span.of(first.source.text)
    where = f"in {name_of(first.source)}"
    holders = {m.source.source_id for of_term in found for m in of_term if m.is_exact}
    doubt = ""
    if read.document in _PARTS:
        doubt = f"“{words}” stands {where}; whether in the part that is meant is for a person to see."
    elif len(named) > 1 and len(holders) < len(named):
        doubt = f"“{words}” stands {where}, but not in all of the {len(named)} sources."
    elif read.needs_all and not all(exact):
        doubt = f"“{words}” stands {where}, but not all of {_quoted(read.terms)}."
    elif read.is_report and all(_is_denied(m) for of_term in found for m in of_term if m.is_exact):
        doubt = f"“{words}” stands {where} where the text says that there was none."
    if doubt:
        closest = quote_proof(_evidence_of(first, named), _sentence_around(first), "closest")
        return ruling.verdict("unchecked", "scan_unclear", doubt, (closest,))
    scan = receipt([e.source for e in named], tried, "contradicts")
    return ruling.verdict("contradicted", "mentioned", f"“{words}” stands {where}.", (proof, scan))


def _out_of_reach(read: TextAbsence, sources: Sequence[Source], case: Case) -> list[str]:
    """What a scan of these sources does not reach: sources nobody gave whole, and the full texts behind abstracts."""
    missing = []
    given = case.given
    if not all(s.source_id in given for s in sources):
        missing.append("texts beyond the sources that a search found")
    absent = given - {e.source.source_id for e in case.evidence}
    if absent and not case.claim.cited:
        missing.append(f"{len(absent)} of the {len(given)} sources given")
    if read.document not in _ABSTRACTS:
        missing.extend(f"the full text of PMID {s.pmid}" for s in sources if isinstance(s, Record))
    return missing


def _is_denied(mention: Mention) -> bool:
    before = mention.source.text[max(0, mention.span.start - 40) : mention.span.start]
    return bool(re.search(r"\b(?:no|zero|without(?: any)?|nor)\s+(?:[\w-]+[\s,]+){0,3}$", before, re.IGNORECASE))


# ---------------------------------------------------------------- of an event


def _of_event(
    ruling: Ruling, read: EventAbsence, named: Sequence[Evidence], case: Case, *, allow_retracted: bool
) -> Verdict | None:
    sources = [e.source for e in named]
    usable = [e for e in named if allow_retracted or e.source.is_usable_as_support]
    forms = [forms_of(event, [case.text, *(s.text for s in sources)]) for event in read.events]
    said = [
        [s for e in usable for s in said_of(e, event, read, f)] for event, f in zip(read.events, forms, strict=True)
    ]
    happened = next((s for of_event in said for s in of_event if s.kind == "happened"), None)
    denied = [next((s for s in of_event if s.kind == "denied"), None) for of_event in said]
    denials = [s for s in denied if s is not None]
    is_denied = len(denials) == len(denied)
    if happened is not None and is_denied:
        proofs = (denials[0].proof("supports"), happened.proof("contradicts"))
        explanation = "One sentence says that there were none, another that there were."
        return ruling.verdict("conflicting", "sources_disagree", explanation, proofs)
    if happened is not None:
        explanation = "The source tells of it: see the words quoted."
        return ruling.verdict("contradicted", "event_happened", explanation, (happened.proof("contradicts"),))
    if is_denied:
        is_verbatim = any(compare(_bare(ruling), s.text).difference == "none" for s in denials)
        explanation = "The source says this in the same words." if is_verbatim else "The source says so explicitly."
        proofs_of_all = tuple(dict.fromkeys(s.proof("supports") for s in denials))
        return ruling.verdict("supported", "verbatim" if is_verbatim else "paraphrase", explanation, proofs_of_all)
    if any(said) or len(usable) < len(named):
        return None
    return _silence(ruling, read, sources, forms)


def _silence(ruling: Ruling, read: EventAbsence, sources: Sequence[Source], forms: Sequence[Forms]) -> Verdict:
    tried = [form for f in forms for form in f.tried]
    scan = receipt(sources, tried, "nothing")
    far = reach(scan)
    if not scan.is_complete:
        explanation = f"Nothing was found on {_quoted(read.events)}, but not everything was read: {far}."
        return ruling.verdict("unchecked", "scan_incomplete", explanation, (scan,), searched=far)
    explanation = f"The source says nothing of {_quoted(read.events)}; that is no statement that there were none."
    return ruling.verdict("unsupported", "silence", explanation, (scan,), searched=far)


# ---------------------------------------------------------------- shared


def _bare(ruling: Ruling) -> str:
    return without_marks(ruling.claim.standalone)


def _one_each(evidence: Sequence[Evidence]) -> list[Evidence]:
    """One piece of evidence of each source, since sources are read whole."""
    first: dict[str, Evidence] = {}
    for item in evidence:
        first.setdefault(item.source.source_id, item)
    return list(first.values())


def _evidence_of(mention: Mention, named: Sequence[Evidence]) -> Evidence:
    return next(e for e in named if e.source.source_id == mention.source.source_id)


def _closest(mention: Mention, named: Sequence[Evidence]) -> QuoteProof:
    return quote_proof(_evidence_of(mention, named), _sentence_around(mention), "closest")


def _sentence_around(mention: Mention) -> Span:
    """The sentence in which a mention stands; the mention itself where none holds it."""
    return next((s for s in source_sentences(mention.source) if s.contains(mention.span)), mention.span)


def _quoted(terms: Sequence[str]) -> str:
    return " or ".join(f"“{term}”" for term in terms)


def _some(forms: Sequence[str]) -> str:
    shown = ", ".join(forms[:MAX_FORMS_NAMED])
    more = len(forms) - MAX_FORMS_NAMED
    return f"{shown} and {more} other forms" if more > 0 else shown
