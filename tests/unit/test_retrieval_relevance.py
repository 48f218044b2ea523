"""The rule that tells whether a passage bears on a question, and the weights of its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small_corpus import WordHashEmbedder, make_record, small_index, small_settings

from medcite_core.chunking import chunk_record
from medcite_core.settings import IndexSettings, RetrievalSettings
from medcite_core.types import Passage
from medcite_middleware.retrieval.relevance import NEAR_ENOUGH, Relevance, word_weights

# As in a corpus of many records on strokes, of which one or none names the drug.
WEIGHTS = {"zetamab": 6.0, "lower": 1.5, "recurr": 2.0, "stroke": 1.0}


def passage(text: str, cosine: float | None, *earlier: str) -> Passage:
    record = make_record("1", "A trial.", *earlier, text)
    return Passage(chunk_record(record, IndexSettings())[-1], record, 1.0, cosine)


def bears(text: str, cosine: float | None, *earlier: str) -> bool:
    return Relevance(WEIGHTS, RetrievalSettings()).holds_for(passage(text, cosine, *earlier))


def test_what_is_near_but_names_another_drug_does_not_bear_on_it() -> None:
    assert bears("Zetamab lowered recurrent stroke.", 0.5)
    assert not bears("Warfarin lowered recurrent stroke.", 0.5)


def test_the_name_alone_is_not_enough_for_what_is_far_away() -> None:
    assert not bears("Zetamab cured asthma in forty patients of a ward.", 0.25)


def test_what_is_very_near_may_say_it_in_other_words() -> None:
    assert bears("The drug kept a second apoplexy away.", NEAR_ENOUGH)
    assert not bears("The drug kept a second apoplexy away.", NEAR_ENOUGH - 0.01)


@pytest.mark.parametrize("text", ["ZTM lowered recurrent stroke.", "ZTM lowered recurrent stroke in all of them."])
def test_a_short_form_counts_as_the_words_that_its_record_spells_out(text: str) -> None:
    assert bears(text, 0.4, "METHODS: Zetamab twice monthly (ZTM) was given.")
    assert not bears(text, 0.4)


def test_without_a_cosine_the_words_decide() -> None:
    assert bears("Zetamab lowered stroke.", None)
    assert not bears("Warfarin lowered recurrent stroke.", None)


def test_a_word_weighs_by_how_few_records_hold_it_and_most_when_none_does(tmp_path: Path) -> None:
    embedder, settings = WordHashEmbedder(), small_settings(tmp_path)
    records = [make_record(str(n), f"Aspirin {'and warfarin' if n < 3 else ''} report.") for n in range(1, 21)]
    index = small_index(settings, embedder, records)
    weights = word_weights(index, "Do aspirin, warfarin or zetamab help?", index.count())
    assert weights["zetamab"] > weights["warfarin"] > weights["aspirin"] > 0
    assert "do" not in weights
