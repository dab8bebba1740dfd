"""The design challenges of the labs: what they must keep, when that is shown, and what is saved."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets.authoring.text import read
from mlsys_widgets.files import LEDGER
from mlsys_widgets.labs import load
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.student_steps import DESIGN_MISSES
from mlsys_widgets.ledger import DesignForm, Ledger
from tests.labs import test_lab_instruments
from tests.labs.rehearsal import ROOT, some_design

opened = test_lab_instruments.opened
STUDENTS = test_lab_instruments.STUDENTS


def entry_of(begun):
    return begun.lab.card(DESIGN)


def run_reveals(begun):
    """Run the cells whose results the fields of a design read."""
    for cell in read(ROOT / "assignments" / begun.lab.lab.name / "lab.py"):
        if cell.kind == "reveal":
            exec(compile(cell.body, cell.where, "exec"), begun.names)


def in_context(begun, context):
    begun.names["context"].context = context


def test_no_lamp_is_lit_before_the_prediction(opened, lab):
    begun = opened(lab)
    assert all(each.lamps == () for each in begun.instruments if each._lock is not None)
    assert entry_of(begun).lamps == ()
    assert not re.search("[✓✗]", entry_of(begun).text())


@pytest.mark.parametrize("student", STUDENTS)
def test_lab_01_both_doorbells(opened, student):
    begun = opened("lab_01_magnitude", student)
    begun.open("act2_batch")
    run_reveals(begun)
    entry, design, p = entry_of(begun), begun.names["design"], begun.lab.p
    in_context(begun, "tiny")
    assert [lamp.kept for lamp in entry.lamps] == [False, True]
    assert "does not fit, in time" in entry.headline
    entry.save()
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 1
    assert entry.current["constraint_hit"]
    assert entry.current["oom_triggered"]
    design.set(data=p.kws_kparams * 1e3)
    assert entry.misses == []
    entry.save()
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 0
    in_context(begun, "cloud")
    assert entry.misses == []
    design.set(batch=1000)
    assert [lamp.kept for lamp in entry.lamps] == [True, False]


@pytest.mark.parametrize("student", STUDENTS)
def test_lab_01_no_lamp_shows_how_much_memory_is_left(opened, student):
    """That is the key of a question."""
    begun = opened("lab_01_magnitude", student)
    begun.open("act2_batch")
    in_context(begun, "tiny")
    key = begun.lab.p.sram_kb - begun.lab.p.reserve_kb
    design = begun.names["design"]
    for size in (1e3, 2e3, 5e3, 1e4, 3e4, 1e5, 2e5):
        design.set(data=size)
        (lamp, _) = design.lamps
        numbers = [float(each.replace(",", "")) for each in re.findall(r"[\d.,]*\d", lamp.sentence)]
        assert all(abs(number / key - 1) > 0.05 for number in numbers), lamp
    drawn = [mark.text for scene in design.drawn(design.result) for mark in scene.marks
             if mark.name.startswith("target words")]  # fmt: skip
    assert str(key) not in str(drawn)


def test_lab_07_only_what_is_compiled_has_to_pay(opened):
    begun = opened("lab_07_kernel_fusion")
    begun.open("act2_one_product")
    begun.open("act2_fusion")
    run_reveals(begun)
    entry, plan = entry_of(begun), begun.names["plan"]
    in_context(begun, "edge")
    entry.refresh()
    assert plan.targets == ()
    begun.lab.ledger.record_answer("where_to_compile", "cloud")
    entry.refresh()
    assert (entry.misses, entry.headline) == ([], "Edge, eager, 12 hours in service.")
    begun.lab.ledger.record_answer("where_to_compile", "both")
    entry.refresh()
    assert plan.lamps[0].words == "end of service 12 hours"
    assert plan._open().panel.readout["lamps"][0][0] == ("✓" if plan.result.roi_positive else "✗")
    plan.set(days=plan.result.days_to_break_even / 2)
    assert entry.misses[0].endswith("too late.")
    assert "does not pay off" in entry.headline
    plan.set(days=plan.result.days_to_break_even * 2)
    assert entry.misses == []
    entry.save()
    assert begun.lab.ledger.state().designs["lab_07_kernel_fusion"]["execution_mode"] == "compiled"


def test_lab_11_the_memory_of_the_context_counts(opened):
    begun = opened("lab_11_roofline")
    begun.open("act2_kernels")
    entry, budget = entry_of(begun), begun.names["budget"]
    in_context(begun, "cloud")
    assert entry.misses == []
    assert entry.headline.endswith(": fits.")
    budget.set(batch=1000, sequence=8192)
    assert "too much" in entry.misses[0]
    # Another device would do, but it is not the one that is asked about.
    in_context(begun, "edge")
    budget.set(device="h200-sxm", batch=1, sequence=128)
    assert not budget.result.out_of_memory
    assert entry.misses[0].startswith("Memory of the Jetson Orin NX")
    assert entry.current["constraint_hit"]


@pytest.mark.parametrize("student", [*STUDENTS, *(f"student-{k}" for k in range(20, 26))])
def test_the_plan_of_the_review_fails_twice_as_its_text_says(opened, student):
    begun = opened("lab_review_foundations", student)
    begun.open("act2_traffic")
    begun.open("act2_trace")
    run_reveals(begun)
    entry, capture = entry_of(begun), begun.names["plan_capture"]
    assert len(entry.misses) == 2
    entry.save()
    assert entry.current["constraint_hit"]
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 2
    begun.names["plan_memory"].set(home="hbm")
    capture.set(stop=capture.result.best.key)
    assert entry.misses == []
    name = capture.result.stop.name
    assert entry.headline == f"HBM, {name}: working set kept, capture kept."
    entry.save()
    assert not begun.lab.ledger.state().designs["lab_review_foundations"]["constraint_hit"]


def _hand_on(course, lab, student, **fields):
    """Save a design of an earlier lab, as the student would have."""
    folder = course / lab
    folder.mkdir(parents=True)
    declared = load(ROOT / "assignments" / lab)
    form = DesignForm(lab, declared.chapter, declared.design)
    ledger = Ledger.open(folder / LEDGER, lab=lab, student=student)
    ledger.save_design({**some_design(form), **fields}, form)


def _brought(begun):
    names = ("magnitude", "fusion", "roofline_lab")
    return begun.lab.materials["what_you_bring"](*(begun.names[name] for name in names))


def test_the_review_goes_on_without_earlier_labs(opened):
    begun = opened("lab_review_foundations")
    assert _brought(begun).count("no saved design is beside this notebook") == 3
    assert not begun.names["explorer"].fused


def test_the_review_starts_from_what_was_decided_before(opened, tmp_path):
    student, course = STUDENTS[0], tmp_path / "course"
    _hand_on(course, "lab_01_magnitude", student, constraint_hit=True, oom_triggered=True)
    _hand_on(
        course, "lab_07_kernel_fusion", student,
        execution_mode="compiled", fusion_enabled=True, breakeven_inferences=133_607,
    )  # fmt: skip
    _hand_on(
        course, "lab_11_roofline", student,
        bound_type="memory", arithmetic_intensity=2.5, act2_decision="full",
    )  # fmt: skip
    begun = opened("lab_review_foundations", student, folder=course / "lab_review_foundations")
    said = _brought(begun)
    assert "did not fit into the memory of its device" in said
    assert "compiled mode with fused kernels. Your break-even was 133,607 inferences." in said
    assert "memory-bound at 2.5 FLOP/B. You chose full fusion" in said
    assert begun.names["explorer"].fused
