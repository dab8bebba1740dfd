"""A report is made once for each state of a file."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.ledger import DesignForm, Ledger, designs
from mlsys_widgets.server import reports
from mlsys_widgets.server.reports import Reports, etag, report
from tests.ledger.making import form_of_lab


def ledger(path, lab="lab_01_magnitude"):
    return Ledger.open(path, lab=lab, student="student-01")


def test_a_report_is_kept_until_the_file_changes(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        reports, "report", lambda path, real=reports.report: made.append(path) or real(path)
    )
    path, kept = tmp_path / "ledger.jsonl", Reports()
    led = ledger(path)
    led.record_answer("gap", 1)
    tag = etag(path)
    assert kept.of(path) is kept.of(path)
    assert len(made) == 1
    led.record_answer("gap", 2)
    assert etag(path) != tag
    assert kept.of(path)["answers"]["gap"]["value"] == 2
    assert len(made) == 2
    led.begin_again()
    assert kept.of(path)["events"] == 0


def test_only_so_many_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "KEPT", 2)
    kept = Reports()
    for number in range(4):
        path = tmp_path / f"{number}.jsonl"
        ledger(path).record_answer("gap", number)
        assert kept.of(path)["answers"]["gap"]["value"] == number
    assert len(kept._kept) == 2


def test_a_design_comes_in_the_order_of_its_form(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    led.save_design(
        {
            "oom_triggered": True,
            "constraint_hit": True,
            "act2_correct": None,
            "act2_prediction": "memory",
            "act2_bottleneck": "memory",
            "act1_correct": False,
            "act1_prediction": 1e6,
            "context": "tiny",
        },
        form_of_lab(led.lab),
    )
    about = {
        "lab": led.lab,
        "design": [[n, f.about] for n, f in form_of_lab(led.lab).fields.items()],
    }
    notebook = tmp_path / f"{led.lab}.ipynb"
    notebook.write_text(json.dumps({"metadata": {"mlsys": about}}), "utf-8")
    design = report(led.path)["design"]
    assert [field["name"] for field in design["fields"]][:2] == ["context", "act1_prediction"]
    assert design["fields"][0]["about"] == "the device the design is for"
    assert design["fields"][0]["value"] == "tiny"


def test_a_design_without_a_notebook_shows_its_names(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl", lab="lab_97_mine")
    led.save_design(
        {"tile": 64}, DesignForm("lab_97_mine", 97, {"tile": designs.number("its side", 1)})
    )
    assert report(led.path)["design"]["fields"] == [{"name": "tile", "about": None, "value": 64}]


def test_progress_is_the_rule_of_the_labs(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    assert report(led.path)["progress"] == {}
    led.commit_prediction("act1_gap", 9)
    led.record_reflection("act1_stack", "B", correct=False)
    assert report(led.path)["progress"] == {"act1_gap": "done", "act1_stack": "begun"}
    led.record_reflection("act1_stack", "A", correct=True)
    assert report(led.path)["progress"]["act1_stack"] == "done"


def test_a_design_that_breaks_a_promise_is_failing(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl", lab="lab_97_mine")
    led.save_design(
        {"tile": 64}, DesignForm("lab_97_mine", 97, {"tile": designs.number("its side", 1)})
    )
    assert report(led.path)["progress"]["design"] == "done"
    led.record_answer("design_misses", ["It is 12 ms too late."])
    assert report(led.path)["progress"]["design"] == "failing"
    led.record_answer("design_misses", [])
    assert report(led.path)["progress"]["design"] == "done"


@pytest.mark.parametrize("closed", ["ledger.jsonl", "the folder"])
def test_a_ledger_that_cannot_be_written_is_a_problem(tmp_path, monkeypatch, closed):
    led = ledger(tmp_path / "ledger.jsonl")
    led.record_answer("gap", 1)
    shut = led.path if closed == "ledger.jsonl" else tmp_path
    # As for anybody but root, who may write everywhere.
    monkeypatch.setattr(reports.os, "access", lambda path, mode: path != shut)
    said = report(led.path)
    assert not said["ok"]
    assert said["problem"].startswith("Nothing can be saved: you may not write to ")
    assert (closed if closed == "ledger.jsonl" else tmp_path.name) in said["problem"]


def test_a_change_of_rights_is_seen(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    led.record_answer("gap", 1)
    tag = etag(led.path)
    led.path.chmod(0o400)
    assert etag(led.path) != tag
