"""Units of measure as abstracts write them, and whether two of them measure the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

# Written form → name in the unit library (pint). Case matters where it does in the SI: mM is not mm.
_SYMBOLS = {
    **{
        s: s for s in "kg g mg ng pg km m cm mm nm mol mmol nmol pmol kcal kJ J kPa Pa Hz kHz MHz Gy mGy Sv mSv".split()
    },
    **dict.fromkeys("µg μg mcg ug".split(), "microgram"),
    **dict.fromkeys("µm μm um".split(), "micrometer"),
    **dict.fromkeys("µmol μmol umol".split(), "micromole"),
    **dict.fromkeys("l L".split(), "liter"),
    **dict.fromkeys("dl dL".split(), "deciliter"),
    **dict.fromkeys("ml mL cc".split(), "milliliter"),
    **dict.fromkeys("µl μl µL μL uL".split(), "microliter"),
    **dict.fromkeys("mmHg".split(), "mmHg"),
    **dict.fromkeys("mM".split(), "millimolar"),
    **dict.fromkeys("µM μM".split(), "micromolar"),
    **dict.fromkeys("nM".split(), "nanomolar"),
    **dict.fromkeys("°C".split(), "degC"),
    "m2": "meter**2",
    "m²": "meter**2",
    "mm3": "millimeter**3",
    "mm³": "millimeter**3",
}
_WORDS = {
    **dict.fromkeys("second seconds sec s".split(), "second"),
    **dict.fromkeys("minute minutes min mins".split(), "minute"),
    **dict.fromkeys("hour hours h hr hrs".split(), "hour"),
    **dict.fromkeys("day days d".split(), "day"),
    **dict.fromkeys("week weeks wk wks".split(), "week"),
    **dict.fromkeys("month months mo".split(), "month"),
    **dict.fromkeys("year years yr yrs y".split(), "year"),
    **dict.fromkeys("gram grams gramme grammes".split(), "gram"),
    **dict.fromkeys("milligram milligrams milligramme milligrammes".split(), "milligram"),
    **dict.fromkeys("microgram micrograms".split(), "microgram"),
    **dict.fromkeys("kilogram kilograms kilos".split(), "kilogram"),
    **dict.fromkeys("tonne tonnes t".split(), "tonne"),
    **dict.fromkeys("liter liters litre litres".split(), "liter"),
    **dict.fromkeys("milliliter milliliters millilitre millilitres".split(), "milliliter"),
    **dict.fromkeys("meter meters metre metres".split(), "meter"),
    **dict.fromkeys("centimeter centimeters centimetre centimetres".split(), "centimeter"),
    **dict.fromkeys("millimeter millimeters millimetre millimetres".split(), "millimeter"),
    **dict.fromkeys("kilometer kilometers kilometre kilometres".split(), "kilometer"),
    **dict.fromkeys("calories kilocalories".split(), "kilocalorie"),
    "bpm": "bpm",
    "IU": "IU",
    "U": "U",
}
_NAMES = {**_SYMBOLS, **_WORDS}
_MONEY = {
    **dict.fromkeys("$ US$ USD dollar dollars".split(), "USD"),
    **dict.fromkeys("€ EUR euro euros".split(), "EUR"),
    **dict.fromkeys("£ GBP pounds".split(), "GBP"),
}
_OPAQUE = frozenset("IU U bpm".split())
"""Units that the library does not know, or knows as something else: the same only when written the same."""


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_ONE = rf"(?:{_alternatives(_NAMES)})"
UNIT = rf"(?:{_ONE}(?:\s?/\s?(?:\d+\s)?{_ONE}|\sper\s{_ONE}|·{_ONE})*)(?![\w/])"
"""Pattern of a unit after a numeral."""
MONEY_BEFORE = r"(?:US\$|\$|€|£|(?:USD|EUR|GBP)\s?)"
MONEY_AFTER = rf"(?:{_alternatives(name for name in _MONEY if name.isalpha() or name == '€')})\b"


def unit_name(written: str) -> str:
    """The unit library's expression for a written unit: `mg/dL` → `mg/deciliter`."""
    parts = re.split(r"(\s?/\s?|\sper\s|·)", written.strip())
    names = []
    for part in parts:
        if re.fullmatch(r"\s?/\s?|\sper\s", part):
            names.append("/")
        elif part == "·":
            names.append("*")
        else:
            number = re.match(r"\d+\s", part)
            names.append(f"({number.group().strip()}*{_NAMES[part[number.end() :]]})" if number else _NAMES[part])
    return "".join(names)


def money_name(written: str) -> str:
    """The code of a currency: `$` → `USD`."""
    plain = written.strip()
    return _MONEY.get(plain) or _MONEY.get(plain.lower()) or _MONEY.get(plain.upper()) or plain


@lru_cache(maxsize=1024)
def factor(unit: str, other: str) -> Decimal | None:
    """What a value in `unit` is multiplied by to be in `other`; None when the two do not measure the same thing."""
    if unit == other:
        return Decimal(1)
    if (_OPAQUE | {"degC"}) & set(re.findall(r"\w+", f"{unit} {other}")):
        return None
    registry = _registry()
    one, two = registry.parse_expression(unit), registry.parse_expression(other)
    if one.dimensionality != two.dimensionality:
        return None
    return Decimal(f"{float((one / two).to_base_units().magnitude):.12g}")


@cache
def _registry() -> Any:
    import pint  # a part of a second: only when two units differ

    return pint.UnitRegistry()
