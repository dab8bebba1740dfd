"""What an instrument draws, looked up by name in tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.instrument import Instrument


def scenes(drawn: Instrument | Scene) -> Iterable[Scene]:
    """The scenes of an instrument as it is now; a scene is its own only one."""
    return (drawn,) if isinstance(drawn, Scene) else drawn.scenes(drawn.result)


def mark(drawn: Instrument | Scene, name: str) -> Any:
    """A mark of an instrument or of a scene."""
    return next(each for scene in scenes(drawn) for each in scene.marks if each.name == name)


def handles(drawn: Instrument | Scene) -> dict[str, Handle]:
    """All handles by name, in the order in which they are drawn."""
    return {each.name: each for scene in scenes(drawn) for each in scene.handles}


def handle(drawn: Instrument | Scene, name: str) -> Handle:
    """One handle."""
    return handles(drawn)[name]


def card(instrument: Instrument, label: str) -> str:
    """The value of a card; what its label says after a comma, such as a form, may be left out."""
    cards = instrument.cards(instrument.result)
    return next(value for name, value, _ in cards if label in (name, name.partition(",")[0]))
