"""`medcite ingest query` and `ingest pmids`, from the command to the corpus, over a server that speaks the protocol."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from support.cli import Finished, medcite
from support.entrez_server import Entrez, Fault, entrez_server


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    def command(entrez: Entrez, *arguments: str) -> Finished:
        environ = {"MEDCITE_NCBI__BASE_URL": entrez.base_url, "MEDCITE_NCBI__RETRIES": "0", "MEDCITE_NCBI__BATCH": "4"}
        return medcite(monkeypatch, capsys, tmp_path, "ingest", *arguments, **environ)

    return command


def entries(count: int) -> dict[int, date]:
    return dict.fromkeys(range(1, count + 1), date(2020, 1, 1))


def test_a_query_becomes_a_corpus_with_counts_that_add_up_and_again_changes_nothing(run, tmp_path: Path) -> None:
    with entrez_server(entries=entries(10)) as entrez:
        done = run(entrez, "query", "zeta [ti]", "--since", "2013", "--json")
        assert done.code == 0, done.err
        body = json.loads(done.out)
        assert (body["search"]["count"], body["search"]["listed"]) == (10, 10)
        assert "2013" in body["search"]["term"]
        assert (body["fetched"]["asked"], body["fetched"]["fetched"], body["records"], body["inserted"]) == (10,) * 4
        assert "10 asked = 10 fetched + 0 not in PubMed + 0 failed" in done.err
        again = json.loads(run(entrez, "query", "zeta [ti]", "--since", "2013", "--json").out)
        assert (again["inserted"], again["unchanged"]) == (0, 10)
        assert len(entrez.tools("efetch")) == 3
    (folder,) = (tmp_path / "data" / "pubmed").iterdir()
    assert json.loads((folder / "search.json").read_text())["listed"] == 10
    listed = folder / "articles_ids.csv"
    with entrez_server(entries=entries(10)) as entrez:
        given_back = json.loads(run(entrez, "pmids", str(listed), "--json").out)
    assert given_back["unchanged"] == 10


def test_a_preview_loads_nothing_and_words_not_understood_must_be_confirmed(run, tmp_path: Path) -> None:
    with entrez_server(entries=entries(3), not_found=("zyxw",)) as entrez:
        seen = run(entrez, "query", "zyxw syndrome", "--preview")
        assert (seen.code, "“zyxw” was not understood" in seen.err, "3 records match" in seen.err) == (0, True, True)
        refused = run(entrez, "query", "zyxw syndrome")
        assert (refused.code, "--anyway" in refused.err) == (2, True)
        assert entrez.tools("efetch") == []
        assert not (tmp_path / "data" / "pubmed").exists()
        assert run(entrez, "query", "zyxw syndrome", "--anyway").code == 0


def test_what_could_not_be_got_is_a_list_that_can_be_given_back(run, tmp_path: Path) -> None:
    def fault(tool: str, values: dict[str, str], number: int) -> Fault | None:
        return Fault(500, b"broken", "text/plain") if "3" in values.get("id", "").split(",") else None

    (tmp_path / "ids.txt").write_text("1\n2\n3\n99\n", encoding="ascii")
    with entrez_server(entries=entries(4), fault=fault) as entrez:
        done = run(entrez, "pmids", "ids.txt")
        assert done.code == 3
        assert "4 asked = 2 fetched + 1 not in PubMed + 1 failed" in done.err
        entrez.fault = lambda *_: None
        (failed,) = (tmp_path / "data" / "pubmed").glob("*/failed_pmids.csv")
        assert run(entrez, "pmids", str(failed)).code == 0


def test_a_sample_is_called_one(run) -> None:
    with entrez_server(entries=entries(9)) as entrez:
        done = run(entrez, "query", "zeta", "--max", "4")
    assert done.code == 0
    assert "4 of 9 matching records listed (a sample: the newest by publication date)" in done.err


def test_the_corpus_shows_what_it_holds_and_the_searches_it_came_from(
    run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with entrez_server(entries=entries(6)) as entrez:
        assert run(entrez, "query", "zeta [ti]", "--max", "4").code == 0
    shown = medcite(monkeypatch, capsys, tmp_path, "corpus")
    assert shown.code == 0
    assert "4 records" in shown.out
    assert "2020          4" in shown.out
    assert "zeta [ti]" in shown.out
    assert "4 of 6 matching records listed, a sample" in shown.out
    found = json.loads(medcite(monkeypatch, capsys, tmp_path, "corpus", "--json").out)
    assert (found["records"], found["years"], found["without_year"]) == (4, {"2020": 4}, 0)
    assert found["searches"][0]["translation"] == "zeta [ti]"
    (tmp_path / "data" / "pubmed" / "broken").mkdir()
    (tmp_path / "data" / "pubmed" / "broken" / "search.json").write_text("{", encoding="ascii")
    assert "cannot be read" in medcite(monkeypatch, capsys, tmp_path, "corpus").out


def test_fr_022_without_a_network_nothing_is_left_that_looks_finished(run, tmp_path: Path) -> None:
    entrez = Entrez(base_url="http://127.0.0.1:9/eutils")
    done = run(entrez, "query", "zeta")
    assert (done.code, "cannot get an answer of NCBI" in done.err) == (1, True)
    assert not list(tmp_path.rglob("*.xml.gz"))
