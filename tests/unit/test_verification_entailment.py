"""The local entailment model: label orders, windows, thresholds, calibration. A set bias decides what it says here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.tiny_bert import save_tiny_bert

from medcite_core.errors import InvalidSettings
from medcite_core.ports import Case
from medcite_core.settings import Settings, VerifySettings
from medcite_core.types import Evidence, Record, assemble_text
from medcite_middleware.services.build import build_checker
from medcite_middleware.verification.calibration import (
    Calibration,
    calibration_file,
    fit,
    load_calibration,
    save_calibration,
)
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.entailment import EntailmentJudge, EntailmentModel, label_order, windows_of

BODY = "Zetamab lowered exacerbations in adults. Nobody died. Costs were not studied."


def classifier(folder: Path, labels: dict[int, str], favoured: str, strength: float = 9.0) -> str:
    """A tiny cross-encoder saved in `folder`, whose bias makes `favoured` its answer to everything."""
    import torch
    from transformers import BertForSequenceClassification

    base = save_tiny_bert(folder / "base")
    model = BertForSequenceClassification.from_pretrained(
        base, num_labels=len(labels), id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.bias[next(k for k, v in labels.items() if v == favoured)] = strength
    saved = folder / "saved"
    model.save_pretrained(saved)
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(base).save_pretrained(saved)
    return str(saved)


def evidence(body: str = BODY, chunk_id: str = "1:0-1") -> tuple[Evidence, ...]:
    text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", body)])
    record = Record("1", 1, "A trial.", sections, text)
    return (Evidence(1, record, chunk_id, "RESULTS", sections[1].span, sections[1].text, 1.0),)


def judged(model: str, claim: str = "Zetamab helps adults.", threshold: float = 0.9):
    judge = EntailmentJudge(EntailmentModel(model), Calibration(model, "", threshold=threshold))
    return judge.judge(Case(claim_of(claim), claim, evidence(), frozenset({"1"})))


ORDERS = [
    {0: "contradiction", 1: "neutral", 2: "entailment"},
    {0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"},
    {0: "neutral", 1: "entailment", 2: "contradiction"},
    {0: "SUPPORTS", 1: "REFUTES", 2: "NOT ENOUGH INFO"},
]


@pytest.mark.parametrize("labels", ORDERS)
def test_the_order_of_the_labels_is_read_from_the_model(tmp_path: Path, labels: dict[int, str]) -> None:
    entails = next(v for v in labels.values() if v.casefold() in ("entailment", "supports"))
    denies = next(v for v in labels.values() if v.casefold() in ("contradiction", "refutes"))
    neither = next(v for v in labels.values() if v not in (entails, denies))
    found = {name: judged(classifier(tmp_path / name, labels, name)).label for name in (entails, denies, neither)}
    assert found == {entails: "supported", denies: "contradicted", neither: "unchecked"}


def test_a_model_of_two_labels_supports_or_abstains_and_never_contradicts(tmp_path: Path) -> None:
    labels = {0: "entailment", 1: "not_entailment"}
    assert judged(classifier(tmp_path / "a", labels, "entailment")).label == "supported"
    assert judged(classifier(tmp_path / "b", labels, "not_entailment")).label == "unchecked"


@pytest.mark.parametrize(
    "labels", [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment"}, {0: "good", 1: "bad"}]
)
def test_labels_that_do_not_say_what_they_mean_are_refused_in_words(labels: dict[int, str]) -> None:
    with pytest.raises(InvalidSettings, match="do not say which one means entailment"):
        label_order(labels, "m")


def test_a_proof_is_cut_from_the_source_and_names_its_model_and_threshold(tmp_path: Path) -> None:
    verdict = judged(classifier(tmp_path, ORDERS[0], "entailment"))
    (proof,) = verdict.proofs
    (one,) = evidence()
    assert proof.span.of(one.source.text) == proof.text
    assert proof.text in BODY
    assert verdict.reason == "paraphrase"
    assert dict(verdict.thresholds)["entailment_threshold"] == 0.9
    assert verdict.model.endswith("saved")
    assert "windows" in verdict.searched


def test_below_the_threshold_it_abstains_and_shows_the_closest_words(tmp_path: Path) -> None:
    model = classifier(tmp_path, ORDERS[0], "entailment", strength=1.0)
    verdict = judged(model)
    assert (verdict.label, verdict.reason) == ("unchecked", "low_confidence")
    assert [p.shows for p in verdict.proofs] == ["closest"]
    assert judged(model, threshold=0.5).label == "supported"


def test_windows_are_whole_sentences_each_once_and_long_evidence_says_what_was_left_out() -> None:
    windows, left_out = windows_of(evidence())
    texts = [window.text for window in windows]
    assert "Zetamab lowered exacerbations in adults." in texts
    assert BODY in texts
    assert len(texts) == len(set(texts)) == 6
    assert left_out == 0
    many, left_out = windows_of(evidence(" ".join(f"Sentence {n} says it." for n in range(200))))
    assert (len(many), left_out) == (240, 200 + 199 + 198 - 240)


def test_a_policy_veto_keeps_a_model_from_supporting_another_figure_or_a_dropped_not(tmp_path: Path) -> None:
    """FR-215 and the like: the model says yes to everything, and the words do not bear it out."""
    import asyncio

    from medcite_middleware.pipeline.claim_check import CheckTask

    model = classifier(tmp_path, ORDERS[0], "entailment")
    settings = Settings(data_dir=tmp_path, verify=VerifySettings(entailment_model=model))
    checker = build_checker(settings)
    body = "Zetamab did not lower deaths in any group of the trial. Exacerbations fell by 34% with it."
    for claim in (
        "With zetamab deaths became fewer by 50% overall.",
        "Zetamab lowered the deaths of patients treated.",
    ):
        task = CheckTask(claim, (claim_of(claim),), evidence(body), frozenset({"1"}))
        verdict = asyncio.run(checker.verdict(task.claims[0], task)).verdict
        assert verdict.label != "supported", claim
        assert {vote.judge for vote in verdict.votes} == {"rules", "entailment"}


def test_a_model_that_is_not_there_is_a_setting_to_mend(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="cannot be loaded"):
        judged(str(tmp_path / "none"))


# ------------------------------------------------------------------ calibration


def test_the_threshold_lets_few_wrong_ones_through_on_items_it_has_not_seen() -> None:
    dice = np.random.default_rng(3)
    truth = dice.random(2000) < 0.4
    margin = np.where(truth, dice.normal(2.5, 2, 2000), dice.normal(-2.5, 2, 2000))
    logits = np.stack([-3 * margin, 3 * margin], axis=1)  # three times too sure
    found = fit(logits, 1, truth.tolist(), range(2000), "m", "")
    assert 2 < found.temperature < 8
    assert found.wrong_share is not None
    assert found.wrong_share < 0.04
    assert found.coverage is not None
    assert found.coverage > 0.5


def test_too_few_items_are_refused() -> None:
    with pytest.raises(InvalidSettings, match="too few"):
        fit(np.zeros((10, 2)), 0, [True, False] * 5, range(10), "m", "")


def test_a_calibration_is_kept_for_its_model_and_no_other(tmp_path: Path) -> None:
    assert load_calibration(tmp_path, "m", "", None) == Calibration("m", "")
    made = Calibration("m", "", 2.0, 0.8, 100, 0.01, 0.6)
    path = save_calibration(tmp_path, made)
    assert load_calibration(tmp_path, "m", "", None) == made
    assert load_calibration(tmp_path, "m", "", 0.95).threshold == 0.95
    assert load_calibration(tmp_path, "other", "", None).threshold == 0.9
    path.rename(calibration_file(tmp_path, "other", ""))
    with pytest.raises(InvalidSettings, match="not of other"):
        load_calibration(tmp_path, "other", "", None)
    calibration_file(tmp_path, "other", "").write_text("{")
    with pytest.raises(InvalidSettings, match="damaged"):
        load_calibration(tmp_path, "other", "", None)


def test_the_command_calibrates_the_model_that_is_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from medcite.calibrating import calibrate

    model = classifier(tmp_path, ORDERS[0], "entailment")
    items = tmp_path / "items.jsonl"
    labels = ["supported", "contradicted", "not enough info"]
    lines = [{"claim": f"Claim {n}.", "evidence": "Words.", "label": labels[n % 3]} for n in range(90)]
    items.write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = Settings(data_dir=tmp_path / "data", verify=VerifySettings(entailment_model=model))
    calibrate(settings, items, as_json=True)
    said = json.loads(capsys.readouterr().out)
    # It says yes to all alike: no threshold makes that trustworthy.
    assert (said["items"], said["threshold"]) == (90, 1.0)
    assert load_calibration(tmp_path / "data", model, "", None).threshold == 1.0
    with pytest.raises(InvalidSettings, match="no entailment model"):
        calibrate(Settings(data_dir=tmp_path), items, as_json=True)
