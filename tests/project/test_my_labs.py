"""The folder in which a student works: it follows the release, and never loses what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

LAB, ASKS, PAGE = "lab_01/lab_01.ipynb", "lab_01/asks.py", "START_HERE.md"


@pytest.fixture
def checkout(tmp_path) -> Path:
    root = tmp_path / "checkout"
    for path, text in (
        (f"release/{LAB}", "notebook 1"),
        (f"release/{ASKS}", "asks 1"),
        (f"release/{PAGE}", "page 1"),
        ("release/lab_01/.ipynb_checkpoints/lab_01.ipynb", "old"),
        ("release/lab_01/ledger.jsonl", "of whoever tried it there"),
        ("docs/tutorials/gallery.ipynb", "gallery 1"),
    ):
        write(root / path, text)
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def lay_out(tool, checkout):
    """Lay the labs out; return what was said and which files there are."""

    def run() -> tuple[list[str], dict[str, str]]:
        folder = checkout / "my_labs"
        notices = tool("my_labs").lay_out(checkout, folder)
        files = {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in folder.rglob("*")
            if path.is_file() and path.name != tool("my_labs").MEMORY
        }
        return notices, files

    return run


FIRST = {LAB: "notebook 1", ASKS: "asks 1", PAGE: "page 1", "tutorials/gallery.ipynb": "gallery 1"}


def test_everything_is_laid_out_once_and_again_changes_nothing(checkout, lay_out):
    assert lay_out() == ([], FIRST)
    times = {path: path.stat().st_mtime_ns for path in (checkout / "my_labs").rglob("*.ipynb")}
    assert lay_out() == ([], FIRST)
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_what_was_not_touched_follows_the_release_and_new_labs_are_added(checkout, lay_out):
    lay_out()
    write(checkout / "my_labs" / "lab_01" / "ledger.jsonl", "mine")
    write(checkout / "release" / LAB, "notebook 2")
    write(checkout / "release" / "lab_07" / "lab_07.ipynb", "seven")
    notices, files = lay_out()
    assert notices == []
    assert files == {
        **FIRST,
        LAB: "notebook 2",
        "lab_07/lab_07.ipynb": "seven",
        "lab_01/ledger.jsonl": "mine",
    }


def test_a_lab_that_was_touched_stays_whole(checkout, lay_out):
    lay_out()
    write(checkout / "my_labs" / LAB, "notebook 1, answered")
    assert lay_out()[0] == []  # there is nothing newer, so there is nothing to say
    write(checkout / "release" / LAB, "notebook 2")
    write(checkout / "release" / ASKS, "asks 2")
    for _ in range(2):
        notices, files = lay_out()
        # Old questions with old answers: a notebook and its asks.py belong together.
        assert files == {**FIRST, LAB: "notebook 1, answered"}
        assert len(notices) == 1
        assert "lab_01" in notices[0]
        assert "Yours stays" in notices[0]

    # As the line says: renamed, it makes room for the newer one.
    (checkout / "my_labs" / "lab_01").rename(checkout / "my_labs" / "my_old_lab_01")
    notices, files = lay_out()
    assert notices == []
    assert files[LAB] == "notebook 2"
    assert files["my_old_lab_01/lab_01.ipynb"] == "notebook 1, answered"


def test_what_is_missing_is_put_back(checkout, lay_out):
    lay_out()
    (checkout / "my_labs" / LAB).unlink()
    assert lay_out() == ([], FIRST)


@pytest.mark.parametrize("memory", [None, "", "[1, 2]", '{"release": 3}'])
def test_without_its_memory_it_takes_nothing_for_its_own(checkout, lay_out, tool, memory):
    lay_out()
    kept = checkout / "my_labs" / tool("my_labs").MEMORY
    kept.unlink() if memory is None else kept.write_text(memory)
    write(checkout / "my_labs" / LAB, "mine")
    write(checkout / "release" / LAB, "notebook 2")
    notices, files = lay_out()
    assert files[LAB] == "mine"
    assert len(notices) == 1


def test_a_folder_that_cannot_be_written_is_one_sentence(tool, tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    assert tool("my_labs").main([str(tmp_path / "taken" / "below")]) == 1
    assert "could not be laid out" in capsys.readouterr().err


def test_dates_follow_even_where_a_student_has_worked(checkout, lay_out):
    write(checkout / "release/lab_01/dates.json", "dates 1")
    lay_out()
    write(checkout / "my_labs" / LAB, "my work")
    write(checkout / "release/lab_01/dates.json", "dates 2")
    notices, files = lay_out()
    assert notices == []
    assert (files[LAB], files["lab_01/dates.json"]) == ("my work", "dates 2")


def test_what_a_server_keeps_on_the_start_page_is_no_change_of_a_student(checkout, lay_out):
    page = "# Labs\n<!-- when labs are due; kept -->\n{}<!-- end of when labs are due -->\n{}"
    write(checkout / "release" / PAGE, page.format("", "one"))
    lay_out()
    write(checkout / "my_labs" / PAGE, page.format("in 2 days\n", "one"))
    write(checkout / "release" / PAGE, page.format("", "two"))
    notices, files = lay_out()
    assert notices == []
    assert files[PAGE] == page.format("", "two")
