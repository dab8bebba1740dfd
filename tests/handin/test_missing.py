"""Before anything is handed in, a student is told what is missing."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from mlsys_widgets.handin.missing import what_is_missing
from mlsys_widgets.handin.work import find_work
from mlsys_widgets.labs.identity import Student
from mlsys_widgets.labs.student_steps import DESIGN_MISSES
from mlsys_widgets.ledger.carried_record import with_record
from mlsys_widgets.ledger.designs import DesignForm, flag
from mlsys_widgets.ledger.drafts import Drafts
from tests.handin.conftest import LAB, notebook, step

ANN = Student("ann", "a test")
#: In milliseconds, as a browser has it: after everything that is recorded here.
LATER = 4e12


def missing(folder, student=ANN):
    return {(each.kind, each.words) for each in what_is_missing(find_work(folder), student)}


def kinds(folder, student=ANN):
    return [each.kind for each in what_is_missing(find_work(folder), student)]


def finish(led, folder):
    """Do everything in the lab."""
    led.record_reflection("act1_why", "A", correct=True)
    led.record_answer("quiz.1", "B")
    led.record_answer("quiz.2", "C")
    (folder / "machine.json").write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    led.record_answer("measurement", {"machine": "a laptop", "digest": digest})
    led.save_design({"fits": True}, DesignForm(LAB, 2, {"fits": flag("whether it fits")}))
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)


def test_steps_that_are_open_or_begun_are_named(folder, ledger_in):
    led = ledger_in(folder)
    led.record_reflection("act1_why", "A", correct=False)
    led.record_answer("quiz.1", "B")
    os.utime(folder / f"{LAB}.ipynb")
    assert missing(folder) == {
        ("step", "Act 1, reflection “Act1 why”: tried, not right yet."),
        ("step", "Act 2, quiz “What do you know”: begun, not finished."),
        ("step", "Act 2, measurement “Measure this machine”: to do."),
        ("step", "Design “What you pass on”: to do."),
    }


def test_when_all_is_done_nothing_is_missing(folder, ledger_in):
    finish(ledger_in(folder), folder)
    assert missing(folder) == set()


def test_a_design_that_does_not_fit_is_named_with_its_misses(folder, ledger_in):
    led = ledger_in(folder)
    finish(led, folder)
    led.record_answer(DESIGN_MISSES, ["It needs 300 KB, and 256 KB are there."])
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)
    said = "Your design does not fit. It needs 300 KB, and 256 KB are there."
    assert missing(folder) == {("design", said)}


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_measurement_that_is_not_the_one_that_was_taken(folder, ledger_in, change):
    finish(ledger_in(folder), folder)
    path = folder / "machine.json"
    path.unlink() if change == "gone" else path.write_bytes(b"{ }")
    ((kind, words),) = missing(folder)
    assert kind == "measurement"
    assert ("is gone" if change == "gone" else "is not the file that you measured") in words


def test_no_ledger_is_the_first_thing_to_say(folder):
    ((kind, words),) = missing(folder)
    assert kind == "ledger"
    assert "no ledger.jsonl beside the notebook" in words


def test_a_ledger_of_another_name_or_lab_is_named(folder, ledger_in):
    finish(ledger_in(folder, student="bob"), folder)
    ((kind, words),) = missing(folder)
    assert kind == "ledger"
    assert "bob" in words
    (folder / "ledger.jsonl").unlink()
    ledger_in(folder, lab="lab_07_kernel_fusion")
    assert any("lab_07_kernel_fusion" in words for _, words in missing(folder))


def test_a_ledger_that_was_changed_is_named(folder, ledger_in):
    finish(ledger_in(folder), folder)
    path = folder / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"value":"B"', b'"value":"C"', 1))
    assert "ledger" in kinds(folder)
    path.write_bytes(b"not events\n")
    assert "ledger" in kinds(folder)


def test_a_notebook_that_was_not_saved_since_is_named(folder, ledger_in):
    finish(ledger_in(folder), folder)
    os.utime(folder / f"{LAB}.ipynb", (time.time() - 60,) * 2)
    ((kind, words),) = missing(folder)
    assert kind == "notebook"
    assert "save it" in words


def test_a_name_that_the_course_may_not_know_is_named(folder, ledger_in):
    finish(ledger_in(folder), folder)
    ((kind, words),) = missing(folder, Student("ann", "your login", uncertain=True))
    assert kind == "name"
    assert "mlsys whoami" in words


def test_a_notebook_that_carries_its_record_is_not_called_empty(folder, ledger_in):
    led = ledger_in(folder)
    led.record_answer("quiz.1", "B")
    path = folder / f"{LAB}.ipynb"
    path.write_bytes(with_record(path.read_bytes(), led.path.read_bytes(), LAB, ANN.name))
    led.path.unlink()
    ((kind, words),) = missing(folder)
    assert kind == "ledger"
    assert "carries what was recorded" in words
    assert "nothing that you did" not in words


def test_what_was_typed_and_not_recorded_is_named(folder, ledger_in):
    finish(led := ledger_in(folder), folder)
    typed = {"window": "w", "value": "160 W", "over": "150", "at": LATER}
    change = {"item": "act1_why", "box": "answer", "window": "w", "draft": typed}
    drafts = Drafts(led.path)
    drafts.change([change])
    assert missing(folder) == {
        (
            "draft",
            "Act 1, reflection “Act1 why”: you entered “160 W” and have not recorded it, so it"
            " would not be handed in.",
        )
    }
    # Recorded since, by a kernel that ended before it could say so.
    drafts.change([{**change, "draft": {**typed, "at": 1.0}}])
    assert missing(folder) == set()
    assert missing(folder) == set()


def test_what_a_page_left_behind_of_a_sealed_prediction_is_not_missing(folder, ledger_in):
    finish(led := ledger_in(folder), folder)
    (name,) = led.state().predictions
    typed = {"window": "w", "value": "4", "over": None, "at": 1.0}
    left = {"item": name, "box": "confidence", "window": "w", "draft": typed}
    Drafts(led.path).change([left])
    assert missing(folder) == set()


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("word " * 100, "“word word word word word word word word word word word …”"),
        ({"what": "byte", "n": None}, "“byte”"),
        (["a", "b"], "“a, b”"),
        ("", "something else"),
        (None, "something else"),
        (3, "“3”"),
    ],
)
def test_a_draft_is_quoted_in_one_line(folder, ledger_in, value, quoted):
    finish(led := ledger_in(folder), folder)
    typed = {"window": "w", "value": value, "over": "", "at": LATER}
    Drafts(led.path).change([{"item": "act1_why", "box": "b", "window": "w", "draft": typed}])
    ((_, words),) = missing(folder)
    assert f"you entered {quoted} and have" in words


def test_an_essay_that_is_too_short_is_named_with_its_numbers(folder, ledger_in):
    cells = [step("essay", "reply", act=1, title="Reply", at_least=5)]
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=cells))
    led = ledger_in(folder)
    led.record_answer("reply", "Buy more memory.")
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)
    assert missing(folder) == {
        ("step", "Act 1, essay “Reply”: tried, too short: 3 words of at least 5.")
    }
    led.record_answer("reply", "Buy more and faster memory.")
    assert missing(folder) == set()


@pytest.mark.parametrize("odd", ["many", None, -4, 2.5, [1], {}])
def test_an_odd_minimum_asks_for_nothing(folder, ledger_in, odd):
    cells = [step("essay", "reply", title="Reply", at_least=odd)]
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=cells))
    ledger_in(folder).record_answer("reply", "Memory.")
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)
    assert missing(folder) == set()
