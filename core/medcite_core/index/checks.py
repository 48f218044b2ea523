"""What every index refuses to be asked or told, whichever engine it uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from medcite_core.errors import InvalidInput
from medcite_core.index.lance_rows import pmid_number
from medcite_core.index.precedence import Withdrawal
from medcite_core.types import Tombstone


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse a size that is too small.

    Raises:
        InvalidInput: `value` is below `least`.
    """
    if value < least:
        raise InvalidInput(f"{name} must be at least {least}, not {value}")


def checked_vector(vector: npt.NDArray[np.float32], dimension: int) -> npt.NDArray[np.float32]:
    """A query vector of shape (dimension,), as float32.

    Raises:
        InvalidInput: it has another dimension, or no direction.
    """
    wanted = np.asarray(vector, dtype=np.float32)
    if wanted.shape != (dimension,):
        raise InvalidInput(
            f"the query vector has shape {wanted.shape}; the index holds {dimension} dimensions",
            "Embed the question with the model the index was made with.",
        )
    if not np.all(np.isfinite(wanted)) or not np.any(wanted):
        raise InvalidInput("the query vector has no direction (zero, or not a number)")
    return wanted


def newest_withdrawals(tombstones: Sequence[Tombstone]) -> dict[str, Withdrawal]:
    """The withdrawal of each pmid that withdraws most.

    Raises:
        InvalidInput: one names something that is no PMID.
    """
    newest: dict[str, Withdrawal] = {}
    for tombstone in tombstones:
        if pmid_number(tombstone.pmid) is None:
            raise InvalidInput(f"{tombstone.pmid[:40]!r} is not a PMID")
        withdrawal = Withdrawal.of(tombstone)
        if tombstone.pmid not in newest or newest[tombstone.pmid].is_older_than(withdrawal):
            newest[tombstone.pmid] = withdrawal
    return newest
