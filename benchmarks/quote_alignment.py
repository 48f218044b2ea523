"""Quoted words found in real text: time and correctness against rapidfuzz's alignment, in one run.

Contexts of 15,000 characters are made of the demo corpus' abstracts (or of SciFact's, `--data`). One sentence of each
is quoted with nine kinds of damage, in the quotation or in the context; both sides get the context already in plain
typography, so that only the quotation is prepared within the time taken. Then every sentence of every abstract is
turned to mean something else and looked for in its own abstract: none may be accepted.

    .venv/bin/python benchmarks/quote_alignment.py [--contexts 34] [--difflib 3] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker_edits import alterations, demo_records, scifact_records
from rapidfuzz import fuzz

from medcite_core.sentences import sentence_spans
from medcite_core.types import Span
from medcite_middleware.verification.plain_text import plain_source, without_noise
from medcite_middleware.verification.quote_alignment import Alignment, align_quote

RESULTS = Path(__file__).parent / "results"
THRESHOLD = 75.0
CONTEXT = 15_000
QUOTE = range(100, 201)
REPEATS = 7
NOT_TURNED = ("untouched", "shortened at its end")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LIGATURES = (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"))


@dataclass(frozen=True)
class Case:
    """A quotation, the text it is looked for in, and where it stands (None: nowhere)."""

    kind: str
    quote: str
    context: str
    place: Span | None


def typos(text: str, per_150: int, rng: random.Random) -> str:
    """`text` with letters replaced, dropped, doubled or swapped at random."""
    characters = list(text)
    for _ in range(max(1, round(per_150 * len(text) / 150))):
        at = rng.randrange(len(characters) - 1)
        match rng.randrange(4):
            case 0:
                characters[at] = rng.choice(LETTERS)
            case 1:
                del characters[at]
            case 2:
                characters.insert(at, rng.choice(LETTERS))
            case _:
                characters[at], characters[at + 1] = characters[at + 1], characters[at]
    return "".join(characters)


def typeset(text: str, _rng: random.Random) -> str:
    """`text` with ligatures, typographic quotation marks and dashes, and spaces that do not break."""
    for plain, ligature in LIGATURES:
        text = text.replace(plain, ligature)
    text = re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’")
    return re.sub(r"(?<=\w)-(?=[a-z])", "‐", text).replace(" ", "\u00a0", 2)


def hyphenated(text: str, rng: random.Random) -> str:
    """`text` in lines of about forty characters, words divided at their ends."""
    words = list(re.finditer(r"[a-z]{7,}", text))
    chosen = rng.sample(words, min(len(words), len(text) // 40))
    for match in sorted(chosen, key=lambda m: m.start(), reverse=True):
        middle = match.start() + len(match.group()) // 2
        text = text[:middle] + "-\n" + text[middle:]
    return text


def spaced(text: str, rng: random.Random) -> str:
    """`text` with other white space between its words."""
    return re.sub(" ", lambda _: rng.choice([" ", "  ", "\n", " \n", "\t"]), text)


def reworded(text: str, rng: random.Random) -> str:
    """`text` with one word dropped and another one replaced."""
    words = text.split(" ")
    dropped, replaced = rng.sample(range(1, len(words) - 1), 2)
    words[replaced] = "zebrafish"
    return " ".join(words[:dropped] + words[dropped + 1 :])


def cases(contexts: list[tuple[str, list[str]]], rng: random.Random) -> Iterator[Case]:
    """Nine cases of each context."""
    in_context: dict[str, Callable[[str, random.Random], str]] = {
        "ligatures and typographic quotes": typeset,
        "hyphenation at line ends": hyphenated,
        "white space": spaced,
    }
    for number, (text, sentences) in enumerate(contexts):
        quote = rng.choice(sentences)
        at = text.index(quote)
        place = Span(at, at + len(quote))
        yield Case("exact", quote, text, place)
        for count in (3, 10, 30):
            yield Case(f"{count} typos in 150 characters", typos(quote, count, rng), text, place)
        for kind, damage in in_context.items():
            other = damage(quote, rng)
            yield Case(kind, quote, text[:at] + other + text[at + len(quote) :], Span(at, at + len(other)))
        yield Case("a dropped and a replaced word", reworded(quote, rng), text, place)
        elsewhere = contexts[(number + 1) % len(contexts)][1]
        yield Case("absent", rng.choice([s for s in elsewhere if s not in text]), text, None)


def overlap(found: Span | None, true: Span | None) -> float:
    """Shared part of both together, 0..1."""
    if found is None or true is None:
        return 0.0
    shared = min(found.end, true.end) - max(found.start, true.start)
    return max(0, shared) / (max(found.end, true.end) - min(found.start, true.start))


def is_right(case: Case, found: Alignment) -> bool:
    """Whether the place is right, and the state the one that the damage deserves."""
    if case.place is None:
        return found.state == "not_found"
    if overlap(found.span, case.place) <= 0.9:
        return False
    if case.kind == "exact":
        return found.state == "verbatim"
    if "typos" in case.kind or "word" in case.kind:
        return found.state in ("altered", "repaired") and bool(found.difference)
    return found.state == ("verbatim" if case.quote in case.context else "repaired")


def time_of(call: Callable[[], object]) -> float:
    """Milliseconds of one call: the median of several."""
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return 1000 * statistics.median(taken)


def measure(all_cases: list[Case]) -> dict[str, object]:
    """Both sides over all cases, one after the other in each."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    states: dict[str, Counter[str]] = defaultdict(Counter)
    ours_ms: dict[str, list[float]] = defaultdict(list)
    theirs_ms: dict[str, list[float]] = defaultdict(list)
    wrong = []
    for case in all_cases:
        source = plain_source(case.context)
        without_noise(case.context)
        found = align_quote(case.quote, case.context, THRESHOLD)
        peer = fuzz.partial_ratio_alignment(case.quote.lower(), source.folded, score_cutoff=THRESHOLD)
        peer_span = source.span(peer.dest_start, peer.dest_end) if peer and peer.dest_end > peer.dest_start else None
        peer_right = peer_span is None if case.place is None else overlap(peer_span, case.place) > 0.9
        states[case.kind][found.state] += 1
        rows[case.kind].update(cases=1, ours=is_right(case, found), rapidfuzz=peer_right)
        if not is_right(case, found):
            wrong.append({"kind": case.kind, "quote": case.quote, "state": found.state, "told": found.difference})
        ours_ms[case.kind].append(time_of(lambda c=case: align_quote(c.quote, c.context, THRESHOLD)))
        folded = case.quote.lower()
        theirs_ms[case.kind].append(
            time_of(lambda f=folded, s=source.folded: fuzz.partial_ratio_alignment(f, s, score_cutoff=THRESHOLD))
        )
    ours, theirs = _all(ours_ms), _all(theirs_ms)
    return {
        "cases": len(all_cases),
        "right": {
            "ours": sum(r["ours"] for r in rows.values()),
            "rapidfuzz": sum(r["rapidfuzz"] for r in rows.values()),
        },
        "ms_p50": {"ours": round(statistics.median(ours), 4), "rapidfuzz": round(statistics.median(theirs), 4)},
        "ms_p95": {"ours": _p95(ours), "rapidfuzz": _p95(theirs)},
        "ms_total": {"ours": round(sum(ours), 1), "rapidfuzz": round(sum(theirs), 1)},
        "time_ratio_total": round(sum(ours) / sum(theirs), 3),
        "by_kind": {
            kind: {
                "cases": row["cases"],
                "right": row["ours"],
                "rapidfuzz_right": row["rapidfuzz"],
                "states": dict(states[kind]),
                "ms_p50": round(statistics.median(ours_ms[kind]), 4),
                "rapidfuzz_ms_p50": round(statistics.median(theirs_ms[kind]), 4),
                "time_ratio": round(sum(ours_ms[kind]) / sum(theirs_ms[kind]), 3),
            }
            for kind, row in rows.items()
        },
        "wrong": wrong,
    }


def _all(times: dict[str, list[float]]) -> list[float]:
    return [t for kind in times.values() for t in kind]


def _p95(times: list[float]) -> float:
    return round(statistics.quantiles(times, n=20)[-1], 4)


def turned(sentence: str, following: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """The alterations of the checker's suite, and those that only a quotation can have: cut, re-ordered, joined."""
    yield from alterations(sentence, rng)
    words = sentence.rstrip(".").split(" ")
    middle = len(words) // 2
    if len(words) > 7:
        yield "halves swapped", " ".join(words[middle:] + words[:middle])
        yield "joined over a gap", " ".join(words[: middle - 2] + words[middle + 1 :])
        if following and len(following.split()) > 7:
            yield "joined over a sentence's half", " ".join(words[:middle]) + " " + following
    match = re.search(r"\b(?:not|no evidence (?:that|of)|failed to|without)\s+(?=\w+\s+\w+\s+\w)", sentence)
    if match:
        yield "cut after a negation", sentence[match.end() :]
    match = re.search(r"\s*(?:,?\s*but (?:not|only)|,?\s*except|\bonly in)\b", sentence)
    if match and match.start() > 20:
        yield "cut before an exception", sentence[: match.start()]
    match = re.search(r"(?<=\d)\s?%", sentence)
    if match and match.start() > 20:
        yield "cut before a unit", sentence[: match.start()]


def meaning_changed(bodies: list[str], rng: random.Random) -> dict[str, object]:
    """How many sentences that were turned are still accepted as quotations of their own abstract."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    accepted = []
    for body in bodies:
        spans = sentence_spans(body)
        for at, span in enumerate(spans):
            sentence = span.of(body)
            if len(sentence.split()) < 4:
                continue
            following = spans[at + 1].of(body) if at + 1 < len(spans) else ""
            for kind, text in (("untouched", sentence), *turned(sentence, following, rng)):
                if kind != "untouched" and _count(body, text) > 1:
                    continue  # it stands elsewhere in the abstract, by itself
                if kind in ("word dropped", "bracket in words dropped") and sentence.startswith(text.rstrip(".")):
                    kind = "shortened at its end"
                found = align_quote(text, body, THRESHOLD)
                peer = fuzz.partial_ratio(text, body, score_cutoff=THRESHOLD)
                counts[kind].update(all=1, accepted=found.stands, rapidfuzz=peer >= THRESHOLD)
                if kind not in NOT_TURNED and found.stands:
                    accepted.append({"kind": kind, "sentence": sentence, "turned": text, "state": found.state})
    changed = {kind: c for kind, c in counts.items() if kind not in NOT_TURNED}
    return {
        "sentences": counts["untouched"]["all"],
        "untouched_accepted": counts["untouched"]["accepted"],
        "shortened_at_its_end": dict(counts["shortened at its end"]),
        "turned": sum(c["all"] for c in changed.values()),
        "turned_accepted": sum(c["accepted"] for c in changed.values()),
        "turned_accepted_by_rapidfuzz_at_75": sum(c["rapidfuzz"] for c in changed.values()),
        "by_kind": {kind: dict(c) for kind, c in sorted(counts.items())},
        "wrongly_accepted": accepted[:40],
    }


def _count(text: str, words: str) -> int:
    return text.lower().count(words.rstrip(".").lower())


def difflib_history(all_cases: list[Case], count: int) -> dict[str, object]:
    """The original's way: a window of the quotation's length, one character further each time."""
    chosen = [c for c in all_cases if c.kind in ("exact", "3 typos in 150 characters")][:count]
    taken, right, ours = [], 0, []
    for case in chosen:
        source, size = plain_source(case.context), len(case.quote)
        text = source.cased
        matcher = difflib.SequenceMatcher(autojunk=False)
        matcher.set_seq2(case.quote)
        started = time.perf_counter()
        best = (0.0, 0)
        for at in range(len(text) - size + 1):
            matcher.set_seq1(text[at : at + size])
            best = max(best, (matcher.ratio(), -at))
        taken.append(1000 * (time.perf_counter() - started))
        right += overlap(source.span(-best[1], size - best[1]), case.place) > 0.9
        ours.append(time_of(lambda c=case: align_quote(c.quote, c.context, THRESHOLD)))
    return {
        "cases": len(chosen),
        "right": right,
        "ms_mean": round(statistics.mean(taken), 1),
        "times_ours": round(statistics.mean(taken) / statistics.mean(ours)),
    }


def contexts_of(bodies: list[str], count: int, rng: random.Random) -> list[tuple[str, list[str]]]:
    """Texts of about 15,000 characters, each with the sentences that may be quoted: those that stand there once."""
    made: list[tuple[str, list[str]]] = []
    shuffled = rng.sample(bodies, len(bodies))
    text = ""
    for body in shuffled:
        text += ("\n\n" if text else "") + body
        if len(text) < CONTEXT:
            continue
        sentences = [s.of(text) for s in sentence_spans(text) if len(s.of(text)) in QUOTE]
        made.append((text, [s for s in sentences if text.count(s) == 1 and s.isascii() and "\n" not in s]))
        text = ""
        if len(made) == count:
            break
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=34)
    parser.add_argument("--difflib", type=int, default=3, help="cases for the old window, seconds each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder with SciFact's corpus.jsonl.gz, instead of the demo corpus")
    arguments = parser.parse_args()
    if arguments.data and not (arguments.data / "corpus.jsonl.gz").is_file():
        print(f"skipped: no corpus.jsonl.gz in {arguments.data}", file=sys.stderr)
        return 0
    rng = random.Random(arguments.seed)
    records = list(scifact_records(arguments.data) if arguments.data else demo_records())
    bodies = [" ".join(s.text for s in r.sections if s.kind != "title") for r in records]
    bodies = [b for b in bodies if len(b) > 200]
    all_cases = list(cases(contexts_of(bodies, arguments.contexts, rng), rng))
    report = {
        "threshold": THRESHOLD,
        "alignment": measure(all_cases),
        "meaning": meaning_changed(rng.sample(bodies, min(500, len(bodies))), rng),
        "difflib_window": difflib_history(all_cases, arguments.difflib) if arguments.difflib else {},
    }
    name = "quote_alignment_scifact.json" if arguments.data else "quote_alignment.json"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
