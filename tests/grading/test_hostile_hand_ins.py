"""Hand-ins made to cheat the judge of a hub, or to keep others waiting: nobody gains by them."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from mlsys_widgets.files import LEDGER, OWN_FOLDER, TOLD
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.telling.hand_in_judge import HandInJudge
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import to_line
from tests.grading.classroom import LAB, grade
from tests.grading.telling import CHANCE, ToldClass, in_days
from tests.grading.test_hand_in_judge import AT_ONCE, missed, names, points
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
    assert points(told_class, "ann")[first] == told["earned"]
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
    assert points(told_class, "ann")[first] == told["earned"]


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
