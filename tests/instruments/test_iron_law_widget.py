"""The iron law on screen says what physics says, from one image to a batch of a thousand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line, Words
from mlsys_widgets.instruments.iron_law_scenes import TERMS, device_at, term_time
from mlsys_widgets.instruments.iron_law_widget import IronLaw
from mlsys_widgets.wording.units import in_one_unit
from tests.instruments.drawn import card, handle

show = ph.format_quantity


def spread(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(0, 1).map(lambda share: low * (high / low) ** share)


moves = st.fixed_dictionaries(
    {},
    optional={
        "device": st.sampled_from(sorted(ph.devices)),
        "workload": st.sampled_from(["resnet50-inference", "llama31-8b", "own"]),
        "data": spread(1e3, 1e12),
        "operations": spread(1e6, 1e15),
        "batch": st.integers(1, 1024),
        "efficiency": st.floats(0.01, 1.0),
        "latency": st.one_of(st.just(0.0), spread(1e-7, 1.0)),
        "overlapped": st.booleans(),
        "bandwidth": spread(1e6, 1e14),
        "rate": spread(1e7, 1e17),
        "memory": spread(1e4, 1e12),
        "reserve": st.one_of(st.just(0.0), spread(1e3, 1e12)),
    },
)


def block(instrument: IronLaw, mark: str, number: int) -> tuple[float, float]:
    """Where a bar begins and ends; the parts of the total follow the three terms."""
    drawn = instrument.marks["terms"]
    row = number + (3 if mark == "total" else 0)
    return float(drawn.x[row, 0]), float(drawn.x[row, 1])


# ResNet-50, one image: 100 MB at 3.35 TB/s, 8.2 GFLOP at 989 TFLOPS; and on a Cortex-M7.


def test_resnet_turns_compute_bound_at_batch_4() -> None:
    instrument = IronLaw()
    assert instrument.result.compute_bound_batch == 4
    assert "From batch 4 up" in instrument.hint(instrument.result)
    instrument.set(batch=3)
    assert instrument.result.memory_time > instrument.result.compute_time
    instrument.set(batch=4)
    assert instrument.result.memory_time < instrument.result.compute_time
    assert instrument.result.binding == "compute"


def test_resnet_does_not_fit_into_the_cortex() -> None:
    instrument = IronLaw()
    assert instrument.alert(instrument.result) is None
    instrument.set(device="cortex-m7")
    words, tone = instrument.alert(instrument.result) or ("", "")
    assert tone == "red"
    assert f"{show(100e6 / 512e3, '×')} what it can hold" in words  # 195×
    assert "99.5 MB too much" in words  # 100 MB less 512 KB
    assert round(instrument.capacity.fill) == 195
    assert "512 KB" in words
    hint = instrument.hint(instrument.result)
    assert "128,000 parameters" in hint  # 512 KB of 4 bytes each
    assert "Mobile NPU with 8 GB" in hint
    assert "parameters" not in words
    assert "Mobile" not in words
    assert instrument.sentence(instrument.result).startswith("If it did fit, ")


def test_a_machine_that_is_set_is_called_what_the_lab_calls_it() -> None:
    instrument = IronLaw(device="cortex-m7", called={"cortex-m7": "your board (a Cortex-M7)"})
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "but the Cortex-M7 has 512 KB" in words
    instrument.set(memory=536e3)
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "but your board (a Cortex-M7) has 536 KB" in words
    assert " on your board (a Cortex-M7) with batch 1 " in instrument.sentence(instrument.result)


def test_the_alert_alone_says_by_how_much_it_does_not_fit() -> None:
    instrument = IronLaw(device="cortex-m7")
    remark = instrument.remark(instrument.result)
    assert remark == "If it did fit, memory and compute would work one after the other."


def test_what_fits_nowhere_says_so() -> None:
    instrument = IronLaw(data=1e12)
    assert "No other device here can hold it" in instrument.hint(instrument.result)


def test_only_the_hint_says_from_which_batch_compute_binds() -> None:
    instrument = IronLaw(data=103e6, operations=4.1e9)
    found = f"batch {show(instrument.result.compute_bound_batch)}"
    law = instrument.result
    said = repr((instrument.cards(law), instrument.sentence(law), instrument.scenes(law)))
    assert found in instrument.hint(law)
    assert found not in said


# The memory of the device, and what is kept of it.


def test_a_board_with_its_own_memory_and_a_reserve() -> None:
    instrument = IronLaw(device="cortex-m7", data=400e3)
    assert (instrument.memory, instrument.reserve) == (512e3, 0)
    assert not instrument.capacity.out_of_memory
    instrument.set(memory="448 KB", reserve="64 KB")
    assert instrument.capacity.memory == 384e3
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "has 448 KB, of which 64 KB are reserved. That is 16 KB too much" in words
    assert "96,000 parameters" in instrument.hint(instrument.result)  # 384 KB of 4 bytes each
    assert (
        "1.04× what the device can hold (448 KB, of which 64 KB are reserved)"
        in instrument.sentence(instrument.result)
    )


def test_another_device_brings_its_own_memory() -> None:
    instrument = IronLaw(device="cortex-m7", memory=448e3, reserve=64e3)
    assert (instrument.memory, instrument.reserve) == (448e3, 64e3)
    instrument.set(device="orin-nx")
    assert (instrument.memory, instrument.reserve) == (16e9, 0)
    instrument.set(device="cortex-m7", memory=500e3)
    assert instrument.memory == 500e3


def test_a_board_with_its_own_rates() -> None:
    instrument = IronLaw(device="cortex-m7", rate="800 MFLOPS", bandwidth="20 MB/s")
    law = instrument.result
    assert (law.memory_time, law.compute_time) == pytest.approx((5.0, 10.25))
    assert card(instrument, "Peak") == "800 MFLOPS, as set"
    assert "on the Cortex-M7, set to 800 MFLOPS and 20 MB/s, with batch 1" in instrument.sentence(
        law
    )
    instrument.set(rate="1 GFLOPS")
    assert card(instrument, "Peak") == "1 GFLOPS fp32 dense"
    assert "Cortex-M7, set to 20 MB/s, with" in instrument.sentence(instrument.result)
    assert eval(instrument.code).inputs == instrument.inputs


def test_another_device_brings_its_own_rates() -> None:
    instrument = IronLaw(device="cortex-m7", rate=8e8, bandwidth=2e7)
    instrument.set(device="orin-nx")
    orin = ph.devices["orin-nx"]
    assert (instrument.rate, instrument.bandwidth) == (orin.peak("fp16"), orin.bandwidth)
    assert "set to" not in instrument.sentence(instrument.result)
    instrument.set(device="cortex-m7", bandwidth=3e7)
    assert (instrument.rate, instrument.bandwidth) == (1e9, 3e7)


def test_a_reserve_leaves_something_for_the_weights() -> None:
    instrument = IronLaw(device="cortex-m7", reserve=1e9)
    assert instrument.reserve == pytest.approx(0.99 * 512e3)
    instrument.set(memory=1e4)
    assert instrument.capacity.memory > 0


# What can be dragged.


@pytest.mark.parametrize("overlapped", [False, True])
@pytest.mark.parametrize("term", ["memory", "compute", "latency"])
@pytest.mark.parametrize("batch", [1, 20])
def test_the_end_of_a_bar_lies_where_it_was_dragged(
    term: str, overlapped: bool, batch: int
) -> None:
    instrument = IronLaw(overlapped=overlapped, batch=batch)
    start = handle(instrument, term)
    instrument.drag(term, 1.15 * start.x, start.y)
    assert handle(instrument, term).x == pytest.approx(1.15 * start.x, rel=5e-3)
    # Everything else stays: the other terms are those of before.
    other = {"memory", "compute", "latency"} - {term}
    before = IronLaw(overlapped=overlapped, batch=batch).result
    for name in other:
        assert term_time(instrument.result, name) == term_time(before, name)


@pytest.mark.parametrize("overlapped", [False, True])
@pytest.mark.parametrize("term", ["memory", "compute", "latency"])
@pytest.mark.parametrize("device", ["h100-sxm", "cortex-m7"])
def test_the_axis_of_the_bars_stands_still_under_a_drag(
    term: str, overlapped: bool, device: str
) -> None:
    instrument = IronLaw(device=device, overlapped=overlapped, latency=2e-3)
    before = instrument.scenes(instrument.result)[0].across
    for share in (0.3, 0.7, 1.0, 1.0, 1.0, 0.1, 0.0, 0.0, 0.0, 0.5):
        instrument.drag(term, share * before.high, 1.5, held=True)
        bars = instrument.scenes(instrument.result)[0]
        assert bars.across == before
        # Nothing is drawn beyond the axis, and words keep room for themselves.
        assert instrument.result.total <= before.high * 1.005
        words = next(mark for mark in bars.marks if isinstance(mark, Words))
        assert max(words.x) <= 0.8 * before.high
    # Let go, it has the axis of its numbers.
    instrument.drag(term, 0.02 * before.high, 1.5)
    again = IronLaw(**instrument.inputs)
    assert instrument.scenes(instrument.result)[0] == again.scenes(again.result)[0]


@pytest.mark.parametrize("term", ["memory", "compute", "latency"])
def test_a_bar_that_is_held_stays_under_the_pointer(term: str) -> None:
    instrument = IronLaw()
    start, end = handle(instrument, term).x, instrument.scenes(instrument.result)[0].across.high
    for share in (0.05, 0.1, 0.2, 0.3):
        instrument.drag(term, start + share * end, 1.5, held=True)
        assert handle(instrument, term).x == pytest.approx(start + share * end, rel=5e-3)


@pytest.mark.parametrize("batch", [1, 7, 64, 999])
def test_the_batch_is_dragged_along_the_curve(batch: int) -> None:
    instrument = IronLaw()
    instrument.drag("batch", batch, 1.0)
    assert instrument.batch == batch
    now = handle(instrument, "batch")
    assert (now.x, now.y) == (batch, instrument.result.total / batch)
    instrument.drag("batch", 1e9, 1.0)
    assert instrument.batch == pytest.approx(1024, rel=5e-3)  # three digits are kept


def test_the_weights_are_dropped_on_a_device() -> None:
    instrument = IronLaw()
    here = handle(instrument, "weights")
    assert (here.x, device_at(here.y)) == (100e6, "h100-sxm")
    for device in ph.devices:
        row = next(y for y in (5.5, 4.5, 3.5, 2.5, 1.5, 0.5) if device_at(y) == device)
        instrument.drag("weights", 110e6, row + 0.3)
        # A hand is not that steady: near its size the workload stays what it is.
        assert (instrument.device, instrument.workload) == (device, "resnet50-inference")
        assert instrument.memory == ph.devices[device].memory
        assert instrument.capacity.out_of_memory == (device == "cortex-m7")
    instrument.drag("weights", 300e3, handle(instrument, "weights").y)
    assert (instrument.data, instrument.workload) == (300e3, "own")
    assert not instrument.capacity.out_of_memory
    instrument.drag("weights", 310e3, handle(instrument, "weights").y)
    assert handle(instrument, "weights").x == 310e3
    instrument.drag("weights", 3e13, 6.0)
    assert (instrument.data, instrument.device) == (1e12, "a100-sxm")


def test_the_end_of_a_memory_is_dragged() -> None:
    instrument = IronLaw(device="cortex-m7", data=480e3)
    instrument.drag("capacity", 448e3, 0.5)
    assert handle(instrument, "capacity").x == instrument.memory == 448e3
    assert instrument.capacity.out_of_memory
    for place, kept in ((3e2, 1e4), (3e13, 1e12)):
        instrument.drag("capacity", place, 0.5)
        assert instrument.memory == kept


# The prediction, the math and the table.


def test_a_predicted_batch_is_drawn_named_and_in_the_table() -> None:
    instrument = IronLaw(prediction=32)
    curves = instrument.scenes(instrument.result)[1]
    line = next(mark for mark in curves.marks if mark.name == "prediction")
    assert isinstance(line, Line)
    assert tuple(line.x) == (32, 32)
    assert ("Your prediction, batch 32", "prediction", "dashed") in curves.legend
    assert instrument.shown_table[1][-1][:2] == ("Your prediction", "32")
    assert instrument.code == "IronLaw(prediction=32)"
    instrument.set(device="cortex-m7")
    assert "Your prediction of batch 32 is about other settings" in instrument.text()
    instrument.reset()
    assert all(tone != "prediction" for _, tone, _ in TERMS)


def test_the_math_marks_the_binding_term() -> None:
    instrument = IronLaw()
    for inputs, marked in (({}, "memory_time"), ({"batch": 8}, "compute_time")):
        instrument.set(**inputs)
        assert instrument.dominant(instrument.result) == marked
        assert marked in instrument.result.outputs()
    instrument.set(latency=1.0)
    assert instrument.dominant(instrument.result) == ""  # an input, and no step of the math
    assert instrument.headline in instrument.result.outputs()
    assert instrument.dominant(instrument.capacity) == ""
    instrument.set(device="cortex-m7")
    assert instrument.dominant(instrument.capacity) == "out_of_memory"


def test_other_batches_and_devices_are_in_the_table() -> None:
    instrument = IronLaw()
    rows = {row[0]: row for row in instrument.table(instrument.result)[1]}
    assert [rows[f"Batch {batch}"][4] for batch in ("1", "16")] == ["memory", "compute"]
    instrument.set(batch=128)
    assert rows["Batch 128"][2] == show(instrument.result.total, "s")
    assert "Cortex-M7: 512 KB" in rows["Too small"][1]
    assert "H200 SXM: 141 GB" in rows["Holds the weights"][1]


# How the inputs hang together.


def test_a_workload_sets_the_sizes_and_a_size_makes_it_your_own() -> None:
    instrument = IronLaw(workload="llama31-8b")
    weights = ph.decode("llama31-8b", "h100-sxm", 1, 1).weights
    assert instrument.data == weights
    assert instrument.operations == 2 * 8e9
    instrument.set(data="100 MB")
    assert instrument.workload == "own"
    assert instrument.operations == 2 * 8e9
    instrument.set(workload="resnet50-inference")
    assert (instrument.data, instrument.operations) == (100e6, 8.2e9)
    instrument.set(workload="own")
    assert "Your workload" in instrument.sentence(instrument.result)


def test_a_workload_and_other_sizes_at_once_are_your_own() -> None:
    assert IronLaw(workload="llama31-8b", data=5e6).workload == "own"
    assert IronLaw(workload="llama31-8b", data=16e9).workload == "llama31-8b"


def test_latency_may_be_nothing_at_all() -> None:
    instrument = IronLaw(latency=0)
    law = instrument.result
    assert law.total == law.memory_time + law.compute_time
    assert not instrument.marks["latency per inference"].visible
    with pytest.raises(ValueError, match=r"Latency is 10 ns; it must be 0 or between"):
        instrument.set(latency=1e-8)
    instrument.set(latency="3 ms")
    assert instrument.result.binding == "latency"
    assert instrument.marks["latency per inference"].visible


# What is drawn.


def test_the_bars_follow_each_other_or_run_side_by_side() -> None:
    instrument = IronLaw()
    law = instrument.result
    memory, compute = law.memory_time, law.compute_time
    assert block(instrument, "terms", 1) == pytest.approx((memory, memory + compute))
    assert block(instrument, "terms", 2)[1] == pytest.approx(law.total)
    instrument.set(overlapped=True)
    assert block(instrument, "terms", 1) == pytest.approx((0, compute))
    assert block(instrument, "terms", 2)[0] == pytest.approx(memory)
    assert block(instrument, "terms", 2)[1] == pytest.approx(instrument.result.total)
    # The shorter of both is not part of the total any more.
    assert block(instrument, "total", 1) == pytest.approx((0, 0))


def test_the_lines_of_memory_and_compute_meet_at_the_balance() -> None:
    instrument = IronLaw()
    balance = instrument.result.balance_batch
    memory = instrument.result.memory_time / balance
    assert memory == pytest.approx(instrument.marks["compute per inference"].y[0])
    falling = instrument.marks["memory per inference"]
    assert falling.x[1] * falling.y[1] == pytest.approx(instrument.result.memory_time)


@given(st.lists(moves, min_size=1, max_size=6))
@settings(max_examples=40)
def test_random_walks_stay_true(walk: list[dict[str, object]]) -> None:
    instrument = IronLaw()
    for move in walk:
        instrument.set(**move)
        law = instrument.result
        wanted = law.memory_time + law.compute_time + law.latency
        if instrument.overlapped:
            wanted = max(law.memory_time, law.compute_time) + law.latency
        assert law.total == pytest.approx(wanted)
        longest = max(law.memory_time, law.compute_time, law.latency)
        terms = {"memory": law.memory_time, "compute": law.compute_time, "latency": law.latency}
        assert terms[str(law.binding)] == longest
        # Cards, sentence and table write the numbers of the result.
        sentence = instrument.sentence(law)
        total, *compared = in_one_unit("s", law.total, *terms.values())
        _, rows = instrument.table(law)
        for (term, time), row, said in zip(terms.items(), rows[:3], compared, strict=True):
            assert card(instrument, f"{term.capitalize()} term") == show(time, "s", pad=True)
            assert said in sentence
            assert row[2] == show(time, "s")
            assert (row[4] == "yes") == (term == law.binding)
        assert rows[3][2] == show(law.total, "s")
        assert total in sentence
        assert (instrument.alert(law) is not None) == instrument.capacity.out_of_memory
        # The plot shows them too.
        assert block(instrument, "total", 2)[1] == pytest.approx(law.total)
        assert instrument.marks["now"].y[0] == pytest.approx(law.total / law.batch)
        for scene in instrument.scenes(law):
            # A line that left its axes would be bent by whoever draws it.
            for mark in (mark for mark in scene.marks if isinstance(mark, Line)):
                inside = [scene.up.low * 0.999 <= y <= scene.up.high * 1.001 for y in mark.y]
                assert all(inside), mark.name
