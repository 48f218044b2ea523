"""How many questions that a corpus answers keep their passages, and how many that it does not answer get some.

Corpus: the gold snippets of half of the BioASQ questions drawn here, as records. Questions of that half are answerable;
those of the other half, none of whose records are in the corpus, are not. The weights and the limit of the rule were
chosen on the even questions; the odd ones are reported beside them. The same unanswerable questions are asked of the
demo corpus, and so are titles of its records and its example questions. Three minutes after the vectors are made.

    .venv/bin/python benchmarks/relevance.py [--data FOLDER] [--cache FOLDER] [--questions 300]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval_scifact import cached_vectors

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder
from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import CorpusIndex, Embedder, IndexedRecord, IndexIdentity
from medcite_core.sentences import sentence_spans
from medcite_core.settings import EmbeddingSettings, IndexSettings, RetrievalSettings
from medcite_core.types import Record, assemble_text
from medcite_ingestion.demo import demo_questions, demo_records, load_demo
from medcite_middleware.answering.evidence import select_evidence
from medcite_middleware.answering.quotations import quote_answer
from medcite_middleware.retrieval.hybrid import Retriever

ROOT = Path(__file__).parents[1]
SEED = 20261201
EVERY_TITLE = 8
RULES = {
    "cosine 0.40 alone (before)": RetrievalSettings(min_cosine=0.40, min_relevance=-1),
    "cosine and words, as shipped": RetrievalSettings(),
}


def read_questions(data: Path) -> list[dict[str, Any]]:
    """Questions that have snippets, in the file's order."""
    with gzip.open(data / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    return [question for question in questions if question["snippets"]]


def draw(questions: Sequence[dict[str, Any]], number: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`number` questions to be answered, and as many that share no record with them."""
    shuffled = random.Random(SEED).sample(list(questions), len(questions))
    inside = shuffled[:number]
    held = {snippet["pmid"] for question in inside for snippet in question["snippets"]}
    outside = [q for q in shuffled[number:] if held.isdisjoint(q["pmids"])]
    return inside, outside[:number]


def records_of(questions: Sequence[Mapping[str, Any]]) -> list[Record]:
    """The snippets as records. Where a record's title is no snippet, its first sentence stands for it."""
    pieces: dict[str, dict[str, dict[int, str]]] = {}
    for question in questions:
        for snippet in question["snippets"]:
            of_record = pieces.setdefault(snippet["pmid"], {"title": {}, "abstract": {}})
            place = "title" if snippet["section"] == "title" else "abstract"
            of_record[place][snippet["start"]] = max(
                of_record[place].get(snippet["start"], ""), snippet["text"], key=len
            )
    records = []
    for pmid, of_record in sorted(pieces.items()):
        title = " ".join(of_record["title"].values())
        body = " ".join(text for _, text in sorted(of_record["abstract"].items()))
        if not title:
            title = sentence_spans(body)[0].of(body)
        text, sections = assemble_text(title, [("", "", body)])
        records.append(Record(pmid, 1, title, sections, text))
    return records


def filled_index(path: Path, records: Sequence[Record], embedder: Embedder, vectors: Path) -> CorpusIndex:
    """An index of `records`, built as a load builds it."""
    settings = IndexSettings()
    index = LanceIndex(path, IndexIdentity(embedder.identity, settings.chunk_size, settings.chunk_overlap))
    fresh, _ = index.plan_writes(records)
    chunked = [(record, chunk_record(record, settings)) for record in fresh]
    texts = [text for record, chunks in chunked for text in embedding_texts(record, chunks)]
    if not texts:
        return index
    rows = cached_vectors(texts, vectors, embedder)
    offset, batch = 0, []
    for record, chunks in chunked:
        batch.append(IndexedRecord(record, chunks, rows[offset : offset + len(chunks)]))
        offset += len(chunks)
    for start in range(0, len(batch), 500):
        index.replace(batch[start : start + 500])
    index.finish_load()
    return index


@dataclass(frozen=True)
class Asked:
    """What became of one question: some passage counted as relevant, one of a right record, something was quoted."""

    found: bool
    right: bool
    quoted: bool


def ask(retriever: Retriever, question: str, right: Collection[str]) -> Asked:
    """Search and quote, as the product does without a chat model."""
    relevant = retriever.search(question, SearchFilter()).relevant
    draft = quote_answer(question, select_evidence(relevant))
    return Asked(bool(relevant), any(p.record.pmid in right for p in relevant), bool(draft.claims))


def share(asked: Sequence[Asked], name: str) -> float:
    """How many of `asked` are so, 0..1."""
    return round(sum(getattr(one, name) for one in asked) / len(asked), 3)


def shares(asked: Sequence[Asked], *names: str) -> dict[str, Any]:
    """Each share over all, over the half that was tuned on, and over the other one."""
    parts = {"all": asked, "tuned_on": asked[::2], "held_out": asked[1::2]}
    return {name: {part: share(some, name) for part, some in parts.items()} for name in names}


def measure(
    rule: RetrievalSettings,
    corpora: tuple[CorpusIndex, CorpusIndex],
    embedder: Embedder,
    questions: tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]],
) -> dict[str, Any]:
    """All figures of one rule."""
    (bioasq, demo), (inside, outside) = corpora, questions
    of_bioasq, of_demo = Retriever(bioasq, embedder, rule), Retriever(demo, embedder, rule)
    titles = list(demo_records())[::EVERY_TITLE]
    asked_titles = [ask(of_demo, record.title, {record.pmid}) for record in titles]
    return {
        "answerable": shares([ask(of_bioasq, q["question"], q["pmids"]) for q in inside], "right", "quoted"),
        "unanswerable": shares([ask(of_bioasq, q["question"], ()) for q in outside], "found", "quoted"),
        "unanswerable_asked_of_demo": shares([ask(of_demo, q["question"], ()) for q in outside], "found", "quoted"),
        "titles_asked_of_demo": {name: share(asked_titles, name) for name in ("right", "quoted")},
        "examples_answered": [ask(of_demo, q["question"], {q["pmid"]}).quoted for q in demo_questions()],
    }


def main() -> int:
    """Measure and write results; 0 also when the data is not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/bioasq", help="BioASQ's folder")
    parser.add_argument("--cache", type=Path, default=ROOT / "data/benchmarks", help="where vectors and index are kept")
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    if not (options.data / "questions.jsonl.gz").is_file():
        print(f"skipped: no BioASQ in {options.data}; name its folder with --data", file=sys.stderr)
        return 0
    embedder = build_embedder(EmbeddingSettings())
    questions = draw(read_questions(options.data), options.questions)
    folder = options.cache / f"bioasq-{options.questions}"
    bioasq = filled_index(folder, records_of(questions[0]), embedder, options.cache / "vectors")
    settings = IndexSettings()
    demo = LanceIndex(
        options.cache / "demo", IndexIdentity(embedder.identity, settings.chunk_size, settings.chunk_overlap)
    )
    load_demo(demo, settings)
    embedder.embed_query("loads the model: while it loads, searches go by words alone")
    if embedder.state != "ready":
        print(f"the model is not ready: {embedder.problem}", file=sys.stderr)
        return 1
    started = time.monotonic()
    result = {
        "schema_version": 1,
        "benchmark": "BioASQ questions whose snippets are in the corpus, and as many whose records are not",
        "questions": [len(some) for some in questions],
        "corpus_records": bioasq.count(),
        "rules": {name: measure(rule, (bioasq, demo), embedder, questions) for name, rule in RULES.items()},
        "seconds": round(time.monotonic() - started, 1),
    }
    text = json.dumps(result, indent=1)
    (ROOT / "benchmarks/results/relevance.json").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
