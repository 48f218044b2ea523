"""The order of an answer's steps and its laws, with parts made to misbehave on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.small_corpus import RECORDS, make_record

from medcite_core.answers import QuoteProof, SearchReport, Turn, Verdict
from medcite_core.errors import IndexMissing, ModelReplyCut, ModelUnavailable
from medcite_core.filters import SearchFilter
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Chunk, Evidence, Notice, Passage, Record
from medcite_middleware.answering.prompting import NO_ANSWER
from medcite_middleware.events import Event, FinishedEvent
from medcite_middleware.pipeline import ask as ask_module
from medcite_middleware.pipeline.ask import AskPipeline, AskRequest, trimmed
from medcite_middleware.pipeline.claim_check import ClaimChecker
from medcite_middleware.pipeline.refusals import nothing_to_quote, refusal
from medcite_middleware.verification.rules import RulesJudge

TEXT = "Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients [1]."


def passage(record: Record, cosine: float | None = 0.9) -> Passage:
    section = record.sections[-1]
    chunk = Chunk(f"{record.pmid}:0", record.pmid, 0, section.label, section.span, section.text)
    return Passage(chunk, record, 0.9, cosine=cosine)


def report(records: int = 5, passed: int = 5, **fields: object) -> SearchReport:
    values: dict[str, object] = {
        "mode": "hybrid",
        "applied_filter": {},
        "passed": passed,
        "passed_by": {},
        "corpus_records": records,
        "query": "q",
        **fields,
    }
    return SearchReport(**values)  # type: ignore[arg-type]


@dataclass
class Found:
    passages: tuple[Passage, ...]
    relevant: tuple[Passage, ...]
    report: SearchReport


@dataclass
class Searcher:
    """Finds the same for everyone, and notes what it was asked."""

    found: Found
    asked: list[tuple[str, SearchFilter, int | None]] = field(default_factory=list)

    def search(self, query: str, search_filter: SearchFilter, k: int | None = None) -> Found:
        self.asked.append((query, search_filter, k))
        return self.found


@dataclass
class Writer:
    """Writes its pieces, then fails with `error` if there is one."""

    pieces: Sequence[str]
    error: Exception | None = None
    history: Sequence[Turn] = ()
    is_closed: bool = False
    given: Sequence[Evidence] = ()

    def fit(self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn]) -> tuple[Evidence, ...]:
        return tuple(evidence[:1])

    async def stream(
        self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn]
    ) -> AsyncGenerator[str, None]:
        self.history = history
        self.given = evidence
        try:
            for piece in self.pieces:
                await asyncio.sleep(0)
                yield piece
            if self.error:
                raise self.error
        finally:
            self.is_closed = True


class Judge:
    """Fails for claims that hold a word."""

    def __init__(self, word: str, error: Exception) -> None:
        self.word, self.error = word, error
        self.rules = RulesJudge(VerifySettings())

    name = "rules"

    def judge(self, case: Case) -> Verdict:
        if self.word in case.claim.text:
            raise self.error
        return self.rules.judge(case)


FOUND = Found((passage(RECORDS[0]), passage(RECORDS[1])), (passage(RECORDS[0]), passage(RECORDS[1])), report())


def pipeline(
    writer: Writer | None, found: Found = FOUND, judge: object = None, *, allow_retracted: bool = False
) -> AskPipeline:
    return AskPipeline(
        Searcher(found),
        writer,
        ClaimChecker(
            [judge or RulesJudge(VerifySettings(allow_retracted_support=allow_retracted))],  # type: ignore[list-item]
            None,
            VerifySettings(allow_retracted_support=allow_retracted),
        ),
        min_cosine=0.35,
        allow_retracted=allow_retracted,
        versions={"medcite": "x"},
    )


def events_of(asked: AskPipeline, request: AskRequest | None = None) -> list[Event]:
    async def collect() -> list[Event]:
        return [event async for event in asked.run(request or AskRequest("Does aspirin help?", request_id="r1"))]

    return asyncio.run(collect())


def types(events: Sequence[Event]) -> list[str]:
    return [event.type for event in events]


def finished(events: Sequence[Event]) -> FinishedEvent:
    last = events[-1]
    assert isinstance(last, FinishedEvent), last
    return last


def test_the_steps_come_in_their_order() -> None:
    events = events_of(pipeline(Writer([TEXT])))
    assert types(events) == [
        *("stage", "stage", "evidence", "stage", "text"),
        *("claim", "stage", "claim_step", "claim_step", "verdict", "stage", "finished"),
    ]
    stages = [(e.name, e.done, e.total) for e in events if e.type == "stage"]
    assert stages == [("search", 0, 0), ("read", 0, 2), ("write", 0, 0), ("check", 0, 1), ("check", 1, 1)]


def test_only_the_evidence_that_the_model_sees_is_shown_and_how_much_was_found_is_told() -> None:
    answer = finished(events_of(pipeline(Writer([TEXT])))).answer
    assert len(answer.evidence) == 1
    assert answer.evidence_found == 2


def test_the_filter_the_number_of_passages_and_the_history_reach_the_parts_unchanged() -> None:
    writer = Writer([TEXT])
    asked = pipeline(writer)
    request = AskRequest("Q?", SearchFilter(year_from=2000), (Turn("user", "before"),), 3)
    events_of(asked, request)
    assert asked._searcher.asked == [("Q?", SearchFilter(year_from=2000), 3)]  # type: ignore[attr-defined]
    assert writer.history == (Turn("user", "before"),)


@pytest.mark.parametrize("error", [ModelReplyCut("cut"), ModelUnavailable("gone"), RuntimeError("a bug")])
def test_fr_125_whatever_breaks_after_some_text_leaves_an_incomplete_answer_and_never_a_finished_one(
    error: Exception,
) -> None:
    events = events_of(pipeline(Writer(["Aspirin ", "lowered "], error)))
    assert events[-1].type == "incomplete"
    assert "finished" not in types(events)
    assert "claim" not in types(events)
    assert events[-1].text == "Aspirin lowered" == "".join(e.delta for e in events if e.type == "text")
    assert events[-1].error is not None
    assert events[-1].error.request_id == "r1"
    assert events[-1].reason == events[-1].error.code


@pytest.mark.parametrize("pieces", [[], [" ", "\n"]])
def test_a_model_that_writes_nothing_is_an_error(pieces: list[str]) -> None:
    events = events_of(pipeline(Writer(pieces)))
    assert events[-1].type == "error"
    assert events[-1].error.code == "model_unavailable"


def test_a_model_that_never_stops_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_module, "MAX_ANSWER_CHARS", 1000)
    writer = Writer(["word "] * 100_000)
    events = events_of(pipeline(writer))
    assert events[-1].type == "incomplete"
    assert len(events[-1].text) < 1100
    assert writer.is_closed


def test_leaving_a_run_closes_the_writer() -> None:
    writer = Writer(["word "] * 1000)

    async def leave() -> None:
        steps = pipeline(writer).run(AskRequest("Q?"))
        async for event in steps:
            if event.type == "text":
                break
        await steps.aclose()

    asyncio.run(leave())
    assert writer.is_closed


@pytest.mark.parametrize("error", [ValueError("x"), IndexMissing("x"), ZeroDivisionError(), KeyError("x")])
def test_a_judge_that_fails_on_one_claim_leaves_it_unchecked_and_the_others_judged(error: Exception) -> None:
    text = f"{TEXT} Broken is this claim [1]. {TEXT}"
    answer = finished(events_of(pipeline(Writer([text]), judge=Judge("Broken", error)))).answer
    assert [v.label for v in answer.verdicts] == ["supported", "unchecked", "supported"]
    assert answer.verdicts[1].reason == "judge_failed"
    assert answer.groundedness == pytest.approx(2 / 3)


def test_a_judge_that_answers_for_another_claim_never_gives_a_finished_answer() -> None:
    class Confused:
        def judge(self, case: Case) -> Verdict:
            first = case.evidence[0]
            proof = QuoteProof("101", first.span, first.text, "", "supports")
            return Verdict("c99", "supported", "verbatim", "", (proof,))

    events = events_of(pipeline(Writer([TEXT]), judge=Confused()))
    assert events[-1].type == "incomplete"


# ---------------------------------------------------------------- refusals


def test_fr_141_an_empty_corpus_a_filter_and_irrelevance_are_three_different_messages() -> None:
    empty = refusal(report(0, 0), (), (), 0.35)
    filtered = refusal(report(1312, 0, applied_filter={"title": "x"}), (), (), 0.35)
    nothing = refusal(report(1312, 1312), (passage(RECORDS[0], 0.21), passage(RECORDS[1], 0.114)), (), 0.35)
    assert empty
    assert filtered
    assert nothing
    assert (empty.outcome, filtered.outcome, nothing.outcome) == (
        "corpus_empty",
        "nothing_relevant",
        "nothing_relevant",
    )
    assert "medcite ingest files" in empty.text
    assert filtered.text.startswith("The corpus holds 1,312 records; none passes the filter")
    assert nothing.text == (
        "The corpus holds 1,312 records; none was relevant enough to answer this question from. "
        "The closest passage has a similarity of 0.21; at least 0.35 is needed."
    )
    assert refusal(report(), FOUND.passages, FOUND.relevant, 0.35) is None


def test_a_refusal_counts_what_passed_the_filter_and_speaks_of_one_record_in_the_singular() -> None:
    some = refusal(report(1312, 40, applied_filter={"title": "x"}), (), (), 0.35)
    one = refusal(report(1, 1, mode="lexical"), (), (), 0.35)
    assert some
    assert one
    assert "1,312 records, of which 40 passed the filter; none was relevant" in some.text
    assert one.text.startswith("The corpus holds 1 record;")
    assert "by words alone" in one.text


def test_when_only_retracted_records_bear_on_a_question_nothing_is_quoted_unless_asked() -> None:
    retracted = make_record("7", "Zetamab.", "Zetamab cured asthma.", notices=(Notice("retracted", "8"),))
    found = Found((passage(retracted),), (passage(retracted),), report())
    request = AskRequest("Does zetamab cure asthma?")
    refused = finished(events_of(pipeline(None, found), request)).answer
    assert refused.outcome == "nothing_relevant"
    assert refused.claims == []
    assert "retracted" in refused.text
    assert [e.record.status for e in refused.evidence] == ["retracted"]
    allowed = finished(events_of(pipeline(None, found, allow_retracted=True), request)).answer
    assert allowed.outcome == "answered"
    assert "Zetamab cured asthma." in allowed.text


def test_a_retracted_record_is_shown_last_and_never_given_to_the_model_unless_asked() -> None:
    withdrawn = make_record("9000077", "Aspirin.", "Aspirin helps.", notices=(Notice("retracted", "9000078"),))
    both = (passage(withdrawn), passage(RECORDS[0]))
    writer = Writer([TEXT])
    answer = finished(events_of(pipeline(writer, Found(both, both, report())))).answer
    assert [e.record.pmid for e in writer.given] == [RECORDS[0].pmid]
    assert [(e.number, e.pmid) for e in answer.evidence] == [(1, RECORDS[0].pmid), (2, "9000077")]
    events_of(pipeline(writer, Found(both, both, report()), allow_retracted=True))
    assert [e.record.pmid for e in writer.given] == ["9000077"]


def test_when_all_that_bears_on_a_question_is_retracted_the_model_is_not_asked() -> None:
    withdrawn = (passage(make_record("9000077", "Aspirin.", "Aspirin helps.", notices=(Notice("retracted", "1"),))),)
    writer = Writer([TEXT])
    answer = finished(events_of(pipeline(writer, Found(withdrawn, withdrawn, report())))).answer
    assert (answer.outcome, [e.pmid for e in answer.evidence]) == ("nothing_relevant", ["9000077"])
    assert "retracted" in answer.text
    assert not writer.is_closed, "the writer was started"


def test_a_model_that_says_it_cannot_answer_gives_no_answer_and_no_claims() -> None:
    answer = finished(events_of(pipeline(Writer([NO_ANSWER[:20], NO_ANSWER[20:]])))).answer
    assert (answer.outcome, answer.text, answer.total) == ("nothing_relevant", NO_ANSWER, 0)
    assert answer.groundedness is None


def test_records_that_come_close_without_a_sentence_that_answers_are_counted() -> None:
    evidence = tuple(
        Evidence(n, record, "", "", record.sections[0].span, record.sections[0].text, 1.0)
        for n, record in enumerate((RECORDS[0], RECORDS[0], RECORDS[1]), start=1)
    )
    assert nothing_to_quote(evidence, allow_retracted=False).text.startswith("2 records came close")


# ---------------------------------------------------------------- white space at the edges


@given(st.lists(st.text(alphabet=" \n\tab.", max_size=5), max_size=12))
def test_pieces_add_up_to_the_trimmed_text_and_are_never_empty(pieces: list[str]) -> None:
    async def source() -> AsyncGenerator[str, None]:
        for piece in pieces:
            yield piece

    async def collect() -> list[str]:
        return [piece async for piece in trimmed(source())]

    given_out = asyncio.run(collect())
    assert "".join(given_out) == "".join(pieces).strip()
    assert all(given_out)
