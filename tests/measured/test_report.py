"""The page about a trial: every case, and the numbers of the trial."""

from __future__ import annotations

import statistics

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import report
from mlsys_widgets.measured.trial import hold_trial, median_error

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def h200():
    return hold_trial(measured.load("h200-sxm"))


def test_the_report_has_every_case_and_the_numbers_of_the_trial(h200, tmp_path):
    page = report.write(h200, tmp_path)
    text = page.read_text(encoding="utf-8")
    for one in h200.topics:
        assert ph.format_quantity(median_error(one.judged), "%") in text
        for verdict in one.verdicts:
            assert verdict.case.label in text
    errors = [abs(v.error) for v in h200.judged]
    assert ph.format_quantity(statistics.median(errors), "%") in text
    for picture in ("roofline", "gemm", "dispatch", "fusion"):
        assert f"h200-sxm-{picture}.svg" in text
        assert (tmp_path / f"h200-sxm-{picture}.svg").stat().st_size > 5000
    again = report.write(h200, tmp_path / "again")
    assert again.read_text(encoding="utf-8") == text


def test_a_page_of_a_machine_without_launches_leaves_those_parts_out(tmp_path):
    trial = hold_trial(measured.load("cpu-2core-server"))
    text = report.write(trial, tmp_path).read_text(encoding="utf-8")
    assert "## Do launches wait" not in text
    assert "## How far below its roof does a matrix product run, and why?" in text
    assert "cpu-2core-server-roofline.svg" in text


def test_counts_are_in_the_singular_for_one(h200, monkeypatch):
    case = h200.topics[0].verdicts[0].case
    monkeypatch.setattr(report.findings, "above_a_roof", lambda *_: [(case, 1.5)])
    assert "Yes, 1 case, so a roof or a measurement is wrong:" in "\n".join(report._roofs(h200))
    monkeypatch.setattr(report.findings, "above_a_roof", lambda *_: [(case, 1.5)] * 2)
    assert "Yes, 2 cases, so" in "\n".join(report._roofs(h200))
