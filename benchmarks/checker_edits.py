"""Altered copies of true sentences: which does the rules judge let pass as supported, and which true ones does it keep?

Sentences of real abstracts are altered (a digit, a unit, a negation, a direction, a hedge, a comparison sign, words
dropped or swapped) and judged against their own record. Baseline: string equality, which by construction lets no
alteration pass and cannot say why. Abstracts: the demo corpus (default) or SciFact's (`--data`, skipped when absent).

    .venv/bin/python benchmarks/checker_edits.py [--records 400] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from medcite_core.answers import Claim
from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, Span, assemble_text
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge
from medcite_middleware.verification.vocabulary import HARMLESS, OPPOSITES

RESULTS = Path(__file__).parent / "results"
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
OPPOSITE_OF = defaultdict(list)
for _word, _other in sorted(OPPOSITES):
    OPPOSITE_OF[_word].append(_other)


def alterations(sentence: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Each kind of alteration that the sentence allows, once: (kind, altered sentence)."""
    # A number in square brackets is a reference of the source's own, not a figure.
    numbers = [
        m for m in re.finditer(r"\d+(?:\.\d+)?", sentence) if "[" not in sentence[: m.start()].rpartition("]")[2]
    ]
    if numbers:
        match = rng.choice(numbers)
        value = match.group()
        other = value
        while float(other) == float(value):
            other = "".join(rng.choice("123456789") if c.isdigit() else c for c in value)
        yield "digit", sentence[: match.start()] + other + sentence[match.end() :]
    for kind, pattern, replacement in (
        ("negation dropped", r"\b(?:not|no|never)\b ?", ""),
        ("negation added", r"\b(is|are|was|were|can|has|have|did|does)\b(?! not)", r"\1 not"),
        ("hedge dropped", r"\b(?:may|might|could|possibly|likely|suggests?|probably)\b ?", ""),
        ("unit", r"(\d)\s*%", r"\1 mg"),
        ("comparison sign", r"<", ">"),
        ("minus dropped", r"(?<=[\s(=<>≥≤])[-−–](?=\s?\d)", ""),
        ("power flattened", r"(?<=\d)[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: m.group().translate(_PLAIN)),
        ("bracket in words dropped", r" \((?=[^()]*[a-z]{3,} [a-z]{3,})(?![^()]*(?:interval|ratio|risk))[^()]*\)", ""),
        ("'a' dropped", r"\b[Aa] (?=few|little|number)", ""),
        ("comma after No", r"^No (?=[a-z])", "No, "),
    ):
        altered = re.sub(pattern, replacement, sentence, count=1)
        if altered != sentence:
            yield kind, altered
    directions = [m for m in re.finditer(r"[A-Za-z]+", sentence) if m.group().lower() in OPPOSITE_OF]
    if directions:
        match = rng.choice(directions)
        other = rng.choice(OPPOSITE_OF[match.group().lower()])
        yield "direction", sentence[: match.start()] + other + sentence[match.end() :]
    words = sentence.split()
    # Words like "however" and bracketed abbreviations may go without a change of meaning: they are no alteration.
    content = [
        i
        for i, w in enumerate(words)
        if len(w.strip(".,;:")) > 4 and not set(w) & set("()[]") and w.strip(".,;:").lower() not in HARMLESS
    ]
    if len(content) > 4:
        i, j = sorted(rng.sample(content, 2))
        if words[i].strip(".,").lower() != words[j].strip(".,").lower():
            swapped = list(words)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield "words swapped", " ".join(swapped)
        dropped = content[rng.randrange(1, len(content))]
        yield "word dropped", " ".join(words[:dropped] + words[dropped + 1 :])


def demo_records() -> Iterator[Record]:
    """The records of the packaged demo corpus."""
    from medcite_ingestion.demo import DEMO_DIR
    from medcite_ingestion.pubmed_xml import parse_pubmed_xml

    for item in parse_pubmed_xml(DEMO_DIR / "pubmed-demo.xml.gz"):
        if isinstance(item, Record):
            yield item


def scifact_records(folder: Path) -> Iterator[Record]:
    """SciFact's abstracts as records."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            text, sections = assemble_text(document["title"], [("", "", " ".join(document["abstract"]))])
            yield Record(str(document["doc_id"]), 1, document["title"], sections, text)


def measure(records: list[Record], rng: random.Random) -> dict[str, object]:
    """Judge every sentence and every alteration; counts by kind and label."""
    judge = RulesJudge(VerifySettings())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[dict[str, str]] = []
    started = time.perf_counter()
    judged = 0
    for record in records:
        body = record.sections[-1]
        evidence = (Evidence(1, record, "", body.label, body.span, body.text, 1.0),)
        for span in sentence_spans(body.text):
            sentence = span.of(body.text)
            if len(sentence.split()) < 4:
                continue
            for kind, text in (("untouched", sentence), *alterations(sentence, rng)):
                claim = Claim("c1", Span(0, len(text)), text, (1,))
                label = judge.judge(Case(claim, text, evidence, needs_citation=True)).label
                judged += 1
                counts[kind][label] += 1
                if kind != "untouched" and label == "supported":
                    wrong.append({"kind": kind, "sentence": sentence, "altered": text})
    altered = sum(sum(c.values()) for kind, c in counts.items() if kind != "untouched")
    untouched = counts["untouched"]
    return {
        "judge": RULES_VERSION,
        "records": len(records),
        "sentences": sum(untouched.values()),
        "alterations": altered,
        "alterations_supported": len(wrong),
        "untouched_supported_share": round(untouched["supported"] / sum(untouched.values()), 4),
        "alterations_contradicted_share": round(
            sum(c["contradicted"] for kind, c in counts.items() if kind != "untouched") / altered, 4
        ),
        "baseline_string_equality": {"alterations_supported": 0, "alterations_contradicted": 0},
        "claims_per_second": round(judged / (time.perf_counter() - started)),
        "by_kind": {kind: dict(sorted(c.items())) for kind, c in sorted(counts.items())},
        "wrongly_supported": wrong[:20],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder with SciFact's corpus.jsonl.gz, instead of the demo corpus")
    arguments = parser.parse_args()
    if arguments.data and not (arguments.data / "corpus.jsonl.gz").is_file():
        print(f"skipped: no corpus.jsonl.gz in {arguments.data}", file=sys.stderr)
        return 0
    rng = random.Random(arguments.seed)
    records = list(scifact_records(arguments.data) if arguments.data else demo_records())
    report = measure(rng.sample(records, min(arguments.records, len(records))), rng)
    name = "checker_edits_scifact.json" if arguments.data else "checker_edits_demo.json"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({k: v for k, v in report.items() if k != "wrongly_supported"}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
