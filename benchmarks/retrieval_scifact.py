"""Ranks SciFact's 5,183 abstracts for its claims: words, vectors and two ways to fuse them, with the real index.

The weight of words is chosen on the train claims alone; the dev claims are then measured once, through the real
Retriever, with a paired bootstrap. Run: python benchmarks/retrieval_scifact.py [--data FOLDER] [--cache FOLDER]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder
from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import CorpusIndex, Embedder, IndexedRecord, IndexIdentity
from medcite_core.settings import EmbeddingSettings, IndexSettings, RetrievalSettings
from medcite_core.types import Hit, Record, RecordHit, assemble_text
from medcite_middleware.retrieval.fusion import weighted_fusion
from medcite_middleware.retrieval.hybrid import Retriever

ROOT = Path(__file__).parents[1]
WEIGHTS = [round(0.05 * step, 2) for step in range(21)]
DEPTH = 100
"""Documents of a ranking that are judged (Recall@100)."""
DEEP = 300
"""Passages taken on dev (from twice as many candidates a list), so that a hundred documents are there to be judged."""
SHIPPED = "weighted fusion, as shipped"
RRF_K = 60
"""The constant of reciprocal rank fusion in Cormack, Clarke and Büttcher, SIGIR 2009."""
BLOCK = 2048
Run = dict[str, dict[str, float]]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lists:
    """What the index returned for one claim, from which every method makes its ranking."""

    chunks: list[Hit]
    records: list[RecordHit]
    vectors: list[Hit]
    other_cosines: dict[str, float]


def main() -> int:
    """Measure and write results; 0 also when the data is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/scifact", help="SciFact's folder")
    parser.add_argument("--cache", type=Path, default=ROOT / "data/benchmarks", help="where vectors and index are kept")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results", help="where results are written")
    options = parser.parse_args()
    if not (options.data / "corpus.jsonl.gz").is_file():
        print(f"skipped: no SciFact in {options.data}; name its folder with --data", file=sys.stderr)
        return 0
    started = time.monotonic()
    embedder = build_embedder(EmbeddingSettings())
    index = scifact_index(options.data, options.cache, embedder)
    claims, relevant = read_claims(options.data)
    settings = RetrievalSettings()
    train_lists = {qid: ask(index, embedder, text, settings.candidates) for qid, text in claims["train"].items()}
    train = weights_on_train(train_lists, relevant)
    best = max(train, key=lambda weight: (train[weight], -abs(weight - 0.5)))
    print(f"best weight of words on {len(claims['train'])} train claims: {best}")
    retriever = Retriever(index, embedder, RetrievalSettings(lexical_weight=best))
    dev = {qid: ask(index, embedder, text, 2 * DEEP) for qid, text in claims["dev"].items()}
    runs = {
        "bm25": {qid: by_words(found) for qid, found in dev.items()},
        "vectors": {qid: by_vectors(found) for qid, found in dev.items()},
        "rrf": {qid: by_rrf(found) for qid, found in dev.items()},
        "weighted fusion": {qid: by_retriever(retriever, text, DEEP) for qid, text in claims["dev"].items()},
        SHIPPED: {qid: by_retriever(retriever, text, settings.candidates // 2) for qid, text in claims["dev"].items()},
    }
    write_results(options.out, runs, relevant, train, best, claims, time.monotonic() - started)
    return 0


def scifact_index(data: Path, cache: Path, embedder: Embedder) -> CorpusIndex:
    """The real index over all abstracts, built as a load builds it; kept in `cache`."""
    settings = IndexSettings()
    index = LanceIndex(
        cache / "scifact-index", IndexIdentity(embedder.identity, settings.chunk_size, settings.chunk_overlap)
    )
    records = read_corpus(data)
    fresh, _ = index.plan_writes(records)
    if not fresh:
        return index
    chunked = [(record, chunk_record(record, settings)) for record in fresh]
    texts = [text for record, chunks in chunked for text in embedding_texts(record, chunks)]
    vectors = cached_vectors(texts, cache / "scifact-vectors", embedder)
    offset, batch = 0, []
    for record, chunks in chunked:
        batch.append(IndexedRecord(record, chunks, vectors[offset : offset + len(chunks)]))
        offset += len(chunks)
    for start in range(0, len(batch), 500):
        index.replace(batch[start : start + 500])
    index.finish_load()
    return index


def cached_vectors(texts: Sequence[str], cache: Path, embedder: Embedder) -> npt.NDArray[np.float32]:
    """A vector for each text; those made in an earlier run are read from `cache`."""
    cache.mkdir(parents=True, exist_ok=True)
    known: dict[str, npt.NDArray[np.float32]] = {}
    for part in sorted(cache.glob("*.npz")):
        with np.load(part) as stored:
            known.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
    for start in range(0, len(missing), BLOCK):
        some = missing[start : start + BLOCK]
        vectors = embedder.embed_passages([text for _, text in some])
        np.savez(cache / f"{time.time_ns()}.npz", keys=np.array([key for key, _ in some]), vectors=vectors)
        known.update(zip([key for key, _ in some], vectors, strict=True))
        print(f"embedded {start + len(some):,} of {len(missing):,} texts", file=sys.stderr)
    return np.stack([known[key] for key in keys])


def read_corpus(data: Path) -> list[Record]:
    """Every abstract as a record; its SciFact number stands in for a PMID."""
    records = []
    with gzip.open(data / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            abstract = " ".join(sentence.strip() for sentence in raw["abstract"])
            title = " ".join(raw["title"].split())
            text, sections = assemble_text(title, [("", "", abstract)])
            records.append(Record(str(raw["doc_id"]), 1, title, sections, text))
    return records


def read_claims(data: Path) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, int]]]:
    """Claims by split and number, and the relevant documents of each."""
    claims: dict[str, dict[str, str]] = {"train": {}, "dev": {}}
    for line in (data / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        claims[raw["split"]][raw["_id"]] = raw["text"]
    relevant: dict[str, dict[str, int]] = {}
    for line in (data / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        relevant.setdefault(query, {})[document] = int(grade)
    return claims, relevant


def ask(index: CorpusIndex, embedder: Embedder, text: str, candidates: int) -> Lists:
    """The three lists that the Retriever takes from the index."""
    everything = SearchFilter()
    records, _ = index.lexical_records(text, everything, 0, candidates)
    chunks = index.lexical_chunks(text, everything, candidates)
    vector = embedder.embed_query(text)
    near = index.vector_chunks(vector, everything, candidates)
    others = {hit.chunk.id for hit in chunks} - {hit.chunk.id for hit in near}
    stored = index.chunk_vectors(sorted(others))
    return Lists(chunks, records, near, {chunk_id: float(other @ vector) for chunk_id, other in stored.items()})


def documents_of(hits: Iterable[Hit]) -> list[str]:
    """Documents in the order of their best chunks."""
    return list(dict.fromkeys(hit.chunk.pmid for hit in hits))


def ranking(documents: Sequence[str]) -> dict[str, float]:
    """Scores that keep the order given, without ties."""
    return {document: float(len(documents) - place) for place, document in enumerate(documents[:DEPTH])}


def by_words(found: Lists) -> dict[str, float]:
    """BM25 over whole records."""
    return ranking([hit.pmid for hit in found.records])


def by_vectors(found: Lists) -> dict[str, float]:
    """The nearest chunk of each record."""
    return ranking(documents_of(found.vectors))


def by_rrf(found: Lists) -> dict[str, float]:
    """Reciprocal rank fusion of the two rankings above."""
    scores: dict[str, float] = {}
    for documents in ([hit.pmid for hit in found.records], documents_of(found.vectors)):
        for rank, document in enumerate(documents, start=1):
            scores[document] = scores.get(document, 0.0) + 1 / (RRF_K + rank)
    return ranking(sorted(scores, key=lambda document: (-scores[document], document)))


def by_fusion(found: Lists, weight: float) -> dict[str, float]:
    """The Retriever's fusion, for choosing its weight."""
    fused = weighted_fusion(found.chunks, found.records, found.vectors, weight, found.other_cosines)
    return ranking(list(dict.fromkeys(item.chunk.pmid for item in fused)))


def by_retriever(retriever: Retriever, text: str, k: int) -> dict[str, float]:
    """What a user of the product gets: records in the order of their best passages."""
    result = retriever.search(text, SearchFilter(), k)
    return ranking(list(dict.fromkeys(passage.record.pmid for passage in result.passages)))


def measure(run: Run, relevant: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """nDCG@10 and Recall@100 of each claim."""
    import ir_measures
    from ir_measures import R, nDCG

    judged = {query: dict(relevant[query]) for query in run}
    values: dict[str, dict[str, float]] = {"nDCG@10": {}, "R@100": {}}
    for value in ir_measures.iter_calc([nDCG @ 10, R @ 100], judged, run):
        values[str(value.measure)][value.query_id] = value.value
    return values


def weights_on_train(lists: Mapping[str, Lists], relevant: Mapping[str, Mapping[str, int]]) -> dict[float, float]:
    """Mean nDCG@10 on the train claims for each weight of words."""
    return {weight: mean_ndcg(lambda found, w=weight: by_fusion(found, w), lists, relevant) for weight in WEIGHTS}


def mean_ndcg(
    method: Callable[[Lists], dict[str, float]],
    lists: Mapping[str, Lists],
    relevant: Mapping[str, Mapping[str, int]],
) -> float:
    """Mean nDCG@10 of one method."""
    values = measure({qid: method(found) for qid, found in lists.items()}, relevant)["nDCG@10"]
    return round(float(np.mean(list(values.values()))), 4)


def paired_bootstrap(a: Mapping[str, float], b: Mapping[str, float], rounds: int = 10_000) -> tuple[float, float]:
    """95 % interval of the mean difference a - b, resampling claims."""
    differences: Matrix = np.array([a[query] - b[query] for query in sorted(a)])
    chosen = np.random.default_rng(20260101).integers(0, len(differences), (rounds, len(differences)))
    low, high = np.percentile(differences[chosen].mean(axis=1), [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)


def write_results(
    out: Path,
    runs: Mapping[str, Run],
    relevant: Mapping[str, Mapping[str, int]],
    train: Mapping[float, float],
    best: float,
    claims: Mapping[str, Mapping[str, str]],
    seconds: float,
) -> None:
    """A JSON file for programs and a page for people."""
    values = {name: measure(run, relevant) for name, run in runs.items()}
    means = {
        name: {measure_: round(float(np.mean(list(v.values()))), 4) for measure_, v in of_run.items()}
        for name, of_run in values.items()
    }
    ndcg = {name: of_run["nDCG@10"] for name, of_run in values.items()}
    differences = {
        f"{SHIPPED} - {other}": {
            "mean": round(means[SHIPPED]["nDCG@10"] - means[other]["nDCG@10"], 4),
            "interval_95": paired_bootstrap(ndcg[SHIPPED], ndcg[other]),
        }
        for other in ("rrf", "bm25", "vectors")
    }
    result = {
        "schema_version": 1,
        "benchmark": "SciFact, all 5,183 abstracts; claims as queries",
        "embedding": asdict(build_embedder(EmbeddingSettings()).identity),
        "claims": {split: len(of_split) for split, of_split in claims.items()},
        "candidates": {SHIPPED: RetrievalSettings().candidates, "all others": 2 * DEEP},
        "train_ndcg_by_lexical_weight": {str(weight): value for weight, value in train.items()},
        "lexical_weight": best,
        "dev": means,
        "dev_ndcg_differences": differences,
        "seconds": round(seconds, 1),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "retrieval_scifact.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    page = results_page(result, claims)
    (out / "retrieval_scifact.md").write_text(page, encoding="utf-8")
    print(page)


def results_page(result: Mapping[str, Any], claims: Mapping[str, Mapping[str, str]]) -> str:
    """The same figures as a page for people."""
    rows = [f"| {name} | {m['nDCG@10']:.3f} | {m['R@100']:.3f} |" for name, m in result["dev"].items()]
    lines = [
        "# Retrieval on SciFact",
        "",
        f"{result['benchmark']}. Packaged MiniLM, chunks of 500 characters; {2 * DEEP} candidates a list, as shipped "
        f"{RetrievalSettings().candidates} (too few passages for Recall@100 to be compared). "
        f"The weight of words ({result['lexical_weight']}) was chosen on {len(claims['train'])} train claims; "
        f"these are the {len(claims['dev'])} dev claims (two thirds of the published ones are used here).",
        "",
        "| method | nDCG@10 | Recall@100 |",
        "| --- | --- | --- |",
        *rows,
        "",
        "Difference in nDCG@10, with the 95 % interval of a paired bootstrap over claims:",
        "",
        *[
            f"- {name}: {d['mean']:+.3f} ({d['interval_95'][0]:+.3f} to {d['interval_95'][1]:+.3f})"
            for name, d in result["dev_ndcg_differences"].items()
        ],
        "",
        "Made by `benchmarks/retrieval_scifact.py`; the numbers are in `retrieval_scifact.json`.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
