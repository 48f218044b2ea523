"""Retrieval with the real model and the real index: what is relevant, and what other languages do to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.small_corpus import make_record

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.background import BackgroundEmbedder
from medcite_core.embedding.factory import build_embedder
from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import CorpusIndex, IndexedRecord, IndexIdentity
from medcite_core.settings import EmbeddingSettings, IndexSettings, RetrievalSettings
from medcite_core.types import Record
from medcite_middleware.retrieval.hybrid import Retriever

GOLDEN = Path(__file__).parents[1] / "golden/retrieval"
EVERYTHING = SearchFilter()
QUESTION = "Does long-term metformin use cause vitamin B12 deficiency in patients with type 2 diabetes?"

ENGLISH = (
    make_record(
        "501",
        "Metformin and vitamin B12 deficiency in type 2 diabetes: a cohort study.",
        "BACKGROUND: Metformin may impair the absorption of vitamin B12.",
        "RESULTS: Of 1,250 patients with type 2 diabetes, 9.9% of those taking metformin for more than four years had "
        "vitamin B12 deficiency, against 3.1% of those who took none.",
    ),
    make_record(
        "502",
        "Low-dose aspirin for the prevention of preeclampsia.",
        "Aspirin at 150 mg per day lowered the incidence of preterm preeclampsia in women at high risk.",
    ),
    make_record(
        "503",
        "Hip fracture surgery within 24 hours and mortality in older adults.",
        "Surgery within 24 hours was associated with lower 30-day mortality after hip fracture.",
    ),
    make_record(
        "504",
        "Nivolumab in advanced melanoma.",
        "Nivolumab prolonged overall survival compared with dacarbazine in untreated melanoma without BRAF mutation.",
    ),
)


def _german(number: int) -> Record:
    group = ("in der Praxis", "bei Älteren", "in der Klinik", "im Verlauf", "nach Operation")[number % 5]
    return make_record(
        str(600 + number),
        f"Metformin, Vitamin B12 und Diabetes mellitus Typ 2 {group}: Bericht {number}.",
        f"HINTERGRUND: Metformin ist bei Diabetes mellitus Typ 2 das Mittel der ersten Wahl {group}. "
        f"Vitamin B12 wurde bei {100 + number} Patienten gemessen.",
        f"ERGEBNISSE: Unter Metformin lag Vitamin B12 bei {number + 3} Prozent der Patienten mit Diabetes unter dem "
        "Grenzwert; ein Zusammenhang mit der Dauer der Behandlung wurde nicht geprüft.",
        languages=("ger",),
    )


@dataclass(frozen=True)
class Loaded:
    index: CorpusIndex
    embedder: BackgroundEmbedder

    def retriever(self, embedder: BackgroundEmbedder | None = None) -> Retriever:
        return Retriever(self.index, embedder or self.embedder, RetrievalSettings())

    def add(self, *records: Record) -> None:
        settings, batch = IndexSettings(), []
        for record in records:
            chunks = chunk_record(record, settings)
            batch.append(IndexedRecord(record, chunks, self.embedder.embed_passages(embedding_texts(record, chunks))))
        self.index.replace(batch)
        self.index.finish_load()


@pytest.fixture(scope="module")
def embedder() -> BackgroundEmbedder:
    return build_embedder(EmbeddingSettings())


@pytest.fixture(scope="module")
def loaded(embedder: BackgroundEmbedder, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    identity = IndexIdentity(embedder.identity, IndexSettings().chunk_size, IndexSettings().chunk_overlap)
    corpus = Loaded(LanceIndex(tmp_path_factory.mktemp("index"), identity), embedder)
    corpus.add(*ENGLISH)
    return corpus


ANSWERABLE = [
    (QUESTION, "501"),
    ("Can aspirin prevent preeclampsia?", "502"),
    ("How soon should a broken hip be operated on?", "503"),
    ("Does nivolumab extend survival in melanoma?", "504"),
]
FR_140 = (GOLDEN / "FR-140-questions.txt").read_text(encoding="utf-8").splitlines()
UNRELATED = [
    *FR_140,
    "Where is the best pizza in Rome?",
    "Who won the world cup in 2018?",
    "How do I sort a list in Python?",
]


@pytest.mark.parametrize(("question", "pmid"), ANSWERABLE)
def test_a_question_the_corpus_answers_finds_its_record_relevant(loaded: Loaded, question: str, pmid: str) -> None:
    found = loaded.retriever().search(question, EVERYTHING)
    assert found.relevant[0].record.pmid == pmid


@pytest.mark.parametrize("question", UNRELATED)
def test_fr_140_an_unrelated_question_finds_nothing_relevant(loaded: Loaded, question: str) -> None:
    assert loaded.retriever().search(question, EVERYTHING).outcome == "nothing_relevant"


@pytest.mark.parametrize("question", UNRELATED)
def test_fr_140_nor_by_words_alone_while_the_model_loads(loaded: Loaded, question: str) -> None:
    loading = loaded.retriever(build_embedder(EmbeddingSettings()))
    assert loading.search(question, EVERYTHING).outcome == "nothing_relevant"


@pytest.mark.parametrize(("question", "pmid"), [ANSWERABLE[0], ANSWERABLE[1], ANSWERABLE[3]])
def test_words_alone_find_what_shares_its_words(loaded: Loaded, question: str, pmid: str) -> None:
    found = loaded.retriever(build_embedder(EmbeddingSettings())).search(question, EVERYTHING)
    assert found.report.mode == "lexical"
    assert found.relevant[0].record.pmid == pmid


def test_fr_145_twenty_german_records_do_not_push_out_the_english_one_that_answers(loaded: Loaded) -> None:
    loaded.add(*(_german(number) for number in range(20)))
    found = loaded.retriever().search(QUESTION, EVERYTHING, k=20)
    records = list(dict.fromkeys(passage.record.pmid for passage in found.passages))
    assert len(records) > 5
    assert "501" in records[:5]
    assert found.relevant[0].record.pmid == "501"
