"""A ledger that was rewound or replaced since its head was noted is flagged, and keeps its points.

The submits are real, through nbgrader's exchange; what workers would send back is canned.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.ledger_heads import check_heads
from mlsys_widgets.hub.services.hand_in_watch import HandInWatch
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.hand_in_notes import notes_beside
from mlsys_widgets.ledger.receipt import RECEIPT, write_receipt
from mlsys_widgets.sandbox.job import FINISHED, Ending
from tests.grading import forged_ledgers
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import sql
from tests.grading.submitting import submit

STUDENT = "ann"


class Canned:
    """An engine whose submissions have all run, with nothing to show for it."""

    slots = lanes = 1

    def why_not_isolated(self) -> None:
        return None

    def run(self, _parcel, told):
        told.write_bytes(b'{"done": true}\n')
        return Ending(FINISHED), ()

    def close(self) -> None:
        pass


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinator, "open_engine", lambda *_: Canned())
    return classroom(tmp_path / "course")


@pytest.fixture
def home(course, tmp_path):
    """A student's home, in which the lab has been begun."""
    course.give(tmp_path / "home" / LAB)
    ledger(tmp_path / "home").commit_prediction("act1_bound", "B", 3)
    return tmp_path / "home"


def ledger(home, student=STUDENT):
    return Ledger.open(home / LAB / "ledger.jsonl", lab=LAB, student=student)


def grade(course):
    """Grade the only student; the submission, whose points must not depend on any flag here."""
    (graded,) = GradingRun(Plan(Course(course.root), LAB, force=True)).grade()
    return graded


def kinds(graded) -> list[FlagKind]:
    return [flag.kind for flag in graded.flags]


def points(graded) -> float | None:
    return next(score.auto for score in graded.scores if score.name == "commitments")


def test_an_honest_second_submission_has_no_flag(course, home):
    submit(course, STUDENT, home)
    first = grade(course)
    ledger(home).record_reflection("act1_why", "larger", correct=True)
    submit(course, STUDENT, home)
    second = grade(course)
    assert kinds(first) == kinds(second) == []
    assert (points(first), points(second)) == (10, 20)


def test_a_ledger_that_was_rewound_is_flagged(course, home):
    path = home / LAB / "ledger.jsonl"
    early = path.read_bytes()
    ledger(home).record_reflection("act1_why", "more", correct=False)
    submit(course, STUDENT, home)
    assert kinds(grade(course)) == []
    path.write_bytes(early)
    submit(course, STUDENT, home)  # with a receipt that fits what is left
    rewound = grade(course)
    assert kinds(rewound) == [FlagKind.CHANGED_LEDGER]
    assert "its end was cut off" in rewound.flags[0].sentence
    assert points(rewound) == 10


def test_a_ledger_that_was_replaced_is_flagged(course, home):
    submit(course, STUDENT, home)
    assert kinds(grade(course)) == []
    (home / LAB / "ledger.jsonl").unlink()
    fresh = ledger(home)
    fresh.commit_prediction("act1_bound", "A", 3)
    fresh.record_reflection("act1_why", "larger", correct=True)
    submit(course, STUDENT, home)
    replaced = grade(course)
    assert kinds(replaced) == [FlagKind.CHANGED_LEDGER]
    assert "the chain was rewritten" in replaced.flags[0].sentence
    assert points(replaced) == 20
    # A flag stays until a person decides, however often it is graded.
    assert kinds(grade(course)) == [FlagKind.CHANGED_LEDGER]


def test_a_ledger_that_is_gone_is_flagged(course, home):
    submit(course, STUDENT, home)
    grade(course)
    for path in (home / LAB).glob("ledger*"):
        path.unlink()
    submit(course, STUDENT, home)
    assert kinds(grade(course)) == [FlagKind.NO_LEDGER, FlagKind.CHANGED_LEDGER]


def test_a_lab_begun_again_with_its_old_ledger_beside_it_is_honest(course, home):
    submit(course, STUDENT, home)
    grade(course)
    again = ledger(home)
    again.begin_again()
    again.commit_prediction("act1_bound", "A", 3)
    submit(course, STUDENT, home)
    assert kinds(grade(course)) == []


def test_a_missing_receipt_is_no_flag_and_earlier_gradings_still_count(course, home):
    early = (home / LAB / "ledger.jsonl").read_bytes()
    ledger(home).record_reflection("act1_why", "more", correct=False)
    (submit(course, STUDENT, home) / RECEIPT).unlink()
    assert kinds(grade(course)) == []
    (home / LAB / "ledger.jsonl").write_bytes(early)
    (submit(course, STUDENT, home) / RECEIPT).unlink()
    assert kinds(grade(course)) == [FlagKind.CHANGED_LEDGER]


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        (b"not a receipt", "cannot be read"),
        (json.dumps({"head": {"seq": 1, "hash": "0" * 64}}).encode(), "Event 1 is not the one"),
        (json.dumps({"head": {"seq": 7, "hash": "0" * 64}}).encode(), "It had 8 events when"),
        (json.dumps({"head": None}).encode(), "It had no events when it was submitted"),
    ],
)
def test_a_forged_receipt_is_flagged(course, home, forged, words):
    (submit(course, STUDENT, home) / RECEIPT).write_bytes(forged)
    graded = grade(course)
    assert kinds(graded) == [FlagKind.BAD_RECEIPT]
    assert words in graded.flags[0].sentence
    assert points(graded) == 10


def test_a_ledger_that_was_changed_after_it_was_submitted_is_flagged(course, home):
    submit(course, STUDENT, home)
    ledger(home).record_reflection("act1_why", "larger", correct=True)
    shutil.copy(home / LAB / "ledger.jsonl", course.work(STUDENT))
    graded = grade(course)
    assert kinds(graded) == [FlagKind.BAD_RECEIPT]
    assert "It had 2 events when it was submitted and has 3 events now" in graded.flags[0].sentence


def test_the_head_of_somebody_elses_ledger_is_never_noted(course, home):
    (home / LAB / "ledger.jsonl").unlink()
    ledger(home, "bob").commit_prediction("act1_bound", "B", 3)
    submit(course, STUDENT, home)
    assert FlagKind.FOREIGN_LEDGER in kinds(grade(course))
    (home / LAB / "ledger.jsonl").unlink()
    ledger(home).commit_prediction("act1_bound", "B", 3)
    submit(course, STUDENT, home)
    assert kinds(grade(course)) == []


@pytest.mark.parametrize("content", [b"nonsense\n", b"\xff\xfe", b"[" * 9999])
def test_a_ledger_that_cannot_be_read_has_no_head(tmp_path, content):
    (tmp_path / "ledger.jsonl").write_bytes(content)
    head, flags = check_heads(tmp_path, LAB, STUDENT)
    assert (head, flags) == (None, [])
    assert check_heads(tmp_path, LAB, STUDENT, [Head(3, "x")])[0] is None


# What the hub has noted.


@pytest.fixture
def hub(course):
    """The hub's watch over the exchange, in which all folders are this student's."""
    exchange = course.root.parent / "exchange" / "mlsys" / "inbound"
    notes = notes_beside(course.root.resolve())
    notes.parent.mkdir()
    watch = HandInWatch(exchange, notes, named=lambda _: STUDENT)
    watch.look()
    return watch


def test_what_the_hub_saw_is_what_is_graded(course, home, hub):
    submit(course, STUDENT, home)
    assert len(hub.look()) == 1
    assert kinds(grade(course)) == []
    ledger(home).record_reflection("act1_why", "larger", correct=True)
    submit(course, STUDENT, home)
    assert len(hub.look()) == 1
    second = grade(course)
    assert kinds(second) == []
    assert points(second) == 20


def test_a_ledger_that_grew_in_the_exchange_is_flagged(course, home, hub):
    folder = submit(course, STUDENT, home)
    hub.look()
    # As a student can do in the folder that still belongs to them, receipt and all.
    ledger(home).record_reflection("act1_why", "larger", correct=True)
    shutil.copy(home / LAB / "ledger.jsonl", folder)
    write_receipt(folder)
    graded = grade(course)
    assert kinds(graded) == [FlagKind.CHANGED_LEDGER]
    words = "The hub saw it with 2 events when it was handed in, and it has 3 events now"
    assert words in graded.flags[0].sentence
    assert points(graded) == 20


def test_a_ledger_that_was_replaced_after_the_hand_in_is_flagged(course, home, hub):
    folder = submit(course, STUDENT, home)
    hub.look()
    lab = load(course.root / "assignments" / LAB)
    now = datetime.now(UTC) - timedelta(minutes=20)
    (folder / "ledger.jsonl").write_bytes(
        forged_ledgers.ledger(lab, STUDENT, forged_ledgers.entries(lab), begun=now)
    )
    write_receipt(folder)
    graded = grade(course)
    assert kinds(graded) == [FlagKind.CHANGED_LEDGER]
    assert "the chain was rewritten" in graded.flags[0].sentence


def test_a_hand_in_without_a_ledger_gets_none_later(course, home, hub):
    aside = (home / LAB / "ledger.jsonl").rename(home / "ledger.jsonl")
    folder = submit(course, STUDENT, home)
    hub.look()
    shutil.copy(aside, folder / "ledger.jsonl")
    graded = grade(course)
    assert kinds(graded) == [FlagKind.CHANGED_LEDGER]
    assert "saw it with no events when" in graded.flags[0].sentence


@pytest.mark.parametrize("hours", [1, 30])
def test_a_timestamp_that_was_turned_back_is_flagged(course, home, hub, hours):
    folder = submit(course, STUDENT, home)
    hub.look()
    earlier = datetime.now(UTC) - timedelta(hours=hours)
    (folder / "timestamp.txt").write_text(f"{earlier:%Y-%m-%d %H:%M:%S} UTC")
    (late,) = [f for f in grade(course).flags if "the hub has seen no hand-in" in f.sentence]
    assert late.kind == FlagKind.UNCERTAIN_TIME


def test_a_timestamp_that_was_wrong_from_the_start_is_flagged(course, home, hub):
    folder = submit(course, STUDENT, home)
    (fresh,) = (course.root.parent / "exchange" / "mlsys" / "inbound").iterdir()
    earlier = datetime.now(UTC) - timedelta(hours=7)
    for each in (fresh, folder):
        (each / "timestamp.txt").write_text(f"{earlier:%Y-%m-%d %H:%M:%S} UTC")
    hub.look()
    assert any("and the hub saw it 20" in flag.sentence for flag in grade(course).flags)


def test_a_lab_begun_again_between_two_hand_ins_is_honest(course, home, hub):
    submit(course, STUDENT, home)
    hub.look()
    again = ledger(home)
    again.begin_again()
    again.commit_prediction("act1_bound", "A", 3)
    submit(course, STUDENT, home)
    hub.look()
    assert kinds(grade(course)) == []


def test_work_that_was_handed_in_elsewhere_since_then_is_honest(course, home, hub):
    folder = submit(course, STUDENT, home)
    hub.look()
    ledger(home).record_reflection("act1_why", "larger", correct=True)
    shutil.copy(home / LAB / "ledger.jsonl", folder)
    write_receipt(folder)
    later = datetime.now(UTC) + timedelta(minutes=1)
    (folder / "timestamp.txt").write_text(f"{later:%Y-%m-%d %H:%M:%S} UTC")
    assert kinds(grade(course)) == []


# Times, and two ledgers of one origin.


def test_a_missing_timestamp_is_flagged_where_there_is_a_due_date(course, home):
    folder = submit(course, STUDENT, home)
    (folder / "timestamp.txt").unlink()
    assert kinds(grade(course)) == []
    sql(course.root, "update assignment set duedate = ?", "2026-01-01 10:00:00.000000")
    graded = grade(course)
    assert kinds(graded) == [FlagKind.UNCERTAIN_TIME]
    assert "what is known is that it was handed in 20" in graded.flags[0].sentence
    ((handed_in,),) = sql(course.root, "select timestamp from submitted_assignment")
    assert handed_in > "2026-01-01 10:00:00"


def test_a_garbled_timestamp_is_flagged_and_late_work_stays_late(course, home):
    sql(course.root, "update assignment set duedate = ?", "2026-01-01 10:00:00.000000")
    folder = submit(course, STUDENT, home)
    (folder / "timestamp.txt").write_text("before it was due, honestly")
    graded = grade(course)
    assert kinds(graded) == [FlagKind.UNCERTAIN_TIME]
    ((handed_in,),) = sql(course.root, "select timestamp from submitted_assignment")
    assert handed_in > "2026-01-01 10:00:00"


def test_a_friends_ledger_with_another_name_in_it_is_flagged(course, home):
    submit(course, STUDENT, home)
    theirs = submit(course, "bob", home)
    content = (home / LAB / "ledger.jsonl").read_bytes()
    (theirs / "ledger.jsonl").write_bytes(forged_ledgers.friends(content, "bob"))
    write_receipt(theirs)
    graded = list(GradingRun(Plan(Course(course.root), LAB, force=True)).grade())
    # Whichever is graded second is flagged.
    ((whose, flag),) = [(each.student, flag) for each in graded for flag in each.flags]
    assert flag.kind == FlagKind.SHARED_LEDGER
    assert {whose, flag.about} == {STUDENT, "bob"}
    # The next run knows both.
    again = list(GradingRun(Plan(Course(course.root), LAB, force=True)).grade())
    named = {each.student: [flag.about for flag in each.flags] for each in again}
    assert named == {STUDENT: ["bob"], "bob": [STUDENT]}
