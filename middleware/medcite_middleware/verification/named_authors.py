"""Claims that name who found something ("Smith et al. (2019) showed that X"): the source must be theirs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from medcite_core.types import Record, Source

_NAME = r"(?:(?:van|von|de|der|den|di|da|la|le)\s+)*[A-Z][^\W\d_]*(?:[-'’][^\W\d_]+)*"
_FRAME = re.compile(
    rf"(?P<first>{_NAME})(?P<others>\s+et\s+al\.?|\s+(?:and|&)\s+(?:colleagues|co-?workers)|\s+(?:and|&)\s+(?P<second>{_NAME}))?"
    r",?\s*(?:\(?(?P<year>(?:18|19|20)\d\d)[a-z]?\)?,?)?\s+(?:\w+ly\s+)?(?:showed|shows|show|found|find|finds|reported|"
    r"reports|report|demonstrated|demonstrates|observed|concluded|conclude|noted|stated)\s+that\s+(?P<inner>.+)$",
    re.DOTALL,
)
_NO_NAMES = frozenset(
    """we they the this these our it results data findings studies study trials trial researchers scientists authors
    analysis analyses evidence investigators reviews others both in no nobody doctors experts""".split()
)


@dataclass(frozen=True, slots=True)
class NamedFinding:
    """`inner` is what was found; `names` and `year` say by whom and when, as far as the claim does."""

    names: tuple[str, ...]
    year: int | None
    inner: str

    def is_of(self, source: Source) -> bool:
        """Whether a source is a record by these authors, of that year."""
        if not isinstance(source, Record) or (self.year is not None and self.year != source.year):
            return False
        authors = {_plain(a.last_name or a.collective_name) for a in source.authors}
        return all(_plain(name) in authors for name in self.names)


def read_named_finding(text: str) -> NamedFinding | None:
    """Who is said to have found what, if `text` says so."""
    found = _FRAME.match(text.strip())
    if found is None or found["first"].casefold() in _NO_NAMES or not (found["others"] or found["year"]):
        return None
    names = tuple(filter(None, (found["first"], found["second"])))
    return NamedFinding(names, int(found["year"]) if found["year"] else None, found["inner"].strip())


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name)
    return re.sub(r"[\s'’-]+", " ", "".join(c for c in decomposed if not unicodedata.combining(c))).casefold().strip()
