"""`medcite calibrate`: how far the entailment model's confidence can be trusted, measured on labelled items."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from medcite.progress import counted_progress
from medcite.screen import results
from medcite_core.errors import InvalidInput, InvalidSettings
from medcite_core.settings import Settings
from medcite_ingestion.documents import decoded
from medcite_middleware.services.build import entailment_model
from medcite_middleware.verification.calibration import MAX_WRONG_SHARE, fit, save_calibration

SUPPORTED = frozenset("supported support supports entailment entails true".split())
OTHER = frozenset(
    """contradicted contradict contradicts contradiction refuted refutes not_supported unsupported neutral nei
    not_enough_info false not_entailment""".split()
)
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """A claim, the words to read it against, and whether they support it."""

    claim: str
    evidence: str
    is_supported: bool


def read_items(path: Path) -> list[LabelledItem]:
    """Items of JSON Lines, each with `claim`, `evidence` (a text) and `label`.

    Raises:
        InvalidInput: the file or a line of it cannot be read; the line is named.
    """
    try:
        text = decoded(path.name, path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "Check the path.") from None
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            label = str(raw["label"]).strip().casefold().replace(" ", "_")
            if label not in SUPPORTED | OTHER:
                raise ValueError(f"{label!r} is no label")
            items.append(LabelledItem(str(raw["claim"]), str(raw["evidence"]), label in SUPPORTED))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"line {number} of {path.name} cannot be read: {error}",
                'Each line is {"claim": …, "evidence": …, "label": "supported" or another}.',
            ) from None
    return items


def calibrate(settings: Settings, path: Path, *, as_json: bool) -> None:
    """Fit temperature and threshold of the entailment model, keep them, and say what they do on the other half.

    Raises:
        InvalidSettings: no entailment model is set, or there are too few items.
        InvalidInput: the items cannot be read.
    """
    model = entailment_model(settings)
    if model is None:
        raise InvalidSettings("no entailment model is set", "Set MEDCITE_VERIFY__ENTAILMENT_MODEL, then calibrate it.")
    items = read_items(path)
    rows = []
    with counted_progress("Reading items", "items") as on_progress:
        for start in range(0, len(items), _AT_ONCE):
            some = items[start : start + _AT_ONCE]
            rows += list(model.logits([(item.evidence, item.claim) for item in some]))
            on_progress(start + len(some), len(items))
    import numpy as np

    # All items of one claim fall on one side, so that the half that is reported is new to the fit.
    groups = [int(hashlib.sha256(item.claim.casefold().encode()).hexdigest()[:8], 16) for item in items]
    logits = np.array(rows) if rows else np.zeros((0, 2))
    found = fit(logits, model.order.entails, [i.is_supported for i in items], groups, model.name, model.revision)
    kept = save_calibration(settings.data_dir, found)
    out = results()
    if as_json:
        out.print(json.dumps({**asdict(found), "file": str(kept)}, indent=1))
        return
    out.print(
        f"{found.model}: temperature {found.temperature:.2f}, threshold {found.threshold:.3f}, {found.items} items"
    )
    out.print(
        f"On the half that it was not fitted on: {found.wrong_share or 0:.1%} of what it calls supported is not "
        f"(aim: {MAX_WRONG_SHARE:.0%}); it finds {found.coverage or 0:.1%} of what is supported."
    )
    out.print(f"Kept in {kept}")
