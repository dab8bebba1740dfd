"""Before anything is handed in, a student is told what is missing."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from mlsys_widgets.handin.missing import what_is_missing
from mlsys_widgets.handin.work import find_work
from mlsys_widgets.labs.identity import Student
from mlsys_widgets.labs.quiz import confidence_box
from mlsys_widgets.labs.student_steps import DESIGN_MISSES
from mlsys_widgets.ledger.carried_record import with_record
from mlsys_widgets.ledger.designs import DesignForm, flag
from mlsys_widgets.ledger.drafts import Drafts
from tests.handin.conftest import LAB, notebook, step

ANN = Student("ann", "a test")
#: In milliseconds, as a browser has it: before and after everything that is recorded here.
EARLIER, LATER = 1.0, 4e12


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


def typed_into(led, item, value, over, *, box="answer", at=EARLIER, **more):
    """Leave a draft beside a ledger."""
    draft = {"window": "w", "value": value, "over": over, "at": at, **more}
    Drafts(led.path).change([{"item": item, "box": box, "window": "w", "draft": draft}])


@pytest.mark.parametrize("at", [EARLIER, LATER])
def test_what_was_typed_over_the_record_is_named_whatever_clocks_say(folder, ledger_in, at):
    """A browser may be hours behind the server, or ahead of it."""
    finish(led := ledger_in(folder), folder)
    typed_into(led, "act1_why", "B", "A", at=at)
    assert missing(folder) == {
        (
            "draft",
            "Act 1, reflection “Act1 why”: you entered “B” and have not recorded it, so it"
            " would not be handed in.",
        )
    }


@pytest.mark.parametrize("at", [EARLIER, LATER])
def test_what_was_recorded_since_it_was_typed_is_not_missing(folder, ledger_in, at):
    """A kernel that ended at that moment told nobody."""
    finish(led := ledger_in(folder), folder)
    typed_into(led, "act1_why", "A", "", at=at)
    assert missing(folder) == set()
    # Another window has recorded something else since then.
    typed_into(led, "act1_why", "C", "B", at=at)
    assert missing(folder) == set()
    quiz = "what_do_you_know"
    led.record_answer(f"{quiz}.1", "B", confidence=4)
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)
    typed_into(led, quiz, "B", None, box="1", at=at)
    typed_into(led, quiz, "4", None, box=confidence_box("1"), at=at)
    assert missing(folder) == set()
    typed_into(led, quiz, "A", None, box="3", at=at)
    assert kinds(folder) == ["draft"]


def test_what_was_typed_while_something_was_on_its_way_is_newer(folder, ledger_in):
    finish(led := ledger_in(folder), folder)
    typed_into(led, "act1_why", "A and more", "", meanwhile=True)
    assert kinds(folder) == ["draft"]
    typed_into(led, "act1_why", "A", "", meanwhile=True)
    assert missing(folder) == set()


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [(1234.5, "1,234.5"), (3.14159265, "3.14159"), ("text", "text"), (["a", "b"], ["a", "b"]),
     ({"a": "x", "b": "y"}, {"b": "y", "a": "x"})],
)  # fmt: skip
def test_the_record_is_compared_as_its_box_shows_it(folder, ledger_in, recorded, shown):
    finish(led := ledger_in(folder), folder)
    cells = [step("answer", "power", act=1, title="Power")]
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=cells))
    led.record_answer("power", recorded)
    typed_into(led, "power", "something else", shown)
    assert "draft" in kinds(folder)
    typed_into(led, "power", "something else", "and over something else")
    assert "draft" not in kinds(folder)


def test_drafts_of_a_copy_that_was_deleted_are_not_missing(folder, ledger_in):
    finish(led := ledger_in(folder), folder)
    typed_into(led, "act1_why", "B", "A", ledger="01ANOTHER")
    assert missing(folder) == set()
    typed_into(led, "act1_why", "B", "A", ledger=led.state().ledger_id)
    assert kinds(folder) == ["draft"]


def test_what_a_page_left_behind_of_a_sealed_prediction_is_not_missing(folder, ledger_in):
    finish(led := ledger_in(folder), folder)
    (name,) = led.state().predictions
    typed_into(led, name, "4", None, box="confidence")
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
    typed_into(led, "act1_why", value, "A")
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
