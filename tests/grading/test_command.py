"""``mlsys grade`` from a terminal: what it says, what it writes, and how it ends."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.sandbox.usage import children
from tests.grading.classroom import LAB, classroom, hand_in, quiet, record, rows, shared_engine
from tests.grading.simulated import sql
from tests.labs.rehearsal import ROOT, Workshop
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Two honest students, and one whose graded cell is gone."""
    made = classroom(tmp_path_factory.mktemp("command") / "course")
    for student in ("ann", "amy"):
        hand_in(made, student, answers=made.asked(student).right(), ledger=True, essay="Buy.")

    def without_a_cell(book, _folder: Path) -> None:
        book.cells = [c for c in book.cells if c.id != "check_limit"]

    hand_in(made, "bob", without_a_cell, made.asked("bob").right(), ledger=True)
    return made


def grade(course: Path, *options: str, lab: str = LAB) -> int:
    # Starting an engine takes seconds; whoever names an address gets another one.
    engine = nullcontext() if "--engine" in options else shared_engine()
    with quiet(), engine:
        return main(["grade", lab, "--course", str(course), "--workers", "1", *options])


def refused(capsys: pytest.CaptureFixture[str], course: Path, *options: str, lab: str = LAB) -> str:
    """The one sentence with which a command ends that cannot be carried out."""
    assert grade(course, *options, lab=lab) == 1
    output = capsys.readouterr()
    assert output.out == ""
    (sentence,) = output.err.splitlines()
    assert sentence.startswith("mlsys: ")
    return sentence


def test_json_is_all_that_standard_output_holds(course: Workshop, capsys):
    assert grade(course.root, "--json", "--force") == 3
    output = capsys.readouterr().out
    lines = {line["student"]: line for line in map(json.loads, output.splitlines())}
    assert sorted(lines) == ["amy", "ann", "bob"]
    assert lines["ann"]["flags"] == []
    assert lines["ann"]["earned"] == lines["amy"]["earned"] > 0
    assert {score["name"] for score in lines["ann"]["scores"]} >= {"limit"}
    (flag,) = lines["bob"]["flags"]
    assert flag == {
        "kind": "missing cell",
        "about": "limit",
        "detail": "",
        "sentence": "the graded cell limit is missing",
    }


def test_lines_a_summary_and_what_needs_a_person(course: Workshop, capsys):
    assert grade(course.root, "-v", "--force") == 3
    output = capsys.readouterr().out
    for student in ("amy", "ann", "bob"):
        assert f"{student}: " in output
    assert " by hand" in output
    assert "to look at" in output
    assert "the graded cell limit is missing" in output


def test_only_some_students_and_nothing_to_look_at(course: Workshop, capsys):
    assert grade(course.root, "--students", "a*", "--force", "-v") == 0
    output = capsys.readouterr().out
    assert "ann: " in output
    assert "bob" not in output


def test_what_is_graded_is_left_alone(course: Workshop, capsys):
    assert grade(course.root, "--students", "ann") == 0
    before = rows(course.root)
    capsys.readouterr()
    for options in ([], ["--json"]):
        assert grade(course.root, "--students", "ann", *options) == 0
        output = capsys.readouterr()
        assert "Nothing to do" in (output.err if options else output.out)
        assert not options or output.out == ""
    assert rows(course.root) == before


def test_a_key_that_was_fixed_since_is_mentioned(course: Workshop, capsys):
    grade(course.root, "--force")
    checks = course.root / "assignments" / LAB / "checks.py"
    before = checks.read_text()
    capsys.readouterr()
    try:
        checks.write_text(before + "\n# another tolerance\n")
        assert grade(course.root) == 0
        output = " ".join(capsys.readouterr().out.split())
        assert "Nothing new was handed in, but 3 submissions were graded before the lab" in output
        assert grade(course.root, "--force", "--students", "ann") == 0
        capsys.readouterr()
        assert grade(course.root) == 0
        assert "but 2 submissions were" in " ".join(capsys.readouterr().out.split())
    finally:
        checks.write_text(before)
        grade(course.root, "--force")


def test_without_isolation_it_says_so_loudly(course: Workshop, capsys):
    assert grade(course.root, "--students", "ann", "--sandbox", "none", "--force", "--json") == 0
    output = capsys.readouterr()
    assert "Without isolation" in output.err
    assert json.loads(output.out)["student"] == "ann"


@pytest.mark.parametrize("count", ["0", "-2"])
def test_workers_there_must_be(course: Workshop, capsys, count: str):
    assert main(["grade", LAB, "--course", str(course.root), "--workers", count]) == 1
    assert f"--workers is {count}; it must be at least 1" in capsys.readouterr().err


def test_outside_of_a_course(tmp_path: Path, capsys):
    assert "there is no folder assignments" in refused(capsys, tmp_path)


def test_a_lab_that_there_is_not(course: Workshop, capsys):
    output = refused(capsys, course.root, lab="lab_99_none")
    assert "there is no assignments/lab_99_none" in output


def test_a_gradebook_that_does_not_know_the_lab(course: Workshop, tmp_path: Path, capsys):
    copy = classroom(tmp_path / "course")
    (copy.root / "gradebook.db").unlink()
    assert f"nbgrader generate_assignment {LAB}" in refused(capsys, copy.root)
    assert not (copy.root / "gradebook.db").exists(), "an empty gradebook would hide the problem"


def test_a_gradebook_that_is_none(course: Workshop, tmp_path: Path, capsys):
    copy = classroom(tmp_path / "course")
    (copy.root / "gradebook.db").write_text("no database " * 400)
    assert "cannot be read: file is not a database" in refused(capsys, copy.root)


def test_nothing_was_handed_in(tmp_path: Path, capsys):
    copy = classroom(tmp_path / "course")
    assert "nothing was handed in" in refused(capsys, copy.root)
    assert "nothing was handed in" in refused(capsys, copy.root, "--students", "z*")


def test_a_scheduler_that_does_not_answer(course: Workshop, capsys, monkeypatch):
    monkeypatch.setattr("mlsys_widgets.sandbox.engine._PATIENCE", 1)
    # A port that nobody listens at, because it is not allowed to anybody.
    output = refused(capsys, course.root, "--force", "--engine", "tcp://127.0.0.1:1")
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in output
    assert "--engine local" in output
    output = refused(capsys, course.root, "--force", "--engine", "nowhere://at all")
    assert "no Dask scheduler answers at nowhere://at all" in output


@pytest.fixture
def late(tmp_path: Path) -> Workshop:
    """Ann was a day late in a course that takes all points for it; amy was in time."""
    made = classroom(tmp_path / "course")
    with (made.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    sql(made.root, "update assignment set duedate = ?", "2026-10-31 08:00:00.000000")
    for student, when in (("ann", "2026-11-01 10:00"), ("amy", "2026-10-30 10:00")):
        right = made.asked(student).right()
        hand_in(made, student, answers=right, when=f"{when}:00.000000 UTC")
    return made


def test_lateness_and_penalties_are_said_everywhere(late: Workshop, capsys):
    assert grade(late.root, "-v") == 0
    output = capsys.readouterr().out
    assert "ann: 60 of 100, 1 day 2 hours late: 60 → 0 points" in output
    assert "amy: 60 of 100\n" in output
    summary = output[output.index("submissions") :].splitlines()
    assert (
        "Late penalties are not in these points: the gradebook takes 60 off 1 late submission."
        in summary
    )
    (line,) = (line for line in summary if line.strip().startswith("ann"))
    assert line.split() == [
        "ann",
        "60",
        "1",
        "day",
        "2",
        "hours",
        "late:",
        "60",
        "→",
        "0",
        "points",
    ]
    assert not any(line.strip().startswith("amy") for line in summary)
    assert grade(late.root, "--json", "--force") == 0
    lines = {
        line["student"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())
    }
    assert lines["amy"]["late"] is None
    assert lines["ann"]["late"] == {
        "seconds": 93_600.0,
        "before": 60.0,
        "penalty": 60.0,
        "after": 0.0,
        "sentence": "1 day 2 hours late: 60 → 0 points",
    }


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_a_sentence_and_what_is_graded_is_kept(
    course: Workshop, capsys, monkeypatch, code: int
):
    (course.root / ".mlsys" / f"grade-{LAB}.jsonl").unlink(missing_ok=True)
    add, done = GradedLog.add, []

    def full(self, graded, *more):
        if done:
            raise OSError(code, os.strerror(code), "/course/autograded/bob")
        done.append(graded.student)
        add(self, graded, *more)

    with monkeypatch.context() as patch:
        patch.setattr(GradedLog, "add", full)
        output = refused(capsys, course.root, "--force")
    assert output == (
        "mlsys: the disk is full at /course/autograded/bob; 1 of 3 submissions is graded and kept."
        " Free some space, then repeat the command with --resume"
    )
    (before,) = done
    # Bob's is the submission that needs a person, whichever of the two runs has graded it.
    assert grade(course.root, "--resume", "--json") == 3
    again = [json.loads(line)["student"] for line in capsys.readouterr().out.splitlines()]
    assert before not in again
    assert len(again) == 2


def test_whoever_continues_is_told_whom_the_interrupted_run_has_flagged(course: Workshop, capsys):
    assert grade(course.root, "--force") == 3
    capsys.readouterr()
    assert grade(course.root, "--resume") == 3
    output = capsys.readouterr().out
    assert "Nothing to do" in output
    assert f"before the interruption: bob. mlsys report {LAB} --names lists all flags." in output
    (course.root / "autograded" / "amy" / LAB).rename(course.root / "aside")
    assert grade(course.root, "--resume") == 3
    assert "before the interruption: bob." in capsys.readouterr().out


def test_other_failures_of_the_system_are_said_in_words(course: Workshop, capsys, monkeypatch):
    def failing(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "/course/.mlsys")

    monkeypatch.setattr(GradedLog, "add", failing)
    assert "you have no right to /course/.mlsys" in refused(capsys, course.root, "--force")


@pytest.mark.parametrize("option", ["--json", "-v"])
def test_nobody_needs_to_read_to_the_end(course: Workshop, option: str):
    """As with ``| head``: the class is graded all the same, and nothing is complained about."""
    sql(course.root, "update grade set auto_score = null")
    grading = run("grade", LAB, "--workers", "1", option, "--force", cwd=course.root)
    with grading:
        grading.stdout.close()
        assert grading.stderr.read() == ""
    assert grading.returncode == 3
    graded = [row for row in rows(course.root)["grade"] if row[2] is not None]
    assert {row[0] for row in graded} == {"amy", "ann", "bob"}


def run(*arguments: str, **more) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **more,
    )


def test_interrupted_it_says_what_is_kept_and_leaves_nobody(tmp_path: Path):
    course = classroom(tmp_path / "course")
    for k in range(3):
        hand_in(course, f"slow-{k}", lambda book, _: book.cells.append(_endless()))
    grading = run("grade", LAB, "--workers", "1", "-v", cwd=course.root, start_new_session=True)
    servers = _wait_for_fork_server(grading)
    os.killpg(grading.pid, signal.SIGINT)  # as a terminal does
    _, output = grading.communicate(timeout=120)
    assert grading.returncode == 130
    assert output.strip() == (
        "mlsys: interrupted; 0 of 3 submissions are graded and kept. To continue, repeat the"
        " command with --resume"
    )
    assert "Traceback" not in output
    wait_for(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in servers),
        "a fork server has survived",
    )


def _endless():
    import nbformat

    return nbformat.v4.new_code_cell("while True: pass", id="endless")


def _wait_for_fork_server(grading: subprocess.Popen) -> list[int]:
    """The fork servers below a process; waits until one has a child."""
    found: list[int] = []

    def has_a_child() -> bool:
        assert grading.poll() is None, grading.communicate()
        found[:] = [p for p in children(grading.pid) if "fork_server" in _command(p)]
        return any(map(children, found))

    wait_for(has_a_child, "no fork server has a child", seconds=300)
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


#: Takes a while to import, and is of no use for a version or a help page.
HEAVY = ["numpy", "pandas", "IPython", "ipywidgets", "bqplot", "nbformat"]
HEAVY += ["nbgrader", "distributed", "dask", "sqlalchemy"]


@pytest.mark.parametrize("words", [["--version"], ["grade", "--help"], ["--help"]])
def test_asking_for_help_imports_nothing_heavy(words: list[str]):
    code = (
        "import sys\n"
        "from mlsys_widgets.cli import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code\n"
        f"print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_an_audit_takes_a_percentage(course: Workshop, capsys):
    for output in ("lots", "101%", "-1", "nan"):
        told = refused(capsys, course.root, "--force", f"--audit={output}")
        assert "must be a percentage from 0% to 100%" in told


def test_a_few_are_run_to_compare_unless_told_not_to(tmp_path, capsys):
    made = classroom(tmp_path / "course")
    for student in ("ann", "amy", "bob"):
        record(made, student)
    assert grade(made.root) == 0
    assert "3 by record, 0 run, 2 of those by record run to compare." in capsys.readouterr().out
    assert grade(made.root, "--force", "--audit", "0%") == 0
    assert "3 by record, 0 run.\n" in capsys.readouterr().out


def test_who_is_left_out_and_how_many_went_which_way_is_said(course: Workshop, capsys):
    grade(course.root, "--force", "--skip", "bob", "--skip", "amy")
    output = capsys.readouterr().out
    assert "0 by record, 1 run." in output
    assert "Left out: bob, amy." in output
    assert "--skip names nobody" in refused(capsys, course.root, "--skip", "nobody")
