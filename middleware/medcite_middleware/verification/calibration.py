"""How far an entailment model's confidence can be trusted: measured on labelled items, kept beside the data.

The temperature makes its probabilities honest (Guo et al. 2017, "On calibration of modern neural networks"); the
threshold is the least one at which so few of what it calls supported is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from medcite_core.errors import InvalidSettings

MAX_WRONG_SHARE = 0.02
MIN_ITEMS = 40
MIN_REACHING = 10
_TEMPERATURES = np.geomspace(0.25, 8.0, 81)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of one model. `wrong_share` and `coverage` are of the half of the items that it was not fitted on."""

    model: str
    revision: str
    temperature: float = 1.0
    threshold: float = 0.9
    items: int = 0
    wrong_share: float | None = None
    coverage: float | None = None


def calibration_file(folder: Path, model: str, revision: str) -> Path:
    """Where the calibration of a model is kept."""
    name = hashlib.sha256(f"{model}@{revision}".encode()).hexdigest()[:16]
    return folder / f"calibration-{name}.json"


def load_calibration(folder: Path, model: str, revision: str, threshold: float | None) -> Calibration:
    """The calibration of a model, or one that leaves its probabilities as they are; a `threshold` given wins.

    Raises:
        InvalidSettings: the file is of another model, or damaged.
    """
    path = calibration_file(folder, model, revision)
    found = Calibration(model, revision)
    if path.is_file():
        try:
            found = Calibration(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise InvalidSettings(
                f"{path} is damaged: {error}", "Delete it, or run `medcite calibrate` again."
            ) from None
        if (found.model, found.revision) != (model, revision):
            raise InvalidSettings(
                f"{path} is of {found.model}, not of {model}", "Run `medcite calibrate` for this model."
            )
    if threshold is not None:
        found = Calibration(**{**asdict(found), "threshold": threshold})
    return found


def save_calibration(folder: Path, calibration: Calibration) -> Path:
    """Keep a calibration; returns where."""
    path = calibration_file(folder, calibration.model, calibration.revision)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(asdict(calibration), indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
    return path


def fit(
    logits: npt.NDArray[np.float64],
    entails: int,
    is_supported: Sequence[bool],
    groups: Sequence[int],
    model: str,
    revision: str,
) -> Calibration:
    """Temperature and threshold from the items of even groups, and what they do on those of odd groups.

    `logits` has shape (items, labels); `groups` keeps items of one claim on one side.

    Raises:
        InvalidSettings: there are too few items.
    """
    truth, sides = np.asarray(is_supported, dtype=bool), np.asarray(groups) % 2
    if len(truth) < MIN_ITEMS or len(set(sides.tolist())) < 2 or truth.all() or not truth.any():
        raise InvalidSettings(
            f"{len(truth)} labelled items are too few to calibrate with",
            f"Give {MIN_ITEMS} or more, some of them supported and some not.",
        )
    fitting = sides == 0
    temperature = min(_TEMPERATURES, key=lambda t: _loss(_shares(logits, entails, t)[fitting], truth[fitting]))
    shares = _shares(logits, entails, temperature)
    threshold = _threshold(shares[fitting], truth[fitting])
    judged = shares[~fitting] >= threshold
    wrong = float((judged & ~truth[~fitting]).sum() / judged.sum()) if judged.any() else 0.0
    coverage = float((judged & truth[~fitting]).sum() / max(1, truth[~fitting].sum()))
    return Calibration(model, revision, float(temperature), float(threshold), len(truth), wrong, coverage)


def _shares(logits: npt.NDArray[np.float64], entails: int, temperature: float) -> npt.NDArray[np.float64]:
    scaled = logits / temperature
    raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    shares: npt.NDArray[np.float64] = raised[:, entails] / raised.sum(axis=1)
    return shares


def _loss(shares: npt.NDArray[np.float64], truth: npt.NDArray[np.bool_]) -> float:
    clipped = np.clip(shares, 1e-9, 1 - 1e-9)
    return float(-np.where(truth, np.log(clipped), np.log(1 - clipped)).mean())


def _threshold(shares: npt.NDArray[np.float64], truth: npt.NDArray[np.bool_]) -> float:
    """The least threshold at which no more than `MAX_WRONG_SHARE` of what is called supported is not."""
    order = np.argsort(-shares, kind="stable")
    ranked = shares[order]
    wrong = np.cumsum(~truth[order]) / np.arange(1, len(order) + 1)
    # A threshold lets all items of its confidence through; one that only a few reach shows nothing.
    is_last_of_its_value = np.append(ranked[1:] < ranked[:-1], True)
    is_enough = np.arange(1, len(order) + 1) >= MIN_REACHING
    fine = np.nonzero((wrong <= MAX_WRONG_SHARE) & is_last_of_its_value & is_enough)[0]
    if not len(fine):
        return 1.0
    return float(min(0.999, max(0.5, ranked[fine[-1]])))
