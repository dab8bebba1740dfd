"""A report is made once for each state of a file."""

from __future__ import annotations

import json

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
    assert design["fields"][0]["about"] == "the device the second act ended on"
    assert design["fields"][0]["value"] == "tiny"


def test_a_design_without_a_notebook_shows_its_names(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl", lab="lab_97_mine")
    led.save_design(
        {"tile": 64}, DesignForm("lab_97_mine", 97, {"tile": designs.number("its side", 1)})
    )
    assert report(led.path)["design"]["fields"] == [{"name": "tile", "about": None, "value": 64}]
