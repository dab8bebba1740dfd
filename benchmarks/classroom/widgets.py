"""The widgets of a lab as a browser knows them: from what the kernel opens and updates."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

from classroom.wire import Message

#: Positions of a slider, as control_panel.js has them.
STEPS = 1000


@dataclass
class PanelModel:
    """The controls of an instrument."""

    spec: dict[str, Any]
    readout: dict[str, Any]
    #: All that was ever moved: the browser sends it whole each time.
    moved: dict[str, Any] = field(default_factory=dict)

    @property
    def sliders(self) -> list[dict[str, Any]]:
        """Those that are shown."""
        hidden = self.readout["hidden"]
        return [
            each
            for each in self.spec["controls"]
            if each["kind"] == "slider" and each["name"] not in hidden
        ]

    def drag(self, chance: random.Random, moves: int) -> list[tuple[str, float]]:
        """Take a slider and pull it to another place: its name and value at each move."""
        slider = chance.choice(self.sliders)
        start, end = chance.sample(range(STEPS + 1), 2)
        places = (round(start + (end - start) * k / (moves - 1)) for k in range(moves))
        return [(slider["name"], value_at(slider, place)) for place in places]


def value_at(slider: dict[str, Any], position: int) -> float:
    """The value of a slider at a position, as control_panel.js computes it.

    >>> value_at({"low": 1.0, "high": 100.0, "log": True, "whole": False, "zero": False}, 500)
    10.0
    """
    low, high = slider["low"], slider["high"]
    stop = 1 if slider["zero"] else 0
    if stop and position <= 0:
        return 0.0
    if position <= stop:
        return float(low)
    if position >= STEPS:
        return float(high)
    share = (position - stop) / (STEPS - stop)
    value = low * (high / low) ** share if slider["log"] else low + (high - low) * share
    rounded = float(min(high, max(low, float(f"{value:.3g}"))))
    return float(round(rounded)) if slider["whole"] else rounded


class Models:
    """Cards and control panels by the comm that carries them. Nothing else is looked at."""

    def __init__(self) -> None:
        self.cards: dict[str, dict[str, Any]] = {}
        self.panels: dict[str, PanelModel] = {}

    def hear(self, message: Message) -> None:
        if message.kind == "comm_open":
            state = message.content["data"].get("state", {})
            name = message.content["comm_id"]
            if "readout" in state:
                self.panels[name] = PanelModel(state["spec"], state["readout"])
            elif "view" in state:
                self.cards[name] = state["view"]
        elif message.kind == "comm_msg" and (b'"view"' in message.raw or b'"rea' in message.raw):
            name, state = message.content["comm_id"], message.content["data"].get("state", {})
            if name in self.panels and "readout" in state:
                self.panels[name].readout = state["readout"]
            elif name in self.cards and "view" in state:
                self.cards[name] = state["view"]

    def asking(self, *actions: str) -> list[tuple[str, str]]:
        """The cards that have a button for one of the actions, in the order of the notebook."""
        return [
            (name, action)
            for name, view in self.cards.items()
            for action in actions
            if action in _buttons(view)
        ]


def _buttons(view: dict[str, Any]) -> set[str]:
    return {
        action
        for part in view.get("parts", ())
        if part["kind"] == "buttons"
        for action, _ in part["buttons"]
    }


def filled_in(view: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Something for every input of a card, as somebody who guesses would enter it."""
    values: dict[str, Any] = {}
    for part in view["parts"]:
        if part["kind"] in ("options", "confidence"):
            values[part["key"]] = chance.choice(part["options"])[0]
        elif part["kind"] == "textbox":
            # The card says what it takes: "Type a number such as 33%, at most 100%."
            example = re.search(r"such as (.+?)(?: or |,|\.?$)", part["hint"])
            values[part["key"]] = example.group(1) if example else "1"
        elif part["kind"] == "textarea":
            values[part["key"]] = "That waiting costs more time than computing does."
        elif part["kind"] == "blanks":
            values[part["key"]] = {
                piece["name"]: chance.choice(piece["options"])[0]
                for piece in part["pieces"]
                if isinstance(piece, dict)
            }
    return values
