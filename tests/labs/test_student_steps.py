"""One story of what is done: what is a step, and in which state it is when."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from mlsys_widgets.labs import Checklist, Essay, Lab, Number, Prediction, load
from mlsys_widgets.labs.student_steps import (
    DESIGN_MISSES,
    SIGNS,
    STEP_KINDS,
    SavedEntry,
    StepState,
    StudentStep,
    can_wait,
    is_newer,
    last_event,
    not_done,
    progress,
    saved_progress,
    steps_of,
)
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import choice

ROOT = Path(__file__).parents[2]
FIELDS = {"mode": choice("how the model runs", "eager", "compiled")}


@pytest.fixture
def demo() -> Lab:
    made = Lab("lab_00_demo", title="Demo", chapter=0, acts=("One",), design=FIELDS)
    items = {
        "bet": Prediction("How many?", unit="images", act=1),
        "busy_pct": Number("How busy?", "percent", 5, act=1),
        "why": Essay("Why?", [(1, "says so")], at_least=3),
        "can": Checklist({"a": "add"}, [(0, "fine", "Go on.")]),
    }
    for name, item in items.items():
        made.asks(_named(name, item))
    return made


def _named(name, item):
    def asks(_p):
        return item

    asks.__name__ = name
    return asks


@pytest.fixture
def led(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.jsonl", lab="lab_00_demo", student="ada")


def left(demo: Lab, led: Ledger) -> list[str]:
    steps = steps_of(demo, demo.items(demo.draw("ada")))
    return [step.name for step in not_done(steps, saved_progress(led.state(), demo.name))]


def test_everything_that_a_student_does_is_a_step(demo: Lab, led: Ledger) -> None:
    assert left(demo, led) == ["bet", "busy_pct", "why", "can", "design"]
    led.commit_prediction("bet", 5, 3)
    led.record_answer("busy_pct", 33)
    led.record_answer("why", "Because.")
    led.record_answer("can", [])
    assert left(demo, led) == ["why", "design"]
    led.record_answer("why", "Because launches wait.")
    assert left(demo, led) == ["design"]
    led.save_design({"mode": "eager"}, DesignForm(demo.name, 0, FIELDS))
    assert left(demo, led) == []


def test_a_design_that_breaks_a_promise_is_not_done(demo: Lab, led: Ledger) -> None:
    led.save_design({"mode": "eager"}, DesignForm(demo.name, 0, FIELDS))
    led.record_answer(DESIGN_MISSES, ["52 ms, 12 ms too late"])
    assert not saved_progress(led.state(), demo.name)["design"].right
    assert "design" in left(demo, led)
    led.record_answer(DESIGN_MISSES, [])
    assert "design" not in left(demo, led)


def test_a_reflection_that_is_not_right_yet_is_tried(led: Ledger) -> None:
    step = StudentStep("why", "reflection", 1, "Why", ("why",))

    def state() -> str:
        return progress(step, saved_progress(led.state(), "lab_00_demo")).state

    led.record_reflection("why", "A", correct=False)
    assert state() == "tried"
    led.record_reflection("why", "B", correct=True)
    assert state() == "done"
    # Whoever looks again and answers otherwise has still understood it once.
    led.record_reflection("why", "A", correct=False)
    assert state() == "done"


def test_an_answer_is_recorded_and_never_done(led: Ledger) -> None:
    for kind in ("answer", "essay"):
        led.record_answer(kind, "Because.")
        step = StudentStep(kind, kind, 1, "Why", (kind,))
        assert progress(step, saved_progress(led.state(), "lab_00_demo")).state == "recorded"


def test_handing_in_covers_what_was_recorded_before_it(led: Ledger) -> None:
    """From to do to handed in, and back to recorded by a change."""
    kinds = {"busy_pct": "answer", "why": "reflection", "bet": "prediction"}
    steps = [StudentStep(name, kind, 1, name, (name,)) for name, kind in kinds.items()]

    def told(covered: int | None) -> list[str]:
        saved = saved_progress(led.state(), "lab_00_demo")
        return [progress(step, saved, covered).words for step in steps]

    assert told(None) == ["to do"] * 3
    led.record_answer("busy_pct", 33)
    led.record_reflection("why", "A", correct=False)
    led.commit_prediction("bet", 5, 3)
    assert told(None) == ["recorded", "tried, not right yet", "done"]
    assert led.head is not None
    covered = led.head.seq
    assert told(covered) == ["handed in", "handed in, not right yet", "handed in"]
    saved = saved_progress(led.state(), "lab_00_demo")
    assert not is_newer(steps, saved, covered)
    assert told(-1) == [
        "recorded, not handed in yet", "tried, not right yet", "done, not handed in yet"
    ]  # fmt: skip
    led.record_use("RooflineWidget")
    assert not is_newer(steps, saved_progress(led.state(), "lab_00_demo"), covered)
    led.record_answer("busy_pct", 34)
    assert told(covered)[0] == "recorded, not handed in yet"
    assert is_newer(steps, saved_progress(led.state(), "lab_00_demo"), covered)


def test_signs_differ_in_shape() -> None:
    assert len(set(SIGNS.values())) == len(SIGNS) == len(get_args(StepState))


@pytest.mark.parametrize("home", sorted((ROOT / "assignments").glob("lab_*")), ids=lambda p: p.name)
def test_the_cells_of_a_lab_hold_its_steps(home: Path) -> None:
    """The panel reads cells, the kernel reads items: both must count the same."""
    import nbformat

    lab = load(home)
    book = nbformat.read(ROOT / "release" / home.name / f"{home.name}.ipynb", 4)
    said = [
        cell.metadata.mlsys
        for cell in book.cells
        if cell.metadata.get("mlsys", {}).get("kind") in STEP_KINDS
    ]
    in_cells = {
        (
            each.id,
            each.kind,
            each.get("act", 0),
            tuple(each.get("needs", [each.id])),
            each.get("at_least", 1),
        )
        for each in said
    }
    steps = steps_of(lab, lab.items(lab.draw("", variants=False)))
    assert in_cells == {
        (step.name, step.kind, step.act, step.needs, step.at_least) for step in steps
    }
    assert len(said) == len(steps)


def test_claims_are_not_called_myths():
    step = StudentStep("claims", "myths", 4, "Which are true?", ("claims.1",))
    assert step.called == "Claims: Which are true?"


def test_what_is_deeper_is_never_left_to_do():
    core = StudentStep("gap", "prediction", 1, "How far?", ("gap",))
    deeper = StudentStep("joules", "answer", 1, "How many?", ("joules",), deeper=True)
    assert not_done([core, deeper], {}) == [core]
    assert not_done([core, deeper], {"gap": SavedEntry(True, 1)}) == []


def test_steps_go_act_by_act_whatever_the_file_s_order():
    asked = {
        name: Number("?", "ms", points=1, act=act)
        for name, act in (("first", 1), ("whole", 0), ("third", 3), ("second", 2), ("late", 3))
    }
    steps = steps_of(Lab("lab_02", chapter=2, title="?", acts=("a", "b", "c")), asked)
    assert [step.name for step in steps] == ["first", "second", "third", "late", "whole"]


def test_what_is_only_not_right_yet_can_wait_and_has_its_turn_by_when_it_was_tried(
    led: Ledger,
) -> None:
    steps = [StudentStep(name, "answer", 1, name, (name,)) for name in ("one", "two")]

    def waits() -> list[tuple[bool, int]]:
        saved = saved_progress(led.state(), "lab_00_demo")
        return [(can_wait(step, saved), last_event(step, saved)) for step in steps]

    assert waits() == [(False, 0), (False, 0)]
    for name in ("one", "two"):
        led.record_answer(name, 1.0)
        led.record_answer(f"judged.{name}", False)
    (one_waits, first), (two_waits, second) = waits()
    assert (one_waits, two_waits) == (True, True)
    assert 0 < first < second
    # Wrong once more: now the other one was tried longer ago.
    led.record_answer("one", 2.0)
    assert waits()[0][1] > waits()[1][1]
    led.record_answer("judged.two", True)
    assert waits()[1][0] is False


def test_what_holds_up_others_or_is_not_finished_cannot_wait() -> None:
    wrong = {"why": SavedEntry(False, 1), "more": SavedEntry(True, 2)}
    assert can_wait(StudentStep("why", "reflection", 1, "", ("why",)), wrong)
    assert not can_wait(StudentStep("why", "reflection", 1, "", ("why",), holds_up=True), wrong)
    assert not can_wait(StudentStep("quiz", "quiz", 1, "", ("why", "last")), wrong)
    short = {"why": SavedEntry(False, 1, words=2)}
    assert not can_wait(StudentStep("why", "essay", 1, "", ("why",), at_least=3), short)
