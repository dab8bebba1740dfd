"""Practice can never be graded: its notebook, its ledger, by record, by running, or by nbgrader."""

from __future__ import annotations

import json
import shutil

import pytest
from nbgrader.api import Gradebook

from mlsys_widgets.authoring.practice_copies import turn_into_practice
from mlsys_widgets.cards.open_lab import OpenLab
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.practice_work import is_practice_work
from mlsys_widgets.judging import Given
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.practice import NOT_GRADED
from mlsys_widgets.ledger.carried_record import put_record
from tests.grading.classroom import LAB, autograded, classroom, grade, record
from tests.labs.rehearsal import Workshop, nbgrader

pytestmark = pytest.mark.timeout(600)
NAME = f"{LAB}.ipynb"


def practice(course: Workshop, student: str, folder) -> None:
    """Answer all of a lab in practice, right as the checks beside it say."""
    shutil.copytree(course.root / "release" / LAB, folder)
    turn_into_practice(course.course, LAB, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLSYS_STUDENT", student)
        lab = OpenLab(LAB, variants=True, edition="practice", folder=folder, way="practice")
    lab.card("act1_bound").commit("A", confidence=3)
    for name, item in lab.items.items():
        if isinstance(item, Checked):
            key = lab._practice.checks[name](Given(lab.p, folder))
            lab.ledger.record_answer(name, key.value)
    book = json.loads((folder / NAME).read_bytes())
    put_record(book, (folder / LEDGER).read_bytes(), LAB, student)
    (folder / NAME).write_text(json.dumps(book))


HANDED_IN = {
    "ann": "the whole folder",
    "ben": "the notebook, which carries its record",
    "cal": "the ledger alone",
    "dee": "the ledger beside the notebook of the assignment",
    "eve": "the notebook of practice over honest work",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    made = classroom(root / "course")
    for student in HANDED_IN:
        folder = root / student
        practice(made, student, folder)
        if student in "eve dee":
            work = record(made, student)
        else:
            work = made.begin(student)
            for each in work.iterdir():
                each.unlink()
        for path in folder.iterdir():
            wanted = {"ben": (NAME,), "cal": (LEDGER,), "dee": (LEDGER,), "eve": (NAME,)}
            if path.name in wanted.get(student, (path.name,)):
                shutil.copy(path, work)
    record(made, "fay")
    return made


@pytest.mark.parametrize("run", [False, True])
def test_practice_earns_nothing_and_everybody_is_told(course, run):
    graded = grade(course, force=True, run=run)
    for student, what in HANDED_IN.items():
        assert graded[student].earned == 0, what
        told = {flag.kind for flag in graded[student].flags}
        # Of work and practice in one, it is also said that there were two records.
        assert told - {FlagKind.LEDGERS_MERGED} == {FlagKind.PRACTICE}, what
        assert NOT_GRADED[:60] in autograded(course, student).cells[0].source, what
    assert graded["fay"].earned > 0
    assert graded["fay"].flags == ()


@pytest.mark.slow
def test_stock_nbgrader_gives_practice_nothing(course):
    nbgrader(course.root, ["autograde", LAB, "--force"])
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as book:
        points = {each.student.id: each.score for each in book.assignment_submissions(LAB)}
    assert points.pop("fay") > 0
    # nbgrader does not take a ledger without a notebook at all.
    assert points.keys() >= HANDED_IN.keys() - {"cal"}
    assert set(points.values()) == {0}, points


@pytest.mark.parametrize(
    ("ledger", "found"),
    [
        (b'{"kind": "answer", "id": "way"}\n', True),
        (b'cut\n{"kind": "answer", "id": "judged.ridge"}\n', True),
        (b'{"kind": "prediction", "id": "way"}\n', False),
        (b'[3]\n\xff\n{"kind": "answer", "id": 3}\n', False),
    ],
)
def test_practice_is_recognized_in_whatever_can_be_read(ledger, found):
    assert is_practice_work({f"{LEDGER}.earlier": ledger}, NAME) is found
    assert not is_practice_work({NAME: b'{"practice": 3}', "notes": ledger}, NAME)
