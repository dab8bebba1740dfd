"""What goes into a bundle, what never does, and that it is the same every time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tarfile
import tomllib
from pathlib import Path

import pytest

from mlsys_widgets import __version__
from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import init_course, pack
from mlsys_widgets.courses.settings_editor import SettingsEditor
from tests.courses.conftest import LAB, Disk

pytestmark = pytest.mark.timeout(300)


def contents(path: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            held = archive.extractfile(member)
            assert held is not None
            found[member.name] = held.read()
    return found


def test_it_holds_the_labs_and_the_settings(built: Path, bundle: Path):
    files = contents(bundle)
    said = json.loads(files.pop("bundle.json"))
    assert sorted(files) == sorted(
        [
            "nbgrader_config.py",
            "assignments/course.toml",
            *(f"assignments/{LAB}/{name}" for name in ("lab.py", "asks.py", "checks.py")),
            *(f"{s}/{LAB}/{n}" for s in ("source", "release") for n in ("asks.py", f"{LAB}.ipynb")),
        ]
    )
    for name, content in files.items():
        assert content == (built / name).read_bytes()
        assert said["files"].pop(name) == hashlib.sha256(content).hexdigest()
    assert not said["files"]
    assert (said["format"], said["package"], said["course"]) == (1, __version__, "demo")
    assert said["labs"] == [LAB]


def test_the_same_course_gives_the_same_bytes(built: Path, bundle: Path, tmp_path: Path):
    """Elsewhere, under another name, written in another order at another time by somebody else."""
    copy = tmp_path / "elsewhere"
    for path in sorted(built.rglob("*"), reverse=True):
        if path.is_file():
            target = copy / path.relative_to(built)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o600)
            os.utime(target, (1, 1))
            if os.geteuid() == 0:
                os.chown(target, 65534, 65534)
    again = pack(Course(copy), tmp_path / "other name.tar.gz")
    assert again.read_bytes() == bundle.read_bytes()


def test_nothing_of_students_and_no_leftovers_are_packed(written: Path, bundle: Path):
    for name in (
        f"source/{LAB}/ledger.jsonl",
        f"assignments/{LAB}/ledger.jsonl",
        f"assignments/{LAB}/ledger.old.jsonl",
        f"assignments/{LAB}/__pycache__/asks.cpython-311.pyc",
        f"source/{LAB}/.ipynb_checkpoints/{LAB}-checkpoint.ipynb",
        f"submitted/ann/{LAB}/{LAB}.ipynb",
        f"autograded/ann/{LAB}/{LAB}.ipynb",
        f"feedback/ann/{LAB}/{LAB}.html",
        f"release/removed_lab/{LAB}.ipynb",
        ".mlsys/grade-x.jsonl",
        "gradebook.db",
        f"source/{LAB}/gradebook.db",
        "students.csv",
        "assignments/notes.txt",
    ):
        path = written / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret", "utf-8")
    again = pack(Course(written), written / "bundle.tar.gz")
    assert again.read_bytes() == bundle.read_bytes()


PEOPLE = f"""
edition = "2027"

[labs.{LAB}]
due = 2027-03-01T12:00:00  # for everybody

[sections.evening]
students = ["ada", 'ben']  # after work
[sections.evening.labs.{LAB}]
due = 2027-03-02T12:00:00

[staff.mia]
role = "ta"
sections = ["evening"]

[people]
dropped = ["zoe"]

[names.ada]
also = ["ada-old"]

[[extensions]]
student = "cleo"
lab = "{LAB}"
due = 2027-03-09T12:00:00
reason = "illness"
"""
NAMES = ("ada", "ben", "mia", "zoe", "cleo", "illness")


def test_people_stay_here_when_another_class_gets_the_labs(written: Path, tmp_path: Path):
    settings = written / "assignments" / "course.toml"
    settings.write_text(PEOPLE, "utf-8")
    assert SettingsEditor(written).everybody() == {"ada", "ben", "mia", "zoe", "cleo"}
    for people in (True, False):
        packed = contents(pack(Course(written), tmp_path / "x.tar.gz", people=people))
        text = packed["assignments/course.toml"].decode()
        assert {name for name in NAMES if name in text} == (set(NAMES) if people else set())
    said = tomllib.loads(text)
    assert said["edition"] == "2027"
    assert said["labs"] == tomllib.loads(PEOPLE)["labs"]
    assert said["sections"]["evening"]["students"] == []
    assert said["sections"]["evening"]["labs"]
    assert settings.read_text("utf-8") == PEOPLE
    # What was packed is a course.
    init_course(tmp_path / "next", tmp_path / "x.tar.gz")
    assert Course.at(tmp_path / "next").calendar.sections == {"evening": ()}


def test_a_way_of_writing_names_that_is_not_understood_is_refused(written: Path, tmp_path: Path):
    settings = written / "assignments" / "course.toml"
    settings.write_text('sections = {evening = {students = ["ada"]}}\n', "utf-8")
    packed = contents(pack(Course(written), tmp_path / "x.tar.gz", people=False))
    assert packed["assignments/course.toml"] == b"sections = {evening = {students = []}}\n"
    (tmp_path / "x.tar.gz").unlink()
    # tomlkit changes the order of these tables.
    settings.write_text(
        '[sections.a.labs.x]\n[[extensions]]\nstudent = "ada"\n[sections.b]\nstudents = []\n'
    )
    with pytest.raises(ValueError, match="cannot change safely; change it in an editor"):
        pack(Course(written), tmp_path / "x.tar.gz", people=False)
    assert not list(tmp_path.glob("*.tar.gz"))


def test_the_command_says_whom_a_bundle_names(written: Path, tmp_path: Path, capsys):
    (written / "assignments" / "course.toml").write_text(PEOPLE, "utf-8")
    target = str(tmp_path / "x.tar.gz")
    command = ["build", "--course", str(written), "--bundle", target]
    assert main(command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Its course.toml names 5 people, with sections and extensions" in said
    assert "For another one, add --without-people." in said
    assert main([*command, "--without-people"]) == 0
    assert "course.toml names" not in capsys.readouterr().out


def test_without_people_is_about_a_bundle(written: Path, capsys):
    assert main(["build", "--course", str(written), "--without-people"]) != 0
    assert "add --bundle" in capsys.readouterr().err


def test_only_its_owner_can_read_it(bundle: Path):
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600


@pytest.mark.parametrize("step", ["source", "release"])
def test_a_lab_that_is_not_built_is_refused(written: Path, step: str, tmp_path: Path):
    (written / step / LAB / f"{LAB}.ipynb").unlink()
    with pytest.raises(ValueError, match=f"{step}/{LAB} is not built; run: mlsys build {LAB}"):
        pack(Course(written), tmp_path / "x.tar.gz")
    assert not list(tmp_path.glob("*.tar.gz"))


def test_a_course_without_labs_is_refused(tmp_path: Path):
    (tmp_path / "assignments").mkdir()
    with pytest.raises(ValueError, match=r"there is no lab in .*mlsys new-lab NAME"):
        pack(Course(tmp_path), tmp_path / "x.tar.gz")


def test_a_link_is_refused(written: Path, tmp_path: Path):
    (written / "assignments" / LAB / "data.csv").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=r"data.csv is neither a file nor a folder"):
        pack(Course(written), tmp_path / "x.tar.gz")


def test_a_password_does_not_travel(written: Path, tmp_path: Path, monkeypatch):
    config = written / "nbgrader_config.py"
    plain = config.read_text("utf-8")
    url = "postgresql+psycopg://grader:s3cr3t@db/grades"
    config.write_text(f"{plain}\nc.CourseDirectory.db_url = {url!r}\n", "utf-8")
    with pytest.raises(ValueError, match="holds the password of the gradebook") as refused:
        pack(Course(written), tmp_path / "x.tar.gz")
    assert "s3cr3t" not in str(refused.value)
    monkeypatch.setenv("GRADEBOOK_URL", url)
    config.write_text(
        f"{plain}\nimport os\nc.CourseDirectory.db_url = os.environ['GRADEBOOK_URL']\n", "utf-8"
    )
    assert b"s3cr3t" not in b"".join(
        contents(pack(Course(written), tmp_path / "x.tar.gz")).values()
    )


def test_settings_that_cannot_be_read_are_a_sentence(written: Path, tmp_path: Path):
    (written / "nbgrader_config.py").write_text("c = get_config(\n", "utf-8")
    with pytest.raises(ValueError, match=r"nbgrader_config\.py cannot be read: SyntaxError"):
        pack(Course(written), tmp_path / "x.tar.gz")


def test_it_is_written_whole_or_not_at_all(built: Path, small_disk: Disk):
    """On a disk that is full, what was there stays."""
    target = small_disk.place / "demo.tar.gz"
    target.write_bytes(b"the last one")
    small_disk.fill()
    with pytest.raises(OSError, match="No space left"):
        pack(Course(built), target)
    assert target.read_bytes() == b"the last one"
    assert sorted(path.name for path in small_disk.place.iterdir()) == ["demo.tar.gz", "filler"]


def test_the_labs_of_this_repository_are_packed_as_they_are(root: Path, tmp_path: Path):
    files = contents(pack(Course(root), tmp_path / "mlsys.tar.gz"))
    tops = {name.split("/")[0] for name in files}
    assert tops == {"bundle.json", "nbgrader_config.py", "assignments", "source", "release"}
    labs = sorted(path.parent.name for path in root.glob("assignments/*/lab.py"))
    assert json.loads(files["bundle.json"])["labs"] == labs
