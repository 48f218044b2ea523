"""The result list, its export, citations and completions, over HTTP."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

import pytest
import rispy
from support.live_service import LiveService, serving, small_services
from support.small_corpus import RECORDS, WordHashEmbedder, make_record

from medcite_core.sentences import sentence_spans
from medcite_core.stemming import stem_words
from medcite_middleware.services import result_list
from medcite_middleware.services.highlighting import highlight, query_stems

MANY = (
    *RECORDS,
    *(
        make_record(
            str(1000 + n),
            f"Cohort {n} on zinc.",
            f"Zinc was given {n} times. " + "Zinc helped. " * (n % 5),
            year=1990 + n % 25,
            journal=["Acta", "Brain"][n % 2],
            keywords=("zinc", f"cohort {n}"),
        )
        for n in range(230)
    ),
)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("results"), records=MANY)
    with serving(services, settings) as service:
        yield service


def results(live: LiveService, **body) -> dict:
    response = live.client.post("/api/results", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def pmids(page: dict) -> list[str]:
    return [item["record"]["pmid"] for item in page["records"]]


# ---------------------------------------------------------------- the list


@pytest.mark.parametrize("sort", ["relevance", "date", "journal"])
def test_all_pages_are_together_all_records_that_match_each_once_and_again_the_same(live, sort):
    def walk() -> list[str]:
        found: list[str] = []
        for offset in range(0, 240, 30):
            page = results(live, query="zinc cohort", sort=sort, offset=offset, limit=30)
            assert (page["total"], page["offset"], page["limit"], page["sort"]) == (230, offset, 30, sort)
            found += pmids(page)
        return found

    found = walk()
    assert sorted(found) == sorted(str(1000 + n) for n in range(230))
    assert walk() == found


def test_the_total_is_that_of_the_search(live):
    total = live.client.post("/api/search", json={"query": "zinc cohort"}).json()["total"]
    assert results(live, query="zinc cohort")["total"] == total == 230


def test_the_best_are_put_in_order_by_meaning_and_stay_the_same_records(live):
    listed = results(live, query="zinc cohort 7", limit=100)
    by_words, _ = live.services.records._index.lexical_records(
        "zinc cohort 7", result_list.SearchFilter(), 0, result_list.REORDERED
    )
    assert listed["search"]["mode"] == "hybrid"
    assert set(pmids(listed)) == {hit.pmid for hit in by_words}
    assert results(live, query="zinc cohort 7", sort="date")["search"]["mode"] == "lexical"


def test_pages_turned_while_the_model_becomes_ready_show_no_record_twice(tmp_path):
    embedder = WordHashEmbedder(state="loading")
    services, settings = small_services(tmp_path, records=MANY, embedder=embedder)
    with serving(services, settings) as live:
        first = results(live, query="zinc cohort 7", limit=60)
        assert first["search"]["mode"] == "lexical"
        embedder.state = "ready"
        second = results(live, query="zinc cohort 7", offset=60, limit=60)
        assert not set(pmids(first)) & set(pmids(second))
        assert results(live, query="zinc cohort 7", limit=60)["search"]["mode"] == "hybrid"


def test_by_date_the_newest_first_and_the_other_way_round(live):
    newest = [item["record"]["year"] for item in results(live, query="zinc", sort="date", limit=100)["records"]]
    oldest = results(live, query="zinc", sort="date", descending=False, limit=100)["records"]
    assert newest == sorted(newest, reverse=True)
    assert [item["record"]["year"] for item in oldest] == sorted(item["record"]["year"] for item in oldest)
    assert newest[0] == 2014
    assert oldest[0]["record"]["year"] == 1990


def test_a_blank_query_lists_what_passes_the_filter_newest_first(live):
    page = results(live, query=" ", filters={"journal": ["Brain"], "year_from": 2000}, limit=100)
    years = [item["record"]["year"] for item in page["records"]]
    assert page["total"] == page["search"]["passed"] == len(years)
    assert years == sorted(years, reverse=True)
    assert page["search"]["applied_filter"] == {"journal": ["Brain"], "year_from": 2000}
    assert results(live)["total"] == len(MANY)


def test_matches_are_words_of_the_query_in_any_ending_and_the_snippet_is_a_sentence(live):
    page = results(live, query="Does lowering of strokes increase bleedings?", limit=10)
    item = next(i for i in page["records"] if i["record"]["pmid"] == "101")
    text = item["record"]["text"]
    found = {text[m["start"] : m["end"]].casefold() for m in item["matches"]}
    assert found == {"lowered", "stroke", "bleeding", "increase"}
    wanted = set(stem_words("lowering strokes increase bleedings"))
    assert all(stem_words(text[m["start"] : m["end"]])[0] in wanted for m in item["matches"])
    snippet = text[item["snippet"]["start"] : item["snippet"]["end"]]
    assert snippet == "Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients."


def test_accents_do_not_count_and_places_are_those_of_the_text():
    record = make_record("1", "On Ménière’s disease 🧪.", "Nothing here. The Ménière group improved.")
    found = highlight(record, query_stems("meniere"))
    assert [span.of(record.text) for span in found.matches] == ["Ménière’s", "Ménière"]
    assert found.snippet.of(record.text) == "The Ménière group improved."
    plain = make_record("2", "Meniere disease.", "Some words.")
    assert [s.of(plain.text) for s in highlight(plain, query_stems("Ménière")).matches] == ["Meniere"]


def test_without_a_match_the_snippet_is_the_first_sentence_of_the_abstract():
    record = make_record("1", "A title.", "AIM: First sentence. Second one.")
    assert highlight(record, frozenset()).snippet.of(record.text) == "First sentence."
    bare = make_record("2", "Only a title.")
    assert highlight(bare, frozenset()).snippet.of(bare.text) == "Only a title."
    assert sentence_spans(record.text)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "???"}, "no words"),
        ({"query": "a\x00"}, "U+0000"),
        ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "offset": -1}, "offset"),
        ({"query": "x", "sort": "size"}, "sort"),
        ({"query": "x" * 2001}, "2,001 characters"),
        ({"query": "x", "filters": {"yearfrom": 1}}, "did you mean 'year_from'"),
        ({"qeury": "x"}, "did you mean 'query'"),
    ],
)
def test_a_list_that_cannot_be_is_refused_in_words(live, body, words):
    response = live.client.post("/api/results", json=body)
    assert response.status_code == 422
    assert words in response.json()["error"]["message"]


def test_a_page_beyond_the_end_is_empty_and_says_the_total(live):
    page = results(live, query="zinc", offset=5000)
    assert (page["total"], page["records"]) == (230, [])


# ---------------------------------------------------------------- export


def export(live: LiveService, **body):
    return live.client.post("/api/export", json=body)


@pytest.mark.parametrize(
    ("name", "suffix"), [("ris", "ris"), ("nbib", "nbib"), ("bibtex", "bib"), ("csl-json", "json"), ("csv", "csv")]
)
def test_marked_records_come_in_their_order_as_a_file_with_its_counts(live, name, suffix):
    response = export(live, format=name, pmids=["104", "101", "104"])
    assert response.status_code == 200
    assert response.headers["content-disposition"] == f'attachment; filename="medcite-2-records.{suffix}"'
    counts = [response.headers[f"x-medcite-{name}"] for name in ("asked", "exported", "repeated")]
    assert counts == ["3", "2", "1"]
    text = response.content.decode("utf-8")
    assert text.index("Zetamab") < text.index("Aspirin after")
    assert "Retracted" in text or "retracted" in text


@pytest.mark.parametrize("sort", ["relevance", "date", "journal"])
def test_all_of_a_search_are_as_many_as_its_total_and_in_its_order(live, sort):
    query = {"query": "zinc cohort", "filters": {"year_from": 1995}, "sort": sort}
    listed = [p for o in range(0, 240, 60) for p in pmids(results(live, **query, offset=o, limit=60))]
    response = export(live, format="ris", **query)
    assert [e["accession_number"] for e in rispy.loads(response.text)] == listed
    assert int(response.headers["x-medcite-exported"]) == len(listed) == results(live, **query)["total"]


def test_a_filter_alone_can_be_exported(live):
    response = export(live, format="csv", filters={"journal": ["Acta"]})
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert {row["journal"] for row in rows} == {"Acta"}
    assert len(rows) == 115
    assert len(json.loads(export(live, format="csl-json", filters={"journal": ["Acta"]}).text)) == 115


def test_unknown_pmids_are_an_error_that_names_them(live):
    response = export(live, format="ris", pmids=["101", "999", "998"])
    assert response.status_code == 404
    assert "2 of 3" in response.json()["error"]["message"]
    assert "999, 998" in response.json()["error"]["message"]
    assert response.headers["x-medcite-missing"] == "999,998"
    many = export(live, format="ris", pmids=[str(10_000_000 + n) for n in range(30)])
    assert len(many.headers["x-medcite-missing"].split(",")) == 30


def test_all_of_a_search_are_exported_beyond_ten_thousand(tmp_path):
    many = [make_record(str(20_000 + n), f"Zinc {n}.") for n in range(10_300)]
    services, settings = small_services(tmp_path, records=many)
    with serving(services, settings) as large:
        response = export(large, format="nbib", query="zinc")
        assert response.headers["x-medcite-exported"] == "10300"
        assert len(set(re.findall(r"^PMID- (\d+)", response.text, re.MULTILINE))) == 10_300


def test_more_than_the_limit_is_an_error_that_says_how_many(live, monkeypatch):
    monkeypatch.setattr(live.services.exports, "_max_records", 200)
    for body in ({"query": "zinc"}, {"pmids": [str(1000 + n) for n in range(201)]}):
        response = export(live, format="ris", **body)
        assert response.status_code == 422
        assert "at most 200" in response.json()["error"]["message"]
    assert export(live, format="ris", query="zinc", filters={"year_from": 2005}).status_code == 200


def test_ten_thousand_pmids_fit_into_a_request(live):
    response = export(live, format="ris", pmids=[str(10_000_000 + n) for n in range(10_000)])
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"format": "docx", "pmids": ["101"]}, "format"),
        ({"format": "ris"}, "nothing says what to export"),
        ({"format": "ris", "pmids": []}, "pmids"),
        ({"format": "ris", "pmids": ["x"]}, "pmids"),
        ({"format": "ris", "pmids": ["101"], "query": "x"}, "exclude each other"),
        ({"format": "ris", "query": "unheardofword"}, "no record matches"),
    ],
)
def test_an_export_that_cannot_be_is_refused_in_words(live, body, words):
    response = export(live, **body)
    assert response.status_code == 422
    assert words in response.json()["error"]["message"]


# ---------------------------------------------------------------- citations and completions


def test_a_citation_is_plain_text_in_the_style_asked_for(live):
    reply = live.client.get("/api/records/101/citation", params={"style": "apa"}).json()
    assert reply["style"] == "apa"
    assert reply["text"].startswith("[No authors listed]. (2015). Aspirin after ischaemic stroke: a randomised trial")
    vancouver = live.client.get("/api/records/104/citation").json()
    assert vancouver["style"] == "vancouver"
    assert "[Retracted] Zetamab" in vancouver["text"]


def test_a_citation_of_what_is_not_there_or_in_an_unknown_style_is_an_error(live):
    assert live.client.get("/api/records/999/citation").status_code == 404
    assert live.client.get("/api/records/101/citation", params={"style": "mla"}).status_code == 422


def test_completions_count_records(live):
    reply = live.client.get("/api/suggestions", params={"field": "keywords", "prefix": "ZIN"}).json()
    assert reply["values"] == [{"value": "zinc", "records": 230}]
    reply = live.client.get("/api/suggestions", params={"field": "journal", "limit": 1}).json()
    assert reply["values"] == [{"value": "Acta", "records": 115}]


@pytest.mark.parametrize("params", [{"field": "title"}, {}, {"field": "journal", "limit": 0}])
def test_completions_of_no_field_are_refused(live, params):
    assert live.client.get("/api/suggestions", params=params).status_code == 422
