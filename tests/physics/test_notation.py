"""Formulas as people write them, read from the code that computes them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation
from mlsys_widgets.physics.domain import (
    greater,
    lesser,
    natural_log,
    over_spare,
    recovered_after,
    round_up,
    square_root,
)
from mlsys_widgets.physics.queueing import erlang_c


def test_latex_as_people_write_it() -> None:
    latex = ph.devices["h100-sxm"].ridge("fp16").derivation().to_latex()
    assert r"I^{*} &= \frac{P}{B}" in latex
    assert r"\frac{989\,\text{TFLOPS}}{3.35\,\text{TB/s}} = 295.2\,\text{FLOP/B}" in latex
    saved = ph.deployment(30, 1450, 2150, per_day=1e6, days=1).derivation("roi_positive")
    assert r"n \ge N" in saved.to_latex()
    assert "133{,}607" in saved.to_latex()


def test_html_escapes_and_marks_up() -> None:
    html = ph.roofline(1, 989e12, 3.35e12).derivation("memory_bound").to_html()
    assert "&lt;" in html
    delta = ph.break_even(30, 1450, 2150).derivation().to_html()
    assert "<var>R<sub>eager</sub></var>" in delta


# Formulas to write down; ``self`` is whatever has the quantities.


def product_of_sums(self: Any) -> Any:
    return (self.a + self.b) * (self.c - (self.d - self.e))


def quotient_of_products(self: Any) -> Any:
    return self.a * self.b / (self.c * self.d) ** 2


def squared(self: Any) -> Any:
    return self.a * self.a


def rounded(self: Any) -> Any:
    return lesser(round_up(self.a / self.b), greater(self.c, recovered_after(self.d, self.e)))


def raised(self: Any) -> Any:
    return 1 - (1 - self.a) ** self.b


def called(self: Any) -> Any:
    return over_spare(natural_log(self.a), 1 - erlang_c(self.b, self.c))


def rooted(self: Any) -> Any:
    return 2 ** (self.a - 1) - square_root(self.b + self.c**2)


def compared(self: Any) -> Any:
    return self.a + 1 >= self.b


@pytest.mark.parametrize(
    ("formula", "text", "latex"),
    [
        (product_of_sums, "(a + b) × (c − (d − e))", r"(a + b) \cdot (c - (d - e))"),
        (quotient_of_products, "a × b / (c × d)²", r"\frac{a \cdot b}{(c \cdot d)^{2}}"),
        (
            rounded,
            "min(⌈a / b⌉, max(c, d / e))",
            r"\min\left(\left\lceil \frac{a}{b} \right\rceil, "
            r"\max\left(c, \frac{d}{e}\right)\right)",
        ),
        (raised, "1 − (1 − a)^b", "1 - (1 - a)^{b}"),
        (
            called,
            "ln(a) / (1 − Erlang(b, c))",
            r"\frac{\ln\left(a\right)}{1 - \operatorname{Erlang}\left(b, c\right)}",
        ),
        (rooted, "2^(a − 1) − √(b + c²)", r"2^{a - 1} - \sqrt{b + c^{2}}"),
        (compared, "a + 1 ≥ b", r"a + 1 \ge b"),
    ],
)
def test_parentheses_stand_where_they_are_needed(formula: Any, text: str, latex: str) -> None:
    assert notation.write(formula, notation.TEXT, str) == text
    assert notation.write(formula, notation.LATEX, str) == latex


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        (
            quotient_of_products,
            "<mfrac><mrow>a<mo>×</mo>b</mrow><mrow><msup><mrow><mo>(</mo>c<mo>×</mo>d<mo>)</mo>"
            "</mrow><mn>2</mn></msup></mrow></mfrac>",
        ),
        (
            raised,
            "<mn>1</mn><mo>−</mo><msup><mrow><mrow><mo>(</mo><mn>1</mn><mo>−</mo>a<mo>)</mo></mrow>"
            "</mrow><mrow>b</mrow></msup>",
        ),
        (
            rooted,
            "<msup><mrow><mn>2</mn></mrow><mrow>a<mo>−</mo><mn>1</mn></mrow></msup><mo>−</mo>"
            "<msqrt>b<mo>+</mo><msup>c<mn>2</mn></msup></msqrt>",
        ),
        (compared, "a<mo>+</mo><mn>1</mn><mo>≥</mo>b"),
    ],
)
def test_mathml_as_browsers_set_it(formula: Any, written: str) -> None:
    assert notation.write(formula, notation.MATHML, str) == written


def test_every_formula_is_whole_mathml_that_breaks_between_its_sides() -> None:
    for law in (ph.iron_law(1e8, 4e9, "h100-sxm"), ph.roofline(1, 989e12, 3.35e12)):
        for step in law.derivation().steps:
            page = ET.fromstring(f"<p>{step.written(notation.MATHML)}</p>")
            assert [each.tag for each in page] == ["math"] * len(step.equation(notation.MATHML))
            # Nothing but tags of MathML stands between the tags: a bare word would not be set.
            rows = [each for each in page.iter() if each.tag in ("math", "mrow", "mfrac", "msub")]
            assert not any((row.text or "").strip() for row in rows)
            assert not any((each.tail or "").strip() for each in page.iter())


def test_the_names_of_a_formula_are_those_it_reads_each_once() -> None:
    assert set(notation.names_in(product_of_sums)) == set("abcde")
    assert notation.names_in(squared) == ["a"]


def branching(self: Any) -> Any:
    if self.a:
        return self.b
    return self.c


def calling(self: Any) -> Any:
    return [self.a]


def test_what_is_no_formula_is_refused() -> None:
    with pytest.raises(TypeError, match="branching must be a single return"):
        notation.expression(branching)
    with pytest.raises(TypeError, match="a formula cannot hold"):
        notation.write(calling, notation.TEXT, str)


def test_symbols_and_numbers_in_latex() -> None:
    assert notation.LATEX.symbol("t_launch") == r"t_{\text{launch}}"
    assert notation.LATEX.symbol("MFU") == r"\text{MFU}"
    assert notation.LATEX.symbol("η") == r"\eta"
    assert notation.LATEX.quantity("57.8%") == r"57.8\%"
    assert notation.LATEX.quantity("never") == r"\text{never}"
    assert notation.HTML.symbol("<b>") == "<var>&lt;b&gt;</var>"


def test_symbols_in_mathml() -> None:
    assert notation.MATHML.symbol("I*") == "<msup><mi>I</mi><mo>*</mo></msup>"
    assert notation.MATHML.symbol("t_launch") == "<msub><mi>t</mi><mtext>launch</mtext></msub>"
    assert notation.MATHML.symbol("<b>") == "<mi>&lt;b&gt;</mi>"
    assert notation.MATHML.quantity("a & b") == "<mtext>a &amp; b</mtext>"
