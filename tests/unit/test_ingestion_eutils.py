"""The E-utilities client against a server that speaks their replies: pace, errors of every shape, whole searches."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.entrez_server import Entrez, Fault, entrez_server

from medcite_core.errors import InvalidInput
from medcite_core.settings_ncbi import NcbiSettings
from medcite_ingestion.eutils import EutilsClient, PubMedRefused, PubMedUnavailable
from medcite_ingestion.pubmed_download import download, read_pmids
from medcite_ingestion.pubmed_search import limited, plan_search, preview

TODAY = date(2025, 1, 1)
BLOCKED = b"<!DOCTYPE html><html><head><title>WWW Error Blocked Diagnostic</title></head><body>No.</body></html>"


def client_of(entrez: Entrez, waits: list[float] | None = None, **settings: object) -> EutilsClient:
    """A client that waits without waiting; pauses go to `waits`."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        if waits is not None:
            waits.append(seconds)

    return EutilsClient(NcbiSettings(base_url=entrez.base_url, **settings), sleep=sleep, now=lambda: clock[0])


def once(fault: Fault, tool: str = "efetch", times: int = 1) -> Callable[..., Fault | None]:
    return lambda name, values, number: fault if name == tool and number <= times else None


def spread(count: int, days: int, seed: int = 1) -> dict[int, date]:
    rng = random.Random(seed)
    return {pmid: date(2000, 1, 1) + timedelta(days=rng.randrange(days)) for pmid in range(1, count + 1)}


def test_fr_001_a_search_beyond_the_cap_is_cut_up_until_every_pmid_is_listed() -> None:
    with entrez_server(entries=spread(36_935, 25 * 365)) as entrez:
        plan = plan_search(client_of(entrez), "intelligence [title/abstract]", today=TODAY)
    assert (plan.count, len(plan.pmids), plan.repeated, plan.is_complete) == (36_935, 36_935, 0, True)
    assert set(plan.pmids) == {str(pmid) for pmid in range(1, 36_936)}


def test_days_with_more_than_the_cap_are_cut_up_by_pmid() -> None:
    entries = dict.fromkeys(range(1, 401), date(2010, 5, 5)) | dict.fromkeys(range(401, 421), date(2011, 5, 5))
    with entrez_server(entries=entries, cap=50) as entrez:
        plan = plan_search(client_of(entrez), "x", at_once=50, today=TODAY)
    assert len(plan.pmids) == 420
    assert plan.is_complete


def test_a_server_that_lists_less_than_it_counts_is_not_called_complete() -> None:
    with entrez_server(entries=spread(100, 10), cap=40) as entrez:
        plan = plan_search(client_of(entrez), "x", at_once=200, today=TODAY)
    assert (plan.count, len(plan.pmids), plan.is_complete) == (100, 40, False)


def test_fr_004_a_sample_says_that_it_is_one() -> None:
    with entrez_server(entries=spread(600, 900)) as entrez:
        plan = plan_search(client_of(entrez), "x", most=100, today=TODAY)
        assert entrez.asked[0][1]["sort"] == "pub_date"
    assert (plan.count, len(plan.pmids), plan.is_sample, plan.is_complete) == (600, 100, True, True)
    assert plan.sampled_by == "publication date"


def test_a_sample_larger_than_one_search_gives_is_the_newest_by_day_of_entry() -> None:
    entries = {pmid: date(2000, 1, 1) + timedelta(days=pmid) for pmid in range(1, 601)}
    with entrez_server(entries=entries, cap=50) as entrez:
        plan = plan_search(client_of(entrez), "x", most=120, at_once=50, today=TODAY)
    assert (len(plan.pmids), plan.sampled_by) == (120, "day of entry into PubMed")
    assert min(map(int, plan.pmids)) > 400


def test_fr_007_no_key_is_sent_for_blanks_and_none() -> None:
    for value in ("", "None", '" "', "null"):
        assert NcbiSettings(api_key=SecretStr(value)).api_key.get_secret_value() == ""
    with entrez_server(entries=spread(3, 3)) as entrez:
        client_of(entrez, api_key=SecretStr("None")).fetch(["1"])
        client_of(entrez, api_key=SecretStr("0123abc"), email="a@example.org").fetch(["1"])
        first, second = entrez.tools("efetch")
    assert "api_key" not in first
    assert (second["api_key"], second["email"]) == ("0123abc", "a@example.org")


def test_fr_007_a_refused_key_is_one_clear_message() -> None:
    refusal = Fault(400, b'{"error":"API key invalid","api-key":"0123abc"}', "application/json")
    with entrez_server(fault=once(refusal, times=99)) as entrez, pytest.raises(PubMedRefused) as refused:
        client_of(entrez, api_key=SecretStr("0123abc")).fetch(["1"])
    assert "API key invalid" in refused.value.message
    assert "MEDCITE_NCBI__API_KEY" in refused.value.hint
    assert "0123abc" not in refused.value.message


def test_fr_009_long_lists_go_in_the_body_in_batches(tmp_path: Path) -> None:
    with entrez_server(entries=spread(1200, 3)) as entrez:
        done = download(client_of(entrez), [str(n) for n in range(1, 1201)], tmp_path, 200)
        assert max(len(path) for path in entrez.paths) < 100
        assert len(entrez.tools("efetch")) == 6
    assert (done.asked, done.fetched, done.missing, done.failed) == (1200, 1200, (), ())


def test_fr_011_a_page_with_status_200_is_no_record_and_is_never_kept(tmp_path: Path) -> None:
    with entrez_server(entries=spread(3, 3), fault=once(Fault(200, BLOCKED, "text/html"), times=99)) as entrez:
        with pytest.raises(PubMedUnavailable, match="WWW Error Blocked Diagnostic"):
            download(client_of(entrez, retries=1), ["1"] * 1 + ["2", "3"], tmp_path, 3)
        assert list(tmp_path.glob("*.xml.gz")) == []
        entrez.fault = lambda *_: None
        assert download(client_of(entrez), ["1", "2", "3"], tmp_path, 3).fetched == 3


def test_fr_012_plain_text_errors_are_shown_as_they_are_and_only_those_that_may_pass_are_tried_again() -> None:
    wrong = Fault(400, b"Bad Request: mandatory parameter: db - is omitted", "text/plain")
    with entrez_server(fault=once(wrong, times=99)) as entrez:
        with pytest.raises(PubMedRefused, match="mandatory parameter: db"):
            client_of(entrez).fetch(["1"])
        assert len(entrez.asked) == 1
    busy = Fault(502, b"Unable to route request!", "text/plain")
    with entrez_server(entries=spread(1, 1), fault=once(busy, times=2)) as entrez:
        assert client_of(entrez).fetch(["1"]).pmids == ("1",)
        assert len(entrez.asked) == 3
    with entrez_server(fault=once(busy, times=99)) as entrez, pytest.raises(PubMedUnavailable, match="Unable to route"):
        client_of(entrez, retries=2).fetch(["1"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error":"API rate limit exceeded","count":"4","limit":"3"}', "API rate limit exceeded"),
        (b"<eFetchResult><ERROR>cannot open file</ERROR></eFetchResult>", "cannot open file"),
        (b"PMID- 1\nTI  - text where XML was asked for", "PMID- 1"),
        (b"", "status 200 and nothing else"),
    ],
)
def test_fr_014_errors_of_any_shape_within_200_are_told_in_their_own_words(body: bytes, words: str) -> None:
    with entrez_server(fault=once(Fault(200, body), times=99)) as entrez, pytest.raises(PubMedUnavailable) as told:
        client_of(entrez, retries=1).fetch(["1"])
    assert words in told.value.message


def test_fr_016_a_reply_that_is_cut_is_thrown_away_and_asked_for_again() -> None:
    with entrez_server(entries=spread(3, 3), fault=once(Fault(cut=700))) as entrez:
        batch = client_of(entrez).fetch(["1", "2", "3"])
        assert len(entrez.asked) == 2
    assert batch.pmids == ("1", "2", "3")


def test_fr_017_every_request_says_what_it_wants() -> None:
    with entrez_server(entries=spread(3, 3)) as entrez:
        preview(client_of(entrez), "x")
        client_of(entrez).fetch(["1"])
        for tool, values in entrez.asked:
            assert (values["db"], values["retmode"], values["tool"]) == ("pubmed", "xml", "medcite"), tool
        assert entrez.tools("efetch")[0]["rettype"] == "abstract"


def test_fr_019_one_pmid_that_always_fails_is_named_and_the_others_are_fetched(tmp_path: Path) -> None:
    def fault(tool: str, values: dict[str, str], number: int) -> Fault | None:
        return Fault(500, b"broken", "text/plain") if "3" in values.get("id", "").split(",") else None

    with entrez_server(entries=spread(4, 3), fault=fault) as entrez:
        done = download(client_of(entrez, retries=1), ["1", "2", "3", "4"], tmp_path, 4)
        assert (done.fetched, done.failed, done.is_partial) == (3, ("3",), True)
        entrez.fault = lambda *_: None
        again = download(client_of(entrez), ["1", "2", "3", "4"], tmp_path, 4)
    assert (again.fetched, again.failed) == (4, ())


def test_a_download_that_was_cut_off_goes_on_where_it_was(tmp_path: Path) -> None:
    wanted = [str(n) for n in range(1, 11)]
    dead = lambda tool, values, number: Fault(503, b"down", "text/plain") if number > 2 else None  # noqa: E731
    with entrez_server(entries=spread(10, 3), fault=dead) as entrez:
        with pytest.raises(PubMedUnavailable):
            download(client_of(entrez, retries=0), wanted, tmp_path, 2)
        entrez.fault = lambda *_: None
        before = len(entrez.asked)
        assert download(client_of(entrez), wanted, tmp_path, 2).fetched == 10
        assert [v["id"] for v in entrez.tools("efetch")[before:]] == ["5,6", "7,8", "9,10"]
        assert download(client_of(entrez), wanted, tmp_path, 2).fetched == 10
        assert len(entrez.asked) == before + 3


def test_what_pubmed_does_not_have_is_told_from_what_failed(tmp_path: Path) -> None:
    with entrez_server(entries=spread(4, 3), absent=frozenset({2})) as entrez:
        done = download(client_of(entrez), ["1", "2", "3", "99"], tmp_path, 2)
    assert (done.fetched, done.missing, done.failed) == (2, ("2", "99"), ())


def test_fr_021_nothing_found_is_a_result() -> None:
    with entrez_server() as entrez:
        assert preview(client_of(entrez), "10.5555/not.there").count == 0


def test_fr_023_words_that_pubmed_dropped_are_told() -> None:
    with entrez_server(entries=spread(9, 3), not_found=("Zyxwvut-Qrst-Like",)) as entrez:
        plan = preview(client_of(entrez), "Zyxwvut-Qrst-Like Syndrome")
    assert (plan.not_understood, plan.count, plan.pmids) == (("Zyxwvut-Qrst-Like",), 9, ())


def test_the_pace_is_kept_and_retry_after_is_heeded() -> None:
    waits: list[float] = []
    with entrez_server(entries=spread(3, 3)) as entrez:
        client = client_of(entrez, waits)
        for _ in range(3):
            client.fetch(["1"])
        assert [round(wait, 2) for wait in waits] == [0.37, 0.37]
        waits.clear()
        entrez.fault = once(
            Fault(429, b"slow down", "text/plain", (("Retry-After", "7"),)), times=len(entrez.asked) + 1
        )
        client.fetch(["1"])
        assert 7.0 in waits


def test_a_server_that_is_not_there_is_said_with_its_address() -> None:
    settings = NcbiSettings(base_url="http://127.0.0.1:9/x", retries=1)
    with pytest.raises(PubMedUnavailable, match=r"127\.0\.0\.1:9"):
        EutilsClient(settings, sleep=lambda _: None).fetch(["1"])


def test_limits_are_by_publication_date_and_in_order() -> None:
    assert (
        limited("x [ti] OR y", 2013, 2023)
        == '(x [ti] OR y) AND ("2013"[Date - Publication] : "2023"[Date - Publication])'
    )
    assert limited(" x ", None, None) == "x"
    for query, since, until in (("", None, None), ("x", 2023, 2013)):
        with pytest.raises(InvalidInput):
            limited(query, since, until)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12\n34\n12\n", (["12", "34"], 1)),
        ("\ufeffpmid\n12\n\n 0034 \n", (["12", "34"], 0)),
        ('PMID,Title\n12,"A, b"\nPMID: 34\n', (["12", "34"], 0)),
    ],
)
def test_lists_of_pmids_are_read_as_people_keep_them(tmp_path: Path, text: str, found: tuple[list[str], int]) -> None:
    file = tmp_path / "ids.csv"
    file.write_text(text, encoding="utf-8")
    assert read_pmids(file) == found


@pytest.mark.parametrize(("text", "words"), [("12\nabc\n", "line 2"), ("", "no PMID"), ("pmid\n", "no PMID")])
def test_a_line_that_is_no_pmid_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "ids.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=words):
        read_pmids(file)
