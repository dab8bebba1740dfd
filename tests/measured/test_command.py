"""``mlsys validate`` and ``mlsys calibrate``: what they print, write and refuse."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.cli import main
from mlsys_widgets.measured import command
from mlsys_widgets.measured.calibrating import calibrate, device_of
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.stability import PARTS, ExcludedCase
from mlsys_widgets.measured.trial import Trial

pytest.importorskip("scipy")


@pytest.fixture
def small(small_document: Document, tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small_document), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal on which no cell of a table is broken."""
    monkeypatch.setenv("COLUMNS", "200")


def test_the_h200_is_validated_against_its_goals(
    h200: Trial, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "hold_trial", lambda document: h200)
    assert main(["validate"]) == 0
    shown = capsys.readouterr().out
    met = [goal for goal in h200.goals if goal.met]
    assert f"{len(met)} of {len(h200.goals)} goals met." in shown
    for topic in h200.topics:
        assert topic.name in shown
    after = shown.partition("goals met.")[2]
    for goal in h200.goals:
        assert (goal.what in after) == (not goal.met)


def test_a_cpu_has_no_goals(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(small)]) == 0
    shown = capsys.readouterr().out
    assert "products, fp32" in shown
    assert "met" not in shown


def test_every_case_is_shown_on_request(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(small), "--cases"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("gemm numpy fp32") == 14
    assert "judged" in shown
    assert "fitted" in shown


def test_stability_is_a_row_per_part(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is fitted without each part is tested where it is fitted.
    rows = [ExcludedCase(part + 1, 0.1, 0.01, 0.02) for part in range(PARTS)]
    monkeypatch.setattr(command, "left_out", lambda document, trial: iter(rows))
    assert main(["validate", str(small), "--stability"]) == 0
    captured = capsys.readouterr()
    table = captured.out.partition("part left out")[2].splitlines()[1:]
    assert [line.split()[0] for line in table if line.strip()] == [str(n) for n in range(1, 11)]
    assert [f"without part {n}" in captured.err for n in (1, 10, 11)] == [True, True, False]


def test_a_report_is_written(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(small), "--report", str(tmp_path / "pages")]) == 0
    page = tmp_path / "pages" / "cpu-2core-server.md"
    assert f"Wrote {page}." in capsys.readouterr().out
    assert "## By family of kernels" in page.read_text("utf-8")


def test_a_calibration_is_written_and_can_be_read(
    small: Path,
    small_document: Document,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "mine.json"
    assert main(["calibrate", str(small), "--out", str(out)]) == 0
    assert capsys.readouterr().out.split(": ")[1] == "1 family of kernels of cpu-2core-server.\n"
    data = json.loads(out.read_text("utf-8"))
    assert data == calibrate(small_document)
    read = ph.read_calibration(data, device_of(small_document))
    assert read.precisions == ("fp32",)


def test_a_document_that_cannot_be_judged_is_refused_with_a_sentence(
    small_document: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = copy.deepcopy(small_document)
    short["cases"] = [case for case in short["cases"] if case["kind"] != "gemm"]
    short["device"]["key"] = "mine"
    path = tmp_path / "short.json"
    path.write_text(json.dumps(short), encoding="utf-8")
    for arguments in (["validate", str(path)], ["calibrate", str(path), "--out", "unwritten"]):
        assert main(arguments) == 1
        shown = capsys.readouterr().err
        assert "measure the sections copy and gemm" in shown
        assert "Traceback" not in shown
