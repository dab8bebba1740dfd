"""The instruments of every lab as a student has them: predictions, hints, context and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsys_widgets import IronLaw, MemoryBudget, RooflineWidget
from mlsys_widgets import physics as ph
from mlsys_widgets.authoring.text import read
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs import Prediction
from tests.labs.opened_lab import OpenedLab, open_lab_of
from tests.labs.rehearsal import ROOT
from tests.sampling import sample

STUDENTS = sample(("student-07", "Müller", "student-11"), 1)


@pytest.fixture
def opened(tmp_path):
    def open_for(lab: str, student: str = STUDENTS[0], *, folder: Path | None = None) -> OpenedLab:
        return open_lab_of(
            lab, student, folder or tmp_path / f"{lab}-{len(list(tmp_path.iterdir()))}"
        )

    return open_for


def predicted_quantities(found: OpenedLab) -> dict[str, Prediction]:
    """The predictions that an instrument should draw."""
    items = found.lab.items.items()
    return {n: i for n, i in items if isinstance(i, Prediction) and i.quantity}


@pytest.mark.parametrize("student", STUDENTS)
def test_every_quantity_is_drawn_by_an_instrument_that_its_prediction_opens(opened, lab, student):
    for name, item in predicted_quantities(opened(lab, student)).items():
        if item.unit == "%":
            assert all(0 <= value <= 1 for value in (item.values or {}).values()), name
            assert item.options or item.high <= 1, name
        typed = (0.05, 0.4, 0.95) if item.unit == "%" else (1.0, 8.0, 300.0)
        for chosen in item.options or typed:
            found = opened(lab, student)
            found.commit(name, chosen)
            drawn = [i for i in found.behind(name) if i.predicted(item.quantity) is not None]
            assert drawn, f"{name}: nothing that it opens draws {item.quantity} as it starts"
            for instrument in drawn:
                assert instrument.predicted(item.quantity) == item.number(chosen)
                scenes = instrument.scenes(instrument.result)
                tones = {tone for scene in scenes for _, tone, _ in scene.legend}
                assert "prediction" in tones, (name, chosen, instrument)


def test_numbers_that_no_instrument_draws_have_no_quantity(opened, lab):
    found = opened(lab)
    for name, item in found.lab.items.items():
        if isinstance(item, Prediction) and not item.quantity and (item.values or not item.options):
            drawn = {(q, u) for each in found.behind(name) for q, u in each.predictable.items()}
            # Of a review whose instrument draws another number in the same unit, and of a stream of
            # kernels on a real GPU, which no instrument shows.
            known = name in ("act2_traffic", "act1_real")
            assert known or item.unit not in {unit for _, unit in drawn}, name


def test_hints_wait_for_the_students_own_attempt(opened, lab):
    """Every instrument that can give a hint has a gate, and the gate is not its own lock."""
    found = opened(lab)
    for instrument in found.instruments:
        if type(instrument).hint is Instrument.hint:
            continue
        gate = instrument._hints
        assert gate is not None, f"{instrument} gives its hint at once"
        assert gate is not instrument.lock
        assert instrument.shown_hint == ""
    gates = {i._hints.task_id for i in found.instruments if i._hints is not None}
    for name in gates:
        found.open(name)
    for instrument in found.instruments:
        assert instrument.shown_hint == instrument.hint(instrument.result)


def test_the_context_moves_every_instrument_or_the_instrument_names_its_device(opened, lab):
    found = opened(lab)
    toggle = found.names["context"]
    before = [each.inputs.get("device") for each in found.instruments]
    toggle.context = "tiny" if lab == "lab_01_magnitude" else "edge"
    stayed = {
        device
        for device, each in zip(before, found.instruments, strict=True)
        if device is not None and each.device == device
    }
    # What was measured was measured on one of these; an own machine stands beside an H100.
    assert stayed <= {"h200-sxm", "h100-sxm"}


# What each lab means its instruments to do.


def test_lab_01_knows_the_students_board(opened):
    found = opened("lab_01_magnitude")
    p, toggle = found.lab.p, found.names["context"]
    h100 = ph.devices["h100-sxm"]
    room = (p.sram_kb - p.reserve_kb) * 1e3
    for name in ("law", "design"):
        instrument = found.names[name]
        assert isinstance(instrument, IronLaw)
        toggle.context = "tiny"
        assert (instrument.memory, instrument.reserve) == (p.sram_kb * 1e3, p.reserve_kb * 1e3)
        rates = (p.mcu_mflops * 1e6, p.mcu_mb_per_s * 1e6)
        assert (instrument.rate, instrument.bandwidth) == rates
        for size, fits in ((room, True), (room + 1e3, False)):
            instrument.set(data=size)
            assert (instrument.alert(instrument.result) is None) is fits
        toggle.context = "cloud"
        assert (instrument.memory, instrument.reserve) == (h100.memory, 0)
        assert (instrument.rate, instrument.bandwidth) == (h100.peak("fp16"), h100.bandwidth)


def test_lab_01_loads_the_proposal_of_each_context(opened):
    found = opened("lab_01_magnitude")
    design, p, toggle = found.names["design"], found.lab.p, found.names["context"]
    assert (design.batch, design.data) == (p.proposed_batch, p.model_mb * 1e6)
    assert design.efficiency == p.efficiency_pct / 100
    toggle.context = "tiny"
    assert (design.batch, design.data) == (1, p.kws_kparams * 2e3)
    assert (design.operations, design.efficiency) == (p.kws_mflop * 1e6, 1)


def test_lab_07_runs_the_keyword_box_on_the_device_of_the_edge(opened):
    found = opened("lab_07_kernel_fusion")
    kws, fusion, plan, toggle = (found.names[n] for n in ("kws", "fusion", "plan", "context"))
    assert plan.preset == "resnet50-cloud"
    toggle.context = "edge"
    assert kws.device == fusion.device == "orin-nx"
    assert plan.eager_rate == pytest.approx(1 / float(kws.result.total))
    assert plan.days == 0.5
    toggle.context = "cloud"
    assert plan.preset == "resnet50-cloud"


def test_lab_07_shows_which_model_gains_most_from_compiling(opened):
    """As the question says: pin the eager run, switch to compiled, compare the cards."""
    kws = opened("lab_07_kernel_fusion").names["kws"]
    ratios = {}
    for model in ("kws", "resnet50", "gpt2-layer"):
        kws.set(model=model, mode="eager", launch="serial")
        kws.pin()
        kws.set(mode="compiled")
        said = {word: value for word, value, _ in kws.cards(kws.result)}["One pass"]
        compared = kws.pinned.compared("One pass", said)
        ratios[model] = float(compared.partition(", now ")[2].removesuffix("×"))
    assert min(ratios, key=lambda model: ratios[model]) == "kws"


def test_lab_11_serves_one_batch_in_both_instruments(opened):
    found = opened("lab_11_roofline")
    service, budget = found.names["service"], found.names["budget"]
    assert isinstance(service, RooflineWidget)
    assert isinstance(budget, MemoryBudget)
    service.set(batch=32, sequence=2048)
    assert (budget.batch, budget.sequence) == (32, 2048)
    budget.set(batch=64)
    assert (service.batch, service.sequence) == (64, 2048)
    service.set(sequence=1)  # a decode step, which has no budget of its own
    assert (budget.batch, budget.sequence) == (64, 2048)


def test_lab_11_holds_measurements_back_until_they_were_predicted(opened):
    """Measured shares of the peak until Act 1 is done, tokens per second until their prediction."""
    found = opened("lab_11_roofline")
    product, real, budget, tokens = (
        found.names[name] for name in ("product", "real", "budget", "tokens")
    )
    product.set(device="h200-sxm")
    budget.set(device="h200-sxm")
    assert {"form", "measured"} <= product.hidden()
    found.open("act1_real")
    assert not real.locked
    assert len(real.scenes(real.result)[0].legend) > 2  # measured products are drawn
    # A calibrated rate would be the answer to the question about a measured one.
    assert {"form", "measured"} <= real.hidden() & product.hidden()
    found.open("act1_remedy")
    assert not {"form", "measured"} & (real.hidden() | product.hidden())
    found.open("act2_why")
    assert not budget.locked
    assert "form" in budget.hidden()
    assert tokens.locked
    found.open("act3_decode")
    assert not tokens.locked
    assert "form" not in budget.hidden()


def test_lab_11_sets_textbook_calibrated_and_measured_side_by_side(opened):
    found = opened("lab_11_roofline")
    (cell,) = (
        cell
        for cell in read(ROOT / "assignments" / "lab_11_roofline" / "lab.py")
        if (cell.kind, cell.name) == ("reveal", "act3_decode")
    )
    found.commit("act3_decode", "B")
    found.names["tokens"].set(batch=64)
    found.names["tokens"].set(form="textbook")
    exec(
        compile(cell.body.replace("lab.reveal(", "said = lab.reveal("), cell.where, "exec"),
        found.names,
    )
    found.names["said"].compare()
    text = found.names["said"].text()
    shown = [
        float(x) for x in re.findall(r"(?:Textbook|Calibrated|Measured): (\d+) tokens/s", text)
    ]
    textbook, calibrated, measured = shown
    step = ph.decode("llama31-8b", "h200-sxm", 1, 2048)
    assert textbook == float(f"{step.tokens_per_second:.2g}")
    assert measured < textbook / 3
    assert abs(calibrated / measured - 1) < 0.25
    assert "about 300" in text
    assert "No: " in text


def test_lab_11_finds_a_saved_design_again_although_its_instruments_are_linked(opened, tmp_path):
    found = opened("lab_11_roofline", folder=tmp_path / "kept")
    for name in ("act1_wall", "act2_kernels", "act3_decode"):
        found.open(name)
    found.names["budget"].set(batch=64, sequence=2048)
    found.names["service"].set(sequence=1)  # the budget cannot follow
    found.lab.card("design").save()
    again = opened("lab_11_roofline", folder=tmp_path / "kept")
    for name in ("budget", "service"):
        assert again.names[name].inputs == found.names[name].inputs


def test_lab_11_takes_over_what_lab_07_decided(opened):
    """The text and the layer follow the design; without one, both say so and go on."""
    found = opened("lab_11_roofline")
    layer, launch = (found.lab.materials[f"{what}_lab_07"] for what in ("from", "launch_of"))
    assert layer({}, False).startswith("No design of Lab 07 was found")
    assert found.names["service"].fusion == "none"
    fused = {"fusion_enabled": True, "execution_mode": "compiled", "arithmetic_intensity": 2.5}
    assert "decided to fuse" in layer(fused, True)
    assert "does 2.5 FLOP/B" in layer(fused, True)
    assert "separate kernels" in layer({**fused, "fusion_enabled": False}, True)
    assert "FLOP/B" not in layer({"fusion_enabled": True}, True)
    assert "Replayed as a graph" in launch(fused, True)
    assert "Kernel by kernel" in launch({"execution_mode": "eager"}, True)
    assert "decide now" in launch({}, False)


def test_lab_11_says_at_its_end_what_was_reached_but_not_before(opened):
    found = opened("lab_11_roofline")
    cells = read(ROOT / "assignments" / "lab_11_roofline" / "lab.py")
    (cell,) = (cell for cell in cells if "lab.hud(" in cell.body)
    code = cell.body.replace("lab.hud(", "hud = lab.hud(")
    exec(compile(code, cell.where, "exec"), found.names)
    hud, budget = found.names["hud"], found.names["budget"]
    assert "FLOP/B" not in hud.text()
    assert "tokens/s" not in hud.text()
    found.commit("act1_wall", "C")
    found.commit("act2_kernels", "A")
    hud.refresh()
    rate = ph.format_quantity(budget.decode.tokens_per_second, "tokens/s")
    assert f"Decode, textbook: {rate}" in hud.text()
    budget.set(batch=1024, sequence=8192)
    hud.refresh()
    assert "Decode, textbook: does not fit" in hud.text()
