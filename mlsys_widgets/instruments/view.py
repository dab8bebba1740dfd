"""Control panel and plots of an instrument on the screen, built once and then only updated.

Every update is one message: the panel's ``readout`` carries the whole state, the data of all plots
included, under a number that only grows. The browser shows the newest state and never half of one,
whatever happens to messages on their way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets

from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.drawing.theme import color
from mlsys_widgets.instruments.control_panel import ControlPanel
from mlsys_widgets.instruments.instrument_state import InstrumentState
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.instruments.pin import ghost
from mlsys_widgets.instruments.plot import PackedNumbers, Plot


class View:
    """The control panel and the plots of one instrument."""

    def __init__(self, instrument: InstrumentState) -> None:
        self._instrument = instrument
        self._numbers = itertools.count(1)
        self._errors: dict[str, str] = {}
        #: The last move of each control with its stamp: the browser waits for our answer to it.
        self._heard: dict[str, Any] = {}
        #: The stamp of the last drag and of the last command, for the same reason.
        self._stamps: dict[str, float] = {}
        #: What is unfolded, and therefore worth computing.
        self._unfolded: set[str] = set()
        #: Whether an input is being moved, so that more is about to come.
        self._moving = False
        #: The part of the math that is looked at.
        self._part = ""
        self._plots = [Plot(scene) for scene in self._scenes()]
        self._draw_pinned()
        self.panel = ControlPanel(
            spec={
                "title": instrument.title,
                "plots": [[widget.model_id for widget in plot.followers] for plot in self._plots],
                "names": instrument.plot_names
                or [f"Plot {k + 1}" for k in range(len(self._plots))],
                "heights": [plot.scene.height for plot in self._plots],
                "controls": [control.spec(instrument) for control in instrument.controls.values()],
                "film": instrument.film(instrument.result) is not None,
                "math": bool(instrument.explanations),
            },
            readout=self._readout(),
        )
        self.panel.observe(self._moved, names=["moved"])
        self.panel.observe(self._typed, names=["typed"])
        self.panel.observe(self._dragged, names=["dragged"])
        self.panel.observe(self._command, names=["command"])
        self.board = ipywidgets.VBox([self.panel, *(plot.figure for plot in self._plots)])
        self.board.add_class("mlsys-board")

    @property
    def marks(self) -> dict[str, Any]:
        """The marks of all plots, by name."""
        return {name: mark for plot in self._plots for name, mark in plot.marks.items()}

    def show(self) -> None:
        """Update panel and plots to the current result."""
        self._errors = {}
        for plot, scene in zip(self._plots, self._scenes(), strict=True):
            plot.update(scene)
        self._draw_pinned()
        self.panel.readout = self._readout()

    def _scenes(self) -> tuple[Scene, ...]:
        return self._instrument.drawn(self._instrument.result)

    def _draw_pinned(self) -> None:
        """Draw the pinned state behind the plots, or nothing."""
        pin = self._instrument.pinned
        for k, plot in enumerate(self._plots):
            plot.draw_pinned(ghost(pin.scenes[k]) if pin is not None else ())

    def _readout(self) -> dict[str, Any]:
        instrument = self._instrument
        result = instrument.result
        inputs, controls = instrument.inputs, instrument.controls
        shown = {name: controls[name].shown(value) for name, value in inputs.items()}
        header, rows = instrument.shown_table if "table" in self._unfolded else ((), ())
        alert, cards = instrument.alert(result), instrument.cards(result)
        pin = instrument.pinned
        # A film of every place on the way of a hand would only delay the hand: the browser asks
        # for it when the hand rests.
        filmed = "film" in self._unfolded and not self._moving
        film = instrument.film(result) if filmed else None
        hint = instrument.shown_hint
        numbers = PackedNumbers()
        plots = [plot.changed_state(numbers) for plot in self._plots]
        return {
            "number": next(self._numbers),
            "heard": {name: sent[1] for name, sent in self._heard.items()},
            "stamps": dict(self._stamps),
            "values": inputs,
            "shown": shown,
            "options": {
                name: control.spec(instrument)["options"]
                for name, control in controls.items()
                if control.varies
            },
            "hidden": sorted(instrument.hidden()),
            "errors": self._errors,
            "cards": [
                [word, value, color(tone), pin.compared(word, value) if pin else ""]
                for word, value, tone in cards
            ],
            "leading": instrument.leads(cards),
            "lamps": [
                [lamp.sign, lamp.name, lamp.verdict, color("green" if lamp.kept else "red")]
                for lamp in instrument.lamps
            ],
            "sentence": f"{instrument.sentence(result)} {instrument.prediction_elsewhere}".rstrip(),
            "remark": f"{instrument.remark(result)} {instrument.prediction_elsewhere}".rstrip(),
            "alert": [alert[0], color(alert[1])] if alert else None,
            "hints": bool(hint),
            "hint": hint if "hint" in self._unfolded else "",
            "html": instrument.html(result),
            "titles": [plot.scene.title for plot in self._plots],
            "legends": self._legends(),
            "table": {"header": list(header), "rows": [list(row) for row in rows]},
            "code": instrument.code,
            "undo": instrument.can_undo_reset,
            "pinned": pin is not None,
            "frames": [plot.frame for plot in self._plots],
            "handles": [
                [
                    [h.name, h.control, _short(h.x), _short(h.y), h.along, h.flip, shown[h.control]]
                    for h in plot.scene.handles
                ]
                for plot in self._plots
            ],
            "plots": plots,
            "numbers": numbers.buffer,
            "math": live_math(instrument, self._part) if "math" in self._unfolded else None,
            "film": film.to_json() if film else None,
            "stale": self._moving,
        }

    def _legends(self) -> list[list[list[str]]]:
        """Return the legend of each plot; a prediction beyond all is named in the first."""
        legends = [
            [[words, color(tone), kind] for words, tone, kind in plot.scene.legend]
            for plot in self._plots
        ]
        predicted = self._instrument.prediction
        drawn = any(tone == "prediction" for p in self._plots for _, tone, _ in p.scene.legend)
        if legends and predicted is not None and not drawn:
            beyond = f"Your prediction: {predicted.words} (beyond the chart)"
            legends[0].append([beyond, color("prediction"), "none"])
        if (pin := self._instrument.pinned) is not None:
            for k, plot in enumerate(self._plots):
                legends[k].append([pin.entry(k, plot.scene), color("gray"), "dotted"])
        return legends

    # What the browser asks for.

    def _try(self, name: str, action: Callable[[], None]) -> None:
        """Do what the browser asked for; a refusal is shown next to its control."""
        try:
            action()
        except Exception as problem:  # whatever it is, the student sees a sentence
            self._errors = {name: str(problem) or type(problem).__name__}
            self.panel.readout = self._readout()

    def _move(self, name: str, action: Callable[[], None]) -> None:
        self._moving = True
        try:
            self._try(name, action)
        finally:
            self._moving = False

    def _moved(self, change: Any) -> None:
        moved = self.panel.since(change)
        self._heard = change["new"]
        self._instrument.forget_reset()
        for name in list(moved)[:1]:
            self._move(name, lambda: self._instrument.set(**moved))
        self._try("", self._instrument.record_use)

    def _typed(self, change: Any) -> None:
        name, text = change["new"]["name"], change["new"]["text"]
        control = self._instrument.controls[name]
        self._instrument.forget_reset()
        self._try(
            name, lambda: self._instrument.set(**{name: control.read(self._instrument, text)})
        )
        self._try("", self._instrument.record_use)

    def _dragged(self, change: Any) -> None:
        asked = change["new"]
        self._stamps["dragged"] = asked["stamp"]
        self._instrument.forget_reset()
        self._move(
            asked["control"],
            lambda: self._instrument.drag(
                asked["handle"], float(asked["x"]), float(asked["y"]), held=bool(asked.get("held"))
            ),
        )
        self._try("", self._instrument.record_use)

    def _command(self, change: Any) -> None:
        for asked in change["new"]["list"]:
            # The browser repeats a command until it has seen the answer.
            if asked["stamp"] > self._stamps.get("command", 0):
                self._stamps["command"] = asked["stamp"]
                self._try("", partial(self._do, asked))

    def _do(self, asked: dict[str, Any]) -> None:
        actions = {
            "reset": self._instrument.reset,
            "undo": self._instrument.undo_reset,
            "pin": self._instrument.pin,
            "unpin": self._instrument.unpin,
            "fold": lambda: self._fold(asked["what"], asked["open"]),
            "part": lambda: self._look_at(asked["what"]),
            # The browser has waited too long for an answer: it gets the present state again.
            "again": self.show,
        }
        actions[asked["name"]]()

    def _look_at(self, part: str) -> None:
        self._part = part
        self.show()

    def _fold(self, what: str, unfold: bool) -> None:
        if unfold:
            self._unfolded.add(what)
        else:
            self._unfolded.discard(what)
        self.show()


def _short(value: float) -> float:
    """A coordinate with as many digits as a screen has use for."""
    return float(f"{value:.6g}")
