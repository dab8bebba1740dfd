"""Hand-ins made to cheat the judge of a hub, or to keep others waiting: nobody gains by them."""

from __future__ import annotations

import json
import shutil
import threading
from typing import Any

import pytest

from mlsys_widgets.course.exchange_place import TOLD_SOCKET
from mlsys_widgets.files import LEDGER, OWN_FOLDER, TOLD
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.telling.hand_in_judge import HandInJudge
from mlsys_widgets.grading.telling.told_socket import ToldSocket
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import to_line
from tests.grading.classroom import LAB, grade
from tests.grading.telling import CHANCE, ToldClass, in_days
from tests.grading.test_hand_in_judge import AT_ONCE, missed, names
from tests.ledger.making import rechained

#: Values that no card would write under the name of a second answer.
HOSTILE: dict[str, Any] = {
    "true": True,
    "nothing": None,
    "beyond every float": 10**400,
    "a list": [1.0, 2.0],
    "a table": {"value": 1, "credit": 1, "share": 100},
    "a page": "<img src=x onerror=alert(1)>",
    "a verdict": '1.0\n}, "credit": 1.0, {',
    "deep": json.loads("[" * 60 + "]" * 60),
}


@pytest.fixture
def told_class(tmp_path):
    return ToldClass(tmp_path, AT_ONCE, CHANCE, f"due = {in_days(1)}")


def forge(path, *answers: tuple[str, Any]) -> None:
    """Write answers into a ledger past all cards, numbered and chained as the package would."""
    events = list(Ledger.open(path).events())
    like = next(each for each in events if each.kind == "answer")
    events += [like._replace(id=name, value={**like.value, "value": v}) for name, v in answers]
    path.write_bytes(b"".join(map(to_line, rechained(events))))


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_a_second_answer_that_no_card_wrote_earns_nothing_and_stops_nobody(told_class, value):
    first = missed(told_class)
    told = told_class.told("ann")[first]
    forge(told_class.home("ann") / LEDGER, (f"attempt.{first}", 1), (f"again.1.{first}", value))
    told_class.submit("ann")
    told_class.hand_in("ben", told_class.right("ben"))
    told_class.judge()
    now = told_class.told("ann")[first]
    assert now["earned"] == told["earned"]
    assert told_class.points("ann")[first] == told["earned"]
    assert told_class.told("ben")[first]["credit"] == 1
    json.dumps(told_class.report("ann"), allow_nan=False)


@pytest.mark.parametrize("name", ["again.0.{}", "again.01.{}", "again.2.{}", "again.1.again.1.{}"])
def test_no_other_name_stands_for_a_second_answer(told_class, name):
    first = missed(told_class)
    told = told_class.told("ann")[first]
    again = told_class.again("ann", first)
    forge(told_class.home("ann") / LEDGER, (f"attempt.{first}", 2), (name.format(first), again))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first] == told


def test_an_answer_that_is_changed_before_the_judge_has_looked_counts_as_it_came(told_class):
    """Two hand-ins wait: the first says what counts, though nobody was told yet."""
    first = names(told_class)[0]
    told_class.hand_in("ann", {first: told_class.wrong("ann")[first]})
    told_class.hand_in("ann", {first: told_class.right("ann")[first]})
    assert told_class.judge() == [1, 1]
    assert told_class.told("ann")[first]["credit"] < 1


def test_what_takes_the_place_of_a_noted_hand_in_is_flagged_and_changes_nothing_told(told_class):
    first = names(told_class)[0]
    wrong, right = told_class.wrong("ann"), told_class.right("ann")
    noted = told_class.hand_in("ann", {first: wrong[first]})
    told_class.judge()
    told = told_class.told("ann")[first]
    # The folder in the exchange is still hers: she puts another ledger in, and removes the note's.
    shutil.rmtree(told_class.home("ann"))
    other = told_class.answer("ann", {first: right[first]})
    shutil.copy(other / LEDGER, noted / LEDGER)
    assert told_class.judge() == []
    assert told_class.told("ann")[first] == told
    graded = grade(told_class.collected("ann"))["ann"]
    (score,) = (each for each in graded.scores if each.name == first)
    assert score.auto == told["earned"]
    assert FlagKind.CHANGED_LEDGER in {flag.kind for flag in graded.flags}


def test_files_of_the_judge_in_a_hand_in_are_not_believed(told_class):
    """A student may hand in what looks like the course's own notes, and like a told result."""
    first = missed(told_class)
    told = told_class.told("ann")[first]
    folder = told_class.home("ann")
    report = {**told_class.report("ann")}
    report["questions"] = [{**told, "credit": 1.0, "earned": told["points"]}]
    (folder / TOLD).write_text(json.dumps(report))
    (folder / OWN_FOLDER).mkdir()
    kept = told_class.root / OWN_FOLDER / f"told-{LAB}.jsonl"
    line = json.loads(kept.read_text().splitlines()[0])
    line["answers"][first]["credit"] = 1.0
    (folder / OWN_FOLDER / kept.name).write_text(json.dumps(line) + "\n")
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first] == told
    assert told_class.points("ann")[first] == told["earned"]


def test_whoever_hands_in_thirty_times_waits_alone(told_class):
    first = names(told_class)[0]
    for _ in range(30):
        told_class.hand_in("eve", told_class.wrong("eve"))
    told_class.hand_in("ann", told_class.right("ann"))
    judge = HandInJudge(told_class.root)
    try:
        assert judge.look() == 2  # one of hers, and Ann's
        assert told_class.told("ann")[first]["credit"] == 1
        assert [judge.look() for _ in range(3)] == [1, 1, 1]
    finally:
        judge.close()


def test_a_second_answer_that_says_it_came_earlier_is_late_by_the_clock_of_the_hub(told_class):
    first = missed(told_class)
    told_class.settings(AT_ONCE, CHANCE, f"due = {in_days(-3)}")
    told_class.try_again("ann", first, told_class.again("ann", first))
    folder = told_class.submit("ann", says="2026-10-31 10:00:00.000000 UTC")
    assert folder.is_dir()
    told_class.judge()
    assert told_class.told("ann")[first]["second"] is None


@pytest.mark.parametrize("says", ["9" * 100, "tomorrow", "\x1b[2J", "2026-13-45", "9999-12-31"])
def test_a_time_that_is_none_keeps_nobody_from_being_told(told_class, says):
    first = names(told_class)[0]
    told_class.answer("ann", {first: told_class.wrong("ann")[first]})
    told_class.submit("ann", says=says)
    told_class.hand_in("ben", told_class.right("ben"))
    told_class.judge()
    assert told_class.told("ann")[first]["credit"] < 1
    assert told_class.told("ben")[first]["credit"] == 1


def test_a_second_answer_that_was_handed_in_before_the_first_was_told_waits(told_class):
    """Two hand-ins lie there when the judge looks: nobody has read an explanation in between."""
    first = names(told_class)[0]
    told_class.hand_in("ann", {first: told_class.wrong("ann")[first]})
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    assert told_class.judge() == [1, 1]
    told = told_class.told("ann")[first]
    assert (told["second"], told["again"]) == (None, True)
    # Now she was told, and may.
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first]["second"]["credit"] == 1


def test_a_right_answer_is_taken_again_by_nobody(told_class):
    first = names(told_class)[0]
    told_class.hand_in("ann", {first: told_class.right("ann")[first]})
    told_class.judge()
    told = told_class.told("ann")[first]
    assert (told["again"], told["credit"]) == (False, 1)
    told_class.try_again("ann", first, told_class.again("ann", first, right=False))
    told_class.submit("ann")
    told_class.judge()
    assert told_class.told("ann")[first] == told


def test_what_is_handed_in_again_and_again_is_judged_once(told_class):
    """The same folder, replayed with its old time: one more line, and nothing new in it."""
    first = missed(told_class)
    old = told_class.aside / "old"
    shutil.copytree(told_class.home("ann"), old)
    told_class.try_again("ann", first, told_class.again("ann", first))
    told_class.submit("ann")
    told_class.judge()
    told, graded = told_class.report("ann"), told_class.points("ann")
    for _ in range(3):
        told_class.submit("ann", old, says="2026-10-31 10:00:00.000000 UTC")
        told_class.submit("ann")
    told_class.judge()
    assert told_class.report("ann") == told
    assert told_class.points("ann") == graded


def test_a_second_answer_of_somebody_else_is_an_answer_to_other_numbers(told_class):
    first = missed(told_class)
    missed(told_class, "ben")
    mine, theirs = (told_class.again(name, first) for name in ("ann", "ben"))
    assert mine != theirs, "the test needs two students with other numbers"
    for way in ("value", "ledger"):
        if way == "value":
            told_class.try_again("ben", first, mine)
        else:  # all of Ann's ledger, chained anew in his name
            told_class.try_again("ann", first, mine)
            events = list(Ledger.open(told_class.home("ann") / LEDGER).events())
            start = Ledger.open(told_class.home("ben") / LEDGER).events()[0]
            lines = map(to_line, rechained([start, *events[1:]]))
            (told_class.home("ben") / LEDGER).write_bytes(b"".join(lines))
        told_class.submit("ben")
        told_class.judge()
        second = told_class.told("ben")[first]["second"]
        assert second is None or second["credit"] < 1


def test_before_it_is_told_the_socket_says_the_same_whatever_was_answered(tmp_path):
    """Nobody reads a key from the answers of a course that tells after the due time."""
    told_class = ToldClass(tmp_path, 'feedback = "after due"', f"due = {in_days(1)}")
    whose = [""]
    door = ToldSocket(told_class.inbound.parent, TOLD_SOCKET, told_class.root, lambda _: whose[0])
    serving = threading.Thread(target=door.serve, daemon=True)
    serving.start()
    handed_in = {
        "ann": told_class.right("ann"), "ben": told_class.wrong("ben"), "cas": {},
    }  # fmt: skip
    replies = []
    for whose[0], answers in handed_in.items():
        folder = told_class.hand_in(whose[0], answers)
        assert told_class.judge() == []
        replies.append(told_class.ask((folder / "timestamp.txt").read_text()))
    assert replies == [replies[0]] * 3
    assert replies[0] == {
        "feedback": "after due", "at_once": False, "judged": False, "told": None,
    }  # fmt: skip
    assert not (told_class.root / "gradebook.db").exists() or not told_class.points("ann")
