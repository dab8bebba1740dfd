"""What the system refuses is a sentence: the file, whose it is, and no number."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlsys_widgets import cli
from mlsys_widgets.files import write_whole
from mlsys_widgets.wording.system_errors import error_sentence


def refused(path: Path) -> PermissionError:
    """As root, nothing is refused."""
    return PermissionError(13, "Permission denied", str(path))


def test_who_may_not_is_told_whom_to_ask(tmp_path):
    mine = tmp_path / "gradebook.db"
    mine.touch()
    owner = mine.owner()
    ask = "who can give you the right or do this"
    assert error_sentence(refused(mine)) == (
        f"you have no right to {mine}; it belongs to {owner}, {ask}"
    )
    # What is not there, or cannot be seen, is in somebody's folder.
    assert error_sentence(refused(tmp_path / "no" / "x")) == (
        f"you have no right to {tmp_path}/no/x; {tmp_path} belongs to {owner}, {ask}"
    )


@pytest.mark.parametrize("problem", [
    PermissionError(13, "Permission denied"), IsADirectoryError(21, "Is a directory", "x"),
    OSError(5, "Input/output error", 7), FileNotFoundError(2, "No such file or directory", b"x"),
    OSError(18, "Invalid cross-device link", "x", None, "y"), OSError("a sentence of our own"),
])  # fmt: skip
def test_no_number_is_shown(problem):
    sentence = error_sentence(problem)
    assert sentence
    assert "Errno" not in sentence


def test_a_command_says_it_so(monkeypatch, capsys, tmp_path):
    def run(arguments):
        raise refused(tmp_path)

    monkeypatch.setattr("mlsys_widgets.grading.feedback.second_looks_command.run", run)
    assert cli.main(["second-looks"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"mlsys: you have no right to {tmp_path}; it belongs to ")
    assert error.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="folders are no files there")
def test_what_cannot_be_written_is_named_as_people_know_it(tmp_path):
    target = tmp_path / "missing" / "course.toml"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(target, "x")
    assert error_sentence(caught.value) == f"there is no {target}"
