"""The math of an instrument with its present numbers in it: formula, substitution, result.

The step that decides the result is marked, and one line says which input moves it most.
"""

from __future__ import annotations

from typing import Any, TypedDict

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.instrument_state import InstrumentState
from mlsys_widgets.physics import notation
from mlsys_widgets.physics.result import Result

_BRIEF = {
    '<span class="mlsys-quantity">': "<b>", "</span>": "</b>", "<var>": "<i>", "</var>": "</i>",
}  # fmt: skip


class Math(TypedDict):
    """The titles of all parts, the steps of one, and which input matters most."""

    titles: list[str]
    part: str
    #: What each step is, its equation, and whether it decides.
    steps: list[tuple[str, str, bool]]
    most: str


def live_math(instrument: InstrumentState, part: str = "") -> Math | None:
    """The derivation of one of an instrument's results: the one named, or the first.

    `None` where nothing is computed, as on a map.
    """
    explained = instrument.explanations
    if not explained:
        return None
    chosen = part if part in explained else next(iter(explained))
    derived, decides = explained[chosen].derivation(), instrument.dominant(explained[chosen])
    steps = [
        (step.title, _brief(equation), step.quantity.name == decides)
        for step, equation in zip(derived.steps, derived.equations(notation.HTML), strict=True)
    ]
    return {
        "titles": list(explained),
        "part": chosen,
        "steps": steps,
        "most": matters_most(instrument, explained[chosen]),
    }


def _brief(equation: str) -> str:
    """The same equation in fewer letters: it travels with every move."""
    for long, short in _BRIEF.items():
        equation = equation.replace(long, short)
    return equation


def matters_most(instrument: InstrumentState, result: Any) -> str:
    """Which input moves a result most now: its headline, or the last number that it leads to.

    Empty where there is no number to speak of.
    """
    if not isinstance(result, Result):
        return ""
    names = list(result.outputs())
    for name in [instrument.headline] if instrument.headline in names else reversed(names):
        try:
            return ph.sensitivity(result, name).sentence()
        except ValueError:
            continue  # a yes or no, zero, or infinite: a percentage of it means nothing
    return ""
