"""Claims that a machine can read out of a sentence: comparisons of two numbers, and equations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.labs.shown_numbers import Shown, numbers_in

#: Rounding of both sides of a comparison or an equation.
ROUNDED = 0.03

_CODE = re.compile(r"`[^`]*`|\$\$.*?\$\$|\$(?![\d\s])[^$\n]*\$|https?://\S+", re.S)


def without_code(text: str) -> str:
    """The text with § for formulas, code and addresses."""
    return _CODE.sub("§", text)


_MORE = "more|larger|greater|longer|higher|bigger|above|over"
_LESS = "less|smaller|fewer|shorter|lower|below|under"
_NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?"
_UNIT = r"(?:\s?(?:%|×|[nµm]?s\b|[KMGT]?B(?:/s)?\b|[KMGT]?FLOP(?:S|/s|/B)?\b|[a-z]+))?"
_COMPARED = re.compile(
    rf"(?P<one>{_NUMBER}{_UNIT})(?:,? which)? (?:is|are|lies|lie|stays|stay)"
    rf" (?:(?:far|well|still|much|just|already) )?(?P<how>{_MORE}|{_LESS})(?: than)?"
    rf" (?:the |your |its )?(?P<two>{_NUMBER}{_UNIT})"
)
_EQUATION = re.compile(
    rf"(?<![×/+−=*] )(?P<one>{_NUMBER}{_UNIT}) (?P<how>[×/+−]) (?P<two>{_NUMBER}{_UNIT})"
    rf" = (?P<three>{_NUMBER}{_UNIT})"
)


def is_read(text: str) -> bool:
    """Whether a comparison or an equation of the text can be read by a machine."""
    plain = without_code(text)
    return bool(_COMPARED.search(plain) or _EQUATION.search(plain))


def false_claims(text: str) -> Iterator[str]:
    """Comparisons and equations of a text that do not hold."""
    plain = without_code(text)
    for found in _COMPARED.finditer(plain):
        one, two = (_first(found[name]) for name in ("one", "two"))
        if one.dimension != two.dimension:
            continue
        more = found["how"] in _MORE.split("|")
        if (one.value > two.value) is not more or one.value == two.value:
            yield f"“{found[0]}”"
    for found in _EQUATION.finditer(plain):
        numbers = [_first(found[name]) for name in ("one", "two", "three")]
        # Units may cancel or be left out, so one of the two readings must hold.
        if not any(_holds(found["how"], *values) for values in (
            [number.value for number in numbers],
            [float(n.words.replace(",", "").replace("−", "-")) for n in numbers],
        )):  # fmt: skip
            yield f"“{found[0]}”"
    for sentence in re.split(r"(?<=[.!?])\s", plain):
        if re.search(r"\b(?:share|fraction|utilization|of the time|of its peak)\b", sentence):
            for number in numbers_in(sentence):
                if number.dimension == "ratio" and number.value > 1 and _is_percent(
                    number, sentence
                ):  # fmt: skip
                    yield f"more than all: “{number.words}%” in “{sentence[:100]}”"


def _first(words: str) -> Shown:
    return numbers_in(words)[0]


def _is_percent(number: Shown, sentence: str) -> bool:
    return bool(re.search(rf"{re.escape(number.words)}\s?(?:%|percent)", sentence))


def _holds(how: str, one: float, two: float, three: float) -> bool:
    made = {"×": one * two, "/": one / two if two else 0.0, "+": one + two, "−": one - two}[how]
    return abs(made - three) <= ROUNDED * max(abs(one), abs(two), abs(three)) if how in "+−" else (
        abs(made - three) <= ROUNDED * abs(three)
    )  # fmt: skip
