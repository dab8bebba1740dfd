"""Real measurements of parts of this CPU, and what an interruption leaves behind."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsys_widgets.measured import (
    MeasurementError,
    cpu,
    load,
    measure,
    measurement,
    validate,
)
from mlsys_widgets.measured.measurement import add_arguments, main, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
#: Seconds. Nine do on a quiet machine; on a busy one some cases would be left out.
PATIENT = 500


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mlsys_widgets.measured", "--cpu", *arguments]


def test_a_document_tells_nothing_of_who_took_it(tmp_path: Path) -> None:
    document = measure("cpu", quick=True, progress=False, sections=["launch"])
    text = json.dumps(document)
    for secret in (os.uname().nodename, str(Path.home()), str(ROOT), str(tmp_path)):
        assert secret not in text


def test_an_update_replaces_one_section(tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    quick = {"quick": True, "progress": False, "out": out, "budget": PATIENT}
    measure("cpu", sections=["launch"], **quick)
    both = measure("cpu", sections=["elementwise"], update=True, **quick)
    assert load(out) == both
    assert {case["section"] for case in both["cases"]} == {"launch", "elementwise"}
    alone = measure("cpu", sections=["elementwise"], **quick)
    assert {case["section"] for case in alone["cases"]} == {"elementwise"}


def test_a_budget_that_is_spent_is_said(tmp_path: Path) -> None:
    """Nothing measured is nothing to save; what was skipped, and why, is set aside for reading."""
    out = tmp_path / "mine.json"
    with pytest.raises(MeasurementError, match="cases must hold at least one case"):
        measure("cpu", quick=True, progress=False, budget=1e-9, out=out)
    assert not out.exists()
    skipped = json.loads(Path(f"{out}.rejected").read_text(encoding="utf-8"))["skipped"]
    assert {entry["section"] for entry in skipped} == {*cpu.SECTIONS}
    assert all("s were set aside" in e["reason"] or "numpy" in e["reason"] for e in skipped)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"target": "tpu"}, "target must be 'auto', 'cpu' or 'gpu', not 'tpu'"),
        ({"sections": ["magic"]}, "sections must be among copy, launch"),
        ({"out": "no/such/folder/x.json"}, "out must be in a folder that exists"),
    ],
)
def test_a_wrong_argument_is_refused_before_measuring(
    arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        measure(**{"target": "cpu", "progress": False, **arguments})  # type: ignore[arg-type]


def test_the_command_saves_and_sums_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.json"
    assert main(["--cpu", "--quick", "--out", str(out), "--sections", "launch"]) == 0
    shown = capsys.readouterr()
    assert f"Saved {out}." in shown.out
    assert "launch: call of a tiny operation" in shown.err
    assert "Traceback" not in shown.err


def test_without_a_checkout_a_gpu_is_refused_and_the_cpu_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in the wheel, which has no room for GPUs."""
    monkeypatch.setattr(measurement, "gpu", None)
    assert main(["--gpu", "--out", str(tmp_path / "mine.json")]) == 1
    assert "measuring a GPU needs a checkout" in capsys.readouterr().err
    quick = ["--quick", "--quiet", "--sections", "launch"]
    assert main([*quick, "--out", str(tmp_path / "mine.json")]) == 0


def test_the_command_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "mine.json"
    foreign.write_text("{}", encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["--cpu", "--quick", "--update", "--out", str(foreign)])
    assert run(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("mlsys measure: ")
    assert error.count("\n") == 1
    assert foreign.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize(
    ("how", "old"),
    [
        ("SIGINT", True),
        ("SIGTERM", False),
        ("SIGKILL", True),
        pytest.param("SIGINT", False, marks=pytest.mark.slow),
        pytest.param("SIGTERM", True, marks=pytest.mark.slow),
        pytest.param("SIGKILL", False, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_measurement_leaves_the_old_file_or_none(
    tmp_path: Path, how: str, old: bool
) -> None:
    out = tmp_path / "mine.json"
    if old:
        out.write_text("what was there before", encoding="utf-8")
    process = subprocess.Popen(
        command("--quick", "--out", str(out)), cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:  # the measurement is under way once a matrix product is
        if "gemm" in line:
            break
    process.send_signal(getattr(signal, how))
    _, error = process.communicate(timeout=60)
    assert process.returncode == {"SIGINT": 130, "SIGTERM": 143, "SIGKILL": -9}[how]
    assert "Traceback" not in error
    assert out.exists() == old
    if old:
        assert out.read_text(encoding="utf-8") == "what was there before"
    assert [entry for entry in tmp_path.iterdir() if entry != out] == []


@pytest.mark.parametrize(
    "delay", [0.0, *(pytest.param(d, marks=pytest.mark.slow) for d in (0.02, 0.05, 0.1))]
)
def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(tmp_path: Path, delay: float) -> None:
    """The checkpoint is rewritten after every section; killed at odd moments it is always whole."""
    out, checkpoint = tmp_path / "mine.json", tmp_path / "so-far.json"
    process = subprocess.Popen(
        command(
            "--quick", "--out", str(out), "--checkpoint", str(checkpoint),
            "--sections", "launch", "elementwise", "fusion",
        ),
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "elementwise" in line:
            break
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)
    assert not out.exists()
    document = load(checkpoint, allow=("partial",))
    assert {case["section"] for case in document["cases"]} >= {"launch"}


def test_a_rehearsal_is_never_taken_for_a_measurement() -> None:
    document = measure("cpu", quick=True, progress=False, sections=["launch"])
    document["status"] = "dry"
    with pytest.raises(ValueError, match="status must be 'complete', not 'dry'"):
        validate(document)
    with pytest.raises(ValueError, match="dry is for the GPU"):
        measure("cpu", dry=True, progress=False)
