"""Figures of real abstracts said in another form, and then made wrong: which does the rules judge bear out?

Sentences of real abstracts have one figure said otherwise: per cent in words or per 100, decimals rounded off, grams
for milligrams, days for weeks, digits not grouped, counts as percent. Each text is judged as it then stands, and made
wrong: the figure moved, swapped with that of another arm, in another unit, the whole denied, another word in it. None
of those may come out supported. Baseline: string equality, which bears out no figure in another form.

    .venv/bin/python benchmarks/figure_forms.py [--records 400] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker_edits import demo_records, scifact_records
from judging import string_equality

from medcite_core.answers import Claim, Verdict
from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, Span
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge

RESULTS = Path(__file__).parent / "results"
_NO_WORD = r"(?<![\w.,/-])"
_PERCENT = re.compile(rf"{_NO_WORD}(\d{{1,2}})(\.\d+)?%(?![\w-])")
_DECIMALS = re.compile(rf"{_NO_WORD}(\d+\.\d{{2,3}})(?=%| ?(?:mg|g|kg|mL|ml|mm|cm|years|days|months)\b)")
_MG = re.compile(rf"{_NO_WORD}(\d{{1,3}})( ?)mg(?![\w/])")
_WEEKS = re.compile(rf"{_NO_WORD}(?<! to )(?<! and )(?<! or )(\d{{1,2}}) weeks\b(?! of age)")
_LARGE = re.compile(rf"{_NO_WORD}(\d{{1,3}})(?:,)(\d{{3}})(?![\d.,%-])")
_SHARE = re.compile(rf"{_NO_WORD}(\d{{1,4}}) (?:of|out of) (?:the )?(\d{{2,4}})(?![\d.,%-])")


@dataclass(frozen=True)
class Text:
    """A text to be judged against a record; `form` is how its figure is said, `kind` whether and how it is wrong."""

    form: str
    kind: str
    text: str
    record: Record


def restated(sentence: str) -> Iterator[tuple[str, re.Match[str], str, Callable[[float], str]]]:
    """(form, what is replaced, right words, how another value is written in that form)."""
    for match in _PERCENT.finditer(sentence):
        value = float(match[1] + (match[2] or ""))
        yield "per cent in words", match, f"{match[1]}{match[2] or ''} per cent", lambda v: f"{v:g} per cent"
        if not match[2] and value > 0:
            yield "percent as a fraction", match, f"{match[1]} per 100", lambda v: f"{v:g} per 100"
    for match in _DECIMALS.finditer(sentence):
        places = len(match[1].partition(".")[2]) - 1
        right = f"{float(match[1]):.{places}f}"
        if abs(float(right) - float(match[1])) <= 0.04 * float(match[1]):
            yield "rounded", match, right, lambda v, p=places: f"{v:.{p}f}"  # type: ignore[misc]
    for match in _MG.finditer(sentence):
        yield "grams for milligrams", match, f"{int(match[1]) / 1000:g}{match[2]}g", lambda v: f"{v / 1000:g} g"
    for match in _WEEKS.finditer(sentence):
        yield "days for weeks", match, f"{int(match[1]) * 7} days", lambda v: f"{int(v) * 7} days"
    for match in _LARGE.finditer(sentence):
        yield "digits not grouped", match, match[1] + match[2], lambda v: f"{v:.0f}"
    for match in _SHARE.finditer(sentence):
        part, whole = int(match[1]), int(match[2])
        if 0 < part < whole and not re.match(r"\s?\(", sentence[match.end() :]):
            yield "counts as percent", match, f"{100 * part / whole:.0f}% of", lambda v: f"{v:.0f}% of"


def value_of(form: str, match: re.Match[str]) -> float:
    """The value that stands in the sentence, in the form's own terms."""
    if form == "counts as percent":
        return 100 * int(match[1]) / int(match[2])
    if form == "digits not grouped":
        return float(match[1] + match[2])
    return float(re.sub(r"[^\d.]", "", match[1] + (match[2] or "" if form.startswith("per") else "")))


def texts(records: list[Record], rng: random.Random) -> Iterator[Text]:
    """Each restated sentence, untouched and made wrong in every way that it allows."""
    for record in records:
        for section in record.sections[1:]:
            for span in sentence_spans(section.text):
                sentence = span.of(section.text)
                if 6 <= len(sentence.split()) <= 60:
                    yield from _texts(sentence, record, rng)


def _rounds_to(value: float, written: str) -> bool:
    """Whether a written figure is the value itself, rounded to its last digit: 0.95 % is "1 per cent"."""
    number = re.search(r"\d[\d,]*(?:\.(\d+))?", written)
    if number is None:
        return False
    step = 10.0 ** -len(number.group(1) or "")
    return abs(float(number.group().replace(",", "")) - value) <= step / 2 * (1 + 1e-9)


def _texts(sentence: str, record: Record, rng: random.Random) -> Iterator[Text]:
    for form, match, right, write in restated(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        after = re.sub(r"^ of(?: the)?(?= )", "", after) if right.endswith(" of") else after
        yield Text(form, "untouched", before + right + after, record)
        value = value_of(form, match)
        moved = value * rng.choice((0.5, 0.8, 1.3, 2.0)) + rng.choice((-1, 1)) * (2 if value >= 10 else 0)
        other = write(max(1.0, moved) if form != "rounded" else moved)
        if other.split()[0] != right.split()[0] and not _rounds_to(value, other):
            yield Text(form, "figure moved", before + other + after, record)
        unit = re.sub(r"%|per cent| ?g\b| days", " kg", right)
        if unit != right and not unit.endswith("of"):
            yield Text(form, "another unit", before + unit + after, record)
        yield Text(form, "negated", f"It is not true that {before}{right}{after}", record)
        numbers = [m for m in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?=%)", sentence) if float(m.group()) != value]
        if numbers and form.startswith("per cent"):
            swapped = rng.choice(numbers)
            yield Text(form, "figure of another arm", before + f"{swapped.group()} per cent" + after, record)
        words = re.findall(r"\b[a-z]{6,}\b", before + after)
        if words:
            gone = rng.choice(words)
            other = rng.choice([w for w in ("kidney", "placebo", "women") if w != gone])
            text = re.sub(rf"\b{gone}\b", other, before + right + after, count=1)
            yield Text(form, "another word", text, record)


def measure(chosen: list[Text], judge: Callable[[Case], Verdict]) -> dict[str, Any]:
    """Labels by form and kind; every wrong text that came out supported, in full."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong, called_wrong = [], []
    started = time.perf_counter()
    for one in chosen:
        claim = Claim("c1", Span(0, len(one.text)), one.text, (1,), kind="numeric")
        evidence = (Evidence(1, one.record, "", "", Span(0, len(one.record.text)), one.record.text, 1.0),)
        label = judge(Case(claim, one.text, evidence, frozenset((one.record.pmid,)))).label
        counts[f"{one.form}, {one.kind}"][label] += 1
        if label == "contradicted" and one.kind == "untouched":
            called_wrong.append({"form": one.form, "text": one.text, "record": one.record.pmid})
        if label == "supported" and one.kind != "untouched":
            wrong.append({"form": one.form, "kind": one.kind, "text": one.text, "record": one.record.pmid})
    untouched = sum((c for k, c in counts.items() if k.endswith(", untouched")), Counter[str]())
    return {
        "restated": untouched.total(),
        "restated_supported_share": round(untouched["supported"] / max(1, untouched.total()), 4),
        "restated_contradicted": called_wrong,
        "wrong_texts": len(chosen) - untouched.total(),
        "wrong_supported": len(wrong),
        "texts_per_second": round(len(chosen) / (time.perf_counter() - started), 1),
        "by_form": {key: dict(sorted(found.items())) for key, found in sorted(counts.items())},
        "wrongly_supported": wrong[:60],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder with SciFact's corpus.jsonl.gz: its abstracts as well")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    records = list(demo_records())
    if arguments.data is not None and (arguments.data / "corpus.jsonl.gz").is_file():
        records += list(scifact_records(arguments.data))
    else:
        print(f"skipped: no corpus.jsonl.gz in {arguments.data or '--data'}", file=sys.stderr)
    held = [r for r in records if len(r.sections) > 1 and re.search(r"\d", r.text)]
    chosen = list(texts(rng.sample(held, min(arguments.records, len(held))), rng))
    report = {
        "rules": RULES_VERSION,
        "seed": arguments.seed,
        "records": arguments.records,
        "rules, figures recomputed": measure(chosen, RulesJudge(VerifySettings()).judge),
        "string equality": measure(chosen, string_equality),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "figure_forms.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(json.dumps(report, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
