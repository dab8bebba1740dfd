"""``mlsys push`` in a course that was graded, against a platform that listens."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlsys_widgets.classes.export import export
from mlsys_widgets.classes.lms_key import make_key
from mlsys_widgets.cli import main
from tests.grading.classroom import LAB
from tests.grading.simulated import STUDENTS, copy_of_class, sql
from tests.lms_platform import LearningPlatform

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with a key, in which nobody waits for a person but one."""
    root = copy_of_class(tmp_path_factory.mktemp("graded") / "course")
    sql(root, "update grade set needs_manual_grade = 0")
    sql(
        root,
        "update submitted_notebook set late_submission_penalty = 7.5 where assignment_id in"
        " (select id from submitted_assignment where student_id = 'student-001')",
    )
    make_key(root)
    return root


@pytest.fixture
def platform() -> Iterator[LearningPlatform]:
    with LearningPlatform(page=7) as running:
        yield running


@pytest.fixture
def course(graded: Path, platform: LearningPlatform, tmp_path: Path) -> Path:
    """The class, and everybody of it in the platform's course under the same login."""
    root = tmp_path / "course"
    # Only what the command reads: the settings, the key, the gradebook.
    for name in ("assignments", ".mlsys"):
        shutil.copytree(graded / name, root / name)
    shutil.copy(graded / "gradebook.db", root)
    config = graded / "nbgrader_config.py"
    if config.is_file():
        shutil.copy(config, root)
    settings = root / "assignments" / "course.toml"
    before = settings.read_text("utf-8") if settings.is_file() else ""
    settings.write_text(before + platform.settings(), "utf-8")
    platform.register(make_key(root)[0].jwks())
    for (student,) in sql(root, "select id from student"):
        platform.enroll(f"lti-{student}", ext_user_username=student.upper())
    return root


def in_csv(root: Path) -> dict[str, float]:
    """The grades as ``mlsys export`` writes them."""
    rows = csv.DictReader(io.StringIO(export(root, LAB, "moodle").text))
    grades = {f"lti-{row['Username']}": row[f"{LAB} (Real)"] for row in rows}
    return {user: float(points) for user, points in grades.items() if points != "-"}


def push(root: Path, *words: str) -> int:
    return main(["push", LAB, *words, "--course", str(root)])


def test_first_a_look_then_the_same_as_in_the_csv(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(course) == 0
    said = capsys.readouterr().out
    assert f"{STUDENTS} students: " in said
    assert "would send: new" in said
    assert f"The column {LAB} is not there yet." in said
    assert f"Nothing is sent yet: mlsys push {LAB} --apply does it." in said
    assert (platform.items, platform.sent()) == ({}, [])
    assert push(course, "--apply") == 0
    assert "would send" not in capsys.readouterr().out
    assert platform.results(LAB) == pytest.approx(in_csv(course))
    count = len(platform.sent())
    assert push(course, "--apply") == 0
    said = capsys.readouterr().out
    assert f"{count} the same there" in said
    assert "student-001" not in said
    assert len(platform.sent()) == count


def test_what_differs_is_shown_and_sent(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(course, "--apply") == 0
    old = in_csv(course)["lti-student-001"]
    sql(
        course,
        "update submitted_notebook set late_submission_penalty = 9.5 where assignment_id in"
        " (select id from submitted_assignment where student_id = 'student-001')",
    )
    new = in_csv(course)["lti-student-001"]
    assert old != new
    capsys.readouterr()
    assert push(course, "--json") == 0
    (seen,) = json.loads(capsys.readouterr().out)
    (row,) = (each for each in seen["rows"] if each["step"] == "send")
    assert (row["student"], row["there"], row["here"]) == ("student-001", old, new)
    assert push(course) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if "would send" in each)
    assert line.split()[:3] == ["student-001", f"{old:g}", f"{new:g}"]
    assert push(course, "--apply") == 0
    assert platform.results(LAB)["lti-student-001"] == new


def test_what_somebody_has_to_look_at(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    del platform.members["lti-student-002"]
    assert push(course, "--apply") == 3
    assert "cannot send: is not in the LMS's course under login student-002" in " ".join(
        capsys.readouterr().out.split()
    )
    platform.change(LAB, "lti-student-001", 1.0)
    assert push(course, "--apply") == 3
    said = capsys.readouterr().out
    assert "left as it is: changed in the LMS" in " ".join(said.split())
    assert "add --overwrite" in said
    platform.enroll("lti-student-002", ext_user_username="student-002")
    assert push(course, "--apply", "--overwrite") == 0
    assert platform.results(LAB) == pytest.approx(in_csv(course))


def test_a_refused_student_makes_it_fail(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.fail("status", status=422, body=b'{"message": "not gradable"}', after=3)
    assert push(course, "--apply") == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "1 not sent" in said
    assert "not sent: the LMS says 422" in said
    assert "not gradable" in said
    assert push(course, "--apply") == 0


@pytest.mark.parametrize("arrived", [True, False])
def test_a_push_that_is_killed_continues(
    course: Path, platform: LearningPlatform, arrived: bool
) -> None:
    platform.fail("hang after" if arrived else "hang", after=5)
    words = [sys.executable, "-m", "mlsys_widgets", "push", LAB, "--apply", "--course", str(course)]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert platform.hanging.wait(300)
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    platform.released.set()
    users = [each["userId"] for each in platform.sent()]
    assert len(users) == 6
    assert push(course, "--apply") == 0
    assert platform.results(LAB) == pytest.approx(in_csv(course))
    again = [each["userId"] for each in platform.sent()][6:]
    # Nobody is sent twice but whoever did not arrive.
    assert set(users) & set(again) == (set() if arrived else {users[-1]})
    assert len(again) == len(set(again))


def test_a_platform_that_is_down_is_one_sentence(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.fail("status", "", times=99, status=503, Retry_After="900")
    assert push(course, "--apply") == 1
    said = capsys.readouterr().err
    assert said.startswith("mlsys: ")
    assert "asks to wait 900 seconds; run the command again then" in said
    assert said.count("\n") == 1


def test_one_lab_that_fails_does_not_hide_another(
    course: Path, platform: LearningPlatform, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        platform.add_line_item(label="x", scoreMaximum=5, resourceId=LAB, tag="mlsys")
    assert push(course, "--apply") == 1
    assert f"{LAB}: the LMS has 2 columns for {LAB}" in capsys.readouterr().err
    # Whatever is wrong with a name is said before anything is asked.
    platform.asked.clear()
    assert push(course, "lab_99", "--apply") == 1
    assert "does not know lab_99" in capsys.readouterr().err
    assert platform.asked == []


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "assignments").mkdir()
    where = ["--course", str(tmp_path)]
    assert main(["push", *where]) == 1
    assert "name the labs" in capsys.readouterr().err
    assert main(["push", LAB, *where]) == 1
    assert "has no table [lms]" in capsys.readouterr().err
    (tmp_path / "assignments" / "course.toml").write_text(
        '[lms]\nclient_id = "7"\ntoken_url = "https://lms.edu/t"\n'
        'lineitems_url = "https://lms.edu/l"\n'
    )
    assert main(["push", LAB, *where]) == 1
    assert "has no key yet" in capsys.readouterr().err
