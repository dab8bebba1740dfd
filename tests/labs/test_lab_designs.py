"""The design challenges of the labs: what they must keep, when that is shown, and what is saved."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets.authoring.text import read
from mlsys_widgets.files import LEDGER
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Parameters, load
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
    assert all(each.lamps == () for each in begun.instruments if each.lock is not None)
    assert entry_of(begun).lamps == ()
    assert not re.search("[✓✗]", entry_of(begun).text())


def hud_of(begun):
    """The HUD of the lab, which the cell at its end makes."""
    (cell,) = (
        cell
        for cell in read(ROOT / "assignments" / begun.lab.lab.name / "lab.py")
        if cell.kind == "show" and "lab.hud(" in cell.body
    )
    body = cell.body.replace("\nlab.hud(", "\nshown_hud = lab.hud(")
    exec(compile(body, cell.where, "exec"), begun.names)
    return begun.names["shown_hud"]


@pytest.mark.parametrize("student", STUDENTS)
def test_lab_01_a_model_that_does_not_fit_fails_everywhere(opened, student):
    """By the student's own SRAM and reserve: in the instrument, the HUD, the card, the ledger."""
    begun = opened("lab_01_magnitude", student)
    begun.open("act3_rate")
    run_reveals(begun)
    entry, design, p = entry_of(begun), begun.names["design"], begun.lab.p
    in_context(begun, "tiny")
    hud = hud_of(begun)
    room = (p.sram_kb - p.reserve_kb) * 1e3
    # Either is below the 512 KB of the course's Cortex-M7 for some of these students.
    design.set(data=room + 1e3)
    assert design.alert(design.result) is not None
    # A slow flash chip is late as well.
    in_time = design.result.total <= 1 / p.kws_passes
    assert [lamp.kept for lamp in design.lamps] == [False, in_time]
    assert entry.headline.endswith(f": does not fit{'' if in_time else ', too late'}.")
    assert "1 KB too much" in hud.broken["Memory"]
    assert "out of memory" in hud.text()
    entry.save()
    misses = 1 if in_time else 2
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == misses
    saved = begun.lab.ledger.state().designs["lab_01_magnitude"]
    assert saved["constraint_hit"]
    assert saved["oom_triggered"]
    # And it can be recovered from.
    design.set(data=min(room, 0.08 * p.mcu_mb_per_s * 1e6))
    assert design.alert(design.result) is None
    assert (entry.misses, hud.broken) == ([], {})
    entry.save()
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 0
    saved = begun.lab.ledger.state().designs["lab_01_magnitude"]
    assert not saved["constraint_hit"]
    assert not saved["oom_triggered"]


@pytest.mark.parametrize("student", STUDENTS)
def test_lab_01_the_cloud_breaks_its_promise_beyond_the_largest_batch(opened, student):
    begun = opened("lab_01_magnitude", student)
    begun.open("act3_rate")
    run_reveals(begun)
    entry, design, p = entry_of(begun), begun.names["design"], begun.lab.p
    hud = hud_of(begun)
    assert design.batch == p.proposed_batch
    key = load_checks(ROOT / "assignments" / "lab_01_magnitude")["largest_batch_images"]
    # Whatever question this student is asked.
    asked = Parameters({**p, "largest_batch_images": "largest_batch_images"})
    found = key(Given(asked, ROOT))
    # The promise is about the three terms of the law, without what the question adds.
    (largest,) = (each.value for each in found.beliefs if each.name == "scaling left out")
    assert largest > found.value
    design.set(batch=largest)
    assert (entry.misses, hud.broken) == ([], {})
    design.set(batch=largest + 1)
    assert [lamp.kept for lamp in entry.lamps] == [True, False, True, True]
    assert "later than promised" in hud.broken["Answer time"]
    assert entry.current["constraint_hit"]
    assert not entry.current["oom_triggered"]
    # A photo that waits for nobody is in time, and then the GPU does not keep up.
    design.set(batch=1)
    assert [lamp.kept for lamp in entry.lamps] == [True, True, False, True]
    assert "images/s" in hud.broken["Demand"]
    assert entry.current["constraint_hit"]
    # What the question asks for, which counts the scaling too, keeps both.
    design.set(batch=found.value)
    assert (entry.misses, hud.broken) == ([], {})


def test_lab_01_another_machine_is_no_way_out(opened):
    begun = opened("lab_01_magnitude")
    begun.open("act3_rate")
    run_reveals(begun)
    entry, design, p = entry_of(begun), begun.names["design"], begun.lab.p
    in_context(begun, "tiny")
    hud = hud_of(begun)
    design.set(data=p.sram_kb * 1e3, device="orin-nx")
    assert design.alert(design.result) is None
    assert [lamp.kept for lamp in entry.lamps][::2] == [False, False]
    assert "for your board (a Cortex-M7)" in hud.broken["Device"]
    assert entry.current["oom_triggered"]
    design.set(device="cortex-m7")
    in_context(begun, "cloud")
    in_context(begun, "tiny")
    assert "Device" not in hud.broken
    design.set(latency=1e-5, efficiency=0.5)
    assert "set its efficiency and latency back" in hud.broken["Device"]
    in_context(begun, "cloud")
    in_context(begun, "tiny")
    assert "Device" not in hud.broken
    design.set(data=p.sram_kb * 1e3, memory=1e6)
    assert "set its memory back" in hud.broken["Device"]
    assert entry.current["oom_triggered"]


def test_lab_01_moving_the_switch_breaks_nothing(opened):
    """The switch tells the ledger before the instruments; the HUD counts no step between."""
    begun = opened("lab_01_magnitude")
    begun.open("act3_rate")
    run_reveals(begun)
    design = begun.names["design"]
    design.set(batch=1)
    hud = hud_of(begun)
    for context in ("tiny", "cloud", "tiny", "cloud"):
        in_context(begun, context)
    # The cloud's proposal may be late and the board's too large; neither changes a machine.
    assert "Device" not in hud._hits


def lab_07_at_its_design(opened, student=STUDENTS[0]):
    begun = opened("lab_07_kernel_fusion", student)
    begun.open("act2_one_product")
    begun.open("act2_fusion")
    run_reveals(begun)
    return begun, entry_of(begun)


@pytest.mark.parametrize("student", [*STUDENTS, *(f"student-{k}" for k in range(20, 26))])
@pytest.mark.parametrize("place", ["cloud", "edge"])
def test_lab_07_nothing_is_ready_as_it_comes(opened, student, place):
    begun, entry = lab_07_at_its_design(opened, student)
    in_context(begun, place)
    begun.lab.ledger.record_answer("where_to_compile", "neither")
    entry.refresh()
    kws, fusion = begun.names["kws"], begun.names["fusion"]
    idle, unfused = entry.misses
    enough = begun.lab.p.goal_pct / {"cloud": 2, "edge": 5}[place]
    missing = float(re.search(r"so ([\d.]+) points", idle)[1])
    assert missing == pytest.approx(enough - 100 * float(kws.result.utilization), abs=0.06)
    assert missing > 1
    assert "The chain moves 9.44 MB; at most 4.72 MB, half" in unfused
    assert entry.current["constraint_hit"]
    entry.save()
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 2
    # A graph and a fused chain are ready, in both places and for everybody.
    kws.set(launch="graph")
    fusion.set(fused=True)
    assert entry.misses == []
    assert not entry.current["constraint_hit"]


def test_lab_07_has_no_cheap_way_out(opened):
    """A chain of one operation, another model, other launches, and a mode against one's answer."""
    begun, entry = lab_07_at_its_design(opened)
    in_context(begun, "cloud")
    kws, fusion = begun.names["kws"], begun.names["fusion"]
    hud = hud_of(begun)
    kws.set(launch="graph")
    fusion.set(fused=True)
    begun.lab.ledger.record_answer("where_to_compile", "edge")
    entry.refresh()
    right = {each: dict(each.inputs) for each in (kws, fusion)}
    cheap = [
        (kws, {"model": "gpt2-layer"}, "another model"),
        (kws, {"launch_cost": 1e-7}, "other launches"),
        (kws, {"mode": "compiled"}, "By your answer the model runs eager here"),
        (kws, {"launch": "serial"}, "points are missing"),
        (fusion, {"step2": "none", "step3": "none"}, "The chain moves"),
    ]
    for instrument, inputs, said in cheap:
        instrument.set(**inputs)
        (miss,) = entry.misses
        assert said in miss
        assert [said in each for each in hud.broken.values()] == [True]
        assert entry.current["constraint_hit"]
        instrument.set(**right[instrument])
        assert (entry.misses, hud.broken) == ([], {})


def test_lab_07_only_what_is_compiled_has_to_pay(opened):
    begun, entry = lab_07_at_its_design(opened)
    plan, kws = begun.names["plan"], begun.names["kws"]
    in_context(begun, "edge")
    kws.set(launch="graph")
    begun.names["fusion"].set(fused=True)
    entry.refresh()
    assert plan.targets == ()
    begun.lab.ledger.record_answer("where_to_compile", "cloud")
    entry.refresh()
    assert (entry.misses, entry.headline) == (
        [],
        "Edge, eager, fused, 12 hours in service by the timeline, although compiling would pay"
        " there: keeps all its promises.",
    )
    begun.lab.ledger.record_answer("where_to_compile", "both")
    entry.refresh()
    assert [miss.split(":")[0] for miss in entry.misses] == ["Your answer"]
    kws.set(mode="compiled")
    assert plan.lamps[0].words == "paid back within 12 hours"
    assert plan.lamps[0].verdict == "5.4 hours, 6.6 hours to spare"
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
    assert entry_of(begun).current["launch"] == "undecided"  # Act 3 is deeper
    begun.open("act3_decode")
    assert entry_of(begun).current["launch"] == "eager"
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


def review_at_its_plan(opened, student=STUDENTS[0]):
    begun = opened("lab_review_foundations", student)
    begun.open("act2_traffic")
    begun.open("act2_trace")
    run_reveals(begun)
    return begun, entry_of(begun)


@pytest.mark.parametrize("student", [*STUDENTS, *(f"student-{k}" for k in range(20, 26))])
def test_the_plan_of_the_review_fails_twice_as_its_text_says(opened, student):
    begun, entry = review_at_its_plan(opened, student)
    capture = begun.names["plan_capture"]
    assert len(entry.misses) == 2
    entry.save()
    assert entry.current["constraint_hit"]
    assert len(begun.lab.ledger.state().answers[DESIGN_MISSES].value) == 2
    capture.set(stop=capture.result.best.key)
    # The cache alone would hold everybody's data. With others in it, and within the time of a
    # trip, one level is right, and which one differs.
    right = place_of(begun.lab.p)
    for level, words in (("l2", "L2 cache"), ("hbm", "HBM")):
        begun.names["plan_memory"].set(home=level)
        assert begun.names["plan_memory"].result.fits
        assert len(entry.misses) == (level != right)
        assert entry.current["constraint_hit"] == (level != right)
        if level == right:
            best = capture.result.stop
            assert entry.headline == f"{words}, {best.name}: keeps all its promises."
            entry.save()
            assert not begun.lab.ledger.state().designs["lab_review_foundations"]["constraint_hit"]


def place_of(p):
    """Where Lena's data must live: in the cache if there is room beside the others."""
    megabytes, taken, _ = map(float, p.plan.split())
    return "l2" if megabytes + taken <= 40 else "hbm"


def test_the_plan_of_the_review_has_no_cheap_way_out(opened):
    """Another model, other data, slow memory, a larger cache, and no capture: each misses."""
    begun, entry = review_at_its_plan(opened)
    memory, capture = begun.names["plan_memory"], begun.names["plan_capture"]
    memory.set(home=place_of(begun.lab.p))
    capture.set(stop=capture.result.best.key)
    assert capture.stop != "eager"
    assert entry.misses == []
    right = {each: dict(each.inputs) for each in (memory, capture)}
    cheap = [
        (capture, {"model": capture.model[1:]}, "shows another model"),
        (capture, {"stop": "eager"}, "Graphs: 0, 1 too few."),
        (memory, {"home": "host"}, "too late"),
        (memory, {"size": 1e3}, "set size back"),
        (memory, {"home": "l2", "l2": 4e9}, "set l2 back"),
    ]
    for instrument, inputs, said in cheap:
        instrument.set(**inputs)
        (miss,) = entry.misses
        assert said in miss
        assert entry.current["constraint_hit"]
        instrument.set(**right[instrument])
        assert not entry.current["constraint_hit"]


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
    assert _brought(begun) == (
        "- No saved design of Lab 01, 07 or 11 is beside this notebook, and no question needs one."
    )
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
