"""``mlsys hub`` and its tasks on the command line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mlsys_widgets.cli import command_parser, main
from mlsys_widgets.hub.backup.restore import UNFINISHED

root = pytest.mark.skipif(os.geteuid() != 0, reason="a hub belongs to root")


def parsed(*words):
    return command_parser(measuring=False).parse_args(["hub", *words])


def test_the_folder_may_come_before_the_task_or_after_it(tmp_path):
    for words in (("--folder", "f", "backup", "x"), ("backup", "x", "--folder", "f")):
        assert str(parsed(*words).folder) == "f"
    assert parsed("backup", "x").folder is None
    assert parsed().task is None


@root
@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("backup", "/tmp/x.tar.gz"), "there is no hub in"),
        (("restore", "/nowhere.tar.gz"), "there is no backup /nowhere.tar.gz"),
        (("upgrade",), "no mlsys hub runs from"),
        (("health",), "does not answer"),
        (("service", "remove", "--name", "mlsys-missing"), "there is no"),
        (("service", "remove", "--name", "a b"), "cannot be called"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path, capsys, words, refusal):
    assert main(["hub", "--folder", str(tmp_path / "hub"), *words]) == 1
    assert refusal in capsys.readouterr().err
    assert not (tmp_path / "hub").exists()


@root
def test_a_unit_is_refused_for_what_would_not_start(tmp_path, capsys):
    folder = ["hub", "--folder", str(tmp_path / "hub")]
    assert main([*folder, "--ip", "0.0.0.0", "service", "show"]) == 1
    assert "unencrypted" in capsys.readouterr().err
    assert main([*folder, "--oidc", "/nowhere.toml", "service", "show"]) == 1
    assert "there is no /nowhere.toml" in capsys.readouterr().err
    assert main([*folder, "service", "show"]) == 0
    assert "Type=notify" in capsys.readouterr().out


@root
def test_a_restore_that_was_cut_off_is_not_started(tmp_path, capsys):
    (tmp_path / UNFINISHED).write_text("{}")
    assert main(["hub", "--folder", str(tmp_path)]) == 1
    assert "was cut off" in capsys.readouterr().err


def test_a_wrong_task_is_named():
    done = subprocess.run(
        [sys.executable, "-m", "mlsys_widgets", "hub", "bakup"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "bakup" in done.stderr
