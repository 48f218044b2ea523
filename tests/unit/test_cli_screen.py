"""What a person reads on the terminal."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog
from rich.console import Console
from support.small_corpus import RECORDS

from medcite.logs import set_up_logging
from medcite.progress import print_load_report, rate
from medcite.screen import plain, print_answer_end, print_hits, print_settings, reference, search_line
from medcite_core.answers import Answer, Claim, ComputationProof, Operand, QuoteProof, SearchReport, Verdict
from medcite_core.settings import load_settings
from medcite_core.types import Evidence, ParseProblem, Record, Span
from medcite_ingestion.load_report import LoadReport
from medcite_middleware.shaping import answer_out, record_out, search_out

REPORT = SearchReport("lexical", {"year_from": 2010, "keywords": ["a", "b"]}, 3, {"years": 3}, 5, "q", "Still loading.")


def shown(print_it, *arguments: object) -> str:
    out = io.StringIO()
    print_it(*arguments, Console(file=out, width=200, markup=False, highlight=False))
    return out.getvalue()


def evidence(number: int, record: Record) -> Evidence:
    section = record.sections[-1]
    return Evidence(number, record, f"{record.pmid}:0", section.label, section.span, section.text, 0.9)


def answer_of(*labels: str, mode: str = "generated") -> str:
    """What is printed after an answer whose sentences have these verdicts."""
    stroke, asthma = evidence(1, RECORDS[0]), evidence(2, RECORDS[3])
    text, claims, verdicts = "", [], []
    for number, label in enumerate(labels):
        sentence = f"Sentence {number} [1]."
        claims.append(Claim(f"c{number}", Span(len(text), len(text) + len(sentence)), sentence, (1,)))
        ways = {"supported": ["supports"], "contradicted": ["contradicts"], "conflicting": ["supports", "contradicts"]}
        proofs = tuple(QuoteProof("101", stroke.span, stroke.text, "RESULTS", w, 1) for w in ways.get(label, []))
        verdicts.append(Verdict(f"c{number}", label, "r", f"Because {label}.", proofs))
        text += sentence + " "
    answer = Answer("q", text, mode, "answered", tuple(claims), tuple(verdicts), (stroke, asthma), REPORT)
    return shown(print_answer_end, answer_out(answer))


@pytest.mark.parametrize(
    ("label", "mark"),
    [
        ("supported", "✓ supported"),
        ("contradicted", "✗ contradicted"),
        ("unsupported", "○ unsupported"),
        ("conflicting", "≠ conflicting"),
        ("unchecked", "? not checked"),
    ],
)
def test_each_verdict_is_a_shape_and_a_word(label: str, mark: str) -> None:
    assert f"{mark}  Sentence 0 [1]." in answer_of(label)


def test_the_quote_a_verdict_rests_on_stands_under_it_with_its_record() -> None:
    assert "[1] “Aspirin lowered recurrent stroke from 18.4% to 12.1%" in answer_of("supported")
    assert "(PMID 101, RESULTS)" in answer_of("supported")


def test_a_quote_that_speaks_against_a_sentence_says_so() -> None:
    assert "against it: “Aspirin lowered" in answer_of("contradicted")
    assert "against it" not in answer_of("supported")


def test_unchecked_sentences_count_against_groundedness_and_are_told_apart() -> None:
    end = answer_of("supported", "unchecked", "contradicted", "supported")
    assert "3 of 4 could be checked; 50% of all are supported" in end
    assert "Because unchecked." in end


def test_quotations_get_no_share() -> None:
    assert "%" not in answer_of("supported", mode="quotations").partition("Sources")[0].replace("18.4%", "").replace(
        "12.1%", ""
    )


def test_a_retracted_source_is_marked() -> None:
    sources = answer_of("supported").partition("Sources")[2]
    assert "!! Retracted" in sources.partition("[2]")[2]
    assert "Retracted" not in sources.partition("[2]")[0]


def test_hits_show_reference_passage_and_address() -> None:
    printed = shown(print_hits, [(record_out(RECORDS[2]), ["Metformin reduced body weight."])])
    assert "  1. [No authors listed]. Metformin for weight in type 2 diabetes. 2019." in printed
    assert "PMID 103  https://pubmed.ncbi.nlm.nih.gov/103/" in printed


def test_a_reference_has_no_double_stops() -> None:
    assert ".." not in reference(record_out(RECORDS[0]))


def test_the_search_line_says_mode_filter_counts_and_note() -> None:
    line = search_line(search_out(REPORT))
    assert line == ("Searched by words in 3 of 5 records; filter: year_from=2010, keywords=a or b. Still loading.")


def test_control_characters_never_reach_the_terminal() -> None:
    assert plain("a\x1b[2Jb\x07\nc\td") == "a�[2Jb�\nc\td"


def test_square_brackets_are_text_and_not_markup() -> None:
    assert "[bold]" in shown(print_hits, [(record_out(RECORDS[2]), ["[bold] text"])])


def test_the_report_of_a_load_adds_up_and_names_each_problem(capsys: pytest.CaptureFixture[str]) -> None:
    problem = ParseProblem("cut.xml", 4, "123", "the file ends inside this citation", 9, 275, True)
    print_load_report(
        LoadReport(
            files=2, citations=10, records=7, tombstones=2, problems=1, inserted=3, replaced=1, unchanged=2, outdated=1,
            removed=1, duplicates_in_input=1, chunks=12, problem_list=(problem,), elapsed_s=2.0,
        )
    )  # fmt: skip
    captured = capsys.readouterr()
    assert "10 citations = 7 records + 2 withdrawals + 1 not readable" in captured.out
    assert "7 records = 3 new + 1 replaced + 2 unchanged + 1 outdated" in captured.out
    assert "cut.xml, citation 5, PMID 123, line 9, column 275: the file ends inside this citation" in captured.err


def test_a_rate_is_given_once_it_means_something() -> None:
    assert rate(500, 0.5) == "500 records"
    assert rate(500, 2.0) == "500 records, 250/s"
    assert rate(4, 20.0) == "4 records, 0.2/s"


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]):
    """Sets logging up at a level and gives back what is logged, one JSON value a line."""
    root = logging.getLogger()
    before = root.handlers, root.level

    def at(level: str):
        set_up_logging(level, as_json=True)
        return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    yield at
    root.handlers, level = before
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def test_each_log_line_is_json_with_level_time_and_request_id(logged) -> None:
    lines = logged("info")
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger("medcite").info("run_started", passages=3)
        logging.getLogger("other").warning("plain %s", "text")
    logging.getLogger("other").warning("outside")
    first, second, third = lines()
    assert (first["event"], first["passages"], first["request_id"], first["level"]) == ("run_started", 3, "r-1", "info")
    assert (second["event"], second["request_id"]) == ("plain text", "r-1")
    assert third["request_id"] == ""
    assert first["timestamp"].endswith("Z")


def test_without_json_a_line_in_a_pipe_is_one_to_read(logged, capsys: pytest.CaptureFixture[str]) -> None:
    logged("info")
    set_up_logging("info")
    structlog.get_logger("medcite").info("run_started", passages=3)
    line = capsys.readouterr().err
    assert "run_started" in line
    assert "passages=3" in line
    assert "{" not in line
    assert "\x1b" not in line


def test_settings_stand_whole_with_their_variable_and_what_they_are_on_a_narrow_terminal() -> None:
    rows = load_settings({}, environ={}, env_file=None).rows()
    out = io.StringIO()
    print_settings(rows, Console(file=out, width=40, markup=False, highlight=False))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    for row in rows:
        assert row["description"], row["setting"]
        assert row["variable"] in lines
        assert row["description"] in lines
        assert any(line.startswith(f"{row['setting']} = ") for line in lines)


def test_what_lies_below_the_level_is_not_logged_nor_are_addresses_of_requests(logged) -> None:
    lines = logged("warning")
    structlog.get_logger("medcite").info("quiet")
    logging.getLogger("httpx").info("GET http://127.0.0.1/?q=secret")
    assert lines() == []
    lines = logged("info")
    logging.getLogger("httpx").info("GET http://127.0.0.1/?q=secret")
    logging.getLogger("uvicorn.access").info("GET /?q=secret")
    assert lines() == []


def test_a_recomputed_figure_is_printed_with_its_operands_and_the_words_they_stand_in() -> None:
    stroke = evidence(1, RECORDS[0])
    quote = QuoteProof("101", stroke.span, stroke.text, "RESULTS", "supports", 1)
    proof = ComputationProof(
        "a / b", (Operand("a", 2_400_350.75, quote), Operand("b", 24, quote)), 100_014.6, 100_015, 0.5, "supports"
    )
    claim = Claim("c1", Span(0, 9), "Half did.", (1,))
    verdict = Verdict("c1", "supported", "computed", "It follows.", (proof,))
    answer = Answer("q", "Half did.", "generated", "answered", (claim,), (verdict,), (stroke,), REPORT)
    printed = shown(print_answer_end, answer_out(answer))
    assert "a / b = 100,014.60 where a = 2,400,350.75, b = 24; the claim says 100,015, to within 0.5" in printed
    assert printed.count(f"[1] “{stroke.text[:20]}") == 1
