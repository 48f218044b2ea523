"""Claims checked a second without a model, on one core: by the rules alone, and by the whole checker around them.

Texts are made of the demo corpus: true sentences, edited ones and sentences of other abstracts, each text against the
records that it names and some that it does not (eight, as the chat gives). Splitting the text into claims counts.

    .venv/bin/python benchmarks/claims_per_second.py [--texts 60]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adversarial_edits import edits
from checker_edits import demo_records

from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record
from medcite_middleware.pipeline.claim_check import Checked, CheckTask, ClaimChecker
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge

RESULTS = Path(__file__).parent / "results"
RECORDS = 8
SENTENCES = 10


@dataclass(frozen=True)
class Text:
    """A text with citations, and its evidence."""

    text: str
    evidence: tuple[Evidence, ...]


def texts(count: int, rng: random.Random) -> list[Text]:
    """Texts of ten cited sentences: half of them true, a quarter edited, a quarter from elsewhere."""
    records = [r for r in demo_records() if len(r.sections) > 1 and len(r.text) > 500]
    made = []
    for _ in range(count):
        chosen = rng.sample(records, RECORDS)
        evidence = tuple(
            Evidence(n, r, "", "", r.sections[-1].span, r.text, 1.0) for n, r in enumerate(chosen, start=1)
        )
        sentences = []
        for number in range(SENTENCES):
            at = rng.randrange(RECORDS)
            sentence = _sentence(chosen[at], rng)
            if number % 4 == 1:
                found = [text for _, text in edits(sentence, chosen[at].text, rng)]
                sentence = rng.choice(found) if found else sentence
            elif number % 4 == 3:
                sentence = _sentence(rng.choice(records), rng)
            sentences.append(f"{sentence.rstrip('.')} [{at + 1}].")
        made.append(Text(" ".join(sentences), evidence))
    return made


def _sentence(record: Record, rng: random.Random) -> str:
    body = record.sections[-1].text
    found = [s.of(body) for s in sentence_spans(body) if len(s.of(body).split()) > 4]
    return rng.choice(found) if found else body


def by_rules(given: list[Text]) -> dict[str, Any]:
    """The rules alone, one claim after the other."""
    judge = RulesJudge(VerifySettings())
    taken: list[float] = []
    labels: Counter[str] = Counter()
    started = time.perf_counter()
    for one in given:
        for claim in split_text(one.text).claims:
            began = time.perf_counter()
            labels[judge.judge(Case(claim, one.text, one.evidence, needs_citation=True)).label] += 1
            taken.append(1000 * (time.perf_counter() - began))
    return _told(len(taken), time.perf_counter() - started, taken, labels)


async def by_checker(given: list[Text]) -> dict[str, Any]:
    """Graph, bound, policy and events around the same rules."""
    settings = VerifySettings()
    checker = ClaimChecker([RulesJudge(settings)], None, settings)
    labels: Counter[str] = Counter()
    started = time.perf_counter()
    for one in given:
        checked = Checked()
        claims = split_text(one.text).claims
        async for _ in checker.run(CheckTask(one.text, claims, one.evidence, needs_citation=True), checked):
            pass
        labels.update(v.label for v in checked.verdicts)
    return _told(labels.total(), time.perf_counter() - started, [], labels)


def _told(claims: int, seconds: float, taken: list[float], labels: Counter[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"claims": claims, "claims_per_second": round(claims / seconds, 1), "labels": dict(labels)}
    if taken:
        told["ms_p50"] = round(statistics.median(taken), 2)
        told["ms_p95"] = round(statistics.quantiles(taken, n=20)[-1], 2)
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    given = texts(arguments.texts, random.Random(arguments.seed))
    report = {
        "rules": RULES_VERSION,
        "texts": len(given),
        "records_a_text": RECORDS,
        "rules_first_time": by_rules(given),
        "rules_again": by_rules(given),
        "checker": asyncio.run(by_checker(given)),
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(report, indent=1) + "\n"
    (RESULTS / "claims_per_second.json").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
