"""Labelled claims of public sets, and the records they are read against: SciFact, Check-COVID, CliniFact, ScoNe-NLI.

`folder` holds one folder for each set, as its own repository publishes it (compressed files as `.gz`). A set that is
not there is left out by name, never silently.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from medcite_core.types import Evidence, Record, assemble_text

SETS = ("scifact", "check-covid", "clinifact", "scone-nli")


@dataclass(frozen=True)
class Item:
    """One claim against one record. `gold`: supported, contradicted, not_supported or not_enough_info.

    `half` is `tuning` or `reported`, by a hash of the record: what is fitted on the one is told of the other.
    `rationale` are the sentences that people named as the reason, where the set has them.
    """

    id: str
    claim: str
    record: Record
    gold: str
    half: str
    rationale: str = ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The whole record as evidence number 1, after its title."""
        section = self.record.sections[-1]
        start = min(self.record.sections[1].span.start if len(self.record.sections) > 1 else 0, section.span.start)
        span = type(section.span)(start, section.span.end)
        return (Evidence(1, self.record, "", "", span, span.of(self.record.text), 1.0),)


def missing(folder: Path | None) -> list[str]:
    """The sets that are not there."""
    return [name for name in SETS if folder is None or not (folder / name).is_dir()]


def items_of(name: str, folder: Path) -> list[Item]:
    """All items of a set, in the order of its file."""
    read = {"scifact": _scifact, "check-covid": _check_covid, "clinifact": _clinifact, "scone-nli": _scone}
    return list(read[name](folder / name))


def sample(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """`count` items at random, the same for the same seed; all when there are no more."""
    return list(items) if len(items) <= count else random.Random(seed).sample(list(items), count)


def half_of(record_id: str) -> str:
    """`tuning` or `reported`: claims of one record are never in both."""
    return "tuning" if sha256(record_id.encode()).digest()[0] % 2 else "reported"


def _lines(path: Path) -> Iterator[Any]:
    packed = path.with_name(path.name + ".gz")
    text = gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()
    for line in filter(None, text.decode("utf-8").split("\n")):
        yield json.loads(line)


def _record(record_id: str, title: str, parts: list[tuple[str, str, str]]) -> Record:
    text, sections = assemble_text(title, parts)
    return Record(record_id, 1, title, sections, text)


def _abstracts(folder: Path, key: str) -> dict[str, tuple[Record, list[str]]]:
    """Records of a set of abstracts in sentences, and those sentences."""
    found = {}
    for row in _lines(folder / "corpus.jsonl"):
        sentences = [s.strip() for s in row["abstract"]]
        found[str(row[key])] = (_record(str(row[key]), row["title"], [("", "", " ".join(sentences))]), sentences)
    return found


def _scifact(folder: Path) -> Iterator[Item]:
    abstracts = _abstracts(folder, "doc_id")
    for row in _lines(folder / "pairs.jsonl"):
        record, sentences = abstracts[str(row["doc_id"])]
        reason = " ".join(sentences[n] for n in row["rationales"][0][:3]) if row["rationales"] else ""
        yield Item(row["id"], row["claim"], record, row["label"], half_of(record.pmid), reason)


def _check_covid(folder: Path) -> Iterator[Item]:
    abstracts = _abstracts(folder, "cord_id")
    for row in _lines(folder / "claims.jsonl"):
        record, sentences = abstracts[row["cord_id"]]
        named = [n for n, weight in row["evidence"] if weight == "primary" and n < len(sentences)]
        reason = " ".join(sentences[n] for n in named[:3])
        yield Item(row["id"], row["claim"], record, row["label"], half_of(row["cord_id"]), reason)


def _clinifact(folder: Path) -> Iterator[Item]:
    records = {}
    for article in _lines(folder / "articles.jsonl"):
        abstract = article.get("abstract") or ""
        sections = article.get("sections")
        parts = [(s.get("label", ""), "", s.get("text", "")) for s in sections] if sections else [("", "", abstract)]
        records[str(article["pmid"])] = _record(str(article["pmid"]), article["title"] or "Untitled", parts)
    for row in _lines(folder / "claims.jsonl"):
        record = records.get(str(row["pmid"]))
        if record is not None and len(record.sections) > 1:
            yield Item(row["id"], row["claim"], record, row["label"], half_of(record.pmid))


def _scone(folder: Path) -> Iterator[Item]:
    labels = {"entailment": "supported", "neutral": "not_enough_info"}
    for row in _lines(folder / "pairs.jsonl"):
        number = row["id"].rpartition("-")[2]  # one contrast set stands in one half
        record = _record(f"{row['split']}-{number}", "Untitled", [("", "", row["premise"])])
        yield Item(row["id"], row["hypothesis"], record, labels[row["label"]], half_of(record.pmid))
