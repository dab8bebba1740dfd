"""`mlsys build --bundle` and `mlsys course roster`, as their users meet them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import Engine, event

from mlsys_widgets import __version__
from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import stale_labs
from mlsys_widgets.courses.command import print_shared_keys
from tests.courses.conftest import LAB, students
from tests.courses.test_bundle import contents

pytestmark = pytest.mark.timeout(300)


def test_what_is_stale_is_built_first_and_nothing_else(written: Path, bundle: Path, capsys):
    """`mlsys build --bundle`: nothing to build, then a changed sentence."""
    notebook = written / "source" / LAB / f"{LAB}.ipynb"
    before = notebook.stat().st_mtime_ns
    assert main(["build", "--course", str(written), "--bundle"]) == 0
    target = written / "build" / f"demo-{__version__}.tar.gz"
    told = capsys.readouterr().out
    assert "Wrote" not in told
    assert f"Packed {target}" in told
    assert notebook.stat().st_mtime_ns == before
    assert target.read_bytes() == bundle.read_bytes()

    text = written / "assignments" / LAB / "lab.py"
    changed = text.read_text("utf-8") + "\n# %% [markdown]\n# One more word.\n"
    text.write_text(changed, "utf-8")
    assert list(stale_labs(Course.at(written))) == [LAB]
    assert main(["build", "--course", str(written), "--bundle", str(target)]) == 0
    assert f"Wrote {notebook}" in capsys.readouterr().out.replace("\n", "")  # a terminal wraps
    assert stale_labs(Course.at(written)) == {}
    files = contents(target)
    for name in (f"source/{LAB}/{LAB}.ipynb", f"release/{LAB}/{LAB}.ipynb"):
        assert b"One more word." in files[name]


def test_what_can_be_copied_is_in_a_table(written: Path, tmp_path: Path):
    """Quiet for the lab as it is; with three sides, a third of the class has each key."""
    with (tmp_path / "said").open("w+", encoding="utf-8") as said:
        print_shared_keys(Course.at(written), LAB, Console(file=said))
        assert said.tell() == 0
        asks = written / "assignments" / LAB / "asks.py"
        few = asks.read_text("utf-8").replace("steps(128, 440, 8)", "(128, 256, 384)")
        asks.write_text(few, "utf-8")
        print_shared_keys(Course.at(written), LAB, Console(file=said))
        said.seek(0)
        words, header, *rows = said.read().splitlines()
    assert words == f"{LAB}: in a class of 200, some answers can be copied from others."
    assert header.split("  ")[0].strip() == "item"
    assert [row.split()[:2] for row in rows] == [["intensity_flop_per_byte", "3"]]


class TestRosterLater:
    """`mlsys course roster`: the class changes."""

    @pytest.fixture
    def enter(self, course: Path, tmp_path: Path):
        def entered(text: str) -> int:
            roster = tmp_path / "roster.csv"
            roster.write_text(text, "utf-8")
            return main(["course", "roster", str(course), str(roster)])

        return entered

    def test_it_adds_corrects_and_removes_nobody(self, course: Path, enter, capsys):
        assert enter("login,first name,email,id\nann,Anne,a@uni.edu,17\ncat,Cat,,\n") == 0
        assert students(course) == {
            "ann": ("Anne", "Lee", "a@uni.edu", "17"),
            "bob": ("Bob", "Ray", None, None),
            "cat": ("Cat", None, None, None),
        }
        told = capsys.readouterr().out
        assert "1 added, 1 corrected, of 2." in told
        assert "Not in this roster, and kept with all grades: bob." in told
        assert enter("login\nann\nbob\ncat\n") == 0
        assert capsys.readouterr().out == "0 added, 0 corrected, of 3.\n"

    def test_one_wrong_row_enters_nobody(self, course: Path, enter, capsys):
        before = students(course)
        assert enter("login\ncat\n-x\n") == 1
        assert "so nobody was entered" in capsys.readouterr().err
        assert students(course) == before

    def test_a_large_class_takes_a_few_statements(self, course: Path, enter):
        statements: list[str] = []

        def note(*what: Any) -> None:
            statements.append(what[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            text = "".join(f"s{n},s{n}@uni.edu\n" for n in range(5000))
            assert enter("login,email\n" + text) == 0
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        assert 0 < len(statements) < 50, "one for each student would take minutes"
        assert len(students(course)) == 5002

    def test_a_gradebook_that_is_none(self, course: Path, enter, capsys):
        (course / "gradebook.db").write_text("not a database at all" * 100, "utf-8")
        assert enter("login\ncat\n") == 1
        error = capsys.readouterr().err
        assert "cannot be written: file is not a database; mlsys course doctor" in error
        assert error.count("\n") == 1

    def test_a_folder_without_a_course(self, enter, tmp_path: Path, capsys):
        roster = tmp_path / "roster.csv"
        roster.write_text("login\ncat\n", "utf-8")
        (tmp_path / "empty").mkdir()
        assert main(["course", "roster", str(tmp_path / "empty"), str(roster)]) == 1
        assert "there is no folder assignments" in capsys.readouterr().err
        assert list((tmp_path / "empty").iterdir()) == []
