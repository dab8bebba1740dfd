"""`mlsys` as its users meet it: help, answers, sentences and exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from mlsys_widgets import __version__, cli
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


def test_every_command_is_where_the_parser_says() -> None:
    """Rooms are imported when their command runs, so a wrong name would show only then."""

    def places(parser: cli.CommandParser) -> Iterator[str]:
        place = getattr(parser.get_default("run"), "place", None)
        yield from [place] if place else []
        for below in parser.actions.values():
            yield from places(below)

    named = set(places(cli.command_parser()))
    assert len(named) > 30
    for place in named:
        module, _, function = place.partition(":")
        assert callable(getattr(import_module(f"mlsys_widgets.{module}"), function))


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


@pytest.fixture
def course(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A course with a lab from the template."""
    assert main(["new-lab", "lab_02_demo", "--course", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "a small lab that works" in told
    assert "mlsys build lab_02_demo" in told
    return tmp_path


def test_new_lab_refuses_what_is_there(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-lab", "lab_02_demo", "--course", str(course)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("mlsys: ")
    assert "exists already" in error
    assert main(["new-lab", "Lab 2", "--course", str(course)]) == 1
    assert "lowercase letters" in capsys.readouterr().err


def test_build_says_what_is_wrong(
    course: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "lab_9", "--course", str(course)]) == 1
    assert "there are: lab_02_demo" in capsys.readouterr().err
    nowhere = tmp_path_factory.mktemp("nowhere")
    assert main(["build", "--course", str(nowhere)]) == 1
    assert "there is no folder assignments" in capsys.readouterr().err
    settings = course / "assignments" / "course.toml"
    settings.write_text("variants = 3\n", "utf-8")
    assert main(["build", "--course", str(course)]) == 1
    assert "it must be true or false" in capsys.readouterr().err
    assert not (course / "source").exists()


def test_variant_shows_what_a_student_saw(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {}
    for student in ("student-07", "student-08"):
        assert main(["variant", "lab_02_demo", student, "--course", str(course)]) == 0
        said[student] = capsys.readouterr().out
    assert said["student-07"] != said["student-08"]
    assert "side of the square matrices" in said["student-07"]
    assert "intensity_flop_per_byte: One fused kernel computes A·B·C." in said["student-07"]
    # A side of 440, so 440 FLOP per byte for the fused kernel at twice the side: above the ridge.
    assert 'key: "compute"' in said["student-07"]
    assert main(["variant", "lab_9", "student-07", "--course", str(course)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("mlsys: ")
    assert "Traceback" not in error


def test_variant_follows_the_settings_of_the_course(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "assignments" / "course.toml").write_text("variants = false\n", "utf-8")
    said = set()
    for student in ("student-07", "student-08"):
        assert main(["variant", "lab_02_demo", student, "--course", str(course)]) == 0
        said.add(capsys.readouterr().out)
    assert len(said) == 1


def test_whoami_keeps_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("MLSYS_STUDENT", "JUPYTERHUB_USER", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    assert main(["whoami"]) == 0
    assert "known from your login on this computer" in capsys.readouterr().out
    assert main(["whoami", "ada"]) == 0
    assert "Labs here are those of ada, known from what you set" in capsys.readouterr().out
    assert main(["whoami"]) == 0
    assert "ada" in capsys.readouterr().out
    assert main(["whoami", "a/b"]) == 1
    assert "without slashes" in capsys.readouterr().err


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


def test_a_library_that_crashes_says_where() -> None:
    """A signal ends the process without a word otherwise, and a TA has nothing to send."""
    program = (
        "import ctypes\n"
        "from mlsys_widgets import cli\n"
        "from mlsys_widgets.measured import command\n"
        "def run_crashing(_): ctypes.string_at(0)\n"
        "command.run_devices = run_crashing\n"
        "cli.main(['devices'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={n: each for n, each in os.environ.items() if n != "PYTHONFAULTHANDLER"},
    )  # fmt: skip
    assert done.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in done.stderr
    assert "in run_crashing" in done.stderr
