"""The moves that labs ask for before a comparison: none is made at the start, each can be made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from mlsys_widgets import ContextToggle, Move, RooflineWidget
from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.authoring.text import read
from mlsys_widgets.cards import moves
from mlsys_widgets.cards.open_lab import OpenLab
from mlsys_widgets.instruments.controls import Select, Several, Slider
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs.identity import VARIABLE
from tests.labs.rehearsal import ROOT, put_examples

#: What a reveal cell may use: everything above it that a student does not write.
RUN = ("setup", "show", "instrument", "design", "reveal")


def asked_moves(lab, folder, monkeypatch) -> list[Move]:
    """All moves of a lab, on its own instruments, as one student has them."""
    home = ROOT / "assignments" / lab
    (folder / "asks.py").write_bytes((home / "asks.py").read_bytes())
    put_examples(folder)
    with environment_variables({VARIABLE: "student-07", "NBGRADER_EXECUTION": None}):
        begun = OpenLab(lab, variants=True, edition="", deeper="optional", folder=folder)
    found: list[Move] = []
    first = moves.Exploration.__init__

    def noted(self: moves.Exploration, name: str, asked: Any, **more: Any) -> None:
        found.extend(asked)
        first(self, name, asked, **more)

    monkeypatch.setattr(moves.Exploration, "__init__", noted)
    names: dict[str, Any] = {"lab": begun}
    with contextlib.chdir(folder):
        for cell in read(home / "lab.py"):
            if cell.kind in RUN and "lab.hud(" not in cell.body:
                exec(compile(cell.body, cell.where, "exec"), names)
    return found


def settings(instrument: Any) -> Iterator[dict[str, Any]]:
    """The states to try: every control at each of its stops, alone and in pairs."""
    if isinstance(instrument, ContextToggle):
        yield from ({"context": key} for key in instrument._contexts)
        return
    stops: list[Mapping[str, Any]] = []
    for name, control in instrument.controls.items():
        values: list[Any] = [True, False]
        if isinstance(control, Slider):
            tenths = (k / 10 for k in range(11))
            ratio = control.high / control.low if control.low > 0 else 1.0
            values = [
                control.snap(control.low * ratio**k if control.log else
                             control.low + k * (control.high - control.low))
                for k in tenths
            ]  # fmt: skip
        elif isinstance(control, Select):
            values = list(control.options(instrument))
        elif isinstance(control, Several):
            values = [(), *((key,) for key in control.options), tuple(control.options)]
        stops += [{name: value} for value in values]
    yield from map(dict, stops)
    yield from ({**one, **other} for one, other in combinations(stops, 2))


def can_be_made(move: Move) -> bool:
    instrument: Any = move.instrument
    before = dict(instrument.inputs)
    with contextlib.suppress(ValueError):
        _bring(instrument, dict(move._values))
    found = move.is_made
    for state in settings(instrument):
        if found:
            break
        _bring(instrument, before)
        with contextlib.suppress(ValueError):
            _bring(instrument, {**move._values, **state})
        found = move.is_made
    _bring(instrument, before)
    return found


def _bring(instrument: Any, state: dict[str, Any]) -> None:
    if isinstance(instrument, Instrument):
        instrument.set(**state)
    else:
        instrument.context = state.get("context", instrument.context)


def test_every_move_takes_a_step_that_a_student_can_take(lab, tmp_path, monkeypatch):
    asked = asked_moves(lab, tmp_path, monkeypatch)
    begun = [move.text for move in asked if move.is_made]
    assert not begun, f"made before anybody does anything: {begun}"
    never = [move.text for move in asked if not can_be_made(move)]
    assert not never, f"no setting makes these: {never}"


def test_the_search_finds_what_can_be_made_and_nothing_else():
    roof = RooflineWidget()
    assert can_be_made(Move("Raise N", roof, lambda r: r.n > 4096))
    assert can_be_made(Move("Both", roof, lambda r: r.n > 4096 and r.device == "orin-nx"))
    assert not can_be_made(Move("Too far", roof, lambda r: r.n > 1e9))
    assert can_be_made(Move("To the edge", ContextToggle(), context="edge"))
    assert roof.inputs == RooflineWidget().inputs
