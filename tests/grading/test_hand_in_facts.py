"""What a course knows about its hand-ins: release times, the hub's notes, a zone, a due date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.reading.hand_in_facts import HandInFacts, release_time
from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.hand_in_notes import HandInNote, notes_beside

LAB = "lab_02_demo"
SEEN = datetime(2026, 11, 1, 10, tzinfo=UTC)


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course" / ".mlsys").mkdir(parents=True)
    return Course(tmp_path / "course")


def note(course, student="ann", lab=LAB, seen=SEEN):
    path = notes_beside(course.home)
    path.parent.mkdir(exist_ok=True)
    made = HandInNote(student, lab, f"{student}+{lab}", Head(1, "a" * 64), seen, "then", True)
    with path.open("ab") as file:
        file.write(made.to_line())
    return made


def test_a_course_that_knows_nothing(course, tmp_path):
    facts = HandInFacts.of(course, LAB, due=True)
    assert facts == HandInFacts()
    missing = facts.time(tmp_path, "ann")
    assert missing.moment is None
    assert "timestamp.txt is missing" in missing.doubt
    assert HandInFacts.of(course, LAB, due=False).time(tmp_path, "ann").doubt == ""


def test_notes_are_found_by_lab_and_student(course):
    first, second = note(course), note(course, seen=SEEN + timedelta(hours=1))
    note(course, "bob")
    note(course, lab="lab_07")
    facts = HandInFacts.of(course, LAB, due=True)
    assert facts.of_student("ann") == (first, second)
    assert len(facts.of_student("bob")) == 1
    assert facts.of_student("cleo") == ()


def test_a_missing_time_is_the_latest_that_is_known(course, tmp_path):
    note(course)
    facts = HandInFacts.of(course, LAB, due=True)
    assert facts.time(tmp_path, "ann").moment == SEEN.replace(tzinfo=None)
    later = SEEN + timedelta(hours=5)
    ledger = Ledger.open(tmp_path / "ledger.jsonl", lab=LAB, student="ann", clock=lambda: later)
    ledger.record_answer("limit", "memory")
    last = ledger.events()[-1].time
    assert facts.time(tmp_path, "ann", last_saved=last).moment == later.replace(tzinfo=None)
    impossible = "2026-02-31T09:00:00.000Z"
    known = facts.time(tmp_path, "ann", last_saved=impossible).moment
    assert known == SEEN.replace(tzinfo=None)
    (tmp_path / "timestamp.txt").write_text("2026-11-01 09:00:00 UTC")
    assert facts.time(tmp_path, "ann", last_saved=last).moment == datetime(2026, 11, 1, 9)


def test_the_zone_of_the_course_settles_abbreviations(course, tmp_path):
    (course.root / "nbgrader_config.py").write_text("c.Exchange.timezone = 'Asia/Shanghai'\n")
    (tmp_path / "timestamp.txt").write_text("2026-11-01 10:00:00 CST")
    found = HandInFacts.of(course, LAB, due=True).time(tmp_path, "ann")
    assert (found.moment, found.doubt) == (datetime(2026, 11, 1, 2), "")


def test_a_giant_timestamp_is_not_read_whole(course, tmp_path):
    with (tmp_path / "timestamp.txt").open("wb") as file:
        file.truncate(8 << 30)
    assert "not a time" in HandInFacts.of(course, LAB, due=True).time(tmp_path, "ann").doubt


@pytest.mark.parametrize("words", ["", "[]", '{"lab_02_demo": 3}', '{"lab_02_demo": "soon"}'])
def test_a_release_that_cannot_be_read_is_a_sentence(course, words):
    path = course.home / ".mlsys" / "released.json"
    path.write_text(words)
    with pytest.raises(ValueError, match=r"released.json cannot be read; it must be like"):
        release_time(course.home, LAB)
    path.write_text('{"lab_02_demo": "2026-10-01T09:00:00"}')
    assert release_time(course.home, LAB) == datetime(2026, 10, 1, 9, tzinfo=UTC)


def test_what_comes_after_the_close_is_told_by_the_hubs_own_clock():
    close = datetime(2026, 11, 2, 12, tzinfo=UTC)

    def note(noted: datetime, says: str, *, watched: bool = True) -> HandInNote:
        return HandInNote("ann", LAB, f"ann+{LAB}+{says}", None, noted, says, watched)

    early = note(close - timedelta(days=1), "2026-11-01 12:00:00.000000 UTC")
    # The timestamp is the student's word: it says eleven, and it came at one.
    forged = note(close + timedelta(hours=1), "2026-11-02 11:00:00.000000 UTC")
    facts = HandInFacts(notes={"ann": (early, forged)})
    moment = datetime(2026, 11, 2, 11)
    sentence = facts.after_close("ann", moment, close)
    assert sentence is not None
    assert sentence.startswith("2026-11-02 13:00 UTC, and it closed 2026-11-02 12:00 UTC")
    assert "an earlier hand-in of 2026-11-01" in sentence
    assert facts.after_close("ann", datetime(2026, 11, 1, 12), close) is None
    assert facts.after_close("ben", datetime(2026, 11, 2, 12), close) is not None
    assert facts.after_close("ann", moment, None) is None
    assert facts.after_close("ann", None, close) is None
    # One that lay there when the hub began to look may have come in time.
    unseen = note(close + timedelta(hours=1), forged.says, watched=False)
    assert HandInFacts(notes={"ann": (unseen,)}).after_close("ann", moment, close) is None
