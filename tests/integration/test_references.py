"""Reference lists against a corpus: verified, otherwise named, another paper, not there, named twice."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from support.cli import medcite
from support.small_corpus import WordHashEmbedder, make_record, small_index, small_settings

from medcite_core.types import Author, Notice, Record
from medcite_ingestion.demo.corpus import demo_records
from medcite_ingestion.pubmed_xml import parse_pubmed_xml
from medcite_middleware.citation.references import check_references, doi_in, pmid_in
from medcite_middleware.citation.styles import cite

GOLDEN = Path(__file__).parents[1] / "golden" / "references"


def index_of(folder: Path, *records: Record):
    return small_index(small_settings(folder), WordHashEmbedder(), records)


def golden(folder: Path, name: str):
    records = [item for item in parse_pubmed_xml(GOLDEN / f"{name}-corpus.xml") if isinstance(item, Record)]
    lines = (GOLDEN / f"{name}-refs.txt").read_text(encoding="utf-8").splitlines()
    return check_references(lines, index_of(folder, *records))


def test_fr_113_a_real_work_with_other_data_is_told_from_an_invented_one(tmp_path):
    right, other, invented = golden(tmp_path, "FR-113")
    assert [check.state for check in (right, other, invented)] == ["verified", "differs", "not_found"]
    assert other.differences == ("year 2011, in PubMed 2019", "journal, in PubMed Journal of Test Medicine")


def test_fr_114_a_pmid_of_another_article_is_said_to_be_one(tmp_path):
    (check,) = golden(tmp_path, "FR-114")
    assert check.state == "another_paper"
    assert check.explanation == "PMID 90000002 is there, but it is a different paper: Gardening and mood."


def test_fr_116_three_forms_of_one_paper_are_one_reference(tmp_path):
    bare, address, number = golden(tmp_path, "FR-116")
    assert {check.pmid for check in (bare, address, number)} == {"90000001"}
    assert [check.same_as for check in (bare, address, number)] == [None, 1, 1]
    assert {check.state for check in (bare, address, number)} == {"verified"}


ZETA = make_record(
    "77",
    "Zetamab for severe asthma in adults: a randomised trial.",
    "Words.",
    year=2019,
    authors=(Author("Müller", "Ada", "A"),),
    journal="Journal of Test Medicine",
    journal_abbreviation="J Test Med",
    doi="10.5555/Z.77",
    notices=(Notice("retracted", "78", ""),),
)


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("Müller A. Zetamab for severe asthma in adults: a randomised trial. J Test Med. 2019;1:2.", "verified"),
        ("Zetamab for severe asthma in adults - a randomised trial", "verified"),
        ("Poe B. Zetamab for severe asthma in adults: a randomised trial. J Test Med. 2019;1:2.", "differs"),
        ("Müller A. Zetamab for severe asthma in children: a cohort. J Test Med. 2019. PMID: 77", "another_paper"),
        ("Müller A. Metformin and the kidney in old age. J Test Med. 2019.", "not_found"),
        ("https://pubmed.ncbi.nlm.nih.gov/77/", "verified"),
        ("doi:10.5555/z.77.", "verified"),
        ("10.5555/none.1", "not_found"),
        ("ibid.", "unreadable"),
    ],
)
def test_each_reference_is_looked_up_by_number_doi_or_title(tmp_path, line, state):
    (check,) = check_references([line], index_of(tmp_path, ZETA, make_record("78", "Other matter altogether.")))
    assert check.state == state, check
    if check.pmid == "77":
        assert check.status == "retracted"


def test_the_demo_s_own_citations_are_verified_with_and_without_their_numbers(tmp_path):
    records = list(islice(demo_records(), 150))
    index = index_of(tmp_path, *records)
    lines = [cite(record, "vancouver") for record in records]
    checks = check_references(lines, index)
    assert [(c.text, c.explanation) for c in checks if c.state != "verified"] == []
    bare = [line.split("doi:")[0].split("PubMed PMID")[0].split("PMID")[0] for line in lines]
    states = [check.state for check in check_references(bare, index)]
    assert states.count("verified") >= 0.97 * len(states)
    assert states.count("another_paper") == 0


def test_numbers_and_dois_are_found_as_people_write_them():
    assert [pmid_in(t) for t in ("PMID: 012", "pmid 34.", "J Med. 2019;12:10-15.", "12345")] == [
        "12",
        "34",
        "",
        "12345",
    ]
    assert [doi_in(t) for t in ("https://doi.org/10.1/x", "doi: 10.1234/AB(c)1).")] == ["", "10.1234/ab(c)1"]


def test_the_command_prints_counts_and_ends_with_3_when_one_cannot_be_looked_up(tmp_path, monkeypatch, capsys):
    (tmp_path / "refs.txt").write_text("PMID: 1\n\nibid.\n")
    done = medcite(monkeypatch, capsys, tmp_path, "references", "refs.txt", "--demo")
    assert done.code == 3
    assert "2 references: 1 not found, 1 not looked up" in done.out
    done = medcite(monkeypatch, capsys, tmp_path, "references", "refs.txt", "--demo", "--json")
    assert [one["row"] for one in json.loads(done.out)["references"]] == [1, 3]
    done = medcite(monkeypatch, capsys, tmp_path, "references", "none.txt", "--demo")
    assert (done.code, "cannot be read" in done.err) == (2, True)
