"""The gradebook on a PostgreSQL server: the same rows, read by nbgrader itself."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.judging.flags import FlagKind
from tests.grading.classroom import LAB, LIMITS, classroom, grade, hand_in, quiet
from tests.labs.rehearsal import Workshop, nbgrader
from tests.waiting import wait_for

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.timeout(600)]
NOBODY_ELSE = 0o700


class Server:
    """A server in a folder of its own, reached through a socket in that folder."""

    def __init__(self) -> None:
        (*_, newest) = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        self._programs = newest
        # Not below pytest's folders: the path of a socket may not be long, and the server, which
        # refuses to be root, must be able to reach it.
        self.folder = Path(tempfile.mkdtemp(prefix="mlsys-pg-", dir="/tmp"))
        self._user = _somebody() if os.geteuid() == 0 else None
        if self._user:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self.folder.chmod(NOBODY_ELSE)
        self._run("initdb", "-A", "trust", "-U", "grader", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log.txt"), "-o", options, "start")

    def _run(self, program: str, *words: str) -> None:
        user: dict[str, Any] = {}
        if self._user:
            user = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [self._programs / program, "-D", self.folder / "data", *words],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,  # a pipe would be held open by the server
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
            **user,
        )
        assert done.returncode == 0, f"{program}: {done.returncode}"

    @property
    def pid(self) -> int:
        """The server's process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def url(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql+psycopg://grader@/{name}?host={self.folder}"

    def create(self, name: str) -> str:
        """A new database."""
        maker = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with maker.connect() as db:
            db.execute(text(f'create database "{name}"'))
        maker.dispose()
        return self.url(name)

    def stop(self) -> None:
        """Stop it, at once."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def close(self) -> None:
        """Stop it if it runs, and remove its folder."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)


def _somebody() -> pwd.struct_passwd:
    """Who runs the server where root runs the tests."""
    return pwd.getpwnam("postgres")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    pid = started.pid
    try:
        yield started
    finally:
        started.close()
    wait_for(lambda: not _runs(pid), "the server still runs")


def _runs(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def course(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A course with its gradebook on the server, made by nbgrader, and a small class."""
    made = classroom(tmp_path_factory.mktemp("postgres") / "course")
    (made.root / "gradebook.db").unlink()
    url = server.create("grades")
    with (made.root / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.db_url = {url!r}\n")
    nbgrader(made.root, ["generate_assignment", LAB, "--force"])
    for student in ("ann", "o'brien", "Müller"):
        right = made.asked(student).right()
        hand_in(made, student, answers=right, ledger=True, essay="It depends.")
    hand_in(made, "late", when="2026-11-03 10:00:00 UTC")
    return made


def ask(url: str, query: str, **values: Any) -> list[tuple[Any, ...]]:
    engine = create_engine(url)
    with engine.begin() as db:
        asked = db.execute(text(query), values)
        found = [tuple(row) for row in asked] if asked.returns_rows else []
    engine.dispose()
    return found


@pytest.mark.slow
def test_a_class_is_graded_into_it_and_nbgrader_reads_it(course: Workshop, server: Server):
    from nbgrader.api import Gradebook

    url = server.url("grades")
    ask(url, "update assignment set duedate = '2026-11-02 10:00:00'")
    first = grade(course)
    assert sorted(first) == ["Müller", "ann", "late", "o'brien"]
    flagged = {name: [flag.kind for flag in each.flags] for name, each in first.items()}
    assert flagged.pop("late") == [FlagKind.NO_LEDGER]  # nothing was recorded there
    assert not any(flagged.values())
    with Gradebook(url) as book:
        for student, graded in first.items():
            (notebook,) = book.find_submission(LAB, student).notebooks
            found = {g.name: (g.auto_score, g.needs_manual_grade) for g in notebook.grades}
            assert found == {s.name: (s.auto, s.auto is None) for s in graded.scores}
        assert book.find_submission(LAB, "late").total_seconds_late == 24 * 3600
        assert book.find_submission(LAB, "ann").total_seconds_late == 0
        (essay,) = (
            c for c in book.find_submission(LAB, "late").notebooks[0].comments if c.auto_comment
            and c.name == "advice"
        )  # fmt: skip
        assert essay.auto_comment == "No response."
        # What a person gives is nbgrader's to write, and stays when the class is graded again.
        by_hand = book.find_grade("advice", LAB, LAB, "ann")
        by_hand.manual_score, by_hand.needs_manual_grade = 3.0, False
        book.db.commit()
    again = grade(course, force=True)
    assert {n: g.scores for n, g in again.items()} == {n: g.scores for n, g in first.items()}
    with Gradebook(url) as book:
        kept = book.find_grade("advice", LAB, LAB, "ann")
        assert (kept.manual_score, kept.score, kept.needs_manual_grade) == (3.0, 3.0, True)
        assert len(book.assignment_submissions(LAB)) == 4
    assert ask(url, "select count(*) from submitted_notebook") == [(4,)]


@pytest.mark.slow  # test_differential.py compares every row in SQLite
def test_stock_nbgrader_writes_the_same_rows(course: Workshop, server: Server):
    query = (
        "select a.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade,"
        " n.late_submission_penalty, a.timestamp from grade g"
        " join submitted_notebook n on g.notebook_id = n.id"
        " join submitted_assignment a on n.assignment_id = a.id"
        " join base_cell c on c.id = g.cell_id order by 1, 2"
    )
    grade(course, force=True)
    ours = ask(server.url("grades"), query)
    nbgrader(course.root, ["autograde", LAB, "--force"])
    assert ask(server.url("grades"), query) == ours


def test_a_name_that_it_cannot_hold_stops_nobody(course: Workshop, server: Server):
    plain, odd = ["y" * 128, "=1+1", "[b]"], ["x" * 129, "x" * 255, "a\tb", "\x1b[2J"]
    for name in (*plain, *odd):
        hand_in(course, name, answers=course.asked(name).right())
    graded = grade(course)
    for name in (*plain, *odd):
        course.withdraw(name)
    assert {name: bool(graded[name].flags) for name in (*plain, *odd)} == {
        **dict.fromkeys(plain, False),
        **dict.fromkeys(odd, True),
    }
    known = {row[0] for row in ask(server.url("grades"), "select id from student")}
    assert known >= set(plain)
    assert not known & set(odd)


def test_a_server_that_is_gone_is_one_sentence(course: Workshop, capsys):
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(
            'c.CourseDirectory.db_url = "postgresql+psycopg://ta:secret@127.0.0.1:1/grades"\n'
        )
    assert _grade(course) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert "the gradebook at postgresql+psycopg://ta:***@127.0.0.1:1/grades cannot be read" in error
    assert "secret" not in error


def test_a_driver_that_is_not_there_is_one_sentence(course: Workshop, capsys):
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('c.CourseDirectory.db_url = "postgresql+pg8000://ta@127.0.0.1/grades"\n')
    assert _grade(course) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert "needs pg8000" in error
    assert "mlsys-widgets[postgres]" in error


def test_a_server_that_stops_in_the_middle_is_one_sentence(course: Workshop, server: Server):
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.db_url = {server.url('grades')!r}\n")
    with quiet():
        graded = GradingRun(
            Plan(Course(course.root), LAB, limits=LIMITS, workers=1, force=True)
        ).grade()
        next(graded)
        server.stop()
        with pytest.raises(ValueError, match=r"the gradebook cannot be written: .*--resume"):
            list(graded)


def _grade(course: Workshop) -> int:
    with quiet():
        return main(["grade", LAB, "--course", str(course.root), "--workers", "1"])
