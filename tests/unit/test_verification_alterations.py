"""Small alterations that turn a meaning: each pair was once taken for the same, or for a contradiction."""

from __future__ import annotations

import pytest

from medcite_core.answers import Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, assemble_text
from medcite_middleware.verification.claims import split_claims
from medcite_middleware.verification.rules import RulesJudge


def record(pmid: str, body: str, label: str = "RESULTS", title: str = "A trial.") -> Record:
    text, sections = assemble_text(title, [(label, label, body)])
    return Record(pmid, 1, title, sections, text)


def judge(answer: str, *records: Record) -> Verdict:
    items = tuple(
        Evidence(n, r, f"{r.pmid}:0-1", "", r.sections[-1].span, r.sections[-1].text, 1.0)
        for n, r in enumerate(records, 1)
    )
    (claim,) = split_claims(answer)
    return RulesJudge(VerifySettings()).judge(Case(claim, answer, items, needs_citation=True))


SIGNS = [
    ("The two scores were related in adults (r = - 0.42).", "The two scores were related in adults (r = 0.42)"),
    ("The slope in adults was beta = − 0.50 per year.", "The slope in adults was beta = 0.50 per year"),
    ("The change was between −0.5–−0.1 points a year.", "The change was between −0.5–0.1 points a year"),
    ("The cut-off of the base excess was ≥-5 in adults.", "The cut-off of the base excess was ≥5 in adults"),
    ("The variant was linked at p = 5E-8 in adults.", "The variant was linked at p = 5E8 in adults"),
    ("The study enrolled adults with T1-2 tumours only.", "The study enrolled adults with T12 tumours only"),
    ("We counted 2x10⁶ cells in each of the wells.", "We counted 2x106 cells in each of the wells"),
    ("Transfer of CD8- cells cured most of the mice.", "Transfer of CD8 cells cured most of the mice"),
    ("A daily dose of 10-20 mg was given to adults.", "A daily dose of 10, 20 mg was given to adults"),
    ("The ratio of cases to controls was 1:2 throughout.", "The ratio of cases to controls was 1-2 throughout"),
    ("There were 10 000 adults in the whole cohort.", "There were 10 00000 adults in the whole cohort"),
]
BRACKETS = [
    ("Aspirin reduced mortality in adults (only in men over 65).", "Aspirin reduced mortality in adults"),
    ("Aspirin reduced mortality in all groups (except over 75).", "Aspirin reduced mortality in all groups"),
    ("Early treatment improved outcome in adults (if given in 3 h).", "Early treatment improved outcome in adults"),
    ("Aspirin reduced mortality in the animals (mice).", "Aspirin reduced mortality in the animals"),
    ("Aspirin reduced mortality in the adults (all Ps > 0.05).", "Aspirin reduced mortality in the adults"),
    ("Aspirin reduced mortality in the adults (Ptrend = 0.45).", "Aspirin reduced mortality in the adults"),
    ("Aspirin reduced mortality (OR 0.96, 95% CI 0.70-1.31) in adults.", "Aspirin reduced mortality in adults"),
    ("Aspirin lowered pain in adults (95% CI -0.3 to 1.2).", "Aspirin lowered pain in adults"),
    ("Aspirin lowered pain in the adults (RR 0.8 [0.7-1.1]).", "Aspirin lowered pain in the adults"),
    ("Although not significant, aspirin lowered pain in adults.", "Aspirin lowered pain in adults"),
    ("Aspirin lowered pain in adults, but not in women.", "Aspirin lowered pain in adults"),
    ("Only 5 of 100 adults improved on the new drug.", "5 of 100 adults improved on the new drug"),
    ("It is a myth; Aspirin reduced mortality in adults.", "Aspirin reduced mortality in adults"),
    ("Aspirin reduced death and stroke (p = 0.01 and 0.40).", "Aspirin reduced death and stroke"),
    ("The new statin lowered mortality in adults (NS).", "The new statin lowered mortality in adults"),
    ("Few adults who took aspirin improved on it.", "The few adults who took aspirin improved on it"),
    ("CD4−CD25+ cells cured most of the mice here.", "CD4 CD25+ cells cured most of the mice here"),
    ("The drug was given to adults from D-7 on.", "The drug was given to adults from D7 on"),
    ("Aspirin lowered mortality (hazard 0.8 in men and 1.4 in women.", "Aspirin lowered mortality"),
]
LITTLE_WORDS = [
    ("A few adults improved on the new drug within weeks.", "Few adults improved on the new drug within weeks"),
    ("There was a little benefit of the drug in adults.", "There was little benefit of the drug in adults"),
    ("Vitamin A supplements reduced deaths in children.", "Vitamin supplements reduced deaths in children"),
    ("The drug that failed was given to 40 of the adults.", "The drug failed was given to 40 of the adults"),
    ("No statin therapy reduced mortality in older adults.", "No, statin therapy reduced mortality in older adults"),
    ("All adults did well; not all improved by week four.", "All adults did well not; all improved by week four"),
    ("Overall survival was longer in the treated adults.", "Survival was longer in the treated adults"),
    ("Mortality was lower in all the treated adults.", "Overall mortality was lower in all the treated adults"),
    ("It was reported that aspirin lowers mortality in adults.", "Aspirin lowers mortality in adults"),
]
UNITS = [
    ("A pressure of 5 MPa was held for ten whole minutes.", "A pressure of 5 mPa was held for ten whole minutes"),
    ("A solution of 5 mM was used in all of the assays.", "A solution of 5 mm was used in all of the assays"),
    # A figure in square brackets is no citation.
    ("The median stay of adults was 5 [3, 8] days overall.", "The median stay of adults was 5 [1, 1] days overall"),
]


@pytest.mark.parametrize(("source", "claim"), [*SIGNS, *BRACKETS, *LITTLE_WORDS, *UNITS])
def test_what_turns_a_meaning_is_not_supported(source: str, claim: str) -> None:
    assert judge(f"{claim} [1].", record("9", source)).label not in ("supported", "conflicting")


@pytest.mark.parametrize("source", [source for source, _ in [*SIGNS, *BRACKETS, *LITTLE_WORDS, *UNITS]])
def test_the_same_sentences_untouched_are_supported(source: str) -> None:
    assert judge(f"{source} [1]", record("9", source)).label == "supported"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("Aspirin reduced mortality in men (OR 0.6, 95% CI 0.4-0.9; p = 0.01).", "Aspirin reduced mortality in men"),
        ("Hyperbaric oxygen (HBO) improved outcome in adults.", "Hyperbaric oxygen improved outcome in adults"),
        ("Mortality fell in 34 of 120 adults (28.3%).", "Mortality fell in 34 of 120 adults"),
        ("However, mortality fell in the treated adults.", "Mortality fell in the treated adults"),
        (
            "The score of the treated adults rose by 12.45 points.",
            "The score of the treated adults rose by 12.5 points",
        ),
    ],
)
def test_what_turns_no_meaning_is_supported(source: str, claim: str) -> None:
    assert judge(f"{claim} [1].", record("9", source)).label == "supported"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("Aspirin reduced mortality in adults with diabetes.", "No, aspirin reduced mortality in adults with diabetes"),
        (
            "Adults receiving low-dose aspirin had fewer strokes.",
            "Adults receiving high-dose aspirin had fewer strokes",
        ),
        (
            "The low dose of aspirin prevented strokes in adults.",
            "The high dose of aspirin prevented strokes in adults",
        ),
        ("HER2-positive adults responded well to the new drug.", "HER2-negative adults responded well to the new drug"),
        ("Atorvastatin 10 mg reduced the lipids of the adults.", "Atorvastatin 80 mg reduced the lipids of the adults"),
        (
            "Strokes fell among the adults older than 65 in Spain.",
            "Strokes fell among the adults older than 60 in Spain",
        ),
        ("Patients with no prior therapy improved on the drug.", "Patients with prior therapy improved on the drug"),
        ("The patients who were not treated improved in weeks.", "The patients who were treated improved in weeks"),
        (
            "The score of the treated adults rose by 12345 points.",
            "The score of the treated adults rose by 12300 points",
        ),
    ],
)
def test_another_group_dose_or_rounding_is_no_contradiction(source: str, claim: str) -> None:
    assert judge(f"{claim} [1].", record("9", source)).label == "unchecked"


def test_a_hypothesis_a_bare_aim_and_a_title_that_asks_support_nothing() -> None:
    claim = "Zetamab reduces mortality in adults with asthma [1]."
    body = "Zetamab reduces mortality in adults with asthma."
    for label in ("HYPOTHESIS", "OBJECTIVE", "QUESTION"):
        assert judge(claim, record("9", body, label)).label == "unchecked", label
    asked = record("9", "We looked.", title=f"{body} Or does it?")
    assert judge(claim, asked).label == "unchecked"
    assert judge(claim, record("9", body)).label == "supported"
    aim = "To determine whether zetamab reduces mortality in adults."
    assert judge(f"{aim} [1]", record("9", aim, "OBJECTIVE")).label == "supported"


def test_a_wrapped_line_does_not_cut_the_words_that_deny_it_off() -> None:
    answer = "It is not true that\naspirin reduced mortality in adults with diabetes [1]."
    verdict = judge(answer, record("9", "Aspirin reduced mortality in adults with diabetes."))
    assert (verdict.label, verdict.reason) == ("contradicted", "negation_differs")


THIRTY = "Aspirin reduced the mortality of all treated adults by 30% overall."
TWENTY = THIRTY.replace("30", "20")


def test_a_cited_record_that_contradicts_is_never_hidden_by_one_that_is_not_cited() -> None:
    claim = TWENTY.rstrip(".") + " [1]."
    verdict = judge(claim, record("8", THIRTY), record("9", TWENTY))
    assert (verdict.label, verdict.citation) == ("conflicting", "wrong_source")


def test_an_uncited_record_that_found_the_opposite_is_shown_as_a_conflict() -> None:
    claim = THIRTY.rstrip(".") + " [1]."
    opposite = record("9", THIRTY.replace("reduced", "increased"))
    assert judge(claim, record("8", THIRTY), opposite).label == "conflicting"
    # Another figure in another study is no conflict.
    assert judge(claim, record("8", THIRTY), record("9", TWENTY)).label == "supported"


@pytest.mark.parametrize(
    "text",
    [
        "Certainly, aspirin doubles mortality in adults [1].",
        "Of course aspirin cures cancer in all adults.",
        "Sure, aspirin is safe in pregnancy.",
        "Hello, aspirin cures all cancers [1].",
        "The sources do not mention harm, so aspirin is completely safe in pregnancy.",
        "**Aspirin doubles mortality in adults [1].**",
        "# Aspirin doubles mortality in adults [1].",
        "Aspirin doubles mortality in adults [1]:",
    ],
)
def test_a_statement_dressed_as_something_else_is_still_a_claim(text: str) -> None:
    assert len(split_claims(text)) == 1


def test_figures_written_as_words_are_not_called_absent() -> None:
    source = record("9", "Twenty-five percent of the adults improved on the drug.")
    assert judge("25% of the adults got much better on it [1].", source).label == "unchecked"


def test_an_ability_told_without_could_is_not_called_overstated() -> None:
    source = record("9", "Most of the treated adults could walk at six weeks.")
    assert judge("Most of the treated adults walk at six weeks [1].", source).label == "unchecked"
