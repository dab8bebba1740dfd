"""What is on the screen: one message for every state, whole and numbered."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import pytest
from ipywidgets.widgets.widget import _put_buffers

from mlsys_widgets import Instrument
from mlsys_widgets.drawing.film import Actor, Film
from mlsys_widgets.drawing.scene import Axis, Handle, Line, Scene
from mlsys_widgets.instruments.control_panel import unpacked
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.predicted import Predicted
from tests.instruments.locks import Lock


class Ramp(Instrument):
    """A line through the origin, whose end can be dragged."""

    title = "Ramp"
    predictable: ClassVar = {"height": "s"}

    slope = Slider("Slope", default=1, low=0.5, high=4, help="How steep it is.")

    def compute(self) -> float:
        return self.slope * 10

    def scenes(self, result: float) -> tuple[Scene, ...]:
        line = Line("ramp", (0.0, 10.0), (0.0, result), "blue")
        across, up = Axis("Length", 0.0, 10.0), Axis("Height", 0.0, 40.0)
        end = Handle("end", "slope", 10.0, result, "y")
        return (Scene(across, up, (line,), legend=(("Ramp", "blue", "solid"),), handles=(end,)),)

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        return {"slope": y / 10}

    def cards(self, result: float) -> list[tuple[str, str, str]]:
        return [("Height", f"{result:g} m", "blue")]

    def sentence(self, result: float) -> str:
        return f"It is {result:g} m high."

    def table(self, result: float) -> Any:
        return ("Part", "Height"), [("End", f"{result:g} m")]

    @property
    def explanations(self) -> dict[str, Any]:
        return {}

    def hint(self, result: float) -> str:
        return "A smaller slope would help." if result > 20 else ""

    def film(self, result: float) -> Film:
        ball = Actor("ball", "red", ((0.0, 0.0, 0.0, 0.1, 0.1), (2.0, 0.9, 0.9, 0.1, 0.1)))
        return Film("A ball", 2.0, (ball,), moments=((0.0, "At the foot."), (2.0, "At the end.")))


@pytest.fixture
def ramp():
    return Ramp()


STAMPS = itertools.count(1.5)


def panel(instrument):
    return instrument._open().panel


def ask(instrument, name, **more):
    panel(instrument).command = {"list": [{"name": name, "stamp": next(STAMPS), **more}]}


def messages(instrument):
    """What is sent from now on, message by message."""
    sent = []
    widgets = [panel(instrument), *instrument.marks.values()]
    for plot in instrument._view._plots:
        widgets += [plot.figure, *plot._axes, *plot._scales.values()]
    for widget in widgets:
        widget._send = lambda message, buffers=None: sent.append(_read(message, buffers or []))
    return sent


def _read(message, buffers):
    """The state of a message, unpacked as the browser does."""
    state = message["state"]
    _put_buffers(state, message["buffer_paths"], buffers)
    return {k: unpacked(v) if k == "readout" else v for k, v in state.items()}


def test_a_move_is_one_message_with_a_whole_state(ramp):
    sent = messages(ramp)
    ramp.set(slope=2)
    assert [set(state) for state in sent] == [{"readout"}]
    readout = sent[0]["readout"]
    assert readout["cards"] == [["Height", "20 m", "#2a7fc4", ""]]
    assert readout["handles"] == [[["end", "slope", 10.0, 20.0, "y", False, "2"]]]
    assert readout["plots"] == [[[0, {"y": {"span": [0, 2]}}]]]
    assert np.frombuffer(panel(ramp).readout["numbers"], np.float32).tolist() == [0, 20]
    assert panel(ramp).spec["plots"][0][0] == ramp.marks["ramp"].model_id


def test_the_number_of_a_state_only_grows(ramp):
    numbers = [panel(ramp).readout["number"]]
    for slope in (2, 3, 2):
        ramp.set(slope=slope)
        numbers.append(panel(ramp).readout["number"])
    ask(ramp, "again")
    numbers.append(panel(ramp).readout["number"])
    assert numbers == sorted(set(numbers))


def test_the_end_can_be_dragged_and_stays_within_its_range(ramp):
    panel(ramp).dragged = {"handle": "end", "control": "slope", "x": 3.0, "y": 27.3, "stamp": 2.5}
    assert ramp.slope == 2.73
    assert ramp.anchor("end") == ramp.result
    assert panel(ramp).readout["stamps"] == {"dragged": 2.5}
    ramp.drag("end", 0, 400)
    assert ramp.slope == 4
    with pytest.raises(ValueError, match="Ramp has no handle 'start'; it has: end"):
        ramp.drag("start", 0, 0)


def test_what_is_held_keeps_its_anchor_until_it_is_let_go(ramp):
    def drag(y, *, held):
        asked = {"handle": "end", "control": "slope", "x": 0.0, "y": y}
        panel(ramp).dragged = {**asked, "held": held, "stamp": next(STAMPS)}
        return ramp.result, ramp.anchor("end"), ramp.anchor("other")

    assert drag(20, held=True) == (20, 10, 20)
    assert drag(30, held=True) == (30, 10, 30)
    sent = messages(ramp)
    assert drag(25, held=False) == (25, 25, 25)
    assert (
        sum("readout" in state for state in sent) == 1
    )  # the last place and the new axes come together
    drag(30, held=True)
    ramp.slope = 2  # a change from Python lets go too
    assert ramp.anchor("end") == 20


@pytest.mark.parametrize(
    "asked",
    [
        {"handle": "start", "control": "slope", "x": 1.0, "y": 1.0},
        {"handle": "end", "control": "slope", "x": "left", "y": "up"},
    ],
)
def test_a_drag_of_nothing_gets_a_sentence_and_moves_nothing(ramp, asked):
    panel(ramp).dragged = {**asked, "stamp": 1.0}
    assert ramp.slope == 1
    assert panel(ramp).readout["errors"]["slope"]


def test_what_is_folded_is_not_computed(ramp):
    assert (panel(ramp).readout["film"], panel(ramp).readout["math"]) == (None, None)
    ask(ramp, "fold", what="film", open=True)
    assert panel(ramp).readout["film"]["title"] == "A ball"
    ask(ramp, "fold", what="film", open=False)
    assert panel(ramp).readout["film"] is None


def test_a_film_waits_until_the_hand_rests(ramp):
    ask(ramp, "fold", what="film", open=True)
    panel(ramp).moved = {"slope": [2, 7.5]}
    assert (panel(ramp).readout["film"], panel(ramp).readout["stale"]) == (None, True)
    ask(ramp, "fold", what="film", open=True)
    assert panel(ramp).readout["film"]["title"] == "A ball"
    assert panel(ramp).readout["stale"] is False


def test_commands_are_carried_out_once_and_none_is_lost_to_the_next(ramp):
    """A busy kernel gets several at once, and some of them again."""
    pin, fold = (
        {"name": "pin", "stamp": 1e6},
        {"name": "fold", "what": "film", "open": True, "stamp": 2e6},
    )
    panel(ramp).command = {"list": [pin]}
    ramp.set(slope=2)
    panel(ramp).command = {"list": [pin, fold]}
    assert panel(ramp).readout["film"] is not None
    assert ramp.pinned.inputs["slope"] == 1  # not pinned a second time
    assert panel(ramp).readout["stamps"]["command"] == 2e6


def test_pin_and_unpin_from_the_panel(ramp):
    ask(ramp, "pin")
    ramp.set(slope=2)
    assert panel(ramp).readout["cards"][0][3] == "was 10 m, now 2×"
    assert panel(ramp).readout["legends"] == [
        [["Ramp", "#2a7fc4", "solid"], ["Pinned", "#808890", "dotted"]]
    ]
    ask(ramp, "unpin")
    assert panel(ramp).readout["pinned"] is False


def test_hints_wait_for_their_gate():
    def hint(ramp):
        return panel(ramp).readout["hints"], panel(ramp).readout["hint"]

    gate = Lock()
    ramp = Ramp(slope=3, hints=gate)
    ask(ramp, "fold", what="hint", open=True)
    assert hint(ramp) == (False, "")
    gate.open()
    assert hint(ramp) == (True, "A smaller slope would help.")
    assert hint(Ramp(slope=3)) == (True, "")  # without a gate it is there, folded
    assert hint(Ramp(slope=1)) == (False, "")


@pytest.mark.parametrize(
    "unrelated",
    [
        Predicted("B: steep"),
        Predicted("12", 12, "width"),
        Predicted("12", 12, "height", {"slope": 4}),
        Predicted("12", 12, "height", {"batch": 1}),
    ],
)
def test_a_prediction_about_something_else_is_named_nowhere(unrelated):
    lock = Lock()
    ramp = Ramp(lock=lock)
    lock.predicted = unrelated
    lock.open()
    ask(ramp, "fold", what="table", open=True)
    shown = panel(ramp).readout
    assert ramp.prediction is None
    assert ramp.predicted("height") is None
    assert "Your prediction" not in f"{shown['legends']}{shown['table']}{ramp.code}"
    assert "prediction" not in shown["sentence"]


def test_a_prediction_returns_with_its_settings():
    lock = Lock()
    ramp = Ramp(lock=lock)
    lock.predicted = Predicted("12", 12, "height", {"slope": 4})
    lock.open()
    ramp.set(slope=4)
    assert ramp.predicted("height") == 12
    assert ramp.prediction_elsewhere == ""
    assert ramp.text().count("Your prediction") == 0


def test_a_given_prediction_is_kept_by_the_code():
    ramp = Ramp(prediction=12)
    assert ramp.predicted("height") == 12
    assert ramp.code == "Ramp(prediction=12)"
    with pytest.raises(ValueError, match="prediction"):
        Ramp(prediction=-1)


class Bare(Instrument):
    """An instrument whose author forgot everything."""

    size = Slider("Size", default=1, low=0, high=2, help="…")


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("compute", "Bare needs a method compute() that returns the result"),
        ("scenes", "Bare needs a method scenes(result) that returns a tuple of Scene"),
        ("cards", "Bare needs a method cards(result) that returns a list of (label, value, tone)"),
        ("sentence", "Bare needs a method sentence(result) that returns the picture in words"),
        ("table", "Bare needs a method table(result) that returns a header and rows"),
    ],
)
def test_an_author_is_told_what_is_missing(method, says):
    bare = Instrument.__new__(Bare)
    with pytest.raises(NotImplementedError) as told:
        getattr(bare, method)(*([] if method == "compute" else [None]))
    assert str(told.value).startswith(says)


def test_an_author_is_told_which_tones_there_are():
    class Pink(Ramp):
        def cards(self, result):
            return [("Height", "1 m", "pink")]

    with pytest.raises(ValueError, match="'pink' is not a tone; the tones are: blue, orange"):
        Pink()._open()


def test_an_author_is_told_what_scenes_must_give():
    class One(Ramp):
        def scenes(self, result):
            return super().scenes(result)[0]

    with pytest.raises(ValueError, match=r"One\.scenes gives Scene, not a tuple of Scene"):
        One()._open()


def test_an_instrument_without_predictions_refuses_one():
    class Blind(Ramp):
        predictable: ClassVar = {}

    with pytest.raises(ValueError, match="Blind draws no prediction"):
        Blind(prediction=1)
