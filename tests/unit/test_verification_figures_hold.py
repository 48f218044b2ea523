"""A model's *supported* falls when a figure of the claim is not borne out by the words that it shows."""

from __future__ import annotations

import pytest

from medcite_middleware.verification.figures import figures_hold


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Half a gram (500 mg) was given.", "They took 0.5 g a day."),
        ("45% of patients improved.", "Improvement was seen in 47 of 104."),
        ("More than 40% improved.", "Improvement was seen in 45%."),
        ("The effect was significant (p < 0.05).", "It was significant (p = 0.03)."),
        ("In 2019 three groups of type 2 diabetics were seen.", "Type 2 diabetics were seen in 2019."),
        ("Nothing was counted.", "Nor here."),
    ],
)
def test_figures_that_the_words_bear_out_hold(claim: str, text: str) -> None:
    assert figures_hold(claim, [text]) == ()


@pytest.mark.parametrize(
    ("claim", "text", "figure"),
    [
        ("5 g was given.", "They took 5 mg a day.", "5 g"),
        ("45% improved.", "Improvement was seen in 54%.", "45%"),
        ("Weight fell by 4 kg.", "Weight fell by 4%.", "4 kg"),
        ("The odds ratio was 0.7.", "The hazard ratio was 0.7.", "0.7"),
        ("Exactly 35% came.", "Attendance was 32 to 46 percent.", "35%"),
        ("45% improved.", "About 45% improved.", "45%"),
        ("It was seen in 2018.", "It was seen in 2019.", "2018"),
    ],
)
def test_a_figure_that_they_do_not_bear_out_is_named(claim: str, text: str, figure: str) -> None:
    (told,) = figures_hold(claim, [text])
    assert f"The figure {figure} does not stand" in told
