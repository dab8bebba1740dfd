"""How a result explains itself: formula, substitution and value, step by step.

The steps are read from the formulas that computed the numbers (see ``notation``); this module
puts them in order and renders them as text, Markdown with LaTeX, and HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np

from mlsys_widgets.physics import notation
from mlsys_widgets.physics.domain import one_of
from mlsys_widgets.physics.notation import Notation
from mlsys_widgets.physics.result import Derived, Explained, Quantity, Result, derivable
from mlsys_widgets.physics.units import format_quantity


@dataclass(frozen=True)
class Step:
    """One quantity: what it is, how it follows, and what comes out."""

    quantity: Quantity
    #: The formula in symbols and with numbers in their place, by notation.
    formula: dict[Notation, str]
    substitution: dict[Notation, str]
    value: float | bool

    @property
    def shown(self) -> str:
        """The value as people read it."""
        return format_quantity(self.value, self.quantity.unit)

    @property
    def title(self) -> str:
        """What the quantity is, with a capital letter for the start of a line."""
        about = self.quantity.about
        return about[:1].upper() + about[1:]

    def symbolic(self, how: Notation) -> str:
        """The formula in symbols; a verdict follows from a comparison and is not equal to it."""
        sign = ": " if isinstance(self.value, bool) else " = "
        return how.symbol(self.quantity.symbol) + sign + self.formula[how]

    def equation(self, how: Notation) -> list[str]:
        """Left side, formula, substitution and value, written in one notation."""
        left = how.symbol(self.quantity.symbol)
        value = how.quantity(self.shown)
        chain = [left, self.formula[how], self.substitution[how], value]
        # A formula without inputs to fill in would only be said twice.
        return [part for k, part in enumerate(chain) if k == 0 or part != chain[k - 1]]


@dataclass(frozen=True)
class Derivation:
    """The steps that lead to a result. Printing it gives text; notebooks show it typeset."""

    steps: tuple[Step, ...]

    def to_text(self) -> str:
        """One line a step, in plain text."""
        return "\n".join(
            f"{_joined(step, notation.TEXT)}   ({step.quantity.about})" for step in self.steps
        )

    def to_latex(self) -> str:
        """An aligned block of equations, without the surrounding dollar signs."""
        rows = []
        for step in self.steps:
            left, *right = _sides(step, notation.LATEX)
            signs = [f"{sign} {side}" for sign, side in right]
            rows.append(rf"{left[1]} &{' '.join(signs)}")
        return "\\begin{aligned}\n" + " \\\\[4pt]\n".join(rows) + "\n\\end{aligned}"

    def to_markdown(self) -> str:
        """A list of steps, each with its equation in LaTeX."""
        return "\n".join(
            f"- **{step.title}**: ${_joined(step, notation.LATEX)}$" for step in self.steps
        )

    def to_html(self) -> str:
        """An ordered list that needs no MathJax and that a screen reader can follow."""
        rows = "".join(
            f"<li><span class='mlsys-about'>{escape(step.title)}</span> "
            f"<span class='mlsys-equation'>{_joined(step, notation.HTML)}</span></li>"
            for step in self.steps
        )
        return f"<ol class='mlsys-derivation'>{rows}</ol>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return self.to_html()


def _sides(step: Step, how: Notation) -> list[tuple[str, str]]:
    """The parts of an equation, each with the sign before it.

    What a comparison yields is a verdict, not an equal number, and gets an arrow or a colon.
    """
    left, *rest = step.equation(how)
    if isinstance(step.value, bool):
        *claims, verdict = rest
        arrow = r"\Rightarrow" if how is notation.LATEX else "→"
        return [("", left), *((":", claim) for claim in claims), (arrow, verdict)]
    return [("", left), *(("=", side) for side in rest)]


def _joined(step: Step, how: Notation) -> str:
    first, *rest = _sides(step, how)
    return first[1] + "".join(f"{'' if sign == ':' else ' '}{sign} {side}" for sign, side in rest)


def derive(result: Result, names: tuple[str, ...] = ()) -> Derivation:
    """Collect the steps to the named quantities of a result, or to all of them."""
    known = {step.name: step for step in derivable(type(result))}
    for name in names:
        one_of("quantity", name, known)
    seen: set[tuple[int, str]] = set()
    steps = [step for name in names or known for step in _steps_to(result, name, seen)]
    return Derivation(tuple(steps))


def _steps_to(result: Result, name: str, seen: set[tuple[int, str]]) -> Iterator[Step]:
    """The steps to one quantity, those it rests on first, across results if need be.

    Steps that were ``seen`` already are left out.
    """
    if (id(result), name) in seen:
        return
    seen.add((id(result), name))
    value = getattr(result, name)
    member = next((step for step in derivable(type(result)) if step.name == name), None)
    if member is None:
        # An input. If it was itself computed, its own derivation comes before.
        if isinstance(value, Explained):
            yield from _steps_to(value.result, value.name, seen)
        return
    for needed in notation.names_in(member.formula):
        yield from _steps_to(result, needed, seen)
    yield _step(result, member)


def _step(result: Result, member: Derived[float]) -> Step:
    value = getattr(result, member.name)
    called = result.inputs() | result.outputs()
    if any(isinstance(getattr(result, name), np.ndarray) for name in result.inputs()):
        raise ValueError(
            "a derivation explains one case, and this result holds arrays of them; "
            "compute the case you want to explain with single numbers"
        )

    def symbol(how: Notation, name: str) -> str:
        return how.symbol(called[name].symbol)

    def number(how: Notation, name: str) -> str:
        text = how.quantity(format_quantity(getattr(result, name), called[name].unit))
        return f"({text})" if getattr(result, name) < 0 else text

    def everywhere(leaf: Callable[[Notation, str], str]) -> dict[Notation, str]:
        styles = (notation.TEXT, notation.HTML, notation.LATEX)
        return {how: notation.write(member.formula, how, partial(leaf, how)) for how in styles}

    return Step(member.quantity, everywhere(symbol), everywhere(number), value)
