"""Records of a grading run that a crash or a full disk has cut short are noticed, and said."""

from __future__ import annotations

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.grading.gradebook.lost_records import is_whole
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.grading.classroom import LAB, autograded, grade, of, rows
from tests.grading.regrading import graded_course, history


@pytest.fixture
def course(tmp_path, monkeypatch):
    made = graded_course(tmp_path / "course")
    monkeypatch.chdir(made.root)
    return made


def notebook(course, student):
    return course.root / "autograded" / student / LAB / f"{LAB}.ipynb"


@pytest.mark.parametrize(
    "broken",
    [lambda whole: b"", lambda whole: whole[:-9], lambda whole: bytes(len(whole)), None],
    ids=["empty", "cut", "zeros", "missing"],
)
def test_a_graded_notebook_that_is_cut_short_is_graded_again(course, broken):
    before = rows(course.root)
    path = notebook(course, "bob")
    assert is_whole(path)
    if broken is None:
        path.unlink()
    else:
        path.write_bytes(broken(path.read_bytes()))
    assert not is_whole(path)
    graded = grade(course)
    assert [*graded] == ["bob"]
    assert [each.kind for each in graded["bob"].remarks] == [RemarkKind.GRADED_AGAIN]
    assert "make its feedback again" in graded["bob"].sentences[0]
    assert of("bob", rows(course.root)) == of("bob", before)
    autograded(course, "bob")  # is valid


def test_a_notebook_is_whole_as_nbformat_writes_it(tmp_path):
    import nbformat

    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "a.ipynb")
    assert is_whole(tmp_path / "a.ipynb")


@pytest.mark.parametrize("removed", [True, False])
def test_an_emptied_history_is_said_and_stays_said(course, capsys, removed):
    path = history(course)._path
    path.unlink() if removed else path.write_bytes(b"")
    assert main(["grade", LAB]) == 3
    told = capsys.readouterr().out
    assert "! The history of grades is empty, though 3 submissions of this lab were graded" in told
    assert "only in a backup" in told
    assert main(["history"]) == 3
    assert "! " in capsys.readouterr().out
    # From then on it says so itself.
    assert main(["history"]) == 0
    assert {each.what for each in history(course).read()[0]} == {"lost"}
    assert "emptied or removed" in capsys.readouterr().out


def test_a_log_that_was_cut_short_is_said_until_it_is_whole(course, capsys):
    path = course.root / ".mlsys" / f"grade-{LAB}.jsonl"
    (first, *_) = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first)
    for command in (["grade", LAB], ["history", LAB]):
        assert main(command) == 3
        told = capsys.readouterr().out
        assert f".mlsys/grade-{LAB}.jsonl has no line about" in told
        assert f"mlsys grade {LAB} --force" in told
    assert set(grade(course, force=True)) == {"ann", "bob", "cat"}
    assert main(["grade", LAB]) == 0


def test_sound_records_say_nothing(course, capsys):
    assert main(["grade", LAB]) == 0
    assert "!" not in capsys.readouterr().out
    assert main(["history"]) == 0
