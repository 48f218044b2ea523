"""The records of the demo corpus, and the questions to try on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from medcite_core.errors import SourceUnreadable
from medcite_core.types import Record
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

DEMO_DIR = Path(__file__).parent
"""Holds the corpus, its vectors, its questions and a README on where the records come from."""

CORPUS_FILE = "pubmed-demo.xml.gz"
CORPUS_NAME = "Demo: real PubMed records (snapshots)"


def demo_records() -> Iterator[Record]:
    """Every record of the corpus, in PMID order.

    Raises:
        SourceUnreadable: the installed corpus is damaged.
    """
    for item in parse_pubmed_xml(DEMO_DIR / CORPUS_FILE):
        if not isinstance(item, Record):
            raise SourceUnreadable(f"the demo corpus is damaged: {item}", "Install medcite again.")
        yield item


@cache
def _questions_file() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((DEMO_DIR / "questions.json").read_text(encoding="utf-8"))
    return raw


def demo_questions() -> list[dict[str, Any]]:
    """Questions for the start page, each `{question, pmid, answer, why}`: `answer` is a sentence of record `pmid`."""
    return [dict(entry) for entry in _questions_file()["questions"]]


def worked_example() -> dict[str, Any]:
    """An answer with one altered sentence, for showing that it is caught: `{question, answer, pmids, altered}`.

    `[n]` in `answer` cites `pmids[n - 1]`. `altered` holds the `sentence` as it stands in `answer`, the `original` it
    was made from, the `source` PMID and what the `change` is; all other sentences are verbatim.
    """
    return dict(_questions_file()["worked_example"])
