"""Follow-ups over HTTP: what is searched is what was meant, with and without a chat model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.live_service import LiveService, small_service
from support.llm_server import LLMServer, Reply
from support.run_events import answer_of, assert_law
from support.small_corpus import RECORDS

from medcite_core.types import Record
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

GOLDEN = Path(__file__).parent.parent / "golden/follow_up"
FIRST = "What does drug Zetamab do in asthma?"
ADULTS, CHILDREN = "90000001", "90000002"


def zetamab_records() -> tuple[Record, ...]:
    read = parse_pubmed_xml(GOLDEN / "FR-117-in.xml")
    return tuple(item for item in read if isinstance(item, Record))


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "assistant" if place % 2 else "user", "text": text} for place, text in enumerate(texts)]


def order(answer: dict[str, Any]) -> list[str]:
    """The PMIDs of the evidence, best first."""
    return list(dict.fromkeys(evidence["pmid"] for evidence in answer["evidence"]))


@pytest.fixture(scope="module")
def zetamab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service without a chat model over the three records of FR-117 and some others."""
    with small_service(tmp_path_factory.mktemp("zetamab"), records=(*zetamab_records(), *RECORDS[:3])) as live:
        yield live


def test_fr_117_the_first_follow_up_finds_the_paediatric_record_and_shows_the_question_used(
    zetamab: LiveService,
) -> None:
    first = answer_of(zetamab.ask(FIRST))
    assert first["search"]["rewritten_from"] == ""
    messages = zetamab.ask("And in children?", history=said(FIRST, first["text"]))
    assert_law(messages)
    answer = answer_of(messages)
    assert order(answer)[0] == CHILDREN
    assert "In children Zetamab had no effect." in answer["text"]
    assert answer["search"]["query"] == "What does drug Zetamab do in asthma, in children?"
    assert answer["search"]["rewritten_from"] == answer["question"] == "And in children?"
    evidence = next(m.json for m in messages if m.event == "evidence")
    assert evidence["search"] == answer["search"]


def test_fr_121_a_correction_is_searched_with_its_topic_and_the_answer_changes(zetamab: LiveService) -> None:
    history = said(FIRST, "It halved attacks [1].", "And in children?", "In children it had no effect [1].")
    before = answer_of(zetamab.ask("And in children?", history=history[:2]))
    answer = answer_of(zetamab.ask("No, I meant the adults.", history=history))
    assert answer["search"]["query"] == "What does drug Zetamab do in asthma, in adults?"
    assert order(answer)[0] == ADULTS != order(before)[0]
    assert "Zetamab halved attacks in adults." in answer["text"]


def test_fr_120_yes_to_an_offer_is_answered_from_what_was_offered(zetamab: LiveService) -> None:
    offer = "It halved attacks [1]. Would you like to know more about Zetamab in children?"
    answer = answer_of(zetamab.ask("yes", history=said(FIRST, offer)))
    assert order(answer)[0] == CHILDREN
    assert answer["search"]["rewritten_from"] == "yes"


def test_fr_120_our_own_answers_make_no_offers(zetamab: LiveService) -> None:
    assert "?" not in answer_of(zetamab.ask(FIRST))["text"]
    rules = Path(__file__).parents[2] / "middleware/medcite_middleware/answering/prompts/answer.v1.txt"
    assert "Do not offer further help" in rules.read_text("utf-8")


def test_a_new_question_is_searched_as_it_was_typed_whatever_was_said_before(zetamab: LiveService) -> None:
    question = "Does aspirin lower recurrent stroke?"
    alone = answer_of(zetamab.ask(question))
    after = answer_of(zetamab.ask(question, history=said(FIRST, "It halved attacks [1].")))
    assert after["search"] == alone["search"]
    assert after["search"]["rewritten_from"] == ""
    assert (after["text"], order(after)) == (alone["text"], order(alone))


@pytest.fixture
def writing(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A service with the scripted chat server over the records of FR-117."""
    llm_server.default = Reply(pieces=("In children Zetamab had no effect [1].",))
    with small_service(
        tmp_path, llm_server.base_url, records=zetamab_records(), llm__timeout_s=1.5, llm__retries=0
    ) as live:
        yield live


def test_with_a_chat_model_one_call_rewrites_and_the_answer_is_written_for_the_whole_question(
    writing: LiveService, llm_server: LLMServer
) -> None:
    whole = "What does drug Zetamab do in children with asthma?"
    llm_server.script(Reply(pieces=(whole,)))
    answer = answer_of(writing.ask("And in children?", history=said(FIRST, "It halved attacks [1].")))
    assert answer["search"]["query"] == whole
    assert answer["search"]["rewritten_from"] == "And in children?"
    assert len(llm_server.chats) == 2
    assert f"Question: {whole}" in llm_server.chats[1].prompt
    assert answer["versions"]["rewrite_prompt"] == "rewrite.v1"


def test_fr_118_an_answer_in_place_of_a_rewriting_is_not_searched_and_the_paediatric_record_is_found(
    writing: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=((GOLDEN / "FR-118-stub-rewrite.txt").read_text("utf-8"),)))
    answer = answer_of(writing.ask("And in children?", history=said(FIRST, "It halved attacks [1].")))
    assert order(answer)[0] == CHILDREN
    assert "liver" not in answer["search"]["query"]
    assert "children" in answer["search"]["query"]


def test_fr_118_the_readers_own_words_are_searched_beside_a_rewriting_that_leads_away(
    writing: LiveService, llm_server: LLMServer
) -> None:
    # A question of known words only: nothing gives it away, so it must be harmless.
    llm_server.script(Reply(pieces=("Did children watch screens three hours a day?",)))
    history = said("Did adults watch screens?", "Children watched three hours a day [1].", FIRST, "It halved attacks.")
    answer = answer_of(writing.ask("And in children?", history=history))
    assert CHILDREN in order(answer)


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(hang=True), Reply(pieces=("",))])
def test_a_rewriting_that_fails_leaves_the_rules_and_the_answer_comes(
    writing: LiveService, llm_server: LLMServer, reply: Reply
) -> None:
    llm_server.script(reply)
    answer = answer_of(writing.ask("And in children?", history=said(FIRST, "It halved attacks [1].")))
    assert answer["outcome"] == "answered"
    assert answer["search"]["query"] == "What does drug Zetamab do in asthma, in children?"


def test_no_model_is_asked_to_rewrite_a_question_that_stands_alone(writing: LiveService, llm_server: LLMServer) -> None:
    writing.ask("What does Zetamab do in children with asthma?", history=said(FIRST, "It halved attacks [1]."))
    assert len(llm_server.chats) == 1
