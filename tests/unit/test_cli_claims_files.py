"""Claims files in their shapes, and lines that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medcite.claims_files import read_claims
from medcite_core.errors import InvalidInput

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"


def rows(tmp_path: Path, name: str, text: str) -> list[tuple[int, str, str, tuple[str, ...], str]]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [(r.row, r.id, r.claim, r.pmids, r.problem) for r in read_claims(path)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"claims": [{"claim": "Zinc helps."}, {"claim": "It  does\\nnot."}]}'),
        ("a.json", '[{"claim": "Zinc helps."}, "It does not."]'),
        ("a.jsonl", '{"claim": "Zinc helps."}\n\n{"text": "It does not."}\n'),
        ("a.csv", "claim\nZinc helps.\nIt does not.\n"),
        ("a.csv", "\ufeffn;Claim\n1;Zinc helps.\n2;It does not.\n"),
        ("a.tsv", "claim\tx\nZinc helps.\t1\nIt does not.\t2\n"),
        ("a.txt", "Zinc helps.\n\n  It does not.  \n"),
    ],
)
def test_every_shape_gives_the_same_claims_in_order(tmp_path: Path, name: str, text: str) -> None:
    assert [(row, claim) for row, _, claim, _, _ in rows(tmp_path, name, text)] == [
        (1, "Zinc helps."),
        (2, "It does not."),
    ]


def test_ids_pmids_and_questions_are_taken_in_their_forms(tmp_path: Path) -> None:
    items = [
        {"id": 7, "claim": "A.", "pmid": 123},
        {"claim_id": "x", "claim": "B.", "pmids": ["PMID: 1", "2", "1"]},
        {"claim": "C.", "pmids": "11; 12,13", "question": " Why? "},
    ]
    found = rows(tmp_path, "a.json", json.dumps({"claims": items}))
    assert [(i, p) for _, i, _, p, _ in found] == [("7", ("123",)), ("x", ("1", "2")), ("", ("11", "12", "13"))]
    assert read_claims(tmp_path / "a.json")[2].question == "Why?"


def test_a_line_that_cannot_be_read_is_a_row_that_says_so(tmp_path: Path) -> None:
    """FR-258: the others go on, in their order."""
    text = '{"claim": "Good."}\n{"claim": ""}\n{broken\n5\n{"claim": "Cites.", "pmid": "abc"}\n{"claim": "Last."}\n'
    found = rows(tmp_path, "a.jsonl", text)
    assert [(row, bool(problem)) for row, _, _, _, problem in found] == [
        (1, False),
        (2, True),
        (3, True),
        (4, True),
        (5, True),
        (6, False),
    ]
    problems = [problem for *_, problem in found if problem]
    assert problems[0] == "its claim is empty"
    assert "not valid JSON" in problems[1]
    assert "'abc' is not a PMID" in problems[3]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[]", "holds no claim"),
        ("a.json", '{"claims": 5}', "no list of claims"),
        ("a.csv", "x,y\n1,2\n", "no column of claims; its columns are x, y"),
        ("a.txt", "\n\n", "holds no claim"),
    ],
)
def test_a_file_without_claims_is_refused_in_words(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        rows(tmp_path, name, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        read_claims(tmp_path / "none.csv")


def test_a_quote_that_never_closes_costs_its_own_row() -> None:
    """FR-260: rows keep their numbers; the blank one and the one with the open quote are bad."""
    found = [(r.row, r.claim, bool(r.problem)) for r in read_claims(GOLDEN / "FR-260-claims.csv")]
    assert found == [
        (1, "Aspirin lowers fever", False),
        (2, "aspirin lowers fever", False),
        (3, "", True),
        (4, "", True),
        (5, "Drug B raises pressure", False),
    ]


def test_a_comma_that_would_cut_a_claim_in_two_makes_the_row_invalid(tmp_path: Path) -> None:
    text = 'claim,pmid\nAspirin lowers fever, not pain,1\n"Aspirin lowers fever, not pain",1\nZinc helps.,2,,\n'
    found = rows(tmp_path, "a.csv", text)
    assert [(claim, bool(problem)) for _, _, claim, _, problem in found] == [
        ("", True),
        ("Aspirin lowers fever, not pain", False),
        ("Zinc helps.", False),
    ]
    assert "3 fields where the first line has 2" in found[0][4]


def test_a_file_from_a_spreadsheet_in_windows_1252_is_read_right() -> None:
    """FR-179."""
    found = [r.claim for r in read_claims(GOLDEN / "FR-179-cp1252.csv")]
    assert found == ["The dose was 10–15 µg in the patient’s arm", "Größe 5"]


def test_unicode_text_from_a_spreadsheet_is_read_with_its_tabs() -> None:
    """FR-180."""
    found = [(r.claim, r.pmids, r.problem) for r in read_claims(GOLDEN / "FR-180-utf16.csv")]
    assert found == [("Aspirin lowers fever", ("90000001",), ""), ("Drug B raises pressure", ("90000002",), "")]


def test_a_claim_with_a_character_that_was_lost_is_not_judged(tmp_path: Path) -> None:
    ((*_, problem),) = rows(tmp_path, "a.txt", "The dose was 10\ufffd15 mg.\n")
    assert "could not be read" in problem
