"""A course from a bundle and the installed package alone."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets import __version__
from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import init_course, pack, stale_labs
from tests.courses.conftest import CLASS, LAB, Disk, students
from tests.courses.test_bundle_reader import Forge

pytestmark = pytest.mark.timeout(300)


def test_everything_that_a_course_needs_is_there(made: Path, built: Path):
    tops = {path.name for path in made.iterdir()}
    assert tops == {
        "assignments", "source", "release", "nbgrader_config.py", "gradebook.db", "README.md",
        ".gitignore", ".mlsys",
    }  # fmt: skip
    for step in ("assignments", "source", "release"):
        there = {p.relative_to(made): p.read_bytes() for p in (made / step).rglob("*.py")}
        assert there == {path: (built / path).read_bytes() for path in there}
        assert there
        # Settings and notebooks have the secret of this course.
        names = [{p.name for p in (root / step).rglob("*.*")} for root in (made, built)]
        assert names[0] == names[1]
    assert stale_labs(Course.at(made)) == {}
    assert Course(made).course_id == "demo"
    kept = sorted(path.name for path in (made / ".mlsys").iterdir())
    assert kept == ["bundle.json", "versions"]


def test_others_cannot_enter(made: Path):
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_the_gradebook_knows_the_class_and_the_labs(made: Path):
    from nbgrader.api import Gradebook

    assert students(made) == {"ann": ("Ann", "Lee", None, None), "bob": ("Bob", "Ray", None, None)}
    with Gradebook(f"sqlite:///{made / 'gradebook.db'}", "demo") as book:
        (lab,) = book.assignments
        assert (lab.name, lab.max_score, lab.course.id) == (LAB, 100, "demo")


def test_the_page_for_tas_names_only_commands_that_exist(made: Path):
    from nbgrader.apps.nbgraderapp import NbGraderApp

    page = (made / "README.md").read_text("utf-8")
    assert f"# demo\n\nA course of interactive machine-learning-systems labs, made with mlsys-widgets {__version__}" in page  # fmt: skip  # noqa: E501
    assert re.search(rf"^- \S.* \(`{LAB}`\)$", page, re.M)  # its title, and the name to type
    ours = set(re.findall(r"\bmlsys ((?:course )?[a-z][a-z-]+)", page))
    assert {
        "course doctor",
        "course roster",
        "course release",
        "course init",
        "grade",
        "build",
    } <= ours
    for words in ours:
        with pytest.raises(SystemExit) as stop:
            main([*words.split(), "--help"])
        assert stop.value.code == 0, words
    theirs = set(re.findall(r"\bnbgrader ([a-z]\w+)", page))
    assert {"collect", "generate_feedback"} <= theirs
    assert theirs <= set(NbGraderApp.subcommands)
    for wanted in ("release", "collect", "grade", "feedback", "report", "export", "Change a lab"):
        assert wanted in page


def test_git_leaves_out_what_is_of_students(made: Path, tmp_path: Path):
    root = tmp_path / "course"
    root.mkdir()
    (root / ".gitignore").write_bytes((made / ".gitignore").read_bytes())
    subprocess.run(["git", "init", "--quiet", root], check=True)
    theirs = [
        f"submitted/ann/{LAB}/{LAB}.ipynb", f"autograded/ann/{LAB}/{LAB}.ipynb",
        f"feedback/ann/{LAB}/{LAB}.html", "gradebook.db", "gradebook.db-journal",
        ".mlsys/grade-x.jsonl", "students.csv", f"{LAB}-canvas.csv", f"report-{LAB}.html",
        f"lecture-{LAB}.html",
        f"source/{LAB}/ledger.jsonl",
    ]  # fmt: skip
    ours = [
        f"source/{LAB}/{LAB}.ipynb",
        "nbgrader_config.py",
        "README.md",
        "assignments/course.toml",
    ]
    said = subprocess.run(
        ["git", "-C", root, "check-ignore", *theirs, *ours],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.stdout.splitlines() == theirs


def test_another_id_and_no_class(bundle: Path, tmp_path: Path):
    folder = init_course(tmp_path / "new", bundle, course_id="fall-27")
    assert Course(folder).course_id == "fall-27"
    assert students(folder) == {}


def test_a_course_without_an_id_is_called_as_its_folder(written: Path, tmp_path: Path):
    """A bundle of somebody whose settings say nothing, or are not there."""
    (written / "nbgrader_config.py").unlink()
    folder = init_course(tmp_path / "autumn", pack(Course(written), tmp_path / "b.tar.gz"))
    assert Course(folder).course_id == "autumn"


@pytest.mark.parametrize("name", ["a/b", " ", "..", "-x", "x" * 101])
def test_an_id_that_no_exchange_can_have(bundle: Path, tmp_path: Path, name: str):
    with pytest.raises(ValueError, match=r"the course's id is .*; it must be up to 100 letters"):
        init_course(tmp_path / "new", bundle, course_id=name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(bundle: Path, tmp_path: Path, capsys):
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert main(["course", "init", str(tmp_path), "--from", str(bundle)]) == 1
    assert capsys.readouterr().err == (
        f"mlsys: {tmp_path} is not empty; name another folder. To add students: mlsys course"
        " roster\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(ValueError, match="is a file; a course needs a folder"):
        init_course(tmp_path / "mine.txt", bundle)


def test_an_empty_folder_that_is_there_stays_the_same_folder(
    bundle: Path, tmp_path: Path, monkeypatch, capsys
):
    """Where somebody's shell stands, and closed to others from then on."""
    here = tmp_path / "here"
    here.mkdir(mode=0o755)
    inode = here.stat().st_ino
    monkeypatch.chdir(here)
    assert main(["course", "init", ".", "--from", str(bundle)]) == 0
    assert "the course demo" in capsys.readouterr().out
    assert here.stat().st_ino == inode
    assert stat.S_IMODE(here.stat().st_mode) == 0o750
    assert (here / "nbgrader_config.py").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_roster_with_a_mistake_makes_no_course(bundle: Path, tmp_path: Path, capsys):
    roster = tmp_path / "roster.csv"
    roster.write_text("id\nann\na/b\n", "utf-8")
    words = ["course", "init", str(tmp_path / "new"), "--from", str(bundle)]
    assert main([*words, "--roster", str(roster)]) == 1
    assert "line 3: the id 'a/b' contains '/'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main([*words, "--roster", str(tmp_path / "nowhere.csv")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_an_init_that_was_killed_can_be_done_again(bundle: Path, tmp_path: Path):
    """Killed while labs go into the gradebook: no course is there, and the next init makes it."""
    folder, aside = tmp_path / "new", tmp_path / ".new.unfinished"
    code = "import sys; from mlsys_widgets.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "course", "init", folder, "--from", bundle],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not (aside / "gradebook.db").exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not folder.exists()
    assert aside.is_dir()
    roster = tmp_path / "roster.csv"
    roster.write_text(CLASS, "utf-8")
    init_course(folder, bundle, roster=roster)
    assert sorted(students(folder)) == ["ann", "bob"]
    assert not aside.exists()


def test_a_disk_that_is_full_leaves_nothing(bundle: Path, small_disk: Disk, capsys):
    assert main(["course", "init", str(small_disk.place / "new"), "--from", str(bundle)]) == 1
    assert "no space left" in capsys.readouterr().err
    assert list(small_disk.place.iterdir()) == []


def test_a_bundle_of_a_newer_package_is_used_and_named(bundle: Path, tmp_path: Path, capsys):
    forge = Forge(bundle, tmp_path / "newer.tar.gz")
    forge.said["package"] = "99.0"
    words = ["course", "init", str(tmp_path / "new"), "--from", str(forge.write())]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert f"made with mlsys-widgets 99.0, and {__version__} is installed" in told
    assert "pip install --upgrade 'mlsys-widgets[ta]'" in told


def test_a_gradebook_elsewhere_is_left_alone(written: Path, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere.db"
    with (written / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.CourseDirectory.db_url = "sqlite:///{elsewhere}"\n')
    remarks: list[str] = []
    bundle = pack(Course(written), tmp_path / "b.tar.gz")
    folder = init_course(tmp_path / "new", bundle, remark=remarks.append)
    assert not elsewhere.exists()
    assert not (folder / "gradebook.db").exists()
    (words,) = remarks
    assert "outside this course, so it was left alone" in words
