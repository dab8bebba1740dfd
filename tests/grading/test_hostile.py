"""Three hundred hostile submissions in a class of honest students: none gains, none is silent."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.flags import FlagKind
from tests.grading.classroom import autograded, classroom, grade, small
from tests.grading.hostile import NEIGHBOR, TRICKS, WORK, Hostile, honest, hostile
from tests.grading.regrading import NUMBER
from tests.labs.rehearsal import Workshop
from tests.sampling import takes_everything

pytestmark = pytest.mark.timeout(3600)
SEED = 30
LEDGER_FLAGS = {FlagKind.DOUBTFUL_LEDGER, FlagKind.SHARED_LEDGER}
#: In ``make test``, all of them in ``make test-all``, and how many of those run in either.
FEW, ALL, FEW_RUN, MANY_RUN = 30, 300, 6, 40


@dataclass(frozen=True)
class HostileClass:
    """A class that was graded, the hostile among them, and in which order they were done."""

    course: Workshop
    hostile: list[Hostile]
    graded: Mapping[str, GradedSubmission]

    @functools.cached_property
    def worth(self) -> dict[str, float]:
        """What the work is worth that somebody hostile begins with."""
        return {work: self.graded[f"aa-honest-{work}"].earned for work in WORK}


def held(root, number: int, *, first: int = 0, **options) -> HostileClass:
    """Grade a class in which every tenth student is honest, and there are twelve of those."""
    course = classroom(root / "course")
    assert f"aa-honest-{WORK[-1]}" == NEIGHBOR
    for group in ("aa", "h1", "h2", "zz"):
        for work in WORK:
            honest(course, f"{group}-honest-{work}", work)
    made = hostile(ALL, SEED)[first : first + number]
    for each in made:
        each.make(course)
    graded = grade(course, limits=small(wall=20, cpu=15, output=20_000_000), **options)
    return HostileClass(course, made, graded)


@pytest.fixture(scope="module")
def by_record(tmp_path_factory) -> HostileClass:
    number = ALL if takes_everything() else FEW
    return held(tmp_path_factory.mktemp("hostile"), number)


@pytest.fixture(scope="module")
def by_running(tmp_path_factory) -> HostileClass:
    number = MANY_RUN if takes_everything() else FEW_RUN
    return held(tmp_path_factory.mktemp("running"), number, first=FEW, run=True)


@pytest.fixture(params=["by_record", "by_running"])
def hall(request) -> HostileClass:
    return request.getfixturevalue(request.param)


def test_the_honest_are_graded_as_ever(hall):
    assert hall.worth == {"blank": 0, "recorded": 20, "right": 80}
    for name, graded in hall.graded.items():
        if "-honest-" in name:
            assert graded.earned == hall.worth[name.rpartition("-")[2]], graded
            kinds = [each.kind for each in (*graded.flags, *graded.remarks)]
            # Who recorded nothing is told so, and the TA too.
            assert kinds == ([FlagKind.NO_LEDGER] if name.endswith("blank") else []), graded


def test_nobody_gains_and_nobody_is_left_out(hall):
    """But for a neighbor's ledger under one's own name, which a person decides about.

    It is not intact, so what is right for everybody counts in it only with a flag; a number that
    is the neighbor's own never does.
    """
    assert {each.name for each in hall.hostile} < set(hall.graded)
    for each in hall.hostile:
        graded = hall.graded[each.name]
        if graded.earned > hall.worth[each.work]:
            assert "neighbors-ledger" in each.tricks, (each, graded)
            assert {flag.kind for flag in graded.flags} & LEDGER_FLAGS, (each, graded)
            assert next(s for s in graded.scores if s.name == NUMBER).auto == 0, (each, graded)


def test_whoever_gets_less_or_nothing_is_told_why(hall):
    """Whoever has all that the work is worth need not be told: the trick has changed nothing.

    An answer that code of the student's own has changed is told by its verdict: it is not right.
    """
    silent = [
        each
        for each in hall.hostile
        if (graded := hall.graded[each.name]).earned < hall.worth[each.work]
        and not graded.sentences
        and not any(score.answer and not score.auto for score in graded.scores)
    ]
    assert silent == []


def test_what_is_said_is_a_sentence_and_not_an_error(hall):
    for each in hall.hostile:
        told = " ".join(hall.graded[each.name].sentences)
        assert told.isprintable()
        for raw in ("Error:", "Errno", "Traceback", str(hall.course.root)):
            assert raw not in told, (each, told)


def test_whoever_is_graded_has_a_notebook_that_can_be_opened(hall):
    for each in hall.hostile:
        if hall.graded[each.name].scores:
            autograded(hall.course, each.name)


def test_every_trick_is_played():
    played = {trick for each in hostile(ALL, SEED) for trick in each.tricks}
    assert played == set(TRICKS)
    assert len({each.name for each in hostile(ALL, SEED)}) == ALL
    assert hostile(ALL, SEED) == hostile(ALL, SEED)
