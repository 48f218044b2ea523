"""Evidence is whole sentences of one section, overlaps merged, numbered without gaps."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.records import a_record, passages_of

from medcite_core.types import Chunk, Passage, Record, Span
from medcite_middleware.answering.evidence import select_evidence

LONG = " ".join(f"Group {n} had {n * 7} events in year {n}." for n in range(1, 30))


def cut(record: Record, start: int, end: int, score: float = 0.5) -> Passage:
    """A passage cut at any two offsets of a record's text."""
    chunk = Chunk(f"{record.pmid}:{start}-{end}", record.pmid, 0, "x", Span(start, end), record.text[start:end])
    return Passage(chunk, record, score)


def test_a_passage_cut_in_mid_sentence_is_widened_to_whole_sentences() -> None:
    record = a_record(parts=[("", "", "First one here. The second sentence stands here. Third one.")])
    start = record.text.index("cond sentence")
    (evidence,) = select_evidence([cut(record, start, start + 5)])
    assert evidence.text == "The second sentence stands here."
    assert evidence.span.of(record.text) == evidence.text


def test_evidence_never_leaves_its_section() -> None:
    record = a_record(parts=[("METHODS", "METHODS", "We gave drug A"), ("RESULTS", "RESULTS", "It helped a lot.")])
    start = record.text.index("helped")
    (evidence,) = select_evidence([cut(record, start, start + 6)])
    assert evidence.text == "It helped a lot."
    assert evidence.section == "RESULTS"


def test_overlapping_passages_become_one_with_the_best_rank() -> None:
    record = a_record(parts=[("RESULTS", "RESULTS", LONG)])
    other = a_record("200", "Drug B in gout.")
    found = passages_of(record, chunk_size=300)
    assert len(found) > 3
    evidence = select_evidence([found[2], passages_of(other)[1], *found[1:]])
    assert [e.record.pmid for e in evidence] == ["100", "200"]
    assert evidence[0].chunk_id == found[2].chunk.id
    assert evidence[0].score == found[2].score
    assert evidence[0].text == LONG


def test_a_passage_that_bridges_two_others_joins_all_three() -> None:
    record = a_record(parts=[("", "", LONG)])
    first, bridge, third = (record.text.index(f"Group {n} ") for n in (2, 5, 9))
    passages = [cut(record, third, third + 120), cut(record, first, first + 90), cut(record, bridge - 70, third + 5)]
    (evidence,) = select_evidence(passages)
    assert evidence.text.startswith("Group 2 ")
    assert evidence.chunk_id == passages[0].chunk.id


def test_two_places_of_one_record_stay_two_pieces_of_evidence() -> None:
    record = a_record(parts=[("", "", LONG)])
    first, second = record.text.index("Group 2 "), record.text.index("Group 20 ")
    evidence = select_evidence([cut(record, second, second + 9), cut(record, first, first + 9)])
    assert [e.text[:8] for e in evidence] == ["Group 20", "Group 2 "]


def test_a_record_found_by_its_title_brings_what_it_concludes() -> None:
    parts = [("AIM", "OBJECTIVE", "To see."), ("RESULTS", "RESULTS", LONG), ("CONCLUSION", "CONCLUSIONS", "It helps.")]
    record = a_record(parts=parts)
    (evidence,) = select_evidence(passages_of(record)[:1])
    assert (evidence.text, evidence.section) == ("It helps.", "CONCLUSION")
    assert evidence.chunk_id == passages_of(record)[0].chunk.id


def test_a_record_found_by_its_title_without_labels_brings_the_last_sentences_of_its_abstract() -> None:
    (evidence,) = select_evidence(passages_of(a_record(parts=[("", "", LONG)]))[:1])
    assert LONG.endswith(evidence.text)
    assert evidence.text.startswith("Group ")
    assert 600 < len(evidence.text) <= 700


def test_title_and_conclusion_of_a_record_are_one_piece_of_evidence() -> None:
    record = a_record(parts=[("CONCLUSION", "CONCLUSIONS", "It helps.")])
    (evidence,) = select_evidence(passages_of(record))
    assert evidence.text == "It helps."


def test_a_record_without_an_abstract_shows_its_title() -> None:
    (evidence,) = select_evidence(passages_of(a_record(title="Drug A cures gout.", parts=[])))
    assert (evidence.text, evidence.section) == ("Drug A cures gout.", "title")


def test_nothing_found_is_no_evidence() -> None:
    assert select_evidence([]) == ()


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300), st.integers(0, 1)), max_size=12))
def test_whatever_is_found_the_laws_of_evidence_hold(cuts: list[tuple[int, int, int]]) -> None:
    records = [
        a_record("1", parts=[("AIM", "OBJECTIVE", "To see.  Or not?"), ("RESULTS", "RESULTS", LONG)]),
        replace(a_record("2", parts=[("", "", LONG[:400])])),
    ]
    passages = []
    for start, length, which in cuts:
        record = records[which]
        start = min(start, len(record.text) - 1)
        section = record.section_at(start)
        if section is not None and section.kind == "abstract":
            passages.append(cut(record, start, min(start + length, section.span.end)))
    evidence = select_evidence(passages)
    assert [e.number for e in evidence] == list(range(1, len(evidence) + 1))
    for item in evidence:
        assert item.span.of(item.record.text) == item.text
        assert sum(section.span.contains(item.span) for section in item.record.sections) == 1
    for passage in passages:
        holders = [e for e in evidence if e.record is passage.record and e.span.overlaps(passage.chunk.span)]
        assert passage.chunk.text.strip() == "" or len(holders) == 1
