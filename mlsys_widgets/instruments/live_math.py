"""The math of an instrument with its present numbers in it: formula, substitution, result.

The step that decides the result is marked, and one line says which input moves it most.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypedDict

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.instruments.instrument_state import InstrumentState
from mlsys_widgets.physics import notation
from mlsys_widgets.physics.result import Result

#: Words in the name of a quantity, and the tone that such a thing has in every picture.
_TONES: Final = {
    "memory": "memory", "traffic": "memory", "compute": "compute",
    "dispatch": "dispatch", "launch": "dispatch",
}  # fmt: skip


class Math(TypedDict):
    """The titles of all parts, the steps of one, and which input matters most."""

    titles: list[str]
    part: str
    #: What each step is, its equation, and whether it decides.
    steps: list[tuple[str, str, bool]]
    #: The color of the term that decides, as in the picture; empty if it has none there.
    tone: str
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
    term = next(
        (notation.MATHML.symbol(step.quantity.symbol) for step in derived.steps
         if step.quantity.name == decides), ""
    )  # fmt: skip
    steps = [
        (step.title, _marked(step.written(notation.MATHML), term), step.quantity.name == decides)
        for step in derived.steps
    ]
    return {
        "titles": list(explained),
        "part": chosen,
        "steps": steps,
        "tone": next((TONES[tone] for word, tone in _TONES.items() if word in decides), ""),
        "most": matters_most(instrument, explained[chosen]),
    }


def _marked(equation: str, term: str) -> str:
    """The same equation with a symbol marked wherever it stands, but not as part of another."""
    if not term:
        return equation
    alone = re.compile(rf"(?<!<msub>)(?<!<msup>){re.escape(term)}")
    return alone.sub(f'<mrow class="mlsys-term">{term}</mrow>', equation)


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
