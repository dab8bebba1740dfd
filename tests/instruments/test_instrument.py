"""The base of all instruments: inputs, result, view, lock and the still twin."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

import mlsys_widgets
from mlsys_widgets import IronLaw
from mlsys_widgets.drawing.scene import Axis, Line, Scene
from mlsys_widgets.instruments.controls import Select, Slider
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from tests.instruments.locks import Lock


class Doubler(Instrument):
    """Twice a number, as small as an instrument can be."""

    title = "Doubler"
    computed = 0

    number = Slider("Number", default=2, low=0, high=100, unit="s", help="What is doubled.")
    kind = Select("Kind", default="own", options={"own": "Own", "ten": "Ten"}, help="A preset.")

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        if inputs["kind"] == "ten" and "kind" in changed:
            inputs["number"] = 10.0
        elif "number" in changed:
            inputs["kind"] = "own"
        return inputs

    def compute(self) -> float:
        type(self).computed += 1
        if self.number == 13:
            raise ZeroDivisionError("thirteen cannot be doubled")
        return 2 * self.number

    def scenes(self, result: float) -> tuple[Scene, ...]:
        axis = Axis("Number", 0.0, 200.0)
        return (Scene(axis, axis, (Line("line", (0.0, result), (0.0, 1.0), "blue"),), 100),)

    def cards(self, result: float) -> Sequence[NumberCard]:
        return [("Twice", f"{result:g}", "blue")]

    def sentence(self, result: float) -> str:
        return f"Twice {self.number:g} is {result:g}."

    def table(self, result: float) -> Table:
        return ("Number", "Twice"), [(f"{self.number:g}", f"{result:g}")]


def test_several_inputs_are_accepted_together_or_not_at_all() -> None:
    w = Doubler()
    with pytest.raises(ValueError, match="Kind is 'twelve'; it must be one of: own, ten"):
        w.set(number=7, kind="twelve")
    assert w.inputs == {"number": 2.0, "kind": "own"}
    assert w.result == 4


def test_a_result_is_computed_once_for_each_change() -> None:
    w = Doubler()
    before = Doubler.computed
    w.set(number=5)
    assert [w.result, w.result] == [10, 10]
    assert Doubler.computed == before + 1


def test_an_assignment_is_a_change_like_any_other() -> None:
    w = Doubler(kind="ten")
    assert (w.number, w.result) == (10, 20)
    w.number = "3 s"
    assert (w.number, w.kind, w.result) == (3, "own", 6)
    with pytest.raises(ValueError, match="Number is 101 s; it must be between 0 s and 100 s"):
        w.number = 101
    assert w.number == 3


def test_a_failure_of_the_physics_leaves_the_last_state() -> None:
    w = Doubler()
    line = w.marks["line"]
    with pytest.raises(ZeroDivisionError):
        w.set(number=13)
    assert (w.number, w.result) == (2, 4)
    assert list(line.x) == [0, 4]
    w.set(number=14)
    assert list(line.x) == [0, 28]


def test_the_code_names_what_differs_from_the_defaults() -> None:
    w = Doubler()
    assert w.code == "Doubler()"
    w.set(number=2.5)
    assert w.code == "Doubler(number=2.5)"
    w.set(kind="ten")  # brings its number along, so the kind alone says it all
    assert eval(w.code, {"Doubler": Doubler}).inputs == w.inputs


def test_reset_returns_to_the_first_inputs_and_a_move_forgets_it() -> None:
    w = Doubler(number=8)
    panel = w._open().panel
    w.set(number=9)
    panel.command = {"list": [{"name": "reset", "stamp": 1.0}]}
    assert (w.number, panel.readout["undo"]) == (8, True)
    panel.command = {"list": [{"name": "undo", "stamp": 2.0}]}
    assert (w.number, panel.readout["undo"]) == (9, False)
    panel.command = {"list": [{"name": "reset", "stamp": 3.0}]}
    panel.moved = {"number": [4.0, 4.0]}
    assert panel.readout["undo"] is False
    w.undo_reset()
    assert w.number == 4


def test_what_is_typed_is_read_or_refused_next_to_its_control() -> None:
    w = Doubler()
    panel = w._open().panel
    panel.typed = {"name": "number", "text": "0.5 min", "stamp": 1.0}
    assert (w.number, panel.readout["shown"]["number"]) == (30, "30 s")
    panel.typed = {"name": "number", "text": "half", "stamp": 2.0}
    assert "'half' is not a time" in panel.readout["errors"]["number"]
    assert w.number == 30


def test_the_browser_hears_which_move_was_answered() -> None:
    w = Doubler()
    panel = w._open().panel
    panel.moved = {"number": [5.0, 17.5]}
    assert panel.readout["heard"] == {"number": 17.5}
    panel.moved = {"number": [5.0, 17.5], "kind": ["ten", 18.5]}
    assert panel.readout["heard"] == {"number": 17.5, "kind": 18.5}
    assert w.number == 10


def test_a_lock_hides_everything_until_it_opens_and_hears_of_every_use() -> None:
    lock = Lock()
    w = Doubler(lock=lock)
    bundle = w._repr_mimebundle_()
    assert bundle["text/plain"] == "Doubler: locked until a prediction is committed."
    assert "image/svg+xml" not in bundle
    assert "How many?" in w.children[0].value
    lock.open()
    assert w.children == (w._open().board,)
    w._open().panel.moved = {"number": [5.0, 1.0]}
    assert lock.used == ["Doubler"]
    assert "Twice 5 is 10." in w._repr_mimebundle_()["text/plain"]


def test_whoever_listens_hears_of_every_state_once_the_lock_is_open() -> None:
    lock = Lock()
    w = Doubler(lock=lock)
    heard: list[float] = []
    w.on_move(lambda: heard.append(w.result))
    w.number = 4
    assert heard == []
    lock.open()
    assert heard == [8]
    w.set(number=5)
    with pytest.raises(ValueError, match="it must be"):
        w.set(number=1e9)
    w._open().panel.moved = {"number": [3.0, 1.0]}
    assert heard == [8, 10, 6]
    w.on_move(lambda: heard.append(0))  # open already: at once
    assert heard == [8, 10, 6, 0]


def test_inputs_are_checked_without_being_set() -> None:
    w = Doubler()
    before = w.inputs
    assert w.accepted(number=3) == {"number": 3.0}
    assert w.inputs == before
    with pytest.raises(ValueError, match="has no input 'size'"):
        w.accepted(size=3)
    with pytest.raises(ValueError, match="it must be"):
        w.accepted(number=1e9)


def test_a_lock_that_cannot_note_a_use_says_so_and_stops_nobody() -> None:
    class Broken(Lock):
        def record_use(self, instrument: str) -> None:
            raise OSError("the ledger cannot be written")

    lock = Broken()
    lock.open()
    w = Doubler(lock=lock)
    panel = w._open().panel
    panel.moved = {"number": [5.0, 1.0]}
    assert w.number == 5
    assert panel.readout["errors"] == {"": "the ledger cannot be written"}


def test_a_figure_is_text_or_bytes_and_nothing_else() -> None:
    w = Doubler()
    assert "Doubler. Twice 2 is 4." in w.figure()
    assert w.figure("png")[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="format is 'gif'; it must be one of: svg, png"):
        w.figure("gif")  # type: ignore[arg-type]


def test_a_page_without_widgets_shows_the_picture() -> None:
    """Exported HTML and nbgrader's feedback come from nbconvert, which has no widget state."""
    bundle = mlsys_widgets.RooflineWidget()._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=bundle)
    cell = nbformat.v4.new_code_cell("roofline", outputs=[output])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert "data:image/svg+xml;base64," in page
    assert "widget-view+json" not in page


def test_an_act_chooses_the_numbers_that_lead() -> None:
    law = IronLaw(leading=("Throughput", "Memory filled"))
    cards = law.cards(law.result)
    assert [cards[k][0] for k in law.leads(cards)] == ["Throughput", "Memory filled"]
    assert IronLaw.leading == IronLaw().leading != law.leading
    with pytest.raises(ValueError, match="IronLaw has no number 'Speed' to show large; it has: "):
        IronLaw(leading=("Speed",))
    with pytest.raises(ValueError, match="it must name at most 2 numbers"):
        IronLaw(leading=("Batch time", "Throughput", "Peak"))
