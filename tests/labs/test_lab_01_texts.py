"""Lab 01 says nothing that is false for anybody: its sentences and verdicts for 400 students."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets import IronLaw, measured
from mlsys_widgets import physics as ph
from mlsys_widgets.judging import ChoiceKey, Given, NumberKey
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Number, Parameters, Prediction, load
from tests.labs.rehearsal import ROOT

HOME = ROOT / "assignments" / "lab_01_magnitude"
LAB, CHECKS = load(HOME), load_checks(HOME)
DRAWN = [LAB.draw(f"student-{k}") for k in range(400)]
#: How much better the right option of a choice is than the next, at least.
MARGIN = 1.1
H100, M7 = ph.devices["h100-sxm"], ph.devices["cortex-m7"]


def key(name, p):
    return CHECKS[name](Given(p, HOME))


def of_pool(item, question, p):
    """The key of a question, as if it had been drawn for an item."""
    return key(item, Parameters({**p, item: question})).value


def largest_batch(p):
    return of_pool("largest_batch_images", "largest_batch_images", p)


def board(p, *, core=1.0, flash=1.0, model=1.0, **inputs):
    """The iron law as a student sets it: the vision model, streamed on the student's board."""
    return IronLaw(
        device="cortex-m7",
        data=p.model_mb * 1e6 * model,
        operations=p.model_gflop * 1e9 * model,
        bandwidth=p.mcu_mb_per_s * 1e6 * flash,
        rate=p.mcu_mflops * 1e6 * core,
        memory=p.sram_kb * 1e3,
        reserve=p.reserve_kb * 1e3,
        latency=M7.launch(),
        **inputs,
    )


def cloud(p, **inputs):
    sizes = {"data": p.model_mb * 1e6, "operations": p.model_gflop * 1e9}
    return IronLaw(device="h100-sxm", latency=p.launch_us * 1e-6, **{**sizes, **inputs})


# How long texts are.


def test_the_example_in_a_question_has_the_form_and_is_nobodys_answer():
    for p in DRAWN:
        for name, item in LAB.items(p).items():
            if not isinstance(item, Number):
                continue
            found = re.search(r"number such as ([\d.]*\d)", item.ask)
            assert found, name
            example, right = float(found[1]), key(name, p)
            assert item.form_error(example) is None, name
            assert not right.reaches(right.value, example), name


# What the texts claim.


def test_the_gaps_of_act_1_are_what_its_feedback_says():
    gaps = {
        "compute": H100.peak("fp16") / M7.peak("fp32"),
        "bandwidth": H100.bandwidth / M7.bandwidth,
        "power": H100.power / M7.power,
    }
    assert gaps["power"] < 1e4 < gaps["bandwidth"] < gaps["compute"]
    assert 1e4 / gaps["power"] < 2
    for p in DRAWN:
        own = H100.peak("fp16") / (p.mcu_mflops * 1e6)
        assert 0.8e6 <= own <= 1.25e6  # "a million times slower"
        assert key("flop_per_joule_times", p).value > 1
        # The board has time for everything that it should hear.
        assert p.kws_mflop * p.kws_passes / p.mcu_mflops < 0.3


def test_the_board_says_no_to_the_vision_model_in_every_format():
    for p in DRAWN:
        room = (p.sram_kb - p.reserve_kb) * 1e3
        assert board(p).capacity.out_of_memory
        assert board(p).capacity.fill > 100
        assert p.model_mb * 1e6 / 4 > room
        assert of_pool("bits_per_weight", "bits_per_weight", p) < 1
        left = of_pool("bits_per_weight", "left_beside_kb", p)
        assert p.reserve_kb < left < p.sram_kb  # the runtime finds room beside what was kept
        assert LAB.items(p)["act2_limit"].right == "B"
        assert p.model_mb * 1e6 / H100.memory < 0.01
        assert 1 < board(p).result.total < 60  # "slow, and some products could live with it"


def test_what_is_asked_for_exists():
    for p in DRAWN:
        assert 0 < key("balance_efficiency_percent", p).value < 100
        assert largest_batch(p) >= 1
        assert 0 < of_pool("largest_batch_images", "needed_efficiency_percent", p) < 100
        assert key("needed_mb_per_s", p).value > 0
        assert 1.3 < key("int8_weights_times", p).value < 2.6


# Numbers and verdicts hold on the instruments, set to that very context.


def test_numbers_hold_on_the_instruments():
    for p in DRAWN[:50]:
        efficiency = key("balance_efficiency_percent", p).value / 100
        law = cloud(p, batch=p.small_batch, efficiency=efficiency).result
        assert law.memory_time == pytest.approx(law.compute_time)
        faster = cloud(p).result.total / cloud(p, data=p.model_mb * 1e6 / 4).result.total
        assert faster == pytest.approx(key("int8_weights_times", p).value)
        needed = key("needed_mb_per_s", p).value / p.mcu_mb_per_s
        asked = LAB.items(p)["needed_mb_per_s"].ask
        promised = float(re.search(r"arrive within \*\*([\d.]+) s\*\*", asked)[1])
        assert board(p, flash=needed).result.total == pytest.approx(promised)
        served = {"efficiency": p.efficiency_pct / 100}
        # The instrument scales no photos, so that its lamps do not show the key.
        most, scaling = largest_batch(p), p.scale_us * 1e-6
        for batch, in_time in ((most, True), (most + 1, False)):
            total = cloud(p, batch=batch, **served).result.total + batch * scaling
            assert (total <= p.deadline_us * 1e-6) == in_time
        assert cloud(p, batch=most + 2, **served).result.total <= p.deadline_us * 1e-6
        needed = of_pool("largest_batch_images", "needed_efficiency_percent", p) / 100
        evening = cloud(p, batch=p.evening_batch, efficiency=needed).result
        total = evening.total + p.evening_batch * scaling
        assert total == pytest.approx(p.deadline_us * 1e-6)


def test_the_improvement_that_is_graded_is_the_fastest_on_the_instrument():
    for p in DRAWN:
        times = {
            "core": board(p, core=p.core_times).result.total,
            "flash": board(p, flash=p.flash_times).result.total,
            "prune": board(p, model=0.5).result.total,
        }
        first, second = sorted(times.values())[:2]
        assert times[key("board_upgrade", p).value] == first
        assert second > MARGIN * first


def test_the_precision_that_is_graded_is_the_highest_that_the_instrument_can_hold():
    for p in DRAWN:
        instrument = board(p)
        fits = []
        for name in ("fp32", "fp16", "int8"):
            instrument.set(data=p.kws_kparams * 1e3 * ph.BYTES_PER_ELEMENT[name])
            fits += [name] if instrument.alert(instrument.result) is None else []
        assert key("keyword_precision", p).value == (fits or ["none"])[0]
        room = p.sram_kb - p.reserve_kb
        for size in (4, 2, 1):
            assert not 1 / MARGIN < p.kws_kparams * size / room < MARGIN


def test_the_plan_that_is_graded_draws_the_least_power_by_its_own_sentences():
    """The verdict's numbers agree with each other: the right plan has the smallest."""
    for p in DRAWN:
        found = key("listening_plan", p)
        told = re.findall(r"(board draws|everything|its radio) ([\d.]+) mW", found.says)
        plans = {"board draws": "board", "everything": "stream", "its radio": "gate"}
        said = {plans[words]: power for words, power in told}
        assert len(said) == 3
        assert min(said, key=lambda plan: float(said[plan])) == found.value
        first, second = sorted(map(float, said.values()))[:2]
        assert second > MARGIN * first


def test_the_moral_of_the_plan_holds_for_whom_it_is_told():
    for p in DRAWN:
        found = key("listening_plan", p)
        board = p.kws_mflop * p.kws_passes / p.mcu_mflops * p.mcu_mw
        radio = p.audio_kbit * p.radio_nj * 1e-3
        saved = (1 - p.sound_pct / 100) * radio
        told = {
            "moving the data costs more than computing nearby": radio > board,
            "moving the data costs less than computing nearby": radio < board,
            "a detector saves less than it draws": saved < p.gate_mw,
            "the detector saves more than it draws": saved > p.gate_mw,
            "on a porch this quiet": p.sound_pct <= 10,
            "The H100 gets more out of a joule": key("flop_per_joule_times", p).value > 1,
        }
        said = [claim for claim in told if claim in found.says]
        assert said, found.says
        assert all(told[claim] for claim in said), (found.says, dict(p))


def test_the_law_and_the_stopwatch_differ_as_act_3_says():
    """177, 6,142 and 16,633 images per second, as an H200 did them one kernel at a time."""
    asked = LAB.items(DRAWN[0])["act3_rate"]
    rates = {}
    for batch in (1, 32, 256):
        (timed,) = measured.cases(
            "h200-sxm",
            kind="model",
            precision="fp16",
            variant="eager",
            model="resnet50",
            batch=batch,
        )
        rates[batch] = batch / timed.seconds.median
        law = ph.iron_law(timed.shape["parameter_bytes"], 8.2e9, "h200-sxm", batch=batch)
        assert rates[batch] < 0.25 * batch / law.total
    assert [round(rate) for rate in rates.values()] == [177, 6142, 16633]
    assert asked.values["C"] == pytest.approx(rates[256], rel=0.03)
    assert asked.values["A"] == pytest.approx(rates[1], rel=0.03)


def test_the_lamps_of_the_board_can_turn_red_and_tell_no_precision():
    """The proposal is in time for some and late for others; whether it fits leaves two options."""
    late, right = 0, {True: set(), False: set()}
    for p in DRAWN:
        law = board(p)
        law.set(data=p.kws_kparams * 2e3, operations=p.kws_mflop * 1e6)  # in fp16
        late += law.result.total > 1 / p.kws_passes
        right[law.alert(law.result) is None].add(key("keyword_precision", p).value)
    assert 0.1 < late / len(DRAWN) < 0.9
    assert right == {True: {"fp32", "fp16"}, False: {"int8", "none"}}


# Nobody is helped by a neighbor.


def test_every_option_is_right_for_a_tenth_and_numbers_differ():
    drawn = [LAB.draw(f"student-{k}") for k in range(1000)]
    for name, item in LAB.items(drawn[0]).items():
        if name not in CHECKS or isinstance(item, Prediction):
            continue
        found = [key(name, p) for p in drawn]
        if isinstance(found[0], ChoiceKey):
            for option in item.options:
                assert sum(each.value == option for each in found) >= 100, (name, option)
        if isinstance(found[0], NumberKey):
            assert len({f"{each.value:.3g}" for each in found}) >= 20, name
