"""The iron law on screen says what physics says, from one image to a batch of a thousand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line
from mlsys_widgets.instruments.iron_law_widget import IronLaw

show = ph.format_quantity


def spread(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(0, 1).map(lambda share: low * (high / low) ** share)


moves = st.fixed_dictionaries(
    {},
    optional={
        "device": st.sampled_from(sorted(ph.devices)),
        "workload": st.sampled_from(["resnet50-inference", "llama3-8b", "own"]),
        "data": spread(1e3, 1e12),
        "operations": spread(1e6, 1e15),
        "batch": st.integers(1, 1024),
        "efficiency": st.floats(0.01, 1.0),
        "latency": st.one_of(st.just(0.0), spread(1e-7, 1.0)),
        "overlapped": st.booleans(),
    },
)


def block(instrument: IronLaw, mark: str, number: int) -> tuple[float, float]:
    """Where a bar begins and ends."""
    drawn = instrument.marks[mark]
    return float(drawn.x[number, 0]), float(drawn.x[number, 1])


def card(instrument: IronLaw, label: str) -> str:
    return next(value for name, value, _ in instrument.cards(instrument.result) if name == label)


# PHYSICS.md, reference values: ResNet-50 batch 1 on H100, and on Cortex-M7.


def test_resnet_on_the_h100_is_memory_bound() -> None:
    law = IronLaw().result
    assert law.memory_time == pytest.approx(29.85e-6, rel=1e-3)
    assert law.compute_time == pytest.approx(4.04e-6, rel=2e-3)
    assert law.memory_to_compute == pytest.approx(7.4, abs=0.05)
    assert law.binding == "memory"


def test_resnet_turns_compute_bound_at_batch_8() -> None:
    instrument = IronLaw()
    assert instrument.result.compute_bound_batch == 8
    assert card(instrument, "Compute-bound from") == "batch 8"
    instrument.set(batch=7)
    assert instrument.result.memory_time > instrument.result.compute_time
    instrument.set(batch=8)
    assert instrument.result.memory_time < instrument.result.compute_time
    assert instrument.result.binding == "compute"


def test_resnet_does_not_fit_into_the_cortex() -> None:
    instrument = IronLaw()
    assert instrument.alert(instrument.result) is None
    instrument.set(device="cortex-m7")
    words, tone = instrument.alert(instrument.result) or ("", "")
    assert tone == "red"
    assert f"{show(100e6 / 512e3, '×')} too large" in words  # 195×
    assert round(instrument.capacity.fill) == 195
    assert "512 KB" in words
    assert "128,000 parameters" in words  # 512 KB of 4 bytes each
    assert "Mobile NPU with 8 GB" in words
    assert instrument.sentence(instrument.result).startswith("If it fit, ")


def test_what_fits_nowhere_says_so() -> None:
    instrument = IronLaw(data=1e12)
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "No device here can hold it" in words


# How the inputs hang together.


def test_a_workload_sets_the_sizes_and_a_size_makes_it_your_own() -> None:
    instrument = IronLaw(workload="llama3-8b")
    weights = ph.decode("llama3-8b", "h100-sxm", 1, 1).weights
    assert instrument.data == weights
    assert instrument.operations == 2 * 8e9
    instrument.set(data="100 MB")
    assert instrument.workload == "own"
    assert instrument.operations == 2 * 8e9
    instrument.set(workload="resnet50-inference")
    assert (instrument.data, instrument.operations) == (100e6, 4e9)
    instrument.set(workload="own")
    assert "Your workload" in instrument.sentence(instrument.result)


def test_a_workload_and_other_sizes_at_once_are_your_own() -> None:
    assert IronLaw(workload="llama3-8b", data=5e6).workload == "own"
    assert IronLaw(workload="llama3-8b", data=16e9).workload == "llama3-8b"


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


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"batch": 0}, "Batch is 0"),
        ({"batch": "many"}, "'many' is not a number"),
        ({"efficiency": 1.5}, "Efficiency η is 150%"),
        ({"device": "abacus"}, "Device is 'abacus'"),
        ({"workload": ["resnet50"]}, r"Workload is \['resnet50'\]"),
        ({"data": "30 s"}, "which is not an amount of data"),
        ({"batch": 4, "latency": -1}, "Latency is"),
    ],
)
def test_nonsense_is_refused_with_a_sentence_and_nothing_is_lost(
    inputs: dict[str, object], named: str
) -> None:
    instrument = IronLaw(batch=3)
    before, sentence = instrument.inputs, instrument.sentence(instrument.result)
    with pytest.raises(ValueError, match=named):
        instrument.set(**inputs)
    assert instrument.inputs == before
    assert instrument.sentence(instrument.result) == sentence


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


def test_the_crossover_stands_where_both_lines_meet() -> None:
    instrument = IronLaw()
    cross = instrument.marks["crossover"]
    assert cross.visible
    memory = instrument.result.memory_time / cross.x[0]
    assert memory == pytest.approx(instrument.marks["compute per inference"].y[0])
    falling = instrument.marks["memory per inference"]
    assert falling.x[1] * falling.y[1] == pytest.approx(instrument.result.memory_time)
    instrument.set(device="cortex-m7")  # compute-bound from the first inference on
    assert not cross.visible
    instrument.set(device="h100-sxm", data=1e11)  # far beyond the plot
    assert not cross.visible


@given(st.lists(moves, min_size=1, max_size=6))
@settings(max_examples=40)
def test_random_walks_stay_true(walk: list[dict[str, object]]) -> None:
    instrument = IronLaw()
    marks = instrument.marks
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
        _, rows = instrument.table(law)
        for (term, time), row in zip(terms.items(), rows[:3], strict=True):
            assert card(instrument, f"{term.capitalize()} term") == show(time, "s", pad=True)
            assert show(time, "s") in sentence
            assert row[2] == show(time, "s")
            assert (row[4] == "yes") == (term == law.binding)
        assert rows[3][2] == show(law.total, "s")
        assert show(law.total, "s") in sentence
        assert (instrument.alert(law) is not None) == instrument.capacity.out_of_memory
        # The plot shows them too, and nothing that is no number.
        assert block(instrument, "total", 2)[1] == pytest.approx(law.total)
        assert instrument.marks["now"].y[0] == pytest.approx(law.total / law.batch)
        for mark in marks.values():
            assert np.isfinite(mark.x).all()
            assert np.isfinite(mark.y).all()
        for scene in instrument.scenes(law):
            ends = (scene.across.low, scene.across.high, scene.up.low, scene.up.high)
            assert all(math.isfinite(end) for end in ends)
            # A line that left its axes would be bent by whoever draws it.
            for mark in (mark for mark in scene.marks if isinstance(mark, Line)):
                inside = [scene.up.low * 0.999 <= y <= scene.up.high * 1.001 for y in mark.y]
                assert all(inside), mark.name
        assert all(instrument.marks[name] is mark for name, mark in marks.items())
        assert set(instrument.marks) == set(marks)
