"""Hostile submissions gain nothing and harm nothing: a class of them, with two innocents."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.sandbox.isolation import NOBODY, why_not
from tests.grading.classroom import (
    autograded,
    classroom,
    fingerprint,
    grade,
    hand_in,
    of,
    rows,
    running,
    shown,
    small,
)
from tests.grading.costly import KINDS as COSTLY
from tests.labs.rehearsal import ROOT, Workshop, nbgrader, workshop
from tests.sandbox.attacks import ATTACKS, ENDLESS, SECRETS, Attack

pytestmark = pytest.mark.timeout(600)
INNOCENT = ("aa-innocent", "zz-innocent")


@dataclass
class Graduation:
    """A class that was graded, and what the machine looked like around it."""

    course: Workshop
    graded: dict[str, GradedSubmission]
    before: dict[str, object]
    after: dict[str, object]


@pytest.fixture(scope="module")
def hall(tmp_path_factory) -> Graduation:
    course = classroom(tmp_path_factory.mktemp("hall") / "course")
    return hold(course, ATTACKS, small(wall=25, cpu=20), tmp_path_factory.mktemp("home"))


def hold(course: Workshop, attacks: dict[str, Attack], limits, home: Path) -> Graduation:
    """Grade a class of attacks between two innocents."""
    reason = why_not(home)
    if reason:
        pytest.skip(reason)
    (home / "tmp").mkdir()
    (home / "secret.txt").write_text(SECRETS["environment"])
    for name in INNOCENT:
        answers = course.asked(name).right()
        hand_in(course, name, answers=answers, ledger=True, essay=SECRETS["neighbor"])
    for name, attack in attacks.items():
        hand_in(course, name, _placed(attack, course, home))
    before = _surroundings(course, home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", SECRETS["environment"])
        patch.setenv("TMPDIR", str(home / "tmp"))
        patch.setattr(tempfile, "tempdir", None)
        # Its own: a fork server inherits the environment that is set here.
        graded = grade(course, limits=limits, own_engine=True)
    return Graduation(course, graded, before, _surroundings(course, home))


def _placed(attack: Attack, course: Workshop, home: Path):
    def change(book, folder):
        attack.change(book, folder)
        for cell in book.cells:
            cell.source = cell.source.replace("@COURSE", str(course.root))
            cell.source = cell.source.replace("@HOME", str(home))

    return change


def _surroundings(course: Workshop, home: Path) -> dict[str, object]:
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    # Others on this machine have shared memory too: only what children could own counts.
    whose = f"{os.geteuid() or NOBODY} "
    look = ["find", "/dev/shm", "-mindepth", "1", "-printf", "%U %p\\n"]
    shared = subprocess.run(look, capture_output=True, text=True, check=False)
    return {
        "course": fingerprint(
            course.root, without=("autograded", "gradebook.db", ".mlsys", "submitted/special-files")
        ),
        "home": fingerprint(home, without=("tmp/dask",)),
        "temporary files": sorted(map(str, (home / "tmp").glob("mlsys-*"))),
        "shared memory": [line for line in shared.stdout.splitlines() if line.startswith(whose)],
        "survivors": [line for line in told.stdout.splitlines() if "987654" in line],
        "queues": [
            line
            for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
            if line.split()[7] == whose.strip()
        ],
    }


def test_the_innocent_are_graded_as_ever(hall):
    for name in INNOCENT:
        graded = hall.graded[name]
        assert graded.earned == 80, graded
        assert (graded.by_hand, graded.flags, graded.remarks) == (1, (), ())
    grades = [of(name, rows(hall.course.root))["grade"] for name in INNOCENT]
    assert [row[1:] for row in grades[0]] == [row[1:] for row in grades[1]]


def test_everybody_is_graded(hall):
    assert set(hall.graded) == {*INNOCENT, *ATTACKS}
    refused = {name for name, attack in ATTACKS.items() if not attack.graded}
    booked = {row[0] for row in rows(hall.course.root)["submission"]}
    assert booked == set(hall.graded) - refused


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_nothing(hall, name):
    attack, graded = ATTACKS[name], hall.graded[name]
    assert graded.earned == attack.earns, (attack.about, graded)
    told = " ".join(graded.sentences)
    assert attack.ended in told, (attack.about, told)
    assert attack.flagged in told, (attack.about, told)
    assert told.isprintable()
    if not attack.ended and not attack.flagged:
        assert "did not run to its end" not in told, told
    if not attack.graded:
        # Nothing is written about it, so that it is as new to the next run.
        assert not (hall.course.root / "autograded" / name / hall.course.lab).exists()
        return
    book = autograded(hall.course, name)
    for words in attack.absent:
        assert words not in rendered(book), (attack.about, words)
    if name == "deep-json":
        assert [cell.id for cell in book.cells] == ["about-this-submission", "why"]
        return
    said = shown(book)
    assert "LEAK" not in said, (attack.about, said[:500])
    assert "TRIED" in said or not attack.tried, (attack.about, said[-500:])
    for what, secret in SECRETS.items():
        for cell in book.cells:
            if cell.cell_type == "code" and not cell.id.startswith("check_"):
                assert secret not in shown(book, cell.id), (attack.about, what)


def rendered(book) -> str:
    """What a page shows as it is: Markdown and outputs, not the code, which it escapes."""
    shown = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            shown += [str(value) for kind, value in data.items() if kind != "text/plain"]
    return "\n".join(shown)


def test_the_suite_is_as_large_as_it_says(capsys):
    """At least 80, each with what it tries; the costly and the forged are graded elsewhere."""
    listed = {**ATTACKS, **ENDLESS}
    assert len(listed) + len(COSTLY) >= 80
    assert all(attack.about for attack in listed.values())
    abouts = [attack.about for attack in listed.values()]
    assert len(set(abouts)) == len(abouts)
    with capsys.disabled():
        print(f"\n{len(listed)} attacks that run, {len(COSTLY)} that are costly to read")


def test_nothing_outside_is_changed_and_nothing_is_left(hall):
    for what, before in hall.before.items():
        assert hall.after[what] == before, what


def test_every_row_stays_within_its_points(hall):
    for student, _name, auto, manual, extra, _ in rows(hall.course.root)["grade"]:
        assert auto is None or 0 <= auto <= 40, student
        assert manual is None, student
        assert extra is None, student


def test_hidden_tests_never_reach_a_submission(hall):
    """A spy that looks at everything that is run finds no key, and earns nothing."""
    spy = hall.graded["spies-on-tests"]
    assert {score.name: score.auto for score in spy.scores if score.answer is not None} == {
        "intensity_flop_per_byte": 0,
        "limit": 0,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(name, tmp_path, tmp_path_factory):
    course = classroom(tmp_path / "course")
    limits = small(wall=8, cpu=5, cell=4)
    held = hold(course, {name: ENDLESS[name]}, limits, tmp_path_factory.mktemp("home"))
    graded = held.graded[name]
    assert (graded.earned, len(graded.scores)) == (0, 4)
    assert ENDLESS[name].ended in " ".join(graded.sentences), graded
    for innocent in INNOCENT:
        assert held.graded[innocent].earned == 80
    assert held.after == held.before


@pytest.mark.slow
def test_a_real_lab(tmp_path):
    """Lab 07: honest work earns all that is not a person's to give, and hostile work nothing."""
    lab = "lab_07_kernel_fusion"
    course = workshop(tmp_path / "course", lab)
    for step in ("source", "release"):
        shutil.copytree(ROOT / step / lab, course.root / step / lab)
    nbgrader(course.root, ["generate_assignment", lab, "--force"])
    for name in INNOCENT:
        hand_in(course, name, answers=course.asked(name).right(), ledger=True)
    hostile = ("patched-core", "reads-frames", "reads-memory", "forged-lines", "os-exit", "network")
    for name in hostile:
        hand_in(course, name, ATTACKS[name].change)
    graded = grade(course, limits=small(memory=1_000_000_000, output=20_000_000))
    by_hand = {s.name for s in graded[INNOCENT[0]].scores if s.auto is None}
    for name in INNOCENT:
        most = sum(s.most for s in graded[name].scores if s.name not in by_hand)
        unwritten = [s for s in graded[name].scores if s.answer is None and s.auto == 0]
        assert graded[name].earned == most - sum(s.most for s in unwritten), graded[name]
        assert len(unwritten) <= 1  # the essay, which nobody has written
        assert not graded[name].flags
    for name in hostile:
        assert graded[name].earned == 0, graded[name]
        if name not in ("os-exit", "forged-lines"):
            said = shown(autograded(course, name))
            assert "TRIED" in said
            assert "LEAK" not in said, said[:500]


def test_what_was_reached_before_the_end_counts(tmp_path):
    """An answer that was given before a crash earns its points."""
    course = classroom(tmp_path / "course")
    right = course.asked("ann").right()

    def change(book, folder):
        running("import os\nos._exit(0)")(book, folder)
        book.cells.append(book.cells.pop(2))  # it ends everything after the last cell

    hand_in(course, "ann", change, right)
    graded = grade(course)["ann"]
    assert graded.earned == 60, graded
    assert FlagKind.NOT_FINISHED in [flag.kind for flag in graded.flags]
