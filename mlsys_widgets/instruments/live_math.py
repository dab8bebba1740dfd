"""The math of an instrument with its present numbers in it: formula, substitution, result.

The step that decides the result is marked, and one line says which input moves it most.
"""

from __future__ import annotations

from typing import Any, TypedDict

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation


class Math(TypedDict):
    """What the browser needs: the parts with their steps, and which input matters most."""

    #: ``(title, [(what it is, equation, whether it decides), …])`` of each part.
    parts: list[tuple[str, list[tuple[str, str, bool]]]]
    most: str


def live_math(instrument: Any) -> Math:
    """The derivations of an instrument's results."""
    parts = []
    for title, result in instrument.explanations.items():
        derived, decides = result.derivation(), instrument.dominant(result)
        equations = (_brief(each) for each in derived.equations(notation.HTML))
        steps = [
            (step.title, equation, step.quantity.name == decides)
            for step, equation in zip(derived.steps, equations, strict=True)
        ]
        parts.append((title, steps))
    return {"parts": parts, "most": matters_most(instrument)}


def _brief(equation: str) -> str:
    """The same equation in fewer letters: it travels with every move."""
    return equation.replace('<span class="mlsys-quantity">', "<data>").replace("</span>", "</data>")


def matters_most(instrument: Any) -> str:
    """Which input moves the instrument's headline most now; empty where nothing does."""
    result, name = instrument.result, instrument.headline
    if not name:
        return ""
    try:
        return ph.sensitivity(result, name).sentence()
    except ValueError:
        # The headline is zero or infinite, so that a percentage of it means nothing.
        return ""
