"""Field reports on claim checking that rules alone must survive; each test names its report."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from medcite_core.answers import QuoteProof, Verdict
from medcite_core.documents import Block, Document
from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, Source, Span
from medcite_ingestion.pubmed_xml import parse_pubmed_xml
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.rules import RulesJudge

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text("utf-8").strip()


def rows(name: str) -> Iterator[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def document(text: str) -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Document(f"doc:{digest[:16]}", "source.txt", text, (Block("paragraph", Span(0, len(text))),), digest)


def evidence(*sources: Source) -> tuple[Evidence, ...]:
    return tuple(Evidence(n, s, "", "", Span(0, len(s.text)), s.text, 1.0) for n, s in enumerate(sources, 1))


def verdicts(text: str, *sources: Source) -> list[Verdict]:
    judge = RulesJudge(VerifySettings())
    given = frozenset(s.source_id for s in sources)
    return [judge.judge(Case(c, text, evidence(*sources), given)) for c in split_text(text).claims]


def verdict(text: str, *sources: Source) -> Verdict:
    (only,) = verdicts(text, *sources)
    return only


def quotes(found: Verdict) -> list[str]:
    return [p.text for p in found.proofs if isinstance(p, QuoteProof)]


def test_fr_204_a_changed_figure_unit_sign_negation_direction_or_subject_is_never_supported() -> None:
    pairs = list(rows("FR-204-pairs.csv"))
    assert len(pairs) == 10
    for pair in pairs:
        assert verdict(pair["claimed_quote"], document(pair["source"])).label not in ("supported", "conflicting"), pair
        assert verdict(pair["source"], document(pair["source"])).label == "supported", pair


def test_fr_209_a_figure_that_belongs_to_another_subject_supports_nothing() -> None:
    source = document(golden("FR-209-evidence.txt"))
    filter_weight, start, sensor = (row["claim"] for row in rows("FR-209-claims.csv"))
    found = verdict(filter_weight, source)
    assert verdict(sensor, source).label == "supported"
    assert verdict(sensor.replace("0.9", "0.8"), source).label not in ("supported", "conflicting")
    assert verdict(sensor.replace("sensor", "filter"), source).label not in ("supported", "conflicting")
    assert found.label == "contradicted"
    assert quotes(found) == ["The filter weighs 2.6kg."]
    assert verdict(start, source).label not in ("supported", "conflicting")


def test_fr_210_a_wrong_figure_is_answered_with_the_right_one_and_its_place() -> None:
    claim = golden("FR-210-claim.txt")
    one = verdict(claim, document(golden("FR-210-one.txt")))
    assert (one.label, one.reason) == ("contradicted", "number_differs")
    assert "204" in one.explanation
    assert "204 patients" in quotes(one)[0]


def test_fr_210_with_two_candidates_nothing_is_guessed_and_both_are_shown() -> None:
    two = verdict(golden("FR-210-claim.txt"), document(golden("FR-210-two.txt")))
    assert two.label == "unchecked"
    assert "204" in "".join(quotes(two))
    assert "198" in "".join(quotes(two))


def test_fr_210_two_sentences_that_give_another_figure_each_are_both_shown() -> None:
    text = "The trial enrolled 204 patients in 9 sites. The trial enrolled 198 patients in 9 sites."
    found = verdict(golden("FR-210-claim.txt"), document(text))
    assert (found.label, found.reason) == ("unchecked", "several_candidates")
    assert len(quotes(found)) == 2
    assert verdict("The trial enrolled 198 patients in 9 sites.", document(text)).label == "supported"


def test_fr_212_a_denial_of_the_very_words_of_a_source_is_refuted() -> None:
    source = document(golden("FR-212-source.txt"))
    claims = list(rows("FR-212-claims.csv"))
    assert len(claims) == 4
    for row in claims:
        found = verdict(f"{row['claim']}.", source)
        if row["expected"] == "refuted":
            assert (found.label, found.reason) == ("contradicted", "negation_differs"), row
            assert quotes(found) == ["Drug L lowered pressure in 30 adults."]
        else:
            assert found.label == "unchecked", row


def test_fr_212_a_denial_is_borne_out_by_a_source_that_denies_it_too() -> None:
    source = document("Drug L did not lower the blood pressure of adults.")
    found = verdict("It is not true that drug L lowered the blood pressure of adults.", source)
    assert (found.label, quotes(found)) == ("supported", ["Drug L did not lower the blood pressure of adults."])
    # A part of the adults is not all of them, and one study is not all the evidence.
    sample = document("Drug L did not lower the blood pressure in 30 adults.")
    assert verdict("It is not true that drug L lowered the blood pressure.", sample).label == "unchecked"
    nowhere = verdict("There is no evidence that drug L lowered the blood pressure of adults.", source)
    assert nowhere.label == "unchecked"


def test_fr_213_a_bare_no_after_a_question_is_evidence() -> None:
    source = document(golden("FR-213-source.txt"))
    blinded = verdict("The trial was blinded.", source)
    assert (blinded.label, quotes(blinded)) == ("contradicted", ["Was the trial blinded? No."])
    randomised = verdict("The trial was randomised.", source)
    assert (randomised.label, quotes(randomised)) == ("supported", ["Was it randomised? Yes."])
    assert verdict("The trial was not blinded.", source).label == "supported"
    assert verdict("The trial was not randomised.", source).label == "contradicted"
    assert verdict("The trial was open.", source).label == "unchecked"


def test_fr_213_a_question_that_nobody_answers_states_nothing() -> None:
    source = document("Was the trial blinded? That was asked by two readers.")
    assert verdict("The trial was blinded.", source).label == "unchecked"
    assert verdict("The trial was not blinded.", source).label == "unchecked"
    taken_back = document("Was the trial blinded? Yes. But only in its first week.")
    assert verdict("The trial was blinded.", taken_back).label == "unchecked"


def test_fr_214_an_antonym_is_never_supported() -> None:
    pairs = list(rows("FR-214-pairs.csv"))
    assert len(pairs) == 10
    for pair in pairs:
        assert verdict(f"{pair['claim']}.", document(f"{pair['source']}.")).label not in ("supported", "conflicting")


def test_fr_215_a_contradiction_is_shown_though_another_passage_supports() -> None:
    claim = golden("FR-215-claim.txt")
    loose = verdict(claim, document(golden("FR-215-corpus.txt")))
    assert loose.label == "unchecked"
    assert quotes(loose) == ["In a trial of 900 patients drug N did not prolong life."]
    assert "may deny" in loose.review
    for_it, against = "Drug N prolongs life in heart failure.", "Drug N does not prolong life in heart failure."
    for text in (f"{for_it} {against}", f"{against} {for_it}"):
        mixed = verdict(claim, document(text))
        assert (mixed.label, sorted(quotes(mixed))) == ("conflicting", sorted([for_it, against]))


def test_fr_218_what_is_not_covered_is_a_class_of_its_own() -> None:
    found = verdicts(golden("FR-218-answer.txt"), document(golden("FR-218-source.txt")))
    assert [v.label for v in found] == ["supported", "supported", "supported", "unchecked"]


def test_fr_227_words_of_another_record_are_the_wrong_source() -> None:
    records = [r for r in parse_pubmed_xml(BytesIO(golden("FR-227-in.xml").encode()), "x.xml") if isinstance(r, Record)]
    row = next(rows("FR-227-claim.csv"))
    numbers = {r.pmid: n for n, r in enumerate(records, 1)}
    text = f"{row['claim']} [{numbers[row['pmid']]}]."
    (claim,) = split_text(text).claims
    found = RulesJudge(VerifySettings()).judge(Case(claim, text, evidence(*records), needs_citation=True))
    assert (found.label, found.citation) == ("supported", "wrong_source")
    (proof,) = found.proofs
    assert isinstance(proof, QuoteProof)
    assert proof.pmid != row["pmid"]
    assert f"[{proof.evidence_number}]" in found.explanation


@pytest.mark.parametrize("name", ["FR-209-evidence.txt", "FR-210-two.txt", "FR-212-source.txt", "FR-218-source.txt"])
def test_every_sentence_of_these_sources_is_supported_by_itself(name: str) -> None:
    text = golden(name)
    for span in sentence_spans(text):
        assert {v.label for v in verdicts(span.of(text), document(text))} == {"supported"}, span.of(text)
