"""Quotes found whatever the typography, and never when a word that matters differs or is cut off."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from medcite_core.answers import Claim, QuoteProof, Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, Span, assemble_text
from medcite_middleware.verification.plain_text import noise, plain
from medcite_middleware.verification.quotes import align_quote, find_quote, quoted_words
from medcite_middleware.verification.rules import RulesJudge

GOLDEN = Path(__file__).parent.parent / "golden" / "verification"
SOURCE = (
    "Background text. The eﬃcacy of β‑blockers in\nheart failure – with 10⁶ cells/mL – was “clear”: "
    "mortal-\nity did not rise (p < 0.05) in 47 of 104 patients. More text follows here."
)


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def pairs(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("words", "found", "state"),
    [
        ("The eﬃcacy of β‑blockers", "The eﬃcacy of β‑blockers", "verbatim"),
        ("the efficacy of β-blockers in heart failure", "The eﬃcacy of β‑blockers in\nheart failure", "repaired"),
        ('was "clear": mortality did not rise', "was “clear”: mortal-\nity did not rise", "repaired"),
        (
            "did  not\trise (p < 0.05) in 47 of 104 patients.",
            "did not rise (p < 0.05) in 47 of 104 patients.",
            "repaired",
        ),
        ("mortality did not rise (p<0.05)", "mortal-\nity did not rise (p < 0.05)", "repaired"),
    ],
)
def test_a_quote_is_found_across_typography_and_shown_as_the_source_has_it(words: str, found: str, state: str) -> None:
    alignment = align_quote(words, SOURCE)
    assert alignment.state == state
    assert alignment.span is not None
    assert alignment.span.of(SOURCE) == found
    assert bool(alignment.difference) == (state == "repaired")
    assert find_quote(words, SOURCE) == alignment.span


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("did rise (p < 0.05) in 47 of 104 patients.", "negation"),
        ("did not rise (p < 0.05) in 74 of 104 patients.", "number"),
        ("did not rise (p > 0.05) in 47 of 104 patients.", "comparison"),
        ("did not fall (p < 0.05) in 47 of 104 patients.", "direction"),
        ("heart failure - with 106 cells/mL", "number"),
        ("mortality did not rise (p < 0.05) in 47", "cut before “of 104”"),
        ("patients of 104 in 47 (p < 0.05) rise not did", ""),
        ("", ""),
        ("Nothing of this stands there at all, in any form whatever.", ""),
    ],
)
def test_a_quote_with_another_meaning_is_not_accepted_and_told_why(words: str, told: str) -> None:
    alignment = align_quote(words, SOURCE)
    assert find_quote(words, SOURCE) is None
    assert alignment.state == ("altered" if told else "not_found")
    assert alignment.difference.startswith(told)


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("X reduced mortality", "There was no evidence that X reduced mortality."),
        ("improved survival", "The drug failed to improve survival, and was never said to have improved survival."),
        ("X reduced tumour growth in rats", "X reduced tumour growth in rats but not in humans."),
        ("X reduced tumour growth", "X reduced tumour growth only in rats."),
        ("X reduced tumour growth", "X reduced tumour growth, although this was not significant."),
        ("X reduced tumour growth", "X reduced tumour growth (p = 0.41)."),
        ("X reduces tumour growth", "We hypothesised that X reduces tumour growth."),
        ("We gave 0", "We gave 0.5 mg daily."),
        ("5 mg daily", "We gave 0.5 mg daily."),
        ("It fell by 12", "It fell by 12.5%."),
        ("It fell by 12", "It fell by 12%."),
        ("20% of patients died", "Fewer than 20% of patients died."),
        ("5 °C was measured", "A mean of −5 °C was measured."),
        ("resistant cells died", "All non-resistant cells died."),
        ("X is toxic", "It isn't that X is toxic."),
        ("effective in adults", "It was ineffective in adults."),
        ("Mortality fell in women, pain rose in men", "Mortality fell in women, sleep improved, pain rose in men."),
        ("Mortality fell in men", "Mortality fell in women and was the same in men."),
        ("B was superior to A", "A was superior to B."),
        ("5 mm were given", "A dose of 5 mM were given"),
        ("No, statins helped", "No statins helped"),
        ("US troops were ill", "us troops were ill"),
        ("X is given in ineffective doses", "X is given in in effective doses"),
        ("The charts were filed in", "The charts were filled in"),
        ("The area was 5 m in all", "The area was 5 m² in all"),
        ("X lowers mortality", "Is it true that X lowers mortality?"),
        ("X lowers mortality", "It is a myth that X lowers mortality."),
        ("X lowers mortality", "X lowers mortality, a claim that was later disproved."),
        ("X lowered mortality by 5%", "X lowered mortality by 5% (95% CI −2 to 12)."),
        ("X lowers mortality", "Doubts remain that X lowers mortality."),
        ("A fell … C rose", "A fell, B stayed, C rose"),
        ("Median age was years", "Median age was [12] years"),
        ("Patients with type", "Patients with type 2 diabetes died."),
        ("X increased death", "X increased death anxiety."),
        ("Few patients died", "A few patients died."),
    ],
)
def test_a_quote_that_is_cut_joined_or_turned_never_passes(words: str, source: str) -> None:
    assert not align_quote(words, source, 75).stands


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("X reduced mortality", "Y failed. X reduced mortality, and Y did not."),
        ("reduced pain", "It did not improve sleep, but reduced pain."),
        ("improved survival", "The drug failed to improve survival. Later, the drug improved survival."),
        ("tumor growth was randomized", "In all, tumour growth was randomised."),
        ("P < 0.05 was significant.", "A value of p < 0.05 was significant"),
        ("The ratio was 0.5 in all", "The ratio was 0·5 in all"),
        ("The drug was modeled on it", "The drug was modelled on it"),
        ("Small-cell tumours were frequent", "Small cell tumours were frequent"),
        ("X lowered mortality by 5%", "X lowered mortality by 5% (95% CI 2 to 12)."),
        ("CO2 fell by 5 μg", "CO₂ fell by 5 µg"),
        ("results were good.", "RESULTS were good; they did not last."),
    ],
)
def test_a_quote_with_its_own_meaning_passes_though_the_text_around_it_denies_something(
    words: str, source: str
) -> None:
    assert align_quote(words, source).stands


def test_each_plain_character_knows_its_place() -> None:
    text = plain(SOURCE)
    for word, shown in (("efficacy", "eﬃcacy"), ("mortality", "mortal-\nity"), ("10⁶", "10⁶"), ("here.", "here.")):
        at = text.cased.index(word)
        assert text.span(at, at + len(word)).of(SOURCE) == shown


def test_a_number_after_a_line_break_is_no_line_number_unless_the_lines_count() -> None:
    assert noise("Mortality fell in\n12 patients.\nThe rest lived.") == ()
    assert not align_quote("Mortality fell in patients.", "Mortality fell in\n12 patients.").stands
    counted = "1 Mortality fell in\n2 patients who were\n3 treated."
    assert align_quote("Mortality fell in patients who were treated.", counted).state == "repaired"


@pytest.mark.parametrize("pair", pairs("FR-204-pairs.csv"))
def test_fr_204_a_changed_figure_unit_sign_negation_direction_or_subject_is_an_altered_quote(
    pair: dict[str, str],
) -> None:
    for threshold in (75.0, 90.0):
        alignment = align_quote(pair["claimed_quote"], pair["source"], threshold)
        assert alignment.state == "altered"
        assert alignment.difference
    assert align_quote(pair["source"], pair["source"]).state == "verbatim"


def test_fr_207_words_that_stand_nowhere_are_not_found_however_long_the_text() -> None:
    text = "Weekly sunlight exposure improved mood in 41% of patients. The pain was weak. " * 400
    assert align_quote(golden("FR-207-quote.txt").strip(), text, 75).state == "not_found"


def test_fr_208_words_in_a_long_text_are_found_at_their_place() -> None:
    sentence = "The drift was studied by seven laboratories using one reader. "
    text = "Filler sentence about other matters. " * 300 + sentence + "More filler text here. " * 300
    words = golden("FR-208-quote.txt").strip()
    alignment = align_quote(words, text)
    assert alignment.state == "verbatim"
    assert alignment.span is not None
    assert alignment.span.start == text.index(words)


@pytest.mark.parametrize("pair", pairs("FR-214-pairs.csv"))
def test_fr_214_an_antonym_is_no_quote(pair: dict[str, str]) -> None:
    assert not align_quote(pair["claim"], pair["source"], 75).stands


def test_fr_219_white_space_alone_is_repaired_and_an_invented_quote_is_not_found() -> None:
    source = golden("FR-219-source.txt")
    right, invented = (row["quote"] for row in pairs("FR-219-quotes.csv"))
    alignment = align_quote(right, source)
    assert (alignment.state, alignment.difference) == ("repaired", "differs in white space")
    assert align_quote(invented, source).state == "not_found"


def test_fr_225_noise_of_an_extraction_interrupts_a_quote_and_a_changed_figure_is_still_caught() -> None:
    source = golden("FR-225-noise.txt")
    right, changed = (row["quote"] for row in pairs("FR-225-quotes.csv"))
    alignment = align_quote(right, source)
    assert alignment.state == "repaired"
    assert alignment.difference == "interrupted by “41 et al. Test Rev 2018;9:77.”, “¹”"
    assert alignment.span is not None
    assert alignment.span.of(source) == source.strip()
    assert align_quote(changed, source).state == "altered"


def test_fr_226_a_dropped_not_is_altered_and_two_equal_places_are_ambiguous() -> None:
    sent = golden("FR-226-sent.txt")
    dropped = align_quote(json.loads(golden("FR-226-reply.json"))["source_quote"], sent)
    assert dropped.state == "altered"
    assert dropped.difference == "negation: source “not”, quoted “”"
    twice = align_quote("It wrote 'stop here'.", sent)
    assert twice.state == "ambiguous"
    assert twice.span is not None
    assert [s.of(sent) for s in (twice.span, *twice.others)] == ["It wrote ‘stop here’.", "It wrote 'stop here'."]


def test_fr_160_a_ligature_lost_in_extraction_is_repaired_and_shown_as_extracted() -> None:
    extracted = "The drug was ef ective in di ff erent groups."
    alignment = align_quote(golden("FR-160-claim.txt").strip(), extracted)
    assert alignment.state == "repaired"
    assert alignment.span is not None
    assert alignment.span.of(extracted) == extracted
    assert not align_quote("The drug was ineffective in different groups.", extracted).stands


def test_fr_162_a_ligature_character_is_found_by_plain_letters_at_its_place() -> None:
    extracted = "We compared the eﬃcacy of ﬂuoxetine and placebo."
    alignment = align_quote("efficacy of fluoxetine", extracted)
    assert alignment.state == "repaired"
    assert alignment.span is not None
    assert alignment.span.of(extracted) == "eﬃcacy of ﬂuoxetine"


def test_the_words_of_a_quotation_are_those_between_its_marks() -> None:
    assert quoted_words("“It rose by 3 %.” — Doe A, 2019 [1]") == "It rose by 3 %."
    assert quoted_words("It rose [1].") == "It rose."


def quotation(words: str, source: str) -> Verdict:
    text, sections = assemble_text("A title.", [("", "", source)])
    evidence = (Evidence(1, Record("7", 1, "A title.", sections, text), "", "", sections[1].span, source, 1.0),)
    said = f"“{words}” [1]"
    claim = Claim("c1", Span(0, len(said)), said, (1,), is_quotation=True)
    return RulesJudge(VerifySettings()).judge(Case(claim, said, evidence, needs_citation=True))


def test_the_verdict_of_a_quotation_tells_how_it_was_found() -> None:
    same = quotation("Mortality fell by 3%.", "Mortality fell by 3%. More follows.")
    assert (same.label, same.reason) == ("supported", "verbatim")
    repaired = quotation("The efficacy was high.", "The eﬃcacy was\u00a0high. More follows.")
    assert repaired.label == "supported"
    assert isinstance(repaired.proofs[0], QuoteProof)
    assert repaired.proofs[0].alignment == "repaired"
    assert repaired.proofs[0].difference == "differs in typography"
    twice = quotation("It rose.", "It rose. Others fell. It rose.")
    assert twice.label == "supported"
    assert "2 places" in twice.explanation


def test_an_altered_quotation_is_unsupported_and_the_difference_is_shown() -> None:
    verdict = quotation("Mortality fell by 31% in women.", "Mortality fell by 13% in women. More follows.")
    assert (verdict.label, verdict.reason) == ("unsupported", "quote_altered")
    assert "source “13”, quoted “31”" in verdict.explanation
    assert isinstance(verdict.proofs[0], QuoteProof)
    assert verdict.proofs[0].text == "Mortality fell by 13% in women."
    assert quotation("Penguins fly to the moon.", "Mortality fell by 13%.").reason == "not_in_sources"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_stands_in_the_plain_text_is_cut_out_of_the_original_where_it_stands(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "word",
        "ﬃ",
        "ﬁ",
        " ",
        "  ",
        "\n",
        "-\n",
        "\u00ad",
        "\u200b",
        "é",
        "e\u0301",
        "–",
        "“",
        "’",
        "10⁶",
        "½",
        "𝛼",
        "İ",
    ]
    text = "".join(rng.choice(pieces) for _ in range(60))
    flat = plain(text)
    for _ in range(40):
        start = rng.randrange(len(flat.cased))
        end = rng.randrange(start + 1, len(flat.cased) + 1)
        span = flat.span(start, end)
        assert 0 <= span.start < span.end <= len(text)
        again = plain(span.of(text)).cased.strip()
        # A ligature or a fraction is never cut in two, so that a little more may come out of it.
        assert flat.cased[start:end].strip() in again
        assert len(again) <= end - start + 4
