"""The page about a trial: every case, and the numbers of the trial."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import report
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.stability import ExcludedCase
from mlsys_widgets.measured.trial import Errors, Trial, hold_trial

pytest.importorskip("scipy")


def rows_of(text: str) -> list[list[str]]:
    """Every row of every table of a page."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]


def test_the_report_has_every_case_and_the_numbers_of_the_trial(
    h200: Trial, tmp_path: Path
) -> None:
    page = report.write(h200, tmp_path)
    text = page.read_text(encoding="utf-8")
    rows = rows_of(text)
    for one in h200.topics:
        errors = Errors.of(one.judged)
        shown = [ph.format_quantity(value, "%") for value in (errors.mean, errors.worst)]
        row = next(row for row in rows if row[0] == one.name)
        assert [row[4], row[7]] == shown
        assert row[1:3] == [str(len(one.verdicts)), str(len(one.judged))]
        for verdict in one.verdicts:
            assert verdict.case.label in text
    for picture in ("roofline", "gemm", "dispatch", "fusion"):
        assert f"h200-sxm-{picture}.svg" in text
        assert (tmp_path / f"h200-sxm-{picture}.svg").stat().st_size > 5000
    again = report.write(h200, tmp_path / "again")
    assert again.read_text(encoding="utf-8") == text


def test_the_page_has_all_goals_and_says_which_are_missed(h200: Trial, tmp_path: Path) -> None:
    text = report.write(h200, tmp_path).read_text(encoding="utf-8")
    section = re.search(r"## The goals\n\n(.*?)\n\n", text, flags=re.S)
    assert section
    header, *rows = rows_of(section[1])
    assert tuple(header[:3]) == report.GOAL_HEADER[:3]
    assert [row[0] for row in rows] == [goal.what for goal in h200.goals]
    for row, goal in zip(rows, h200.goals, strict=True):
        assert row[1:3] == [ph.format_quantity(v, "%") for v in (goal.limit, goal.reached)]
        assert row[3] == ("met" if goal.met else "MISSED")


def test_the_page_has_all_families_and_their_parameters(h200: Trial, tmp_path: Path) -> None:
    text = report.write(h200, tmp_path).read_text(encoding="utf-8")
    _, families = text.split("## By family of kernels")
    listed = {row[0] for row in rows_of(families.partition("## ")[0])}
    assert listed == {"family", *h200.calibration.laws}
    fitted = dict(rows_of(text.split("## What was fitted")[1].partition("## ")[0]))
    others = {"family", "launch", "node overhead", "power"}
    assert set(fitted) == others | set(h200.calibration.laws)
    law = h200.calibration.laws["products fp16"]
    assert ph.format_quantity(law.compute_share, "%") in fitted["products fp16"]


def test_judged_cases_of_the_families_are_those_of_their_topics(h200: Trial) -> None:
    single = [v for v in h200.judged if v.family]
    assert sum(int(row[2]) for row in report.family_rows(h200)) == len(single)
    *topics, total = report.topic_rows(h200)
    assert total[0] == "all"
    assert [sum(int(row[column]) for row in topics) for column in (1, 2)] == [
        int(total[column]) for column in (1, 2)
    ]


def test_what_is_said_about_launches_is_what_was_judged(h200: Trial) -> None:
    _, paragraph, *_ = report._launches(h200, {})
    dispatch = next(topic for topic in h200.topics if topic.name == "dispatch")
    assert f"Over {len(dispatch.judged)} streams" in paragraph
    assert dispatch.parameters["launch"] in paragraph


def test_the_page_says_what_a_token_costs(h200: Trial, tmp_path: Path) -> None:
    text = report.write(h200, tmp_path).read_text(encoding="utf-8")
    part = text.split("## What does a token cost in joules?")[1].partition("## ")[0]
    power = next(topic for topic in h200.topics if topic.name == "power")
    assert ph.format_quantity(Errors.of(power.judged).mean, "%") in part
    assert "h200-sxm-energy.svg" in part
    assert (tmp_path / "h200-sxm-energy.svg").exists()
    without = replace(h200, calibration=replace(h200.calibration, power=None))
    again = report.write(without, tmp_path).read_text(encoding="utf-8")
    assert "in joules" not in again


def test_stability_is_one_row_per_part() -> None:
    rows = report.stability_rows(
        [ExcludedCase(1, 0.07, 0.01, 0.05), ExcludedCase(2, 0.08, 0.02, 0.1)]
    )
    assert rows == [["1", "7%", "1%", "5%"], ["2", "8%", "2%", "10%"]]
    assert len(report.STABILITY_HEADER) == 4


def test_a_page_of_a_machine_without_launches_leaves_those_parts_out(
    cpu: Trial, tmp_path: Path
) -> None:
    text = report.write(cpu, tmp_path).read_text(encoding="utf-8")
    assert "## Do launches wait" not in text
    assert "## The goals" not in text  # they were set for a GPU
    assert "## How far below its roof does a matrix product run, and why?" in text
    assert "cpu-2core-server-roofline.svg" in text


def test_a_page_of_an_unknown_device_names_it(small_document: Document, tmp_path: Path) -> None:
    document = copy.deepcopy(small_document)
    document["device"].update(key="mine", name="My machine")
    page = report.write(hold_trial(document), tmp_path)
    assert page.name == "mine.md"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# The model on trial: My machine\n")
    assert "Roofs: the best of this measurement." in text


def test_counts_are_in_the_singular_for_one(h200: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    case = h200.topics[0].verdicts[0].case
    monkeypatch.setattr(report.findings, "above_a_roof", lambda *_: [(case, 1.5)])
    assert "Yes, 1 case, so a roof or a measurement is wrong:" in "\n".join(report._roofs(h200))
    monkeypatch.setattr(report.findings, "above_a_roof", lambda *_: [(case, 1.5)] * 2)
    assert "Yes, 2 cases, so" in "\n".join(report._roofs(h200))
