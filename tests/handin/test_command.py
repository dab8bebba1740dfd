"""``mlsys hand-in`` says what is missing, asks, and makes the file."""

from __future__ import annotations

import io
import os
import time

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.labs.identity import VARIABLE
from tests.handin.conftest import LAB, notebook


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def as_ann(monkeypatch):
    monkeypatch.setenv(VARIABLE, "ann")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def test_it_says_what_is_missing_and_takes_a_no(folder, ledger_in, monkeypatch, capsys):
    ledger_in(folder)
    for typed, code in (("\n", 1), ("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        assert main(["hand-in", str(folder)]) == code
        said = capsys.readouterr().out
        assert "Act 2, quiz “What do you know”: to do." in said
        assert "Hand in anyway?" in said
        assert (folder / f"{LAB}-ann.zip").exists() == (code == 0)
    assert f"Wrote {folder / f'{LAB}-ann.zip'}" in said


def test_without_a_terminal_nobody_is_asked(folder, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["hand-in", str(folder)]) == 1
    assert "mlsys hand-in --anyway" in capsys.readouterr().out
    assert main(["hand-in", str(folder), "--anyway", "--output", str(tmp_path)]) == 0
    assert (tmp_path / f"{LAB}-ann.zip").is_file()


def test_a_finished_lab_is_handed_in_at_once(folder, monkeypatch, capsys, ledger_in):
    (folder / f"{LAB}.ipynb").write_text(notebook(cells=[]))
    ledger_in(folder)
    os.utime(folder / f"{LAB}.ipynb", (time.time() + 5,) * 2)
    monkeypatch.chdir(folder)
    assert main(["hand-in"]) == 0
    assert "Nothing is missing." in capsys.readouterr().out


def test_a_folder_without_a_lab(tmp_path, capsys):
    assert main(["hand-in", str(tmp_path)]) == 1
    assert "there is no lab in" in capsys.readouterr().err
