"""A student's work is found in a folder, and read without running any of its code."""

from __future__ import annotations

import pytest

from mlsys_widgets.handin import work as work_module
from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.work import CannotHandIn, archived_names, find_work, read_work
from mlsys_widgets.labs.student_steps import StudentStep
from tests.handin.conftest import LAB, STUDENT, notebook


def test_the_steps_are_those_that_the_cells_name(folder):
    work = find_work(folder)
    assert (work.lab, work.title) == (LAB, "Lab 02: A demonstration")
    assert work.steps == (
        StudentStep("act1_bound", "prediction", 1, "Act1 bound", ("act1_bound",)),
        StudentStep("act1_why", "reflection", 1, "Act1 why", ("act1_why",)),
        StudentStep("what_do_you_know", "quiz", 2, "What do you know", ("quiz.1", "quiz.2")),
        StudentStep("measurement", "measurement", 2, "Measure this machine", ("measurement",)),
        StudentStep("design", "design", 0, "What you pass on", ("design",)),
    )


def test_a_lab_can_name_files_of_its_own_but_none_outside(folder):
    named = ["trace.csv", "../../secret", "/etc/passwd", ".ssh", "sub/x", 3, ".."]
    (folder / f"{LAB}.ipynb").write_text(notebook(files=named))
    assert find_work(folder).files == ("machine.json", "trace.csv")
    assert archived_names(LAB, find_work(folder).files) == {
        f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json", "machine.json", "trace.csv",
    }  # fmt: skip


def test_a_renamed_notebook_is_found_and_the_usual_name_wins(folder):
    usual = folder / f"{LAB}.ipynb"
    other = folder / "copy.ipynb"
    other.write_bytes(usual.read_bytes())
    assert find_work(folder).notebook == usual
    assert find_work(other).notebook == other
    usual.unlink()
    assert find_work(folder).notebook == other
    (folder / "third.ipynb").write_bytes(other.read_bytes())
    with pytest.raises(CannotHandIn, match=r"several labs here.*copy\.ipynb, third\.ipynb"):
        find_work(folder)


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"metadata": []}', '{"metadata": {"mlsys": {"lab": "../x"}}}']
)
def test_what_is_no_lab_is_refused(folder, content):
    path = folder / f"{LAB}.ipynb"
    path.write_text(content)
    with pytest.raises(CannotHandIn, match=r"not a notebook|does not say which lab"):
        read_work(path)
    with pytest.raises(CannotHandIn, match="no lab in"):
        find_work(folder)


def test_odd_metadata_of_cells_is_left_alone(folder):
    cells = [3, {"metadata": 4}, {"metadata": {"mlsys": {"kind": ["x"], "id": 3}}}]
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=cells[:2]))
    assert find_work(folder).steps == ()
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=cells))
    assert find_work(folder).steps == ()


def test_a_folder_or_notebook_that_is_not_there(folder, monkeypatch):
    with pytest.raises(CannotHandIn, match="there is no folder"):
        find_work(folder / "other")
    with pytest.raises(CannotHandIn, match=r"gone\.ipynb cannot be read"):
        find_work(folder / "gone.ipynb")
    monkeypatch.setattr(work_module, "LARGEST_NOTEBOOK", 10)
    with pytest.raises(CannotHandIn, match="clear its outputs"):
        read_work(folder / f"{LAB}.ipynb")


def test_practice_is_not_handed_in(folder, tmp_path):
    (folder / f"{LAB}.ipynb").write_text(notebook(way="practice"), "utf-8")
    work = read_work(folder / f"{LAB}.ipynb")
    with pytest.raises(CannotHandIn, match=r"is not handed in\. This is practice"):
        hand_in(work, STUDENT, into=tmp_path)
    assert not [*tmp_path.glob("*.zip")]
