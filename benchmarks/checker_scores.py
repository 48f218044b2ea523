"""How each judge, and all together, do on labelled claims that nobody tuned to.

Sets: SciFact, Check-COVID, CliniFact, ScoNe-NLI (`--data`). Every claim is read against its own record. By judge:
macro-F1 and confusion, abstention, calibration, and coverage at no more than 2 % wrong `supported`. Items fall in two
halves by a hash of their record: a threshold is fitted on one and reported on the other; rules have none, and the same
half is reported. An abstention is "not enough info" in the macro-F1 and stands by itself in the confusion.

`--entailment` adds a cross-encoder; one to measure with is made by `train_small_entailment.py` from the tuning halves.

    .venv/bin/python benchmarks/checker_scores.py --data FOLDER [--entailment FOLDER]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from claim_data import SETS, Item, items_of, missing, sample
from judging import Judging, agreeing_judging, entailment_judging, rules_judging

RESULTS = Path(__file__).parent / "results"
MAX_WRONG = 0.02
LABELS = ("supported", "contradicted", "unsupported", "conflicting", "unchecked")
MIN_SUPPORTED = 20
"""So many of the tuning half must come out supported before a threshold is believed."""


def scores(name: str, items: Sequence[Item], judge: Judging) -> dict[str, Any]:
    """All figures of one judge on the reported half of one set."""
    started = time.perf_counter()
    judged = [(item, *judge(item)) for item in items]
    seconds = time.perf_counter() - started
    reported = [row for row in judged if row[0].half == "reported"]
    tuning = [row for row in judged if row[0].half == "tuning"]
    confusion: dict[str, Counter[str]] = {}
    for item, label, _ in reported:
        confusion.setdefault(item.gold, Counter())[label] += 1
    supported = [(item, confidence) for item, label, confidence in reported if label == "supported"]
    wrong = sum(item.gold != "supported" for item, _ in supported)
    gold = sum(item.gold == "supported" for item, _, _ in reported)
    return {
        "items": len(reported),
        "macro_f1": macro_f1(name, [(item.gold, label) for item, label, _ in reported]),
        "confusion": {g: {label: c[label] for label in LABELS if c[label]} for g, c in sorted(confusion.items())},
        "abstained_share": _share(sum(label == "unchecked" for _, label, _ in reported), len(reported)),
        "supported": len(supported),
        "wrong_supported": wrong,
        "wrong_supported_share": _share(wrong, len(supported)),
        "supported_recall": _share(len(supported) - wrong, gold),
        "at_2_percent_wrong": coverage(tuning, reported, gold),
        "calibration": calibration(reported),
        "items_per_second": round(len(judged) / seconds, 1),
    }


def macro_f1(name: str, pairs: Sequence[tuple[str, str]]) -> float:
    """Unweighted mean of F1 over the set's classes. CliniFact and ScoNe have two: supported, and all else."""
    if name in ("clinifact", "scone-nli"):
        told = [("supported" if g == "supported" else "other", p if p == "supported" else "other") for g, p in pairs]
    else:
        classes = {"supported": "supported", "contradicted": "contradicted"}
        told = [(classes.get(g, "not_enough_info"), classes.get(p, "not_enough_info")) for g, p in pairs]
    values = []
    for label in sorted({g for g, _ in told}):
        right = sum(g == p == label for g, p in told)
        values.append(2 * right / max(1, sum(g == label for g, _ in told) + sum(p == label for _, p in told)))
    return round(sum(values) / len(values), 4) if values else 0.0


def coverage(
    tuning: Sequence[tuple[Item, str, float | None]], reported: Sequence[tuple[Item, str, float | None]], gold: int
) -> dict[str, Any]:
    """The share of true claims that come out supported when at most 2 % of those supported are wrong.

    The least confidence for that is found on the tuning half; without confidences there is one point, all or nothing.
    """
    threshold = _least_confidence([(i.gold, c) for i, label, c in tuning if label == "supported"])
    if threshold is None:
        return {"threshold": None, "coverage": 0.0, "supported": 0, "wrong_share": 0.0}
    kept = [i for i, label, c in reported if label == "supported" and (1.0 if c is None else c) >= threshold]
    wrong = sum(i.gold != "supported" for i in kept)
    holds = _share(wrong, len(kept)) <= MAX_WRONG
    return {
        "threshold": round(threshold, 4),
        "coverage": _share(len(kept) - wrong, gold) if holds else 0.0,
        "supported": len(kept),
        "wrong_share": _share(wrong, len(kept)),
        "holds_on_reported_half": holds,
    }


def _least_confidence(supported: Sequence[tuple[str, float | None]]) -> float | None:
    """The lowest confidence from which on at most 2 % are wrong; None if there is none that enough items bear out."""
    if supported and all(c is None for _, c in supported):  # rules: one point
        wrong = sum(g != "supported" for g, _ in supported)
        return 0.0 if wrong <= MAX_WRONG * len(supported) else None
    ranked = sorted(((c or 0.0, g) for g, c in supported), reverse=True)
    best, wrong = None, 0
    for count, (confidence, gold) in enumerate(ranked, start=1):
        wrong += gold != "supported"
        if count >= MIN_SUPPORTED and wrong <= MAX_WRONG * count:
            best = confidence
    return best


def calibration(reported: Sequence[tuple[Item, str, float | None]]) -> dict[str, Any] | None:
    """Confidence against truth, in ten bins, and the expected calibration error; None for judges without confidence."""
    right = {"supported": {"supported"}, "contradicted": {"contradicted", "not_supported"}}
    told = [(c, i.gold in right.get(label, set())) for i, label, c in reported if c is not None and label in right]
    if not told:
        return None
    bins = []
    error = 0.0
    for low in range(10):
        inside = [(c, r) for c, r in told if min(9, int(c * 10)) == low]
        if inside:
            mean, share = sum(c for c, _ in inside) / len(inside), sum(r for _, r in inside) / len(inside)
            error += abs(mean - share) * len(inside) / len(told)
            bins.append({"confidence": round(mean, 3), "right": round(share, 3), "items": len(inside)})
    return {"expected_calibration_error": round(error, 4), "decided": len(told), "bins": bins}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with scifact/, check-covid/, clinifact/, scone-nli/")
    parser.add_argument("--entailment", default="", help="an entailment model: its folder or its name on a hub")
    parser.add_argument("--entailment-sample", type=int, default=400, help="items of each set for that model")
    parser.add_argument("--limit", type=int, default=1500, help="items of each set at most")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    absent = missing(arguments.data)
    for name in absent:
        print(f"skipped: no {name} in {arguments.data or '--data'}", file=sys.stderr)
    sets = {n: sample(items_of(n, arguments.data), arguments.limit, arguments.seed) for n in SETS if n not in absent}
    if not sets:
        return 0
    judges: dict[str, Callable[[], Any]] = {
        "rules": rules_judging,
        "policy with a judge that always agrees": agreeing_judging,
    }
    if arguments.entailment:
        judges["entailment"] = lambda: entailment_judging(arguments.entailment, with_rules=False)
        judges["policy: rules and entailment"] = lambda: entailment_judging(arguments.entailment, with_rules=True)
    report: dict[str, Any] = {"seed": arguments.seed, "sets": {n: len(i) for n, i in sets.items()}, "judges": {}}
    for judge_name, made in judges.items():
        with made() as judging:
            about: dict[str, Any] = {"what": judging.what, "sets": {}}
            for name, items in sets.items():
                chosen = sample(items, arguments.entailment_sample if "entailment" in judge_name else len(items), 2)
                about["sets"][name] = scores(name, chosen, judging)
                print(judge_name, name, json.dumps(about["sets"][name]["confusion"]), file=sys.stderr)
            report["judges"][judge_name] = about
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "checker_scores.json").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
