"""Inline markup and MathML lose no word, no space between words and no sign."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_ingestion.inline_text import plain_text, shifted


def text_of(xml: str) -> str:
    wrapped = f'<t xmlns:mml="http://www.w3.org/1998/Math/MathML">{xml}</t>'
    return plain_text(ElementTree.fromstring(wrapped))


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("10<sup>6</sup> cells", "10⁶ cells"),
        ("10<sup>-3</sup> M", "10⁻³ M"),
        ("10<sup>−3</sup> M", "10⁻³ M"),
        ("2<sup>n</sup>", "2ⁿ"),
        ("Ca<sup>2+</sup>", "Ca²⁺"),
        ("10<sup>0.4</sup>", "10^(0.4)"),
        ("H<sub>2</sub>O and V<sub>max</sub>", "H₂O and V_(max)"),
        ("IC<sub>50</sub>", "IC₅₀"),
        ("<sup>99m</sup>Tc", "^(99m)Tc"),
        ("the 3<sup>rd</sup> day", "the 3rd day"),
        ("x<sup>th</sup>", "xth"),
        ("Drug<sup>®</sup> one", "Drug® one"),
        ("10<sup> 6 </sup>cells", "10 ⁶ cells"),
        ("was <i>not</i> superior", "was not superior"),
        ("a<sup/>b", "ab"),
        ("<b>multi</b><b>ple</b>", "multiple"),
        ("<b>One line</b><b>two</b>", "One line two"),
        ("a\n      b\tc", "a b c"),
        ("5 mg", "5 mg"),
        ("<i><b>10</b><sup><i>6</i></sup></i>", "10⁶"),
    ],
)
def test_markup_becomes_text(xml: str, text: str) -> None:
    assert text_of(xml) == text


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10⁶"),
        ("<msub><mi>x</mi><mi>max</mi></msub>", "x_(max)"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac>", "(a+1)/2"),
        ("<msqrt><mi>x</mi></msqrt>", "√x"),
        ("<mi>p</mi><mo>&lt;</mo><mn>0.05</mn>", "p<0.05"),
        (
            "<mmultiscripts><mi>Ga</mi><mprescripts/><none/><mn>68</mn></mmultiscripts>",
            "⁶⁸Ga",
        ),
        ("<mrow>\n  <mn>5</mn>\n</mrow>", "5"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "1 2"),
        ("<semantics><mn>7</mn><annotation>\\seven</annotation></semantics>", "7"),
    ],
)
def test_mathml_keeps_what_it_means(xml: str, text: str) -> None:
    qualified = xml.replace("</", "\0").replace("<", "<mml:").replace("\0", "</mml:")
    assert text_of(f"<mml:math>{qualified}</mml:math>") == text


@given(st.text(alphabet="0123456789abn+-=(). ", min_size=1), st.sampled_from(["sup", "sub"]))
def test_a_shifted_piece_never_reads_as_a_plain_continuation(piece: str, shift: str) -> None:
    new = shifted(piece, "sup" if shift == "sup" else "sub")
    if any(char.isalnum() for char in piece):
        assert new.strip() != piece.strip()
        assert not new.strip()[0].isascii() or new.strip()[0] in "^_"
    assert new.startswith(piece[: len(piece) - len(piece.lstrip())])
