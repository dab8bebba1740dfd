"""The HUD follows the ledger, the context and the instruments."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mlsys_widgets import (
    ContextToggle,
    LabHUD,
    MemoryBudget,
    PredictionLock,
    QuantizationExplorer,
    Reflection,
    Target,
)
from mlsys_widgets.cards.design_entry import DesignEntry
from mlsys_widgets.labs.student_steps import StudentStep
from mlsys_widgets.ledger import DesignForm, Unreadable
from mlsys_widgets.ledger.designs import choice
from mlsys_widgets.ledger.handed_in import note_hand_in
from mlsys_widgets.wording.local_time import local_time
from tests.ledger.making import DESIGN, form_of_lab


def cards(hud):
    (numbers,) = (p for p in hud._card.view["parts"] if p["kind"] == "numbers")
    return {label: (value, note) for label, value, _, note in numbers["cards"]}


def a_lab(led):
    lock = PredictionLock("act1", question="How busy is the GPU?", options={"A": "a", "B": "b"},
                          ledger=led)  # fmt: skip
    why = Reflection("why", question="Why?", ledger=led, after=lock)
    second = PredictionLock("act2", question="How many images?", ledger=led, after=why)
    context = ContextToggle(ledger=led)
    hud = LabHUD(
        "Lab 07",
        ledger=led,
        acts={"Act 1": [lock, why], "Act 2": [second, "final_answer"]},
        context=context,
        decisions={"Execution": "execution_mode", "Fusion": "fusion_enabled", "Now": lambda: None},
    )
    return lock, why, second, context, hud


def test_it_follows_what_is_saved(led):
    lock, why, second, context, hud = a_lab(led)
    assert hud.progress == {"Act 1": (0, 2), "Act 2": (0, 2)}
    assert cards(hud)["Save status"][0] == "Nothing yet"
    assert cards(hud)["Execution"][0] == "not decided yet"
    lock.commit("A", 3)
    assert cards(hud)["Predictions sealed"][0] == "1 of 2"
    assert cards(hud)["Save status"][0] == "Saved"
    assert cards(hud)["Save status"][1].startswith("2 events, last 20")
    why.answer("because")
    second.commit(5, 5)
    assert hud.progress == {"Act 1": (2, 2), "Act 2": (1, 2)}
    led.record_answer("final_answer", 7)
    led.save_design(DESIGN, form_of_lab())
    hud.refresh()
    assert hud.progress["Act 2"] == (2, 2)
    assert cards(hud)["Execution"] == ("compiled", "in your design")
    assert cards(hud)["Fusion"][0] == "yes"
    context.context = "edge"
    assert cards(hud)["Context"][0] == "Edge"
    assert "✓ Done: Prediction: How busy is the GPU?" in hud.text()


def test_a_decision_is_shown_in_words_where_the_design_holds_a_code(led):
    levels = choice("where the data live", "l2", "hbm", called={"hbm": "HBM"})
    form = DesignForm("lab_07_kernel_fusion", 7, {"level": levels})
    hud = LabHUD("Lab 07", ledger=led, acts={}, decisions={"Memory": "level"}, fields=form.fields)
    led.save_design({"level": "hbm"}, form)
    hud.refresh()
    assert cards(hud)["Memory"] == ("HBM", "in your design")
    entry = DesignEntry({"level": "hbm"}, ledger=led, form=form)
    assert "HBM" in entry.text()
    assert "hbm" not in entry.text()


def test_a_restart_finds_it_all(led, open_ledger):
    lock, why, *_ = a_lab(led)
    lock.commit("A", 3)
    why.answer("because")
    *_, hud = a_lab(open_ledger())
    assert hud.progress["Act 1"] == (2, 2)
    assert cards(hud)["Predictions sealed"][0] == "1 of 2"


def test_it_never_says_saved_when_it_was_not(led, read_only, browser_of):
    lock, *_, hud = a_lab(led)
    with read_only():
        browser_of(lock).ask("propose", answer="A", confidence="3")
        browser_of(lock).ask("confirm")
        assert cards(hud)["Save status"][0] == "Not saved"
        assert "may not be written" in cards(hud)["Save status"][1]
    browser_of(lock).ask("retry")
    assert cards(hud)["Save status"][0] == "Saved"
    led.path.unlink()
    hud.refresh()
    assert cards(hud)["Save status"][0] == "File gone"


def test_constraints_that_are_hit(led):
    memory = MemoryBudget()
    limit = []
    hud = LabHUD(
        "Lab 11",
        ledger=led,
        acts={},
        constraints={"Memory": memory, "Deadline": lambda: limit[0] if limit else None},
    )
    calm = memory.alert(memory.result) is None
    assert cards(hud)["Promises broken now"][0] == ("0 of 2" if calm else "1 of 2")
    limit.append("Too late by 3 s.")
    hud.refresh()
    assert "Too late by 3 s." in hud.text()
    assert "Deadline" in hud.broken
    limit.clear()
    hud.refresh()
    assert "1 broken earlier" in cards(hud)["Promises broken now"][1]


def test_each_target_of_a_design_is_a_promise(led):
    lock = PredictionLock("x", question="?", ledger=led)
    targets = [
        Target("rows", 20, "20 chats at once", "at least"),
        Target("rows", 4, "4 chats at once", "at least"),
    ]
    service = QuantizationExplorer(rows=1, targets=targets, lock=lock)
    hud = LabHUD("Lab", ledger=led, acts={}, constraints=service)
    assert cards(hud)["Promises broken now"][0] == "0 of 2"
    lock.commit(1, 1)
    hud.refresh()
    assert cards(hud)["Promises broken now"][0] == "2 of 2"
    service.set(rows=8)
    assert hud.broken == {"20 chats at once": "8 rows, 12 rows too few."}
    assert "1 broken earlier" in cards(hud)["Promises broken now"][1]


def test_a_locked_instrument_breaks_nothing(led):
    lock = PredictionLock("x", question="?", ledger=led)
    memory = MemoryBudget(lock=lock)
    hud = LabHUD("Lab", ledger=led, acts={}, constraints={"Memory": memory})
    assert hud.broken == {}


def test_an_authors_function_that_fails_stops_nobody(led):
    lock = PredictionLock("x", question="?", ledger=led)
    hud = LabHUD(
        "Lab",
        ledger=led,
        acts={"Act 1": [lock]},
        constraints={"Odd": lambda: 1 / 0},
        decisions={"Odder": lambda: {}["gone"]},
    )
    lock.commit(1, 1)
    assert hud.progress == {"Act 1": (1, 1)}
    assert hud.broken == {"Odd": "This constraint cannot be checked: division by zero."}
    assert cards(hud)["Odder"] == ("unknown", "'gone'")


def test_a_listener_that_fails_unsays_no_commit(led, monkeypatch):
    lock, *_, hud = a_lab(led)
    monkeypatch.setattr(hud, "refresh", lambda: 1 / 0)
    with pytest.warns(UserWarning, match="LabHUD could not follow: division by zero"):
        lock.commit("A", 3)
    assert lock.is_open


def test_a_ledger_that_cannot_be_read_for_a_while(led, monkeypatch, browser_of):
    lock, *_, hud = a_lab(led)

    def unreadable():
        raise Unreadable("ledger.jsonl cannot be read.")

    with monkeypatch.context() as patch:
        patch.setattr(led, "state", unreadable)
        for widget in (lock, hud):
            widget.refresh()
            assert browser_of(widget).trouble == "ledger.jsonl cannot be read."
            assert browser_of(widget).can_retry
        assert cards(hud)["Save status"][0] == "Unknown"
    for widget in (lock, hud):
        browser_of(widget).ask("retry")
        assert browser_of(widget).trouble is None


def held(hud):
    rows = [p for p in hud._card.view["parts"] if p["key"] == "held"]
    return rows[0]["rows"] if rows else []


def test_predictions_stand_beside_what_happened_once_they_were_compared(led):
    options = {"A": "about 95%", "C": "about 33%"}
    busy = PredictionLock("busy", question="How busy is the GPU?", options=options,
                          values={"A": 0.95, "C": 0.33}, unit="%", ledger=led)  # fmt: skip
    images = PredictionLock("images", question="How many images?", unit="images", ledger=led)
    why = PredictionLock(
        "why", question="Why?", options={"m": "memory", "c": "compute"}, ledger=led
    )
    reveals = {
        "busy": busy.reveal(model=0.321, measured=0.299),
        "images": images.reveal(model=134_000),
        "why": why.reveal(answer="m"),
    }
    hud = LabHUD("Lab", ledger=led, acts={"Act 1": [busy, images, why]}, reveals=reveals)
    assert held(hud) == []
    busy.commit("C", 4)
    assert held(hud) == [["○ Not compared yet", "How busy is the GPU?"]]
    assert "32.1" not in str(hud._card.view)
    reveals["busy"].compare()
    beside = "You predicted about 33%; measured: 29.9% (the model says 32.1%)."
    assert held(hud) == [["✓ Held", f"How busy is the GPU? {beside}"]]
    images.commit("134", 5)
    why.commit("c", 1)
    # A cell that is run again has a new comparison, which is there at once.
    reveals["images"] = images.reveal(model=134_000)
    reveals["why"].compare()
    assert [line[0] for line in held(hud)] == ["✓ Held", "✗ Did not hold", "✗ Did not hold"]
    assert held(hud)[1][1].endswith("You predicted 134 images; the model says 134,000 images.")
    assert held(hud)[2][1].endswith("You predicted compute; the answer is memory.")
    assert cards(hud)["Predictions that held"][0] == "1 of 3"
    assert "✗ Did not hold: How many images?" in hud.text()


def test_numbers_of_a_lab_follow_its_instruments_and_wait_for_their_gates(led):
    lock = PredictionLock("size", question="How much memory?", ledger=led)
    memory = MemoryBudget(lock=lock)
    hud = LabHUD(
        "Lab",
        ledger=led,
        acts={},
        numbers={
            "Batch": lambda: (memory.batch, "sequences"),
            "Regime": "memory-bound",
            "Open": lambda: None,
            "Odd": lambda: {}["gone"],
        },
        gates={"Batch": lock},
        follows=[memory],
    )
    assert cards(hud)["Batch"] == ("not yet", "")
    assert cards(hud)["Regime"] == ("memory-bound", "")
    assert cards(hud)["Open"] == ("not yet", "")
    assert cards(hud)["Odd"] == ("unknown", "'gone'")
    lock.commit(1, 1)
    memory.set(batch=3)
    assert cards(hud)["Batch"] == ("3 sequences", "")
    with pytest.raises(ValueError, match="gates names Bach; it can name decisions and numbers: "):
        LabHUD("Lab", ledger=led, acts={}, numbers={"Batch": lambda: 1}, gates={"Bach": lock})


def test_one_word_about_each_step(led):
    step = StudentStep("busy_pct", "answer", 1, "How busy?", ("busy_pct",))
    hud = LabHUD("Lab", ledger=led, acts={"Act 1": [step]})

    def line():
        hud.refresh()
        (act,) = (p for p in hud._card.view["parts"] if p["key"] == "act0")
        return act["rows"][0]

    assert line() == ["○ To do", "Answer: How busy?"]
    led.record_answer("busy_pct", 33)
    assert line() == ["● Recorded", "Answer: How busy?"]
    note_hand_in(led.path.parent, led.head, datetime(2026, 11, 17, 14, 2, tzinfo=UTC), course="ml")
    assert line() == ["↑ Handed in", "Answer: How busy?"]
    assert cards(hud)["Handed in"] == ("2026-11-17T14:02:00.000Z", "all of it")
    led.record_answer("busy_pct", 34)
    assert line() == ["● Recorded, not handed in yet", "Answer: How busy?"]
    assert cards(hud)["Handed in"][1] == "you have recorded something since; hand in again"


def test_times_are_on_the_readers_clock(led):
    lock, *_, hud = a_lab(led)
    lock.commit("A", 3)
    saved = led.events()[-1].time
    assert cards(hud)["Save status"][1] == f"2 events, last {saved}"  # the browser's own clock
    for page in (hud.text(), hud.html(), lock.text(), lock.html()):
        assert local_time(saved) in page
        assert saved not in page


def test_what_is_deeper_is_a_line_of_its_own_and_no_progress_waits_for_it(led):
    core = StudentStep("gap", "prediction", 1, "How far?", ("gap",))
    deeper = StudentStep("joules", "answer", 1, "How many?", ("joules",), deeper=True)
    hud = LabHUD("Lab 01", ledger=led, acts={"Act 1": [core]}, deeper=[deeper])
    led.commit_prediction("gap", "A", confidence=3)
    hud.refresh()
    assert hud.progress == {"Act 1": (1, 1)}
    assert "Deeper (0 of 1, optional)" in hud.text()
    assert "How many?" not in hud.text()
    led.record_answer("joules", 3.0)
    hud.refresh()
    assert "Deeper (1 of 1, optional)" in hud.text()
    assert "How many?" in hud.text()


def test_a_deeper_prediction_counts_once_it_is_sealed(led):
    core = StudentStep("gap", "prediction", 1, "How far?", ("gap",))
    deeper = StudentStep("launch", "prediction", 1, "How long?", ("launch",), deeper=True)
    hud = LabHUD("Lab 01", ledger=led, acts={"Act 1": [core]}, deeper=[deeper])
    assert cards(hud)["Predictions sealed"][0] == "0 of 1"
    led.commit_prediction("launch", "A", confidence=3)
    hud.refresh()
    assert cards(hud)["Predictions sealed"][0] == "1 of 2"
