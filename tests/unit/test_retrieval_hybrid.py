"""The Retriever over a real index: filters, fallback to words, what counts as relevant, and what is reported."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.small_corpus import RECORDS, WordHashEmbedder, fill, make_record, small_index, small_settings

from medcite_core.chunking import chunk_record
from medcite_core.errors import EmbedderUnavailable, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex
from medcite_core.types import Notice, Passage, Provenance, Tombstone
from medcite_middleware.retrieval.hybrid import CHUNKS_OF_A_RECORD, Retriever

EVERYTHING = SearchFilter()
ASPIRIN = "Does aspirin lower recurrent stroke?"
Make = Callable[..., tuple[Retriever, CorpusIndex]]


@pytest.fixture
def embedder() -> WordHashEmbedder:
    return WordHashEmbedder()


@pytest.fixture
def make(tmp_path: Path, embedder: WordHashEmbedder) -> Make:
    def build(records: Sequence[Any] = RECORDS, **overrides: Any) -> tuple[Retriever, CorpusIndex]:
        settings = small_settings(tmp_path, **overrides)
        index = small_index(settings, embedder, records)
        return Retriever(index, embedder, settings.retrieval), index

    return build


def pmids(passages: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(passage.record.pmid for passage in passages))


def test_the_record_that_answers_comes_first_with_what_each_list_said_of_it(make: Make) -> None:
    retriever, _ = make()
    result = retriever.search(ASPIRIN, EVERYTHING)
    first = result.passages[0]
    assert first.record == RECORDS[0]
    assert first.chunk.span.of(first.record.text) == first.chunk.text
    assert (first.lexical_rank, first.vector_rank) == (1, 1)
    assert first.bm25 is not None
    assert first.bm25 > 0
    assert result.outcome == "found"
    assert (result.report.mode, result.report.note, result.report.query) == ("hybrid", "", ASPIRIN)


def test_scores_lie_between_0_and_1_and_never_rise_down_the_list(make: Make) -> None:
    retriever, _ = make()
    scores = [passage.score for passage in retriever.search(ASPIRIN, EVERYTHING, k=50).passages]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0
    assert max(scores) <= 1


def test_fr_078_the_cosine_of_a_passage_is_its_own_to_the_query(make: Make, embedder: WordHashEmbedder) -> None:
    retriever, _ = make()
    passages = retriever.search(ASPIRIN, EVERYTHING, k=50).passages
    assert passages
    for passage in passages:
        title = passage.record.title
        text = passage.chunk.text if passage.chunk.text == title else f"{title}\n{passage.chunk.text}"
        expected = float(embedder.embed_query(text) @ embedder.embed_query(ASPIRIN))
        assert passage.cosine == pytest.approx(expected, abs=1e-4)


def test_a_rare_name_that_only_the_words_found_is_relevant_by_its_own_cosine(make: Make) -> None:
    near = [make_record(str(n), "Producers of a drug.", "Which company makes a drug.") for n in range(1, 31)]
    rare = make_record("900", "The glybera drug and its company.", "Glybera was made by a company, as a drug of genes.")
    retriever, _ = make([*near, rare], retrieval__candidates=10, retrieval__lexical_weight=0.9)
    found = retriever.search("Which company makes a drug named glybera?", EVERYTHING, k=5)
    passage = next(passage for passage in found.relevant if passage.record.pmid == "900")
    assert passage.vector_rank is None
    assert passage.cosine is not None
    assert passage.cosine >= 0.2


def test_the_same_search_gives_the_same_order(make: Make) -> None:
    same = [make_record(str(number), "Aspirin and stroke.", "Aspirin lowered stroke.") for number in (20, 3, 100, 9)]
    retriever, _ = make(same)
    orders = [[p.chunk.id for p in retriever.search(ASPIRIN, EVERYTHING, k=50).passages] for _ in range(3)]
    assert orders[0] == orders[1] == orders[2]
    assert pmids(retriever.search(ASPIRIN, EVERYTHING, k=50).passages) == ["3", "9", "20", "100"]


def test_a_filter_that_leaves_one_percent_still_returns_k(make: Make) -> None:
    many = [
        make_record(str(n), f"Aspirin report {n}.", "Aspirin lowered stroke.", year=2001 if n % 100 == 0 else 2020)
        for n in range(1, 501)
    ]
    retriever, _ = make(many, retrieval__candidates=10)
    result = retriever.search("aspirin stroke", SearchFilter(year_to=2001), k=10)
    assert len(result.passages) == 10
    assert {passage.record.year for passage in result.passages} == {2001}
    assert (result.report.passed, result.report.corpus_records) == (5, 500)


def test_the_filter_really_applied_is_reported_with_what_passed_it(make: Make) -> None:
    retriever, _ = make()
    wanted = SearchFilter(year_from=2010, keywords=("aspirin", "metformin"), exclude_retracted=True)
    report = retriever.search(ASPIRIN, wanted).report
    assert report.applied_filter == {
        "year_from": 2010,
        "keywords": ["aspirin", "metformin"],
        "exclude_retracted": True,
    }
    assert report.passed == 2
    assert report.passed_by == {"years": 3, "keywords": 2, "exclude_retracted": 4}
    assert report.corpus_records == 5


def test_fr_141_empty_corpus_nothing_passed_and_nothing_relevant_are_three_outcomes(make: Make, tmp_path: Path) -> None:
    retriever, index = make([])
    assert retriever.search(ASPIRIN, EVERYTHING).outcome == "corpus_empty"
    fill(index, RECORDS, small_settings(tmp_path), WordHashEmbedder())
    assert retriever.search(ASPIRIN, SearchFilter(year_to=1950)).outcome == "nothing_passed"
    unrelated = retriever.search("Quark gluon plasma viscosity", EVERYTHING)
    assert unrelated.outcome == "nothing_relevant"
    assert unrelated.passages
    assert retriever.search(ASPIRIN, EVERYTHING).outcome == "found"


@pytest.mark.parametrize(
    "query", ["", "   ", "???", "🙂", "\x00\x07", "\u200b\u202e", "…—!", "\ud83d", "a" * 2001, "word " * 20_000]
)
def test_fr_077_a_query_without_words_or_too_long_is_refused_before_any_search(make: Make, query: str) -> None:
    retriever, _ = make()
    with pytest.raises(InvalidInput) as refused:
        retriever.search(query, EVERYTHING)
    assert refused.value.hint


@pytest.mark.parametrize(
    "query",
    [
        "aspirin\x00\x1b[31m stroke\r\n",
        "as\u00adpirin \u202estroke",
        "\ud83d aspirin stroke",
        'aspirin AND (stroke OR "',
    ],
)
def test_control_and_invisible_characters_are_left_out_of_the_query(make: Make, query: str) -> None:
    retriever, _ = make()
    result = retriever.search(query, EVERYTHING)
    assert result.passages[0].record.pmid == "101"
    assert result.report.query.isprintable()


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_k_out_of_range_is_refused(make: Make, k: int) -> None:
    retriever, _ = make()
    with pytest.raises(InvalidInput, match="k must be between"):
        retriever.search(ASPIRIN, EVERYTHING, k)


@pytest.mark.parametrize("state", ["loading", "failed"])
def test_while_the_model_is_not_ready_words_alone_are_searched_and_it_is_said(
    make: Make, embedder: WordHashEmbedder, state: Any
) -> None:
    retriever, _ = make()
    embedder.state, embedder.problem = state, "no memory for it" if state == "failed" else ""
    result = retriever.search(ASPIRIN, EVERYTHING)
    assert result.report.mode == "lexical"
    assert "still loading" in result.report.note or "no memory for it" in result.report.note
    assert pmids(result.relevant) == ["101"]
    assert all(passage.cosine is None and passage.vector_rank is None for passage in result.passages)
    assert retriever.search("Quark gluon plasma viscosity", EVERYTHING).outcome == "nothing_relevant"
    assert retriever.search("Which cup did the patients win in football?", EVERYTHING).outcome == "nothing_relevant"


def test_how_much_of_a_question_a_passage_must_hold_is_a_setting(
    make: Make, embedder: WordHashEmbedder, tmp_path: Path
) -> None:
    embedder.state = "loading"
    question = "Does aspirin prevent migraine?"
    assert make()[0].search(question, EVERYTHING).outcome == "nothing_relevant"
    _, index = make()
    lenient = Retriever(index, embedder, small_settings(tmp_path, retrieval__min_coverage=0.1).retrieval)
    assert pmids(lenient.search(question, EVERYTHING).relevant) == ["101"]


def test_a_model_that_fails_at_this_query_falls_back_to_words(make: Make, embedder: WordHashEmbedder) -> None:
    retriever, _ = make()

    def fail(text: str) -> np.ndarray:
        raise EmbedderUnavailable("the endpoint did not answer in time")

    embedder.embed_query = fail  # type: ignore[method-assign]
    result = retriever.search(ASPIRIN, EVERYTHING)
    assert result.report.mode == "lexical"
    assert "did not answer in time" in result.report.note
    assert result.relevant[0].record.pmid == "101"


def test_a_retracted_record_is_found_and_marked_unless_left_out(make: Make) -> None:
    retriever, _ = make()
    found = retriever.search("Does zetamab cure asthma?", EVERYTHING)
    assert found.relevant[0].record.status == "retracted"
    without = retriever.search("Does zetamab cure asthma?", SearchFilter(exclude_retracted=True))
    assert "104" not in pmids(without.passages)


def test_one_long_record_does_not_crowd_out_others_and_fills_what_they_leave(make: Make) -> None:
    sentences = [
        f"Aspirin lowered recurrent stroke in group {n}, which is described at some length." for n in range(40)
    ]
    long = make_record("201", "Aspirin lowers recurrent stroke.", " ".join(sentences))
    retriever, _ = make([*RECORDS, long], retrieval__min_cosine=0.3)
    few = retriever.search(ASPIRIN, EVERYTHING, k=4).relevant
    assert [passage.record.pmid for passage in few].count("201") == CHUNKS_OF_A_RECORD
    assert "101" in pmids(few)
    many = retriever.search(ASPIRIN, EVERYTHING, k=8).relevant
    assert len(many) == 8
    assert [passage.record.pmid for passage in many].count("201") > CHUNKS_OF_A_RECORD


def test_a_trial_registration_is_found_but_is_no_evidence(make: Make) -> None:
    record = make_record(
        "201", ASPIRIN, "Trial Registration: NCT0000001, aspirin stroke.", "RESULTS: Aspirin lowered stroke."
    )
    retriever, _ = make([record])
    result = retriever.search(ASPIRIN, EVERYTHING)
    assert {passage.chunk.section for passage in result.passages} == {"title", "Trial Registration", "RESULTS"}
    assert {passage.chunk.section for passage in result.relevant} == {"RESULTS"}


def test_where_a_title_is_nearest_the_best_words_of_its_abstract_stand_for_it(make: Make) -> None:
    body = "In 40 patients given aspirin daily, recurrent stroke fell by a third."
    retriever, _ = make([make_record("201", "Does aspirin lower recurrent stroke?", body), make_record("202", ASPIRIN)])
    result = retriever.search(ASPIRIN, EVERYTHING)
    assert result.passages[0].chunk.section == "title"
    assert {passage.chunk.text for passage in result.relevant} == {body, ASPIRIN}


@pytest.mark.parametrize("setting", ["min_cosine", "min_relevance"])
def test_both_limits_of_a_hybrid_search_are_settings(make: Make, setting: str) -> None:
    retriever, _ = make(**{f"retrieval__{setting}": 0.99})
    result = retriever.search(ASPIRIN, EVERYTHING)
    assert result.passages
    assert result.relevant == ()
    retriever, _ = make(retrieval__min_cosine=-1, retrieval__min_relevance=-1)
    assert len(pmids(retriever.search(ASPIRIN, EVERYTHING, k=50).relevant)) == len(RECORDS)


def test_a_short_form_holds_the_words_that_its_record_spells_out_elsewhere(make: Make) -> None:
    record = make_record(
        "501",
        "A trial in neurosurgery.",
        "METHODS: We measured hematoma volume (HV) by tomography in all of the patients who had come to us.",
        "RESULTS: HV fell by 12.55 mL.",
    )
    retriever, _ = make([*RECORDS, record], retrieval__min_cosine=-1, retrieval__min_relevance=0.4)
    relevant = retriever.search("hematoma volume", EVERYTHING).relevant
    assert "HV fell by 12.55 mL." in [passage.chunk.text for passage in relevant]


def test_findings_stand_before_aims_and_methods_that_hold_the_same_words(make: Make) -> None:
    words = "Aspirin lowered recurrent stroke"
    record = make_record("601", "A trial.", f"METHODS: {words} or so we thought.", f"RESULTS: {words} or so it was.")
    retriever, _ = make([record])
    result = retriever.search("aspirin recurrent stroke", EVERYTHING)
    assert result.relevant[0].chunk.section == "RESULTS"


def test_searching_one_list_after_the_other_gives_the_same_result(make: Make, tmp_path: Path) -> None:
    class OneByOne:
        """The same index without the ability to search together."""

        def __init__(self, index: CorpusIndex) -> None:
            self._index = index

        def __getattr__(self, name: str) -> Any:
            if name in ("hybrid_lists", "records_holding"):
                raise AttributeError(name)
            return getattr(self._index, name)

    same = [make_record(str(number), "Aspirin and stroke.", "Aspirin lowered stroke.") for number in range(700, 760)]
    retriever, index = make([*RECORDS, *same], retrieval__candidates=10)
    one_by_one: Any = OneByOne(index)
    other = Retriever(one_by_one, WordHashEmbedder(), small_settings(tmp_path, retrieval__candidates=10).retrieval)
    for question in (ASPIRIN, '"recurrent stroke" aspirin', "metformin weight", "stroke"):
        for chosen in (EVERYTHING, SearchFilter(year_from=2016)):
            assert retriever.search(question, chosen) == other.search(question, chosen)
            assert retriever.find(question, chosen) == other.find(question, chosen)


def test_a_revised_record_shows_its_new_words_and_a_withdrawn_one_none(make: Make, tmp_path: Path) -> None:
    retriever, index = make()
    revised = replace(
        make_record("101", "Aspirin after stroke, revised.", "Aspirin lowered recurrent stroke from 18% to 12%."),
        version=2,
    )
    fill(index, [revised], small_settings(tmp_path), WordHashEmbedder())
    found = [
        passage for passage in retriever.search(ASPIRIN, EVERYTHING, k=50).passages if passage.record.pmid == "101"
    ]
    assert {passage.record.version for passage in found} == {2}
    index.remove([Tombstone("101", 2, Provenance("pubmed21n9999.xml.gz", "", 0, 21, 9999))])
    assert "101" not in pmids(retriever.search(ASPIRIN, EVERYTHING, k=50).passages)


def test_a_chunk_whose_record_changed_during_the_search_is_not_shown(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever, index = make()
    changed = make_record("101", "Other words now stand here.", "Nothing of the old abstract is left.")
    get = index.get
    monkeypatch.setattr(index, "get", lambda wanted: {**get(wanted), "101": changed})
    assert "101" not in pmids(retriever.search(ASPIRIN, EVERYTHING, k=50).passages)


def test_searches_at_once_with_different_filters_never_mix(make: Make) -> None:
    records = [
        make_record(str(n), f"Aspirin and stroke, report {n}.", "Aspirin lowered stroke.", year=2000 + n % 10)
        for n in range(1, 101)
    ]
    retriever, _ = make(records)
    wrong: list[Any] = []

    def ask(year: int) -> None:
        for _ in range(5):
            result = retriever.search(f"aspirin stroke {year}", SearchFilter(year_from=year, year_to=year), k=8)
            years = {passage.record.year for passage in result.passages}
            applied = result.report.applied_filter
            if years != {year} or applied != {"year_from": year, "year_to": year} or result.report.passed != 10:
                wrong.append((year, years, applied))

    threads = [threading.Thread(target=ask, args=(2000 + n % 10,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_notice_of_retraction_is_found_too(make: Make) -> None:
    notice = make_record("301", "Retraction: Zetamab cures asthma.", notices=(Notice("retraction_notice", "104"),))
    retriever, _ = make([*RECORDS, notice])
    assert "301" in pmids(retriever.search("zetamab asthma", EVERYTHING).passages)


def test_matched_records_counts_what_can_be_paged(make: Make) -> None:
    retriever, index = make()
    result = retriever.find("aspirin bleeding", EVERYTHING, k=1)
    assert result.matched_records == index.lexical_records("aspirin bleeding", EVERYTHING, 0, 0)[1] == 2
    assert len(result.passages) == 1


def test_a_record_with_a_title_alone_is_found_by_it(make: Make) -> None:
    retriever, _ = make([make_record("401", "Aspirin.")])
    assert [passage.chunk.text for passage in retriever.search("aspirin", EVERYTHING).passages] == ["Aspirin."]


def test_stored_vectors_come_back_as_they_were_given(make: Make, embedder: WordHashEmbedder) -> None:
    _, index = make()
    title = chunk_record(RECORDS[0], small_settings(Path()).index)[0]
    found = index.chunk_vectors([title.id, "999:0-1", "1' OR '1'='1", title.id])
    assert list(found) == [title.id]
    assert np.allclose(found[title.id], embedder.embed_query(title.text), atol=1e-6)
    assert index.chunk_vectors([]) == index.chunk_vectors(["999:0-1"]) == {}
