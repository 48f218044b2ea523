"""Marks identifiers that a model made up: PMIDs, DOIs and PMC numbers that stand in none of the evidence (FR-111)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from medcite_core.types import Evidence

NOT_VERIFIED = " (not verified)"

# Further members of a list are long numbers only: "PMID 300 and 12 patients" lists one.
_NUMBER_LIST = r"\d{1,9}(?:\s*(?:,|;|&|\band\b)\s*\d{5,9}\b(?![./]\d))*"
_IDENTIFIER = re.compile(
    rf"(?P<pmids>\bPMIDs?\b[\s:#=]*{_NUMBER_LIST})"
    r"|(?P<pubmed>\b(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/\d{1,9})"
    r"|(?P<pmc>\bPMC\d{4,9}\b)"
    r"|(?P<doi>\b10\.\d{4,9}/[^\s\"“”]+)",
    re.IGNORECASE,
)
# The end of a text that may still become an identifier, or go on as a list of them.
_OPEN_END = re.compile(
    rf"(?:\bPMIDs?\b[\s:#=]*(?:{_NUMBER_LIST})?(?:\s*(?:,|;|&|\ban?d?\b))?\s*\d*|\S*)\Z", re.IGNORECASE
)
_MAX_HELD_CHARS = 300


class IdentifierFilter:
    """Adds "(not verified)" behind each identifier that the evidence does not hold. `feed` each piece, then `close`.

    The text that comes out is final: what may still grow into an identifier is held until it is complete.
    """

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._known = _known_identifiers(evidence)
        self._rest = ""

    def feed(self, piece: str) -> str:
        """What is certain now, marked."""
        self._rest += piece
        cut = self._certain_until()
        certain, self._rest = self._rest[:cut], self._rest[cut:]
        return self._marked(certain)

    def _certain_until(self) -> int:
        open_end = _OPEN_END.search(self._rest)
        cut = open_end.start() if open_end else len(self._rest)
        # A cut inside a list of numbers would leave its second half without the word PMID.
        cut = min([cut, *(m.start() for m in _IDENTIFIER.finditer(self._rest) if m.start() < cut < m.end())])
        return cut if len(self._rest) - cut <= _MAX_HELD_CHARS else len(self._rest)

    def close(self) -> str:
        """The end, marked."""
        rest, self._rest = self._rest, ""
        return self._marked(rest)

    def _marked(self, text: str) -> str:
        return _IDENTIFIER.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        whole = match.group()
        if match["pmids"]:
            return re.sub(r"\d+", lambda n: n.group() + self._note(f"pmid:{n.group()}"), whole)
        if match["pubmed"]:
            return whole + self._note("pmid:" + whole.rpartition("/")[2])
        if match["pmc"]:
            return whole + self._note(whole.lower())
        doi = bare_doi(whole)
        return doi + self._note(doi.lower()) + whole[len(doi) :]

    def _note(self, identifier: str) -> str:
        return "" if identifier in self._known else NOT_VERIFIED


def mark_unknown_identifiers(text: str, evidence: Sequence[Evidence]) -> str:
    """`text` with "(not verified)" behind each identifier that no evidence holds."""
    marker = IdentifierFilter(evidence)
    return marker.feed(text) + marker.close()


def bare_doi(text: str) -> str:
    """A DOI without the punctuation of the sentence around it; brackets that are its own stay (FR-115)."""
    doi = text
    while doi:
        last = doi[-1]
        opening = {")": "(", "]": "[", "}": "{", ">": "<"}.get(last)
        if last in ".,;:!?'’*_" or (opening and doi.count(last) > doi.count(opening)):
            doi = doi[:-1]
        else:
            break
    return doi


def _known_identifiers(evidence: Sequence[Evidence]) -> frozenset[str]:
    known: set[str] = set()
    for record in {item.record.pmid: item.record for item in evidence}.values():
        known |= {f"pmid:{record.pmid}", record.doi.lower(), record.pmcid.lower()}
        for match in _IDENTIFIER.finditer(record.text):
            if match["pmids"]:
                known |= {f"pmid:{number}" for number in re.findall(r"\d+", match.group())}
            elif match["doi"]:
                known.add(bare_doi(match.group()).lower())
            elif match["pmc"]:
                known.add(match.group().lower())
    return frozenset(known)
