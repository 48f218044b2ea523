"""Claims whose figure stands in the source, or follows from it, and which are false all the same: none is supported."""

from __future__ import annotations

import pytest

from medcite_core.answers import Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Notice, Record, assemble_text
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.rules import RulesJudge


def judge(claim: str, body: str, notices: tuple[Notice, ...] = ()) -> Verdict:
    text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", body)])
    record = Record("9", 1, "A trial.", sections, text, notices=notices)
    evidence = (Evidence(1, record, "9:0-1", "", sections[-1].span, sections[-1].text, 1.0),)
    return RulesJudge(VerifySettings()).judge(Case(claim_of(claim), claim, evidence, frozenset({"9"})))


FALSE = [
    # A level is no change, and a change no level.
    ("Mortality fell by 12%.", "Mortality fell to 12%."),
    ("Mortality fell to 12%.", "Mortality fell by 12%."),
    ("Mortality was 12%.", "Mortality fell by 12%."),
    ("Mortality was 4%.", "Mortality fell from 12% to 4%."),
    ("Mortality rose by 8 percentage points.", "Mortality fell from 12% to 4%."),
    ("Mortality tripled.", "Mortality fell from 12% to 4%."),
    ("Mortality fell from 4% to 12%.", "Mortality rose from 4% to 12%."),
    ("Mortality did not triple.", "Mortality rose from 4% to 12%."),
    ("Mortality may have tripled.", "The risk of stroke rose from 4% to 12%."),
    ("The risk of stroke tripled.", "The risk of stroke may have risen from 4% to 12%."),
    ("Mortality rose by 8 percentage points in 80 adults.", "Mortality rose from 4% to 12% in 90 adults."),
    ("Mortality rose by 90% in 8 adults.", "Mortality rose from 4% to 12% in 90 adults."),
    ("Mortality rose by 8 points and stroke by 3.", "Mortality rose from 4% to 12% and stroke by 5."),
    # Points and per cent.
    ("Mortality fell by 8%.", "Mortality fell by 8 percentage points."),
    ("Mortality fell by 8 percentage points.", "Mortality fell by 8%."),
    # An interval, a spread, a level, a p-value told as the finding.
    ("The odds ratio was 0.74.", "The odds ratio was 0.86 (95% CI 0.74-0.99)."),
    ("The odds ratio was 0.74 to 0.99.", "The odds ratio was 0.86 (95% CI 0.74-0.99)."),
    ("The mean age was 10.1 years.", "The mean age was 45.2 ± 10.1 years."),
    ("Survival was 95%.", "Survival was 80% (95% CI 70-88%)."),
    ("The rate was 4%.", "The rate was 12% (p = 0.04)."),
    ("The excess risk was 1.93 per Sv (> 0 to 8.47).", "The excess risk was 1.93 per Sv (< 0 to 8.47)."),
    ("The excess risk was 1.93 per Sv (0 to 8.47).", "The excess risk was 1.93 per Sv (< 0 to 8.47)."),
    ("The excess risk was more than 2 to 8%.", "The excess risk was less than 2 to 8%."),
    # Another arm, outcome, time, group.
    ("12% died on placebo.", "12% died on aspirin and 24% on placebo."),
    ("24 per 100 died on aspirin.", "12% died on aspirin and 24% on placebo."),
    ("One in five patients had a stroke.", "20% of patients had a rash and 5% had a stroke."),
    ("Half of the women improved.", "50% of the men improved."),
    ("60% of women improved.", "3/5 patients improved."),
    ("Mortality was 0.12 kg.", "Mortality was 12%."),
    ("Mortality at 2 years was 20%.", "Mortality at 12 months was 20%."),
    ("40 of 100 patients improved at one year.", "40% of patients improved at one month."),
    ("In adults 40 of 100 improved.", "In mice 40% improved."),
    # What bounds the sentence is left out.
    ("40 of 100 improved.", "In mice 40% improved."),
    ("40 of 100 patients improved.", "40% of patients improved only after surgery."),
    ("40 of 100 patients improved.", "If untreated, 40% of patients improved."),
    ("40 of 100 patients improved.", "40% of patients without diabetes improved."),
    ("40 of 100 patients improved.", "It is not true that 40% of patients improved."),
    ("40 of 100 patients improved.", "We hypothesized that 40% of patients improved."),
    ("40 of 100 patients improved.", "Up to 40% of patients improved."),
    ("40 of 100 patients improved.", "Less than 40% of patients improved."),
    ("More than 40 of 100 patients improved.", "40% of patients improved."),
    ("At most 0.3 of patients improved.", "The proportion of patients who improved was 0.4."),
    # Units, scales and signs.
    ("The dose was 5 g.", "The dose was 5 mg."),
    ("The dose was 0.05 g.", "The dose was 5 mg."),
    ("The dose was 5 mg/kg.", "The dose was 5 mg."),
    ("The dose was 5 mg per day.", "The dose was 5 mg per week."),
    ("The dose was 1000 units.", "The dose was 1 g."),
    ("There were 2.4 million cases.", "There were 2.4 billion cases."),
    ("The score changed by 0.5 points.", "The score changed by -0.5 points."),
    ("The slope was 0.5.", "The slope was -0.5."),
    ("Pressure was 80/120 mmHg.", "Pressure was 120/80 mmHg."),
    ("The ratio was 4:1.", "The ratio was 1:4."),
    # Rounded further than it is stated, or to another value.
    ("Survival was 0.3%.", "Survival was 0.34%, and 3% at one year."),
    ("Survival was 12.4%.", "Survival was 12%."),
    ("Survival was 12.30%.", "Survival was 12.34%."),
    ("The odds ratio was 1.", "The odds ratio was 1.4."),
    ("Treatment lasted 2 weeks.", "Treatment lasted 11 days."),
    ("Treatment lasted 1 month.", "Treatment lasted 18 days."),
    ("The rate was 0%.", "The rate was 0.4%."),
    ("All of the patients survived.", "99.6% of the patients survived."),
    ("100% of the patients survived.", "99.6% of the patients survived."),
    ("There were 2 deaths.", "There were 1.6 deaths."),
    ("3 in 10 patients switched to aspirin from heparin.", "30% of patients switched from aspirin to heparin."),
    # Which of several is not told.
    ("Mortality was 36 percent.", "Mortality was 12% in men and 24% in women."),
    ("18% died.", "Mortality was 12% in men and 24% in women."),
    ("Of 100 patients, 34 died.", "Of 120 patients, 34 died."),
    ("28% of patients survived.", "Of 120 patients, 34 died."),
    ("28% of patients died.", "Of 120 patients, 34 withdrew and 12 died."),
    # Arms, groups, outcomes and causes that only look alike.
    (
        "The relative risk of death with aspirin versus placebo was 0.5.",
        "Death occurred in 12% with aspirin, 24% without; no placebo was given.",
    ),
    (
        "Mortality was halved with aspirin compared with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo in the per-protocol analysis.",
    ),
    (
        "Mortality was halved with aspirin compared with placebo.",
        "Mortality was expected to be 12% with aspirin and 24% with placebo.",
    ),
    (
        "Mortality was halved with aspirin compared with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo, a difference that was not significant.",
    ),
    (
        "Mortality was significantly lower by 12 percentage points with aspirin than with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo.",
    ),
    (
        "Aspirin prevented 12 deaths per 100 compared with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo.",
    ),
    ("Survival was halved with aspirin compared with placebo.", "Mortality was 12% with aspirin and 24% with placebo."),
    (
        "Mortality was halved with aspirin plus heparin compared with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo.",
    ),
    (
        "Mortality was halved with aspirin compared with placebo.",
        "Mortality was 12% with aspirin plus heparin and 24% with placebo.",
    ),
    (
        "Mortality was halved with low-dose aspirin compared with placebo.",
        "Mortality was 12% with aspirin and 24% with placebo.",
    ),
    (
        "Mortality was halved with aspirin compared with high-dose aspirin.",
        "Mortality was 24% with aspirin and 12% with high-dose aspirin.",
    ),
    (
        "Mortality was halved with high-dose aspirin compared with aspirin.",
        "Mortality was 24% with high-dose aspirin and 12% with aspirin.",
    ),
    ("28% of women died.", "Of 120 patients, 34 women died."),
    ("28% of patients died.", "Of 120 patients, 34 nearly died."),
    ("28% of patients died of stroke.", "Of 120 patients, 34 died."),
    ("34 of 100 patients died.", "Of 120 patients, 34 died."),
    ("Risk tripled in men.", "Risk rose from 4% to 12%."),
    ("Risk tripled.", "Risk in men rose from 4% to 12%."),
    ("Risk tripled.", "Risk rose from 4% to 12% in mice."),
    ("Risk tripled.", "Risk rose from 4% (95% CI 1-12%) to 12% (95% CI 4-30%), not a significant change."),
    ("Aspirin tripled the risk.", "Placebo raised the risk from 4% to 12%."),
    ("The risk tripled because of aspirin.", "The risk rose from 4% to 12%."),
    ("Blood pressure fell by 10 mmHg.", "Blood pressure fell from 140/90 to 130/80 mmHg."),
    ("Weight fell by 2.5 kg.", "Weight fell from 82.5 to 80 lb."),
    ("Weight fell by 2.5 lb.", "Weight fell from 82.5 kg to 80 kg."),
    ("Mortality was 1 in 8.", "Mortality was 18%."),
    ("50% of patients did not improve.", "Half of patients improved."),
    ("About 50% of patients improved.", "30% of patients improved."),
    ("Almost all patients improved.", "60% of patients improved."),
    ("A dose of 0.5 g was safe.", "A dose of 500 mg was unsafe."),
    ("A dose of 0.5 g was given twice.", "A dose of 500 mg was given once."),
    ("Vitamin D 1000 IU was given.", "Vitamin D 25 µg was given."),
    ("Temperature was 100 °F.", "Temperature was 38 °C."),
    ("The study lasted 52 weeks.", "The study lasted 2 years."),
    ("Levels were 5 mg/L.", "Levels were 5 mg/dL."),
    ("Levels were 0.05 g/L.", "Levels were 5 mg/L."),
    ("Cost was 2.4 million euros.", "Cost was $2,400,000."),
    # Coincidences of names, labels, years and dates.
    ("2 patients had diabetes.", "The patients had type 2 diabetes."),
    ("6 of 100 patients had raised interleukin.", "The patients had raised IL-6."),
    ("2019 patients were enrolled.", "Patients were enrolled in 2019."),
    ("3 of 4 patients were seen.", "Patients were seen on 3/4/2020."),
]

TRUE = [
    ("40 of 100 patients improved.", "40% of patients improved."),
    ("40% of patients improved.", "40 of 100 patients improved."),
    ("Two in five patients improved.", "40% of patients improved."),
    ("The dose was 0.005 g.", "The dose was 5 mg."),
    ("Treatment lasted 14 days.", "Treatment lasted two weeks."),
    ("Survival was 12%.", "Survival was 12.34%."),
    ("Mortality tripled.", "Mortality rose from 4% to 12%."),
    ("Mortality rose by 8 percentage points in 90 adults.", "Mortality rose from 4% to 12% in 90 adults."),
    ("Mortality fell by two thirds.", "Mortality fell from 12% to 4%."),
    ("28% of patients died.", "Of 120 patients, 34 died."),
    ("There were 2.4 million cases.", "There were 2,400,350 cases."),
]


@pytest.mark.parametrize("claim", ["More than 40% of patients improved.", "At least 45 of 100 patients improved."])
def test_a_bound_that_is_met_is_shown_by_the_words_and_is_no_result(claim: str) -> None:
    found = judge(claim, "48% of patients improved.")
    assert (found.label, [p.kind for p in found.proofs]) == ("supported", ["quote"])


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("40 of 100 patients improved.", "40% of patients improved."),
        (
            "Mortality was halved with aspirin compared with placebo.",
            "Mortality was 12% with aspirin and 24% with placebo.",
        ),
    ],
)
def test_figures_of_a_retracted_record_support_nothing_and_are_said_to_be_that(claim: str, source: str) -> None:
    found = judge(claim, source, (Notice("retracted", "1"),))
    assert (found.label, found.reason) == ("unsupported", "only_retracted")
    assert [(p.kind, p.shows) for p in found.proofs] == [("quote", "closest")]
    wrong = judge(claim.replace("40", "50").replace("halved", "doubled"), source, (Notice("retracted", "1"),))
    assert wrong.label == "unchecked"


def test_two_sources_whose_figures_differ_conflict() -> None:
    evidence = []
    for number, body in enumerate(("40% of patients improved.", "20% of patients improved."), 1):
        text, sections = assemble_text("A trial.", [("RESULTS", "RESULTS", body)])
        record = Record(str(number), 1, "A trial.", sections, text)
        evidence.append(Evidence(number, record, f"{number}:0-1", "", sections[-1].span, sections[-1].text, 1.0))
    claim = "40 of 100 patients improved."
    found = RulesJudge(VerifySettings()).judge(Case(claim_of(claim), claim, tuple(evidence), frozenset({"1", "2"})))
    assert (found.label, found.reason) == ("conflicting", "sources_disagree")
    assert {p.shows for p in found.proofs} == {"supports", "contradicts"}


@pytest.mark.parametrize(("claim", "source"), FALSE)
def test_a_false_claim_with_a_figure_of_the_source_is_not_supported(claim: str, source: str) -> None:
    assert judge(claim, source).label not in ("supported", "conflicting")


@pytest.mark.parametrize(("claim", "source"), TRUE)
def test_a_figure_in_another_form_is_supported_and_its_source_does_not_contradict_it(claim: str, source: str) -> None:
    assert judge(claim, source).label == "supported"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Mortality rose by 7.6 percentage points.", "Mortality rose from 4% to 12%."),
        ("Mortality rose by 190%.", "Mortality rose from 4% to 12%."),
        (
            "Mortality rose by 9 percentage points.",
            "Mortality rose from 4% to 12%. Adjusted, it was 9 percentage points.",
        ),
        ("0.34 of the patients improved.", "34.4% of the patients improved."),
    ],
)
def test_what_the_source_may_have_rounded_is_not_called_wrong(claim: str, source: str) -> None:
    assert judge(claim, source).label == "unchecked"


@pytest.mark.parametrize(("claim", "source"), TRUE)
def test_a_true_claim_is_not_supported_once_it_is_denied(claim: str, source: str) -> None:
    denied = f"It is not true that {claim[0].lower()}{claim[1:]}"
    assert judge(denied, source).label not in ("supported", "conflicting")
