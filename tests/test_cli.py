"""`mlsys` as its users meet it: help, answers, sentences and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mlsys_widgets import __version__
from mlsys_widgets.cli import main


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    told = capsys.readouterr().out
    assert "devices" in told
    assert "workloads" in told


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"mlsys {__version__}\n"


def test_unknown_commands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["frobnicate"])
    assert stop.value.code == 2
    assert "choose from" in capsys.readouterr().err


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    told = capsys.readouterr().out
    for word in ("a100-sxm", "cortex-m7", "4.8 TB/s", "512 KB"):
        assert word in told


def test_one_device_with_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "h100-sxm"]) == 0
    told = capsys.readouterr().out
    assert "1,979 TFLOPS" in told
    assert "datasheet" in told


def test_workloads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workloads"]) == 0
    assert main(["workloads", "kws"]) == 0
    assert "0.1 FLOP/B" in capsys.readouterr().out


def test_an_unknown_device_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "tpu"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("mlsys: device is 'tpu'; it must be one of: a100-sxm")
    assert error.count("\n") == 1


def test_as_a_process_into_a_pipe_that_closes() -> None:
    listing = subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", "devices"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()
    error = listing.stderr.read()
    listing.stderr.close()
    listing.wait(timeout=60)
    assert error == b""
