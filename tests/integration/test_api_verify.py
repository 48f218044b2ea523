"""POST /api/verify: texts and claims against the corpus, records and texts of the reader's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.live_service import LiveService, small_service
from support.llm_server import LLMServer, Reply
from support.run_events import answer_of, assert_law, error_of

SAID = "Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients."
NOTE = {
    "name": "note.md",
    "text": "# Zetamab\n\nZetamab reduced exacerbations by 34% in adults.\n\nNo deaths occurred.",
}


def checked(live: LiveService, **body: Any) -> dict[str, Any]:
    with live.watching("/api/verify", body) as events:
        messages = list(events)
    assert_law(messages)
    return answer_of(messages)


def labels(answer: dict[str, Any]) -> list[str]:
    return [verdict["label"] for verdict in answer["verdicts"]]


def test_a_pasted_text_needs_no_citation_and_is_read_against_the_records_named(quoting: LiveService) -> None:
    answer = checked(quoting, text=SAID, sources=["101"])
    assert labels(answer) == ["supported"]
    assert answer["verdicts"][0]["proofs"][0]["pmid"] == "101"


def test_a_citation_that_is_given_is_judged(quoting: LiveService) -> None:
    answer = checked(quoting, text=SAID.replace(".", " [2].", 3).replace(" [2].", ".", 2), sources=["101", "102"])
    (verdict,) = answer["verdicts"]
    assert (verdict["label"], verdict["citation"]) == ("supported", "wrong_source")


def test_claims_are_checked_as_they_are_each_in_its_place(quoting: LiveService) -> None:
    claims = ["No deaths occurred.", "Zetamab reduced exacerbations by 43% in adults.", "Is it so?"]
    answer = checked(quoting, claims=claims, sources=[NOTE])
    assert [claim["text"] for claim in answer["claims"]] == claims
    assert labels(answer)[:2] == ["supported", "contradicted"]
    (proof, *_) = answer["verdicts"][1]["proofs"]
    assert proof["document"].startswith("doc:")
    assert proof["pmid"] == ""
    source = answer["evidence"][0]["record"]
    assert (source["title"], source["document"], source["pubmed_url"]) == ("note.md", proof["document"], "")


def test_against_the_corpus_evidence_is_found_and_what_was_searched_is_said(quoting: LiveService) -> None:
    answer = checked(quoting, text=SAID, sources="corpus")
    assert labels(answer) == ["supported"]
    assert "Searched" in answer["verdicts"][0]["searched"]
    assert answer["evidence"]


def test_what_is_no_claim_is_listed_without_a_verdict(quoting: LiveService) -> None:
    answer = checked(quoting, text=f"{SAID} Does it help?", sources=["101"])
    assert labels(answer) == ["supported"]
    assert [(s["text"], s["kind"]) for s in answer["statements"]] == [("Does it help?", "question")]


def test_a_question_makes_an_elliptic_text_whole_and_is_no_evidence(quoting: LiveService) -> None:
    answer = checked(quoting, text="No.", question="Did bleeding increase?", sources=["101"])
    assert answer["question"] == "Did bleeding increase?"
    assert all("Did bleeding" not in one["text"] for one in answer["evidence"])
    assert answer["claims"][0]["meaning"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"text": "x", "claims": ["y"], "sources": "corpus"}, "either text or claims"),
        ({"claims": ["x" * 2001], "sources": "corpus"}, "2,001 characters"),
        ({"text": "x y", "sources": "papers"}, '"corpus" or a list'),
        ({"text": "x y", "sources": [{"name": "a"}]}, "text"),
        ({"text": "x y", "sources": [{"name": "a", "text": "!!!"}]}, "holds no word"),
        ({"claims": ["y"] * 201, "sources": "corpus"}, "claims"),
    ],
)
def test_wrong_bodies_are_told_what_is_wrong(quoting: LiveService, body: dict[str, Any], words: str) -> None:
    response = quoting.client.post("/api/verify", json=body)
    assert words in error_of(response, 422, response.json()["error"]["code"])["message"]


def test_a_record_that_is_not_there_is_said_before_anything_is_checked(quoting: LiveService) -> None:
    assert (
        "999"
        in error_of(quoting.client.post("/api/verify", json={"text": "x y.", "sources": ["999"]}), 404, "not_found")[
            "message"
        ]
    )


def test_a_recomputed_figure_comes_with_its_formula_and_the_words_of_each_operand(quoting: LiveService) -> None:
    arms = {"name": "arms.txt", "text": "Mortality was 12% in the aspirin group and 24% in the placebo group."}
    counts = {"name": "n.csv", "text": "category,n\nc00,20\nc01,15\nc02,7\n"}
    claims = ["Mortality was halved in the aspirin group compared with the placebo group.", "The total is 43."]
    answer = checked(quoting, claims=claims, sources=[arms, counts])
    assert [(v["label"], v["reason"]) for v in answer["verdicts"]] == [
        ("supported", "computed"),
        ("contradicted", "number_differs"),
    ]
    halved, total = (verdict["proofs"][0] for verdict in answer["verdicts"])
    assert (halved["kind"], halved["shows"], total["shows"]) == ("computation", "supports", "contradicts")
    assert (halved["computation"]["formula"], halved["computation"]["result"]) == ("a / b", 0.5)
    texts = {e["record"]["document"]: e["record"]["text"] for e in answer["evidence"]}
    for operand in (*halved["computation"]["operands"], *total["computation"]["operands"]):
        quote = operand["quote"]
        assert texts[quote["document"]][quote["span"]["start"] : quote["span"]["end"]] == quote["text"]
        assert f"{operand['value']:g}" in quote["text"]


def test_a_change_between_two_values_of_a_record_is_recomputed(quoting: LiveService) -> None:
    by = "Aspirin lowered recurrent stroke by {} percentage points in 2,431 patients."
    answer = checked(quoting, claims=[by.format(6.3), by.format(9.3)], sources=["101"])
    assert labels(answer) == ["supported", "contradicted"]


# ---------------------------------------------------------------- split by the chat model

SPLIT_TEXT = "Zetamab reduced exacerbations by 34% in adults, and no deaths occurred. Thanks for asking."
PARTS = [
    ("Zetamab reduced exacerbations by 34% in adults", "numeric"),
    ("no deaths occurred.", "absence"),
    ("Thanks for asking.", "greeting"),
]


@pytest.mark.parametrize("is_usable", [True, False])
def test_a_chat_model_splits_the_text_in_one_call_and_the_rules_when_its_parts_are_not_the_text_s(
    tmp_path: Path, llm_server: LLMServer, is_usable: bool
) -> None:
    parts = PARTS if is_usable else [("Zetamab cured everyone.", "factual")]
    reply = {"parts": [{"text": words, "kind": kind} for words, kind in parts]}
    llm_server.default = Reply(pieces=(json.dumps(reply),))
    settings = {"verify__split_with_chat_model": True, "verify__use_chat_model": False}
    with small_service(tmp_path, llm_server.base_url, **settings) as live:
        answer = checked(live, text=SPLIT_TEXT, sources=[NOTE])
    assert len(llm_server.chats) == 1
    texts = [claim["text"] for claim in answer["claims"]]
    assert all(SPLIT_TEXT[c["span"]["start"] : c["span"]["end"]] == c["text"] for c in answer["claims"])
    if is_usable:
        assert texts == [words for words, _ in PARTS[:2]]
        assert [(s["text"], s["kind"]) for s in answer["statements"]] == [PARTS[2]]
    else:
        assert "Zetamab cured everyone." not in " ".join(texts)
        assert any("34%" in text for text in texts)


def test_claims_that_are_given_one_by_one_are_not_split(tmp_path: Path, llm_server: LLMServer) -> None:
    settings = {"verify__split_with_chat_model": True, "verify__use_chat_model": False}
    with small_service(tmp_path, llm_server.base_url, **settings) as live:
        answer = checked(live, claims=["No deaths occurred, and it was cheap."], sources=[NOTE])
    assert len(answer["claims"]) == 1
    assert llm_server.chats == []
