"""The adversarial suite: true sentences and human paraphrases, each edited to say something else; which pass?

Verbatim half: sentences of the demo corpus' abstracts (and of SciFact's, with `--data`). Paraphrase half (`--data`):
the supported claims of SciFact and CliniFact. Each text is split into its claims, as an answer is, and judged against
its abstract; a text is supported when all its claims are. Next to each judge stands string equality, which passes the
first half by construction, and a judge that agrees with everything, so that only the policy's vetoes stand in its way.

    .venv/bin/python benchmarks/checker_suite.py [--records 150] [--data FOLDER] [--fixture FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adversarial_edits import EDIT_KINDS, edits
from checker_edits import demo_records
from claim_data import Item, items_of, sample
from judging import agreeing, entailment_behind_the_rules, string_equality
from quote_alignment import typeset

from medcite_core.answers import Claim, Verdict
from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.settings import VerifySettings
from medcite_core.types import Span
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge

RESULTS = Path(__file__).parent / "results"
CONTROLS = ("untouched", "untouched, typeset")


@dataclass(frozen=True)
class Attack:
    """A text to be judged against an item's record; `kind` is `untouched` or the kind of its edit."""

    half: str
    kind: str
    text: str
    original: str
    item: Item


def labels_of(text: str, item: Item, judge: Callable[[Case], Verdict]) -> tuple[str, list[Verdict]]:
    """The label of a text, and the verdicts of its claims: supported only when all of them are."""
    claims = split_text(text).claims or (Claim("c1", Span(0, len(text)), text),)
    verdicts = []
    for claim in claims:
        cited = replace(claim, cited=(1,))
        verdicts.append(judge(Case(cited, text, item.evidence, needs_citation=True)))
    found = [v.label for v in verdicts]
    for label in ("contradicted", "conflicting", "unsupported", "unchecked"):
        if label in found:
            return label, verdicts
    return "supported", verdicts


def judges() -> dict[str, Callable[[Case], Verdict]]:
    """By name; the last two are no judges of medcite but what it is compared with, and the worst case."""
    settings = VerifySettings()
    return {
        "rules": RulesJudge(settings).judge,
        "string equality": string_equality,
        "policy with a judge that always agrees": agreeing(settings),
    }


def verbatim(items: Sequence[Item], rng: random.Random) -> Iterator[Attack]:
    """Each sentence of the abstracts, untouched, in other typography, and with each edit that it allows."""
    for item in items:
        body = " ".join(s.text for s in item.record.sections[1:])
        for section in item.record.sections[1:]:
            for span in sentence_spans(section.text):
                sentence = span.of(section.text)
                if len(sentence.split()) >= 5:
                    yield from _attacks("verbatim", sentence, body, item, rng)


def paraphrases(items: Sequence[Item], rng: random.Random) -> Iterator[Attack]:
    """Each supported claim, written by people, untouched and with each edit that it allows."""
    for item in items:
        if item.gold == "supported":
            body = " ".join(s.text for s in item.record.sections[1:])
            yield from _attacks("paraphrase", item.claim, body, item, rng)


def _attacks(half: str, text: str, body: str, item: Item, rng: random.Random) -> Iterator[Attack]:
    yield Attack(half, "untouched", text, text, item)
    other = typeset(text, rng)
    if other != text and half == "verbatim":
        yield Attack(half, "untouched, typeset", other, text, item)
    for kind, edited in edits(text, body, rng):
        yield Attack(half, kind, edited, text, item)


def measure(attacks: Sequence[Attack], judge: Callable[[Case], Verdict]) -> dict[str, Any]:
    """Counts by kind and label; every edited text that came out supported, in full."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    wrong = []
    started = time.perf_counter()
    for attack in attacks:
        label, verdicts = labels_of(attack.text, attack.item, judge)
        counts[attack.kind][label] += 1
        if attack.kind in CONTROLS:
            continue
        reasons.update(v.reason for v in verdicts if v.label in ("contradicted", "unsupported"))
        if label == "supported":
            wrong.append(
                {"kind": attack.kind, "original": attack.original, "edited": attack.text, "record": attack.item.id}
            )
    edited = {kind: c for kind, c in counts.items() if kind not in CONTROLS}
    total = sum(c.total() for c in edited.values())
    report = {
        "edits": total,
        "edits_supported": len(wrong),
        "edits_contradicted_share": _share(sum(c["contradicted"] for c in edited.values()), total),
        "edits_found_wrong_share": _share(sum(c["contradicted"] + c["unsupported"] for c in edited.values()), total),
        "texts_per_second": round(len(attacks) / (time.perf_counter() - started), 1),
        "reasons": dict(reasons.most_common()),
        "by_kind": {kind: dict(sorted(counts[kind].items())) for kind in (*CONTROLS, *EDIT_KINDS) if kind in counts},
        "wrongly_supported": wrong[:60],
    }
    for kind in CONTROLS:
        if kind in counts:
            report[kind.replace(", ", "_") + "_supported_share"] = _share(
                counts[kind]["supported"], counts[kind].total()
            )
    return report


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def demo_items() -> list[Item]:
    """The demo corpus' records as items without claims."""
    return [Item(r.pmid, "", r, "supported", "reported") for r in demo_records() if len(r.sections) > 1]


def fixture(attacks: Sequence[Attack], per_kind: int, rng: random.Random) -> dict[str, Any]:
    """A small suite: some of each half and kind, and the abstracts that they are read against, once each."""
    by_kind: dict[tuple[str, str], list[Attack]] = defaultdict(list)
    for attack in attacks:
        if len(attack.item.record.text) < 1800:
            by_kind[attack.half, attack.kind].append(attack)
    rows, abstracts = [], {}
    for (half, kind), found in sorted(by_kind.items()):
        for attack in rng.sample(found, min(per_kind, len(found))):
            record = attack.item.record
            rows.append({"half": half, "kind": kind, "record": record.pmid, "text": attack.text})
            parts = [[s.label, s.nlm_category, s.text] for s in record.sections[1:]]
            abstracts[record.pmid] = {"title": record.title, "parts": parts}
    return {"abstracts": dict(sorted(abstracts.items())), "rows": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=150, help="abstracts of each corpus in the verbatim half")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder with scifact/ and clinifact/: adds the paraphrase half")
    parser.add_argument("--entailment", default="", help="an entailment model, to judge behind the rules as well")
    parser.add_argument("--entailment-sample", type=int, default=150, help="texts of each half for that model")
    parser.add_argument("--fixture", type=Path, help="write a small suite for the tests there, and measure nothing")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    attacks = list(verbatim(sample(demo_items(), arguments.records, arguments.seed), rng))
    for name in ("scifact", "clinifact"):
        if arguments.data is None or not (arguments.data / name).is_dir():
            print(f"skipped: no {name} in {arguments.data or '--data'}", file=sys.stderr)
            continue
        items = items_of(name, arguments.data)
        unique = list({i.record.pmid: i for i in items if len(i.record.sections) > 1}.values())
        if name == "scifact" and not arguments.fixture:
            attacks.extend(verbatim(sample(unique, arguments.records, arguments.seed), rng))
        attacks.extend(paraphrases([i for i in items if len(i.record.sections) > 1], rng))
    if arguments.fixture:
        text = json.dumps(fixture(attacks, 5, rng), indent=1, ensure_ascii=False)
        arguments.fixture.write_text(text + "\n", encoding="utf-8")
        return 0
    report: dict[str, Any] = {"rules": RULES_VERSION, "seed": arguments.seed}
    for half in ("verbatim", "paraphrase"):
        chosen = [a for a in attacks if a.half == half]
        if chosen:
            report[half] = {name: measure(chosen, judge) for name, judge in judges().items()}
            if arguments.entailment:
                some = rng.sample(chosen, min(arguments.entailment_sample, len(chosen)))
                some += rng.sample([a for a in chosen if a.kind == "untouched"], 50)
                judged = measure(some, entailment_behind_the_rules(arguments.entailment, threshold=0.9))
                report[half]["policy: rules and entailment at 0.9, on a sample"] = judged
    RESULTS.mkdir(exist_ok=True)
    name = "checker_suite.json" if "paraphrase" in report else "checker_suite_demo.json"
    (RESULTS / name).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
