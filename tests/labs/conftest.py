"""Every lab of the course, graded once for all tests of a run.

What is graded is what is committed in ``source/`` and ``release/``; a test of its own makes sure
that this is what ``assignments/`` gives.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.files import LEDGER
from mlsys_widgets.measured import checks
from mlsys_widgets.measured.recorder import Document
from tests.labs.rehearsal import (
    ROOT,
    Grade,
    Workshop,
    autograde,
    committed,
    solved,
    typed,
    work_through,
)
from tests.sampling import EXAMPLE

LABS = labs_of(Course.at(ROOT))
#: Names as courses have them; their numbers differ. In the short suite each lab is solved by one.
SOLVERS = ("student-07", "Müller", "o.brien@uni.edu")
NOBODY, COPYIST, VALID = "untouched", "copyist", "valid"
CLASS = [*SOLVERS, *(f"student-{k:02}" for k in range(50) if k != 7)]
#: Who is wrong in every answer, by belief.
BELIEVER = "believer-{}"
#: How many beliefs of each answer go through nbgrader in the short suite; the hidden tests
#: themselves are run with all of them.
FEW_BELIEFS = 1


def solver_of(lab: str) -> str:
    """Who solves a lab in the short suite: every name has its turn."""
    return SOLVERS[LABS.index(lab) % len(SOLVERS)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lab" in metafunc.fixturenames:
        by_nbgrader = "rehearsal" in metafunc.fixturenames
        left = [lab for lab in LABS if by_nbgrader and lab != EXAMPLE]
        slow = [pytest.param(lab, marks=pytest.mark.slow) for lab in left]
        metafunc.parametrize("lab", [*(lab for lab in LABS if lab not in left), *slow])


@pytest.fixture(scope="package", autouse=True)
def _schema_read_once() -> Iterator[None]:
    """Hold a measurement against the schema once, wherever a copy of it lies.

    It takes a second, and every folder of a rehearsal has the same one.
    """
    problems = checks._schema_problems
    known: dict[bytes, list[tuple[str, str]]] = {}

    def remembered(document: Document) -> Iterator[tuple[str, str]]:
        content = marshal.dumps(document)
        if content not in known:
            known[content] = list(problems(document))
        return iter(known[content])

    with mock.patch.object(checks, "_schema_problems", remembered):
        yield


@dataclass
class Rehearsal:
    """A lab that was graded, and what came out."""

    made: Workshop
    grades: dict[str, dict[str, Grade]] = field(default_factory=dict)
    validated: dict[str, dict] = field(default_factory=dict)
    problem: str = ""


@pytest.fixture(scope="session")
def chosen(request: pytest.FixtureRequest) -> list[str]:
    """The labs that this run is about: all, unless -k says otherwise."""
    specs = (getattr(item, "callspec", None) for item in request.session.items)
    about = {spec.params.get("lab") for spec in specs if spec}
    return [lab for lab in LABS if lab in about]


@pytest.fixture(scope="session")
def workshops(chosen: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Workshop]:
    """Every lab as it is committed, in a course of its own."""
    return {lab: committed(tmp_path_factory.mktemp(lab), lab) for lab in chosen}


@pytest.fixture
def made(workshops: Mapping[str, Workshop], lab: str) -> Workshop:
    """The course of a lab."""
    return workshops[lab]


@pytest.fixture(scope="session")
def rehearse(workshops: Mapping[str, Workshop]) -> Callable[[str], Rehearsal]:
    """Grade a lab with all kinds of submissions by nbgrader, once."""
    return cache(lambda lab: _graded(workshops[lab], _hand_in_everything))


@pytest.fixture
def rehearsal(rehearse: Callable[[str], Rehearsal], lab: str) -> Rehearsal:
    """One lab with all kinds of submissions, graded by nbgrader."""
    return _fine(rehearse(lab))


@pytest.fixture(scope="session")
def grade_class(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Rehearsal]:
    """Grade fifty good students of a lab, one who copies, and one for every belief, once."""

    def graded(lab: str) -> Rehearsal:
        return _graded(committed(tmp_path_factory.mktemp(f"class_{lab}"), lab), _hand_in_a_class)

    return cache(graded)


@pytest.fixture
def full_class(grade_class: Callable[[str], Rehearsal], lab: str) -> Rehearsal:
    """One lab with fifty good students, and with one for every belief."""
    return _fine(grade_class(lab))


def _fine(found: Rehearsal) -> Rehearsal:
    assert not found.problem, found.problem
    return found


def _graded(made: Workshop, hand_in: Callable[[Workshop], None]) -> Rehearsal:
    found = Rehearsal(made, problem=made.problem)
    if not found.problem:
        _noting(found, hand_in)
    _grade(found)
    return found


def _noting(rehearsal: Rehearsal, work: Callable[[Workshop], None]) -> None:
    """Do something for a lab; what goes wrong fails the tests of that lab and of no other."""
    try:
        work(rehearsal.made)
    except Exception as problem:
        rehearsal.problem = f"{rehearsal.made.lab}: {type(problem).__name__}: {problem}"


def _grade(rehearsal: Rehearsal) -> None:
    def grade(made: Workshop) -> None:
        feedback = ["generate_feedback", made.lab, "--student", BELIEVER.format(0)]
        mine = [each for each in (NOBODY, VALID) if (made.root / each).is_dir()]
        books = [["validated", str(made.root / each / f"{made.lab}.ipynb")] for each in mine]
        # Validation runs at the student's own computer, which knows whose it is.
        whose = solver_of(made.lab)
        rehearsal.grades, (_, *said) = autograde(made, feedback, *books, MLSYS_STUDENT=whose)
        rehearsal.validated = dict(zip(mine, said, strict=True))

    if not rehearsal.problem:
        _noting(rehearsal, grade)


def _hand_in_everything(made: Workshop) -> None:
    owner = hand_in_solution(made, solver_of(made.lab))
    made.begin(NOBODY, beside=False)
    made.give(made.root / NOBODY, beside=False)
    _hand_in_beliefs(made, FEW_BELIEFS)
    # The solution as its owner has it, for validation.
    (made.root / VALID).mkdir()
    for path in owner.iterdir():
        (made.root / VALID / path.name).write_bytes(path.read_bytes())


def _hand_in_a_class(made: Workshop) -> None:
    for student in CLASS:
        hand_in_solution(made, student)
    # What one student typed and recorded, under another name.
    owner, copy = made.work(SOLVERS[0]), made.begin(COPYIST)
    made.hand_in(COPYIST, typed(made.notebook("release"), made.asked(SOLVERS[0]).right()))
    (copy / LEDGER).write_bytes((owner / LEDGER).read_bytes())
    _hand_in_beliefs(made, 99)


def _hand_in_beliefs(made: Workshop, most: int) -> None:
    release = made.notebook("release")
    for k in range(most):
        student = BELIEVER.format(k)
        made.begin(student)
        asked = made.asked(student)
        if k and k >= asked.most_beliefs:
            made.withdraw(student)
            break
        made.hand_in(student, typed(release, asked.believing(k)))


def hand_in_solution(made: Workshop, student: str) -> Path:
    """The instructor's solution under a student's name, with all that a ledger keeps."""
    folder = made.begin(student)
    work_through(folder, student, made.course)
    made.hand_in(student, solved(made.notebook("release"), made.notebook("source")))
    return folder
