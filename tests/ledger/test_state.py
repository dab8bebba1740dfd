"""What the events of a ledger add up to."""

from __future__ import annotations

import pytest

from mlsys_widgets.ledger import Ledger
from tests.ledger.making import DESIGN, LAB, STUDENT, opened, worked_through


def test_a_worked_through_lab(path):
    worked_through(path)
    state = Ledger.open(path).state()
    assert (state.lab, state.student) == (LAB, STUDENT)
    assert state.predictions["act1"].value == "C"
    assert state.predictions["act1"].confidence == 4
    assert state.predictions["act2"].value == 130_000
    why = state.reflections["act1_why"]
    assert [attempt.value for attempt in why.attempts] == ["A", "B"]
    assert (why.value, why.correct) == ("B", True)
    answer = state.answers["kws_utilization_pct"]
    assert (answer.value, answer.unit, answer.attempts) == (33.3, "percent", 2)
    assert answer.earlier[0].value == 30.0
    assert dict(state.designs[LAB]) == DESIGN
    assert state.uses["audit"].needs == ("act1",)
    assert state.uses["audit"].inputs == {"kernels": 1000}
    assert state.reflections["act2_text"].value == "Größe zählt – 크기 \u2028 🚀"
    assert Ledger.open(path).verify().ok


def test_a_state_is_of_its_moment_and_cannot_be_changed(path):
    led = opened(path)
    led.record_answer("shape", {"sides": [1, 2]})
    state = led.state()
    led.record_answer("other", 1)
    assert "other" not in state.answers
    assert state.answers["shape"].value["sides"] == (1, 2)
    with pytest.raises(TypeError):
        state.answers["shape"].value["sides"] = 3
    with pytest.raises(TypeError):
        state.answers["shape"] = None
    with pytest.raises(AttributeError):
        state.lab = "another"


def test_a_slider_may_report_every_move(path):
    led = opened(path)
    for number in range(500):
        led.record_use("audit", needs="act1", inputs={"kernels": number})
    assert led.state().uses["audit"].count == 1
    assert led.state().uses["audit"].needs == ("act1",)
    led.record_use("audit", needs=["act1", "act2"])
    assert led.state().uses["audit"].needs == ("act1", "act2")
    led.record_use("audit", needs=["act1"], every=0)
    use = led.state().uses["audit"]
    assert (use.count, use.needs, use.first_seq) == (3, ("act1", "act2"), 1)
