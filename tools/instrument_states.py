"""States of an instrument over one or two of its controls, for pages that have no kernel.

Every state is computed by the instrument itself: picture, sentence, cards and code are what a
notebook would show. Pictures of neighboring states share most of their elements, so a file of
states holds each element once and each picture as a list of numbers.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.theme import color
from mlsys_widgets.instruments.controls import (
    Control,
    Select,
    Several,
    Slider,
    Switch,
    controls_of,
)
from mlsys_widgets.instruments.instrument import Instrument

#: Steps of a linear slider.
_STEPS: Final = 20
#: How many values of a control are tried to see how much it changes.
_TRIED: Final = 7


@dataclass(frozen=True)
class SweptControl:
    """A control that the page moves: its values, and what each is called."""

    name: str
    label: str
    help: str
    values: tuple[Any, ...]
    words: tuple[str, ...]
    #: The place of the value that the instrument starts with.
    start: int
    #: Whether it is a slider; otherwise a menu.
    ordered: bool


@dataclass(frozen=True)
class State:
    """An instrument with some inputs, as the page shows it."""

    inputs: dict[str, Any]
    light: str
    dark: str
    sentence: str
    cards: tuple[tuple[str, str, str], ...]
    alert: tuple[str, str] | None
    code: str

    @classmethod
    def of(cls, kind: type[Instrument], inputs: dict[str, Any]) -> State:
        """Ask the instrument."""
        instrument = kind(**inputs)
        result = instrument.result
        alert, light = instrument.alert(result), str(instrument.figure())
        return cls(
            inputs,
            light,
            picture.darkened(light),
            instrument.sentence(result),
            tuple((label, value, color(tone)) for label, value, tone in instrument.cards(result)),
            (alert[0], color(alert[1])) if alert else None,
            instrument.code,
        )


class Showcase:
    """The states of one kind of instrument over its most telling controls."""

    def __init__(self, kind: type[Instrument]) -> None:
        self.kind = kind
        names = kind.showcase or (most_telling(kind),)
        self.swept = tuple(_swept(kind, name) for name in names)

    @property
    def count(self) -> int:
        """The number of states."""
        return math.prod(len(each.values) for each in self.swept)

    @cached_property
    def start(self) -> State:
        """The state that the page shows first: the instrument as it is made."""
        return State.of(self.kind, {each.name: each.values[each.start] for each in self.swept})

    @property
    def start_place(self) -> int:
        """The place of that state in the list."""
        place = 0
        for each in self.swept:
            place = place * len(each.values) + each.start
        return place

    @cached_property
    def states(self) -> list[State]:
        """Every combination; the last control changes fastest."""
        names = [each.name for each in self.swept]
        return [
            State.of(self.kind, dict(zip(names, values, strict=True)))
            for values in itertools.product(*(each.values for each in self.swept))
        ]

    def script(self) -> str:
        """Write all states as a script: a page opened from a disk may load no data otherwise."""
        parts: dict[str, int] = {}
        dark: dict[int, str] = {}
        frames = []
        for state in self.states:
            frame = []
            for light_part, dark_part in zip(_parts(state.light), _parts(state.dark), strict=True):
                place = parts.setdefault(light_part, len(parts))
                frame.append(place)
                if dark_part != light_part:
                    dark[place] = dark_part
            frames.append(frame)
        states = [
            {"sentence": s.sentence, "cards": s.cards, "alert": s.alert, "code": s.code}
            for s in self.states
        ]
        data = {"parts": list(parts), "dark": dark, "frames": frames, "states": states}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return f"mlsysLive.take({json.dumps(self.kind.__name__)},{text});\n"


def stops(control: Control[Any], instrument: Instrument) -> tuple[Any, ...]:
    """Return values of a control that show its whole range, its default among them."""
    if isinstance(control, Slider):
        return _numbers(control)
    if isinstance(control, Switch):
        return (False, True)
    if isinstance(control, Several):
        return tuple((key,) for key in control.options)
    assert isinstance(control, Select)
    return tuple(control.options(instrument))


def most_telling(kind: type[Instrument]) -> str:
    """Return the control, of those in plain sight, that moves the headline most.

    Without a headline, it is the one that the sentence says most different things about.
    """
    first = kind()
    shown = [
        name
        for name, control in controls_of(kind).items()
        if not control.rare and name not in first.hidden()
    ]
    if not shown:
        raise ValueError(f"{kind.__name__} has no control in plain sight")

    def tells(name: str) -> tuple[float, int]:
        values = stops(controls_of(kind)[name], first)
        tried = values[:: max(1, len(values) // _TRIED)]
        made = [kind(**{name: value}) for value in tried]
        numbers = [_headline(each) for each in made]
        known = [number for number in numbers if number > 0 and math.isfinite(number)]
        spread = math.log(max(known) / min(known)) if known else 0.0
        return spread, len({each.sentence(each.result) for each in made})

    return max(shown, key=tells)


def _headline(instrument: Instrument) -> float:
    found = getattr(instrument.result, instrument.headline, 0.0) if instrument.headline else 0.0
    return float(found) if isinstance(found, (int, float)) else 0.0


def _swept(kind: type[Instrument], name: str) -> SweptControl:
    instrument, control = kind(), controls_of(kind)[name]
    values = stops(control, instrument)
    return SweptControl(
        name,
        control.label,
        control.help,
        values,
        tuple(_words(control, instrument, value) for value in values),
        values.index(control.default_value),
        isinstance(control, Slider),
    )


def _words(control: Control[Any], instrument: Instrument, value: Any) -> str:
    if isinstance(control, Select):
        return str(control.options(instrument)[value])
    return control.shown(value)


def _numbers(slider: Slider) -> tuple[float, ...]:
    """Powers of two where both ends are, else 1, 2, 5 of every decade, or equal steps."""
    low, high = slider.low, slider.high
    if not slider.log:
        found = [slider.snap(low + (high - low) * k / _STEPS) for k in range(_STEPS + 1)]
    elif slider.whole and all(math.log2(end).is_integer() for end in (low, high)):
        found = [low * 2.0**k for k in range(round(math.log2(high / low)) + 1)]
    else:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
        found = [low, *(each for each in found if low < each < high), high]
    kept = {*found, slider.default_value}
    return tuple(sorted(kept | ({0.0} if slider.zero else set())))


def _parts(drawn: str) -> Sequence[str]:
    """Return a picture cut before every tag."""
    return re.split(r"(?=<)", drawn)[1:]
