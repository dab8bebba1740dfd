"""A report is made once for each state of a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mlsys_widgets.labs.student_steps import StudentStep
from mlsys_widgets.ledger import DesignForm, Ledger, designs
from mlsys_widgets.ledger.handed_in import note_hand_in
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
    assert kept.of(path).answers["gap"]["value"] == 2
    assert len(made) == 2
    led.begin_again()
    assert kept.of(path).events == 0


def test_only_so_many_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "KEPT", 2)
    kept = Reports()
    for number in range(4):
        path = tmp_path / f"{number}.jsonl"
        ledger(path).record_answer("gap", number)
        assert kept.of(path).answers["gap"]["value"] == number
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
    design = report(led.path).design
    assert [field["name"] for field in design["fields"]][:2] == ["context", "act1_prediction"]
    assert design["fields"][0]["about"] == "the device the design is for"
    assert design["fields"][0]["value"] == "tiny"


def test_a_prediction_comes_in_the_words_that_were_read(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    led.commit_prediction("act1_gap", "A", confidence=4, words="about 100×")
    led.commit_prediction("act1_share", 0.25)
    told = report(led.path).predictions
    assert (told["act1_gap"]["words"], told["act1_share"]["words"]) == ("about 100×", None)


def test_a_design_without_a_notebook_shows_its_names(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl", lab="lab_97_mine")
    led.save_design(
        {"tile": 64}, DesignForm("lab_97_mine", 97, {"tile": designs.number("its side", 1)})
    )
    assert report(led.path).design["fields"] == [{"name": "tile", "about": None, "value": 64}]


def test_progress_is_the_rule_of_the_labs(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    assert report(led.path).saved == {}
    led.commit_prediction("act1_gap", 9)
    led.record_reflection("act1_stack", "B", correct=False)
    saved = report(led.path).saved
    assert {name: entry.right for name, entry in saved.items()} == {
        "act1_gap": True, "act1_stack": False,
    }  # fmt: skip
    led.record_reflection("act1_stack", "A", correct=True)
    assert report(led.path).saved["act1_stack"].right


def test_a_design_that_breaks_a_promise_is_not_right(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl", lab="lab_97_mine")
    led.save_design(
        {"tile": 64}, DesignForm("lab_97_mine", 97, {"tile": designs.number("its side", 1)})
    )
    assert report(led.path).saved["design"].right
    led.record_answer("design_misses", ["It is 12 ms too late."])
    assert not report(led.path).saved["design"].right
    led.record_answer("design_misses", [])
    assert report(led.path).saved["design"].right


def test_a_report_says_what_was_handed_in(tmp_path):
    led, reports = ledger(tmp_path / "ledger.jsonl"), Reports()
    steps = [StudentStep("gap", "answer", 1, "Gap", ("gap",))]
    led.record_answer("gap", 1)

    def told():
        shown = reports.of(led.path).as_data(steps)
        json.dumps(shown)  # as the panel gets it
        return shown["steps"][0]["words"], shown["handed_in"]

    assert told() == ("recorded", None)
    tag = etag(led.path)
    at = datetime(2026, 11, 17, 14, 2, tzinfo=UTC)
    note_hand_in(tmp_path, led.head, at, course="mlsys")
    assert etag(led.path) != tag, "a panel that waits hears of it"
    note = {"time": "2026-11-17T14:02:00.000Z", "course": "mlsys", "file": None}
    assert told() == ("handed in", {**note, "newer": False})
    led.record_use("RooflineWidget")
    assert told() == ("handed in", {**note, "newer": False})
    led.record_answer("gap", 2)
    assert told() == ("recorded, not handed in yet", {**note, "newer": True})
    led.begin_again()
    again = ledger(tmp_path / "ledger.jsonl")
    again.record_answer("gap", 2)
    assert told() == ("recorded, not handed in yet", {**note, "newer": True})


@pytest.mark.parametrize("closed", ["ledger.jsonl", "the folder"])
def test_a_ledger_that_cannot_be_written_is_a_problem(tmp_path, monkeypatch, closed):
    led = ledger(tmp_path / "ledger.jsonl")
    led.record_answer("gap", 1)
    shut = led.path if closed == "ledger.jsonl" else tmp_path
    # As for anybody but root, who may write everywhere.
    monkeypatch.setattr(reports.os, "access", lambda path, mode: path != shut)
    shown = report(led.path)
    assert not shown.ok
    assert shown.problem.startswith("Nothing can be saved: you may not write to ")
    assert (closed if closed == "ledger.jsonl" else tmp_path.name) in shown.problem


def test_a_change_of_rights_is_seen(tmp_path):
    led = ledger(tmp_path / "ledger.jsonl")
    led.record_answer("gap", 1)
    tag = etag(led.path)
    led.path.chmod(0o400)
    assert etag(led.path) != tag


def test_panel_and_hud_count_the_same_at_every_step(tmp_path):
    """The panel reads cells and the server's report; the HUD reads items and its own ledger."""
    import shutil

    from mlsys_widgets.cards.lab_hud import LabHUD
    from mlsys_widgets.handin.work import read_work
    from mlsys_widgets.labs import load
    from mlsys_widgets.labs.student_steps import steps_of

    name = "lab_07_kernel_fusion"
    root = Path(__file__).parents[2]
    folder = tmp_path / name
    shutil.copytree(root / "release" / name, folder)
    notebook = folder / f"{name}.ipynb"
    book = json.loads(notebook.read_text("utf-8"))
    # A student who wants to try something copies a cell: it is still one step.
    copied = [c for c in book["cells"] if c["metadata"].get("mlsys", {}).get("kind") == "answer"]
    book["cells"].append(copied[0])
    notebook.write_text(json.dumps(book), "utf-8")
    lab = load(folder)
    items = steps_of(lab, lab.items(lab.draw("ada")))
    led = Ledger.open(folder / "ledger.jsonl", lab=name, student="ada")
    hud = LabHUD(lab.title, ledger=led, acts={"all": items})

    def counts():
        hud.refresh()
        steps = report(led.path).as_data(read_work(notebook).steps)["steps"]
        panel = sum(not step["left"] for step in steps), len(steps)
        return panel, hud.progress["all"]

    panel, shown = counts()
    assert panel == shown == (0, len(items))
    seen = set()
    for step in items:
        for needed in step.needs:
            if step.kind == "prediction":
                led.commit_prediction(needed, "A", 3)
            elif step.kind == "reflection":
                led.record_reflection(needed, "A", correct=False)
                panel, shown = counts()
                assert panel == shown
                led.record_reflection(needed, "B", correct=True)
            elif step.kind == "essay":
                led.record_answer(needed, "Too short.")
                panel, shown = counts()
                assert panel == shown
                led.record_answer(needed, "word " * step.at_least)
            elif step.kind != "design":
                led.record_answer(needed, 1)
            panel, shown = counts()
            assert panel == shown
            seen.add(panel)
    assert len(seen) >= len(items) - 1


def test_a_second_answer_wants_to_be_handed_in_too(tmp_path):
    led, steps = (
        ledger(tmp_path / "ledger.jsonl"),
        [StudentStep("gap", "answer", 1, "Gap", ("gap",))],
    )
    led.record_answer("gap", 1)
    note_hand_in(tmp_path, led.head, datetime(2026, 11, 17, tzinfo=UTC), course="mlsys")
    led.record_answer("attempt.gap", 1)
    assert not report(led.path).as_data(steps)["handed_in"]["newer"]
    led.record_answer("again.1.gap", 2)
    shown = report(led.path).as_data(steps)
    assert shown["handed_in"]["newer"]
    assert shown["steps"][0]["words"] == "recorded, not handed in yet"
