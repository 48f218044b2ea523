"""Short forms that a text defines itself."""

from __future__ import annotations

import pytest

from medcite_core.abbreviations import MAX_SHORT, abbreviations
from medcite_ingestion.demo import demo_records


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Hematoma volume (HV) fell by 12.55 mL.", "HV", "Hematoma volume"),
        ("patients with chronic subdural hematoma (CSDH) were treated", "CSDH", "chronic subdural hematoma"),
        ("levels of tumour necrosis factor α (TNF-α) rose", "TNF-α", "tumour necrosis factor α"),
        ("anti-tumor necrosis factor (TNF) therapy", "TNF", "anti-tumor necrosis factor"),
        ("randomized controlled trials (RCTs; n = 3)", "RCTs", "randomized controlled trials"),
        ("odds ratio (OR, 1.2; 95% CI, 0.9-1.4)", "OR", "odds ratio"),
        ("body mass index [BMI] above 30", "BMI", "body mass index"),
        ("HV (hematoma volume) was measured", "HV", "hematoma volume"),
        ("PD-L1 (programmed death-ligand 1) expression", "PD-L1", "programmed death-ligand 1"),
        ("It was (“HV”) hematoma. The hematoma volume (“HV”) grew", "HV", "hematoma volume"),
    ],
)
def test_a_short_form_is_read_with_the_words_it_stands_for(text: str, short: str, long: str) -> None:
    found = abbreviations(text)
    assert [(a.short, a.long) for a in found] == [(short, long)]
    assert found[0].short_span.of(text) == short
    assert found[0].long_span.of(text) == long


@pytest.mark.parametrize(
    "text",
    [
        "The difference was significant (P < 0.05).",
        "as before (Fig 1) and in the table (n = 12)",
        "The mean (range) was 12 mg (kg).",
        "Patients died. Later (PDL) nothing",  # the letters would have to be taken from the sentence before
        "the HV group (HV) was small",
        "reactions involving iron (II) and acids",
        "rats (Charles River Laboratories, Wilmington, MA)",
        "",
    ],
)
def test_other_brackets_define_nothing(text: str) -> None:
    assert abbreviations(text) == ()


def test_in_the_demo_corpus_every_span_slices_its_text_and_the_letters_stand_in_order() -> None:
    found = [(record, a) for record in demo_records() for a in abbreviations(record.text)]
    assert len(found) > 1000
    for record, a in found:
        assert a.short_span.of(record.text) == a.short
        assert a.long_span.of(record.text) == a.long
        assert 2 <= len(a.short) <= MAX_SHORT
        rest = iter(a.long.casefold())
        assert all(char in rest for char in a.short.casefold() if char.isalnum()), (a.short, a.long)
