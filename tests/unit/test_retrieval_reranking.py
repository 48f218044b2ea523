"""The reranker: a saved cross-encoder orders passages, ties keep theirs, and what cannot rank is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small_corpus import RECORDS
from support.tiny_bert import save_tiny_bert

from medcite_core.chunking import chunk_record
from medcite_core.errors import InvalidSettings
from medcite_core.settings import IndexSettings, RetrievalSettings, Settings
from medcite_core.types import Passage
from medcite_middleware.retrieval.reranking import CrossEncoderReranker
from medcite_middleware.services.build import build_reranker

PASSAGES = [
    Passage(chunk, record, 0.5) for record in RECORDS[:3] for chunk in chunk_record(record, IndexSettings()) if chunk
]


def saved(folder: Path, outputs: int, *, is_silent: bool = False) -> str:
    """A tiny cross-encoder; a silent one gives every pair the same score."""
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    base = save_tiny_bert(folder / "base")
    torch.manual_seed(11)
    model = BertForSequenceClassification.from_pretrained(base, num_labels=outputs)
    if is_silent:
        with torch.no_grad():
            model.classifier.weight.zero_()
    model.save_pretrained(folder / "saved")
    AutoTokenizer.from_pretrained(base).save_pretrained(folder / "saved")
    return str(folder / "saved")


def test_the_best_k_come_first_whatever_order_they_were_found_in(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(saved(tmp_path, 1))
    ranked = reranker.rerank("aspirin lowers stroke risk", PASSAGES, len(PASSAGES))
    assert sorted(p.chunk.id for p in ranked) == sorted(p.chunk.id for p in PASSAGES)
    assert ranked != PASSAGES
    again = reranker.rerank("aspirin lowers stroke risk", PASSAGES[::-1], 2)
    assert [p.chunk.id for p in again] == [p.chunk.id for p in ranked[:2]]
    assert reranker.rerank("aspirin", [], 3) == []


def test_equal_scores_keep_the_order_of_the_search(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(saved(tmp_path, 1, is_silent=True))
    assert reranker.rerank("aspirin", PASSAGES, 3) == PASSAGES[:3]


def test_a_model_that_does_not_rank_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="3 outputs; a reranker has one"):
        CrossEncoderReranker(saved(tmp_path, 3)).rerank("aspirin", PASSAGES, 3)
    with pytest.raises(InvalidSettings, match="cannot be loaded"):
        CrossEncoderReranker(str(tmp_path / "none")).rerank("aspirin", PASSAGES, 3)


def test_it_is_there_when_a_setting_names_it() -> None:
    assert build_reranker(Settings()) is None
    named = RetrievalSettings(reranker_model="some/model", reranker_revision="abc")
    found = build_reranker(Settings(retrieval=named))
    assert found is not None
    assert found.name == "some/model@abc"
