"""Explanations: formula, substitution and value, step by step.

A result derives its own steps (see ``result``) from the formulas that computed its numbers. This
module says what a step holds and renders steps as text, Markdown with LaTeX, and HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from mlsys_widgets.physics import notation
from mlsys_widgets.physics.notation import Notation
from mlsys_widgets.wording.units import format_quantity


@dataclass(frozen=True)
class Quantity:
    """The names of a number of a result, in formulas and in words.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> for quantity in ph.Roofline.inputs().values():
    ...     print(f"{quantity.symbol}: {quantity.about}, in {quantity.unit}")
    P: peak compute rate, in FLOP/s
    B: memory bandwidth, in B/s
    I: arithmetic intensity, in FLOP/B
    >>> ph.Roofline.outputs()["attainable"]
    Quantity(name='attainable', symbol='A', unit='FLOP/s', about='attainable rate')
    """

    name: str  #: Its name in Python: the attribute of the result.
    symbol: str  #: Its symbol in formulas; what follows an underscore is an index.
    unit: str  #: Its unit, one of those in ``format_quantity``.
    about: str  #: What it is, in a few words.


class EveryNotation(Mapping[Notation, str]):
    """A formula in every notation, each written when it is first asked for.

    Most readers want one: a panel its HTML, a terminal its text.
    """

    def __init__(self, write: Callable[[Notation], str]) -> None:
        self._write = write
        self._written: dict[Notation, str] = {}

    def __getitem__(self, how: Notation) -> str:
        if how not in self._written:
            self._written[how] = self._write(how)
        return self._written[how]

    def __iter__(self) -> Iterator[Notation]:
        return iter(notation.NOTATIONS)

    def __len__(self) -> int:
        return len(notation.NOTATIONS)


@dataclass(frozen=True)
class Step:
    """One quantity: what it is, how it follows, and what comes out.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> h200 = ph.devices["h200-sxm"]
    >>> (step,) = h200.ridge("fp16").derivation().steps
    >>> step.title, step.shown
    ('Ridge point', '206 FLOP/B')
    >>> from mlsys_widgets.physics.notation import TEXT
    >>> step.symbolic(TEXT)
    'I* = P / B'
    >>> step.equation(TEXT)
    ['I*', 'P / B', '989 TFLOPS / 4.8 TB/s', '206 FLOP/B']
    """

    quantity: Quantity  #: What it is called.
    #: ``formula``, ``substitution``: the formula in symbols, and with numbers in their place.
    formula: Mapping[Notation, str]
    substitution: Mapping[Notation, str]
    value: float | bool  #: What comes out, in SI units.

    @property
    def shown(self) -> str:
        """The value as people read it."""
        return format_quantity(self.value, self.quantity.unit)

    @property
    def title(self) -> str:
        """The words of the quantity, with a capital letter for the start of a line."""
        about = self.quantity.about
        return about[:1].upper() + about[1:]

    def symbolic(self, how: Notation) -> str:
        """The formula in symbols; a verdict follows from a comparison and is not equal to it."""
        sign = ":" if isinstance(self.value, bool) else "="
        return how.chain([("", how.symbol(self.quantity.symbol)), (sign, self.formula[how])])

    def equation(self, how: Notation) -> list[str]:
        """Left side, formula, substitution and value, written in one notation."""
        left = how.symbol(self.quantity.symbol)
        value = how.quantity(self.shown)
        chain = [left, self.formula[how], self.substitution[how], value]
        # A formula without inputs to fill in would only appear twice.
        return [part for k, part in enumerate(chain) if k == 0 or part != chain[k - 1]]

    def sides(self, how: Notation) -> list[tuple[str, str]]:
        """The parts of the equation, each with the sign before it.

        What a comparison yields is a verdict, not an equal number, and gets an arrow or a colon.
        """
        left, *rest = self.equation(how)
        if isinstance(self.value, bool):
            *claims, verdict = rest
            return [("", left), *((":", claim) for claim in claims), (how.arrow, verdict)]
        return [("", left), *(("=", side) for side in rest)]

    def written(self, how: Notation) -> str:
        """The whole equation in one notation."""
        return how.chain(self.sides(how))


@dataclass(frozen=True)
class Derivation:
    r"""The steps that lead to a result. Printing it gives text; notebooks show it typeset.

    Every result has one, and so has every number that was read from a result.

    Examples
    --------
    Why do Llama-3.1-8B's weights not fit on a phone?

    >>> from mlsys_widgets import physics as ph
    >>> why = ph.capacity(16e9, "mobile-npu").derivation()
    >>> print(why)
    fill = D / C = 16 GB / 8 GB = 2×   (size as a multiple of the capacity)
    OOM: D > C: 16 GB > 8 GB → yes   (out of memory if it is larger than the capacity)
    >>> print(why.to_latex())
    \begin{aligned}
    \text{fill} &= \frac{D}{C} = \frac{16\,\text{GB}}{8\,\text{GB}} = 2\times  \\[4pt]
    \text{OOM} &: D > C : 16\,\text{GB} > 8\,\text{GB} \Rightarrow \text{yes}
    \end{aligned}
    >>> [step.quantity.name for step in why.steps]
    ['fill', 'out_of_memory']
    """

    steps: tuple[Step, ...]  #: In an order in which each follows from those before it.

    def to_text(self) -> str:
        """One line per step, in plain text."""
        return "\n".join(
            f"{step.written(notation.TEXT)}   ({step.quantity.about})" for step in self.steps
        )

    def to_latex(self) -> str:
        """An aligned block of equations, without the surrounding dollar signs."""
        rows = []
        for step in self.steps:
            left, *right = step.sides(notation.LATEX)
            signs = [f"{sign} {side}" for sign, side in right]
            rows.append(rf"{left[1]} &{' '.join(signs)}")
        return "\\begin{aligned}\n" + " \\\\[4pt]\n".join(rows) + "\n\\end{aligned}"

    def to_markdown(self) -> str:
        """A list of steps, each with its equation in LaTeX."""
        return "\n".join(
            f"- **{step.title}**: ${step.written(notation.LATEX)}$" for step in self.steps
        )

    def equations(self, how: Notation) -> list[str]:
        """Each step as one equation: symbol, formula, numbers, value."""
        return [step.written(how) for step in self.steps]

    def to_html(self, how: Notation = notation.HTML) -> str:
        """An ordered list that needs no MathJax and that a screen reader can follow.

        In MathML it is typeset, but a page that cleans what it shows keeps no MathML.
        """
        rows = "".join(
            f"<li><span class='mlsys-about'>{escape(step.title)}</span> "
            f"<span class='mlsys-equation'>{equation}</span></li>"
            for step, equation in zip(self.steps, self.equations(how), strict=True)
        )
        return f"<ol class='mlsys-derivation'>{rows}</ol>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return self.to_html()
