"""How a formula is written: as text, LaTeX, HTML and MathML, from the code that computes it.

A formula of the core is one Python function with one ``return``. This module reads that return
expression and writes it down twice: with symbols (the formula) and with numbers (the
substitution). What is shown can therefore never differ from what is computed.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

_GREEK = {
    "η": r"\eta ", "Δ": r"\Delta ", "σ": r"\sigma ", "α": r"\alpha ", "λ": r"\lambda ",
    "ρ": r"\rho ",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥"}
_LATEX_COMPARISONS = {"<": "<", "≤": r"\le", ">": ">", "≥": r"\ge"}

# Functions that a formula may call, and how people write them.
_FUNCTIONS = {
    "lesser": "min",
    "greater": "max",
    "natural_log": "ln",
    "erlang_c": "Erlang",
    "response_quantile": "quantile",
    "mean_value": "MVA",
}
#: Functions that LaTeX has a command for.
_COMMANDS = ("min", "max", "ln")

# Binding strength, weakest first; an operand that binds more weakly gets parentheses.
_COMPARE, _SUM, _PRODUCT, _POWER, _ATOM = range(5)


class Notation(ABC):
    """One way to write formulas. Subclasses say what each construct looks like."""

    @abstractmethod
    def symbol(self, symbol: str) -> str:
        """A symbol such as ``t_launch``: a base, and after the underscore its index."""

    @abstractmethod
    def quantity(self, text: str) -> str:
        """A number with its unit, already formatted."""

    @abstractmethod
    def quotient(self, above: str, below: str) -> str:
        """One expression over another."""

    @abstractmethod
    def power(self, base: str, exponent: str) -> str:
        """A base raised to a whole number."""

    @abstractmethod
    def raised(self, base: str, exponent: str) -> str:
        """A base raised to a quantity."""

    def root(self, inside: str) -> str:
        """The square root of an expression."""
        return f"√{self.parenthesized(inside)}"

    times = " × "
    plus = " + "
    minus = " − "
    #: Stands before the verdict that a comparison yields.
    arrow = "→"

    def number(self, text: str) -> str:
        """A bare number of the formula itself."""
        return text

    def parenthesized(self, inside: str) -> str:
        """An expression in parentheses."""
        return f"({inside})"

    def chain(self, sides: Sequence[tuple[str, str]]) -> str:
        """An equation of several sides, each with the sign before it; the first has none."""
        (_, first), *rest = sides
        return first + "".join(f"{'' if sign == ':' else ' '}{sign} {side}" for sign, side in rest)

    def call(self, function: str, arguments: list[str]) -> str:
        """A function such as ``min`` of its arguments."""
        return f"{function}({', '.join(arguments)})"

    def compare(self, left: str, sign: str, right: str) -> str:
        """A comparison such as ``I < I*``."""
        return f"{left} {sign} {right}"

    def ceiling(self, inside: str) -> str:
        """The next whole number."""
        return f"⌈{inside}⌉"

    #: Whether a quotient needs parentheses around sums (it does where it is written in one line).
    one_line = True


class TextNotation(Notation):
    """Plain text: ``min(P, B × I)``."""

    def symbol(self, symbol: str) -> str:
        return symbol

    def quantity(self, text: str) -> str:
        return text

    def quotient(self, above: str, below: str) -> str:
        return f"{above} / {below}"

    def power(self, base: str, exponent: str) -> str:
        return base + exponent.translate(_SUPERSCRIPTS)

    def raised(self, base: str, exponent: str) -> str:
        return f"{base}^{exponent}"


class HtmlNotation(TextNotation):
    """HTML: symbols in ``<var>``, indices in ``<sub>``, everything escaped."""

    def symbol(self, symbol: str) -> str:
        base, _, index = symbol.partition("_")
        lowered = f"<sub>{escape(index)}</sub>" if index else ""
        return f"<var>{escape(base)}{lowered}</var>"

    def quantity(self, text: str) -> str:
        return f'<span class="mlsys-quantity">{escape(text)}</span>'

    def power(self, base: str, exponent: str) -> str:
        return f"{base}<sup>{exponent}</sup>"

    def raised(self, base: str, exponent: str) -> str:
        return self.power(base, exponent)

    def compare(self, left: str, sign: str, right: str) -> str:
        return f"{left} {escape(sign)} {right}"


class LatexNotation(Notation):
    r"""LaTeX for MathJax: ``\min(P, B \cdot I)``."""

    times = r" \cdot "
    minus = " - "
    arrow = r"\Rightarrow"
    one_line = False

    def symbol(self, symbol: str) -> str:
        base, _, index = symbol.partition("_")
        starred = base.endswith("*")
        base = base.rstrip("*")
        letters = base
        for letter, command in _GREEK.items():
            letters = letters.replace(letter, command)
        if letters == base and len(base) > 1:
            letters = rf"\text{{{base}}}"
        if starred:
            letters += "^{*}"
        return letters.strip() + (rf"_{{\text{{{index}}}}}" if index else "")

    def quantity(self, text: str) -> str:
        number, _, unit = text.partition(" ")
        number = number.replace("%", r"\%").replace(",", "{,}").replace("×", r"\times ")
        if not number[-1:].isdigit() and not unit and number.isalpha():
            return rf"\text{{{number}}}"
        return number + (rf"\,\text{{{unit}}}" if unit else "")

    def quotient(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def raised(self, base: str, exponent: str) -> str:
        return self.power(base, exponent)

    def root(self, inside: str) -> str:
        return rf"\sqrt{{{inside}}}"

    def call(self, function: str, arguments: list[str]) -> str:
        inside = ", ".join(arguments)
        name = rf"\{function}" if function in _COMMANDS else rf"\operatorname{{{function}}}"
        return rf"{name}\left({inside}\right)"

    def ceiling(self, inside: str) -> str:
        return rf"\left\lceil {inside} \right\rceil"

    def compare(self, left: str, sign: str, right: str) -> str:
        return f"{left} {_LATEX_COMPARISONS[sign]} {right}"


class MathmlNotation(Notation):
    """MathML, which browsers set by themselves: ``<mfrac>`` and ``<msub>``.

    Each side of an equation is a formula of its own, because lines break between formulas and never
    within one.
    """

    times = "<mo>×</mo>"
    plus = "<mo>+</mo>"
    minus = "<mo>−</mo>"
    one_line = False

    def symbol(self, symbol: str) -> str:
        base, _, index = symbol.partition("_")
        letters = f"<mi>{escape(base.rstrip('*'))}</mi>"
        if base.endswith("*"):
            letters = f"<msup>{letters}<mo>*</mo></msup>"
        return f"<msub>{letters}<mtext>{escape(index)}</mtext></msub>" if index else letters

    def quantity(self, text: str) -> str:
        return f"<mtext>{escape(text)}</mtext>"

    def number(self, text: str) -> str:
        return f"<mn>{text}</mn>"

    def parenthesized(self, inside: str) -> str:
        return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"

    def quotient(self, above: str, below: str) -> str:
        return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"

    def power(self, base: str, exponent: str) -> str:
        return f"<msup>{base}<mn>{exponent}</mn></msup>"

    def raised(self, base: str, exponent: str) -> str:
        return f"<msup><mrow>{base}</mrow><mrow>{exponent}</mrow></msup>"

    def root(self, inside: str) -> str:
        return f"<msqrt>{inside}</msqrt>"

    def call(self, function: str, arguments: list[str]) -> str:
        return f"<mi>{function}</mi>{self.parenthesized('<mo>,</mo>'.join(arguments))}"

    def ceiling(self, inside: str) -> str:
        return f"<mrow><mo>⌈</mo>{inside}<mo>⌉</mo></mrow>"

    def compare(self, left: str, sign: str, right: str) -> str:
        return f"{left}<mo>{escape(sign)}</mo>{right}"

    def chain(self, sides: Sequence[tuple[str, str]]) -> str:
        signs = (f"<mo>{sign}</mo>" if sign else "" for sign, _ in sides)
        return " ".join(
            # Fractions as large as the rest, though the formula stands in a line of text.
            f'<math displaystyle="true">{sign}{side}</math>'
            for sign, (_, side) in zip(signs, sides, strict=True)
        )


TEXT = TextNotation()
HTML = HtmlNotation()
LATEX = LatexNotation()
MATHML = MathmlNotation()
#: Every way to write a formula.
NOTATIONS: tuple[Notation, ...] = (TEXT, HTML, LATEX, MATHML)

#: Turns the name of an input or of an earlier step into what stands for it in the formula.
Leaf = Callable[[str], str]


@cache
def expression(formula: Callable[[Any], object]) -> ast.expr:
    """The expression that a function with one ``return`` returns, read from its source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(formula)))
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0].value is None:
        raise TypeError(f"{formula.__qualname__} must be a single return to be shown as a formula")
    return returns[0].value


def names_in(formula: Callable[[Any], object]) -> list[str]:
    """The inputs and earlier steps that a formula reads, in the order it reads them."""
    return list(_names(formula))


@cache
def _names(formula: Callable[[Any], object]) -> tuple[str, ...]:
    found = [n.attr for n in ast.walk(expression(formula)) if isinstance(n, ast.Attribute)]
    return tuple(dict.fromkeys(found))


def write(formula: Callable[[Any], object], notation: Notation, leaf: Leaf) -> str:
    """Write a formula in a notation, with ``leaf`` deciding what stands for each name."""
    pieces = _template(formula, notation)
    return "".join(leaf(piece) if k % 2 else piece for k, piece in enumerate(pieces))


#: Stands before and after a name in a template; no formula holds it.
_SLOT = "\0"


@cache
def _template(formula: Callable[[Any], object], notation: Notation) -> tuple[str, ...]:
    """A formula as it is written but for its names: text and names in turn, text first.

    An instrument writes the same few formulas with every move, so each is walked only once.
    """
    writer = _Writer(notation, lambda name: f"{_SLOT}{name}{_SLOT}")
    return tuple(writer.write(expression(formula))[0].split(_SLOT))


class _Writer:
    """Walks an expression; each method gives the text and how tightly it binds."""

    def __init__(self, notation: Notation, leaf: Leaf) -> None:
        self.notation = notation
        self.leaf = leaf

    def write(self, node: ast.expr) -> tuple[str, int]:
        match node:
            case ast.Attribute(attr=name):
                return self.leaf(name), _ATOM
            case ast.Constant(value=int() | float() as value):
                return self.notation.number(f"{value:g}"), _ATOM
            case ast.Call(func=ast.Name(id="recovered_after" | "over_spare"), args=[cost, gain]):
                return self._quotient(cost, gain)
            case ast.Call(func=ast.Name(id="round_up"), args=[rounded]):
                return self.notation.ceiling(self.write(rounded)[0]), _ATOM
            case ast.Call(func=ast.Name(id="square_root"), args=[squared]):
                return self.notation.root(self.write(squared)[0]), _ATOM
            case ast.Call(func=ast.Name(id=name), args=arguments):
                inside = [self.write(argument)[0] for argument in arguments]
                return self.notation.call(_FUNCTIONS[name], inside), _ATOM
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                sides = self._inside(left, _SUM), self._inside(right, _SUM)
                return self.notation.compare(sides[0], _COMPARISONS[type(sign)], sides[1]), _COMPARE
            case ast.BinOp(left=above, op=ast.Div(), right=below):
                return self._quotient(above, below)
            case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=exponent)):
                return self.notation.power(self._inside(base, _ATOM), str(exponent)), _POWER
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                # Where an exponent is set small, it needs no parentheses.
                strength = _ATOM if self.notation.one_line else _SUM
                sides = self._inside(base, _ATOM), self._inside(exponent, strength)
                return self.notation.raised(*sides), _POWER
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                factors = self._inside(left, _PRODUCT), self._inside(right, _PRODUCT)
                return self.notation.times.join(factors), _PRODUCT
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._inside(left, _SUM) + self.notation.plus + self.write(right)[0], _SUM
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                subtracted = self._inside(right, _PRODUCT)
                return self._inside(left, _SUM) + self.notation.minus + subtracted, _SUM
        raise TypeError(f"a formula cannot hold {ast.unparse(node)!r}")

    def _inside(self, node: ast.expr, strength: int) -> str:
        text, binds = self.write(node)
        return text if binds >= strength else self.notation.parenthesized(text)

    def _quotient(self, above: ast.expr, below: ast.expr) -> tuple[str, int]:
        if self.notation.one_line:
            # Below the line even a product needs its parentheses: a / (b × c).
            return (
                self.notation.quotient(self._inside(above, _PRODUCT), self._inside(below, _POWER)),
                _PRODUCT,
            )
        return self.notation.quotient(self.write(above)[0], self.write(below)[0]), _PRODUCT
