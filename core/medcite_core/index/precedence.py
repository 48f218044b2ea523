"""Which of two copies of a citation is the newer one, the same for every engine.

Of two records: the higher version; then the later revision date (a missing one is the earliest); then the higher
(release, file number). When either comes from a file without a number, or nothing tells them apart, the one that
arrives later wins. A record whose content equals the stored one is unchanged, whichever file it came in; it keeps the
place at which it was first seen.

A withdrawal wins over a record of a lower version, and over one of the same version unless that record's file has a
higher (release, file number). Between files without a number nothing tells what is newer: the withdrawal wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from medcite_core.codec import content_hash
from medcite_core.ports import WriteCounts
from medcite_core.types import Record, Tombstone


@dataclass(frozen=True, slots=True)
class CopyState:
    """What decides between two copies of a record. `date_revised` is ISO, or empty."""

    content_hash: str
    version: int
    date_revised: str
    release: int | None
    file_number: int | None

    @classmethod
    def of(cls, record: Record) -> CopyState:
        """The state of `record` as it came."""
        place = record.provenance
        return cls(content_hash(record), record.version, record.date_revised.iso(), place.release, place.file_number)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What decides between a record and a tombstone of the same pmid."""

    version: int
    release: int | None
    file_number: int | None

    @classmethod
    def of(cls, tombstone: Tombstone) -> Withdrawal:
        """The withdrawal that `tombstone` announces."""
        return cls(tombstone.version, tombstone.provenance.release, tombstone.provenance.file_number)

    def withdraws(self, copy: CopyState) -> bool:
        """Whether a record in state `copy` is withdrawn by this."""
        if copy.version != self.version:
            return copy.version < self.version
        ours, theirs = _place(self), _place(copy)
        return ours is None or theirs is None or theirs <= ours

    def is_older_than(self, other: Withdrawal) -> bool:
        """Whether `other` withdraws more, or as much."""
        return (self.version, _place(self) or (0, 0)) <= (other.version, _place(other) or (0, 0))


def _place(thing: CopyState | Withdrawal) -> tuple[int, int] | None:
    if thing.file_number is None:
        return None
    return (thing.release or 0, thing.file_number)


Decision = Literal["insert", "replace", "unchanged", "outdated"]


def decide(incoming: CopyState, stored: CopyState | None, withdrawal: Withdrawal | None) -> Decision:
    """What to do with an incoming copy, given the stored one and a withdrawal of its pmid, if any."""
    if withdrawal is not None and withdrawal.withdraws(incoming):
        return "outdated"
    if stored is None:
        return "insert"
    if incoming.content_hash == stored.content_hash:
        return "unchanged"
    if incoming.version != stored.version:
        return "replace" if incoming.version > stored.version else "outdated"
    if incoming.date_revised != stored.date_revised:
        return "replace" if incoming.date_revised > stored.date_revised else "outdated"
    ours, theirs = _place(incoming), _place(stored)
    if ours is not None and theirs is not None and ours < theirs:
        return "outdated"
    return "replace"


def newest_copies(
    records: Sequence[Record], stored: Mapping[str, CopyState], withdrawn: Mapping[str, Withdrawal]
) -> tuple[dict[str, int], WriteCounts]:
    """The position in `records` of each copy that is to be written, by pmid, and counts of the rest.

    Of several copies of one pmid the newest is chosen and the others count as outdated.
    """
    chosen: dict[str, int] = {}
    current = dict(stored)
    unchanged = outdated = 0
    for position, record in enumerate(records):
        state = CopyState.of(record)
        decision = decide(state, current.get(record.pmid), withdrawn.get(record.pmid))
        if decision == "unchanged":
            unchanged += 1
        elif decision == "outdated":
            outdated += 1
        else:
            outdated += record.pmid in chosen
            chosen[record.pmid] = position
            current[record.pmid] = state
    return chosen, WriteCounts(unchanged=unchanged, outdated=outdated)
