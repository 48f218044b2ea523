"""All PMIDs of a PubMed search: one that finds more than a search may give is cut up until every part fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from medcite_core.errors import InvalidInput
from medcite_ingestion.eutils import EutilsClient

FIRST_ENTRY = date(1900, 1, 1)
MOST_PMIDS = 100_000_000
_SORT_OF_A_SAMPLE = "pub_date"

OnSearch = Callable[[int, int], None]
"""PMIDs found so far, and how many there are."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search as it was run: `term` with its limits, PubMed's `translation`, its own `count`, and the PMIDs found.

    `repeated` PMIDs came in two parts and are listed once. `not_understood` are words that PubMed dropped. `is_sample`
    when fewer were `wanted` than there are: the newest by `sampled_by`.
    """

    term: str
    translation: str
    count: int
    pmids: tuple[str, ...]
    repeated: int
    not_understood: tuple[str, ...]
    warnings: tuple[str, ...]
    run_at: str
    wanted: int = 0
    sampled_by: str = ""

    @property
    def is_sample(self) -> bool:
        """Whether fewer were asked for than there are."""
        return bool(self.sampled_by)

    @property
    def is_complete(self) -> bool:
        """Whether every PMID that PubMed counts, or as many as were asked for, was listed."""
        return len(self.pmids) >= self.wanted


def limited(query: str, since: int | None, until: int | None) -> str:
    """The query with its limits by publication date, which is the year that is stored and filtered by.

    Raises:
        InvalidInput: the query is blank, or the years are in the wrong order.
    """
    if not query.strip():
        raise InvalidInput("the query is empty", 'Give it as in PubMed: "intelligence [title/abstract] hasabstract".')
    if since is None and until is None:
        return query.strip()
    first, last = since or 1500, until or datetime.now(UTC).year + 2
    if first > last:
        raise InvalidInput(f"--since {first} is after --until {last}", "Give the earlier year first.")
    return f'({query.strip()}) AND ("{first}"[Date - Publication] : "{last}"[Date - Publication])'


def preview(client: EutilsClient, query: str, since: int | None = None, until: int | None = None) -> SearchPlan:
    """How many records match, and how PubMed understood the query; lists none."""
    return plan_search(client, query, since, until, most=0)


def plan_search(
    client: EutilsClient,
    query: str,
    since: int | None = None,
    until: int | None = None,
    *,
    most: int | None = None,
    at_once: int = 9_999,
    today: date | None = None,
    on_progress: OnSearch | None = None,
) -> SearchPlan:
    """Run a search and list its PMIDs, all of them or the newest `most`.

    Parts are by the day a record came into PubMed, which each record has once, and then by PMID.

    Raises:
        InvalidInput: see `limited`.
        PubMedUnavailable, PubMedRefused: no answer, or one that is an error.
    """
    term = limited(query, since, until)
    run_at = datetime.now(UTC).isoformat(timespec="seconds")
    first_size = min(at_once, at_once if most is None else most)
    first = client.search(term, limit=first_size, sort=_SORT_OF_A_SAMPLE if most is not None else "")
    is_sample = most is not None and most < first.count
    found: dict[str, None] = {}
    listed = 0
    sampled_by = "publication date"
    if is_sample and most is not None and most <= at_once:
        pmids = list(first.pmids[:most])
    elif first.count <= at_once:
        pmids = list(first.pmids)
    else:
        pmids, sampled_by = [], "day of entry into PubMed"
        parts = _Parts(client, term, at_once, (today or datetime.now(UTC).date()) + timedelta(days=2))
        for some in parts.all():
            pmids += some
            if on_progress is not None:
                on_progress(len(set(pmids)), first.count)
            if is_sample and most is not None and len(set(pmids)) >= most:
                break
    for pmid in pmids:
        found[pmid] = None
        listed += 1
    wanted = list(found)[: most if is_sample else None]
    return SearchPlan(
        term,
        first.translation,
        first.count,
        tuple(wanted),
        listed - len(found),
        first.not_understood,
        first.warnings,
        run_at,
        min(first.count, first.count if most is None else most),
        sampled_by if is_sample else "",
    )


class _Parts:
    """The parts of a search that is too large for one."""

    def __init__(self, client: EutilsClient, term: str, at_once: int, last_day: date) -> None:
        self._client = client
        self._term = term
        self._at_once = at_once
        self._last_day = last_day

    def all(self) -> Iterator[list[str]]:
        """The PMIDs of every part, as they are listed."""
        return self._by_day(FIRST_ENTRY, self._last_day)

    def _by_day(self, first: date, last: date) -> Iterator[list[str]]:
        term = f'({self._term}) AND ("{first:%Y/%m/%d}"[Date - Entry] : "{last:%Y/%m/%d}"[Date - Entry])'
        reply = self._client.search(term, limit=self._at_once)
        if reply.count <= self._at_once:
            if reply.pmids:
                yield list(reply.pmids)
        elif first < last:
            middle = first + (last - first) // 2
            yield from self._by_day(middle + timedelta(days=1), last)  # the newest first, for samples
            yield from self._by_day(first, middle)
        else:
            yield from self._by_pmid(term, 1, MOST_PMIDS)

    def _by_pmid(self, term: str, low: int, high: int) -> Iterator[list[str]]:
        reply = self._client.search(f"({term}) AND {low}:{high}[UID]", limit=self._at_once)
        if reply.count <= self._at_once or low >= high:
            if reply.pmids:
                yield list(reply.pmids)
            return
        middle = (low + high) // 2
        yield from self._by_pmid(term, middle + 1, high)
        yield from self._by_pmid(term, low, middle)
