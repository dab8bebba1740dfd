"""What reading may take while others wait: twice the usual, more in each later turn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.judging.marking import Marking
from mlsys_widgets.grading.reading.allowance import Allowance
from mlsys_widgets.grading.reading.readers import CannotRead, PutOff, Readers, TookTooLong
from tests.grading.classroom import LAB, classroom
from tests.grading.hostile import honest

MOST = 2.0


def test_as_long_as_nothing_is_known_it_is_what_the_limits_say():
    assert Allowance(MOST).seconds(0) == MOST


def test_the_first_one_tells_already():
    allowance = Allowance(MOST)
    allowance.learn(0.3)
    assert allowance.seconds(0) == pytest.approx(0.6)


def test_a_class_in_which_everybody_takes_longer_gets_longer():
    """A guess that was too low costs a few of them a second turn, and no more than that."""
    allowance, put_off = Allowance(MOST, usual=0.05), 0
    for _ in range(100):
        may = allowance.seconds(0)
        put_off += may < 0.7
        allowance.learn(min(may, 0.7))
    assert put_off <= 40
    assert allowance.seconds(0) == pytest.approx(1.4)


def test_a_few_who_are_slow_change_nothing():
    allowance = Allowance(MOST, usual=0.05)
    for k in range(500):
        allowance.learn(allowance.seconds(0) if k % 3 == 0 else 0.05)
    assert allowance.seconds(0) == pytest.approx(0.1)


def test_nobody_gets_less_than_timers_can_tell_nor_more_than_the_limit():
    for usual, may in ((1e-6, 0.02), (50.0, MOST)):
        allowance = Allowance(MOST)
        allowance.learn(usual)
        assert allowance.seconds(0) == may


def test_each_turn_is_longer_until_all_there_is(tmp_path):
    allowance = Allowance(MOST, usual=0.1)
    turns = [allowance.seconds(turn) for turn in range(8)]
    assert turns == sorted(set(turns))
    assert turns[-1] > 30


# Who waits for whom, with work that is counted instead of timed.

#: Seconds of an honest submission, as the coordinator believes; and what reading takes, in units of
#: that, of which nobody gets more than so many.
USUAL, MOST_UNITS = 0.1, 300
COST = {
    "a-forever": 10_000, "b-slow": 500, "c-slow": 40, "d-honest": 1, "e-honest": 1,
    "f-forever": 10_000, "g-honest": 1.5, "h-slow": 7, "i-honest": 1, "j-honest": 0.5,
    "k-little-more": 3, "l-honest": 1, "m-honest": 1, "n-forever": 10_000, "z-honest": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def charged(tmp_path_factory):
    """Grade a class with one reader that counts: what each has taken whenever one is done."""
    course = classroom(tmp_path_factory.mktemp("charged") / "course")
    for name in COST:
        honest(course, name, "blank")
    taken: Counter[str] = Counter()
    then: dict[str, dict[str, float]] = {}

    def ask(self: Readers, request, *, turn=None):
        name = request.student
        most = MOST_UNITS if turn is None else self._allowance.seconds(turn) / USUAL
        taken[name] += min(COST[name], most, MOST_UNITS)
        if turn == 0:
            self._allowance.learn(min(COST[name], most) * USUAL)
        if COST[name] > most and turn is not None and most < MOST_UNITS:
            raise PutOff("later")
        then[name] = dict(taken)
        if COST[name] > MOST_UNITS:
            raise TookTooLong("too long")
        raise CannotRead("counted, and not read")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Readers, "ask", ask)
        patch.setattr(Marking, "rehearse", lambda *_: USUAL)
        patch.setattr(coordinator, "map_bounded", one_at_a_time)
        run = GradingRun(Plan(Course(course.root), LAB, workers=1))
        replies = {each.student: each.sentences for each in run.grade()}
    return taken, then, replies


def one_at_a_time(work, waiting, _lanes):
    while waiting:
        thing = waiting.popleft()
        yield thing, work(thing)


def test_nobody_takes_more_than_twice_an_honest_one_from_those_who_wait(charged):
    """None of the honest waits for more than two units of anybody before them."""
    _, then, _ = charged
    for name in (each for each in COST if each.endswith("honest")):
        before = {other: units for other, units in then[name].items() if other != name}
        assert all(units <= 2 for units in before.values()), (name, before)


def test_who_takes_less_is_done_first(charged):
    _, then, _ = charged
    order = list(then)
    honest_ones = [name for name in COST if name.endswith("honest")]
    assert order == [
        *honest_ones, "h-slow", "k-little-more", "c-slow",
        "a-forever", "b-slow", "f-forever", "n-forever",
    ]  # fmt: skip


def test_everybody_is_answered_and_nobody_is_tried_forever(charged):
    taken, _, replies = charged
    assert set(replies) == set(COST)
    assert all("not graded" in each[0] for each in replies.values())
    for name, units in taken.items():
        assert units <= 2 * MOST_UNITS if COST[name] > 2 else units == COST[name]


def test_reading_the_blank_notebook_tells_what_is_usual(tmp_path):
    course = classroom(tmp_path / "course")
    honest(course, "ann", "right")
    run = GradingRun(Plan(Course(course.root), LAB, workers=1))
    usual = run._marking.rehearse(tmp_path / "rehearsal")
    assert usual > 0
    assert run._readers._allowance.seconds(0) <= MOST
    graded = {each.student: each for each in run.grade()}
    assert set(graded) == {"ann"}, "nobody is graded for it"
    assert graded["ann"].earned == 80
    assert not list(Path(course.root).rglob("*rehears*"))


def test_a_notebook_that_cannot_be_judged_stops_nobody_before_they_are_read(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    honest(course, "ann", "right")

    def broken(*_args, **_more):
        raise RuntimeError("no verdict")

    monkeypatch.setattr("mlsys_widgets.grading.judging.scoring.Judge.score", broken)
    run = GradingRun(Plan(Course(course.root), LAB, workers=1))
    assert run._readers._allowance.seconds(0) == MOST
    (graded,) = run.grade()
    assert graded.sentences == ("not graded: RuntimeError: no verdict",)
