"""The memory budget on screen says what physics says, whether the model fits or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Axis, Line
from mlsys_widgets.instruments.memory_budget import MemoryBudget
from mlsys_widgets.wording.units import in_one_unit
from tests.instruments.drawn import card, handle
from tests.instruments.locks import Lock

show = ph.format_quantity
moves = st.fixed_dictionaries(
    {},
    optional={
        "device": st.sampled_from(sorted(ph.devices)),
        "batch": st.integers(1, 1024),
        "sequence": st.integers(128, 131072),
        "heads": st.sampled_from(["grouped", "full"]),
        "attention": st.booleans(),
    },
)


# PHYSICS.md, reference values: Llama-3.1-8B KV, B=64 S=2048.


def test_the_cache_with_its_own_heads_and_with_all() -> None:
    instrument = MemoryBudget(batch=64, sequence=2048)
    assert instrument.result.kv_cache == pytest.approx(17.2e9, rel=2e-3)
    assert instrument.result.kv_heads == 8
    instrument.set(heads="full")
    assert instrument.result.kv_cache == pytest.approx(68.7e9, rel=1e-3)
    assert instrument.result.kv_heads == 32


def test_far_out_of_memory_is_a_factor_not_a_percentage() -> None:
    instrument = MemoryBudget(batch=209, sequence=2048)
    result = instrument.result
    # 16 GB of weights, 8 GB of activations, and 131,072 bytes per token: 103 MB more than 80 GB.
    assert result.total - 80e9 == pytest.approx(103e6, rel=0.01)
    assert "0.103 GB or 0.129% too much." in (instrument.alert(result) or ("",))[0]
    instrument.set(sequence=8192)
    result = instrument.result
    words = f"{show(result.total / 80e9, '×')} its memory, {show(-result.headroom, 'B')} too much."
    assert words in (instrument.alert(result) or ("",))[0]


def test_out_of_memory_says_by_how_much_and_a_hint_what_would_fit() -> None:
    instrument = MemoryBudget(batch=64, sequence=2048)
    assert instrument.alert(instrument.result) is None
    instrument.set(heads="full")
    result = instrument.result
    words, tone = instrument.alert(result) or ("", "")
    assert tone == "red"
    assert (
        f"{show(-result.headroom, 'B')} or {show(result.total / 80e9 - 1, '%')} too much" in words
    )
    remedies = [
        f"batch {show(result.largest_batch)} at this length",
        f"{show(result.largest_sequence, 'tokens')} at this batch",
        "8 KV heads, which need 41.2 GB",
        "fp8, which needs",
        "H200 SXM with 141 GB",
    ]
    for remedy in remedies:
        assert remedy in instrument.hint(result)
        assert remedy not in words
    assert card(instrument, "Decode, textbook") == "does not fit"
    assert card(instrument, "Prefill, textbook") == "does not fit"


@pytest.mark.parametrize("heads", ["grouped", "full"])
def test_what_is_said_to_fit_fits_and_no_more(heads: str) -> None:
    instrument = MemoryBudget(heads=heads, batch=900, sequence=1000)
    assert instrument.result.out_of_memory
    largest = instrument.result.largest_batch
    instrument.set(batch=largest)
    assert not instrument.result.out_of_memory
    instrument.set(batch=largest + 1)
    assert instrument.result.out_of_memory


def test_the_model_alone_is_too_large_for_a_microcontroller() -> None:
    instrument = MemoryBudget(device="cortex-m7")
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "weights and activations alone do not fit" in words
    assert instrument.result.largest_batch == 0
    assert instrument.precision == "fp32"
    assert instrument.hidden() == {"precision", "form"}  # there is one only of each


def test_the_largest_case_fits_nowhere() -> None:
    instrument = MemoryBudget(device="h200-sxm", precision="fp32", heads="full", batch=1024)
    instrument.set(sequence=131072)
    words = instrument.hint(instrument.result)
    assert words == "Not even one sequence of this length fits. What would fit: nothing here."


def test_what_else_would_fit_is_said_only_in_the_hint() -> None:
    instrument = MemoryBudget(batch=64, sequence=2048)
    result = instrument.result
    assert "batches up to 208 fit" in instrument.hint(result)  # PHYSICS.md: 208 at 2,048 tokens
    said = repr((instrument.cards(result), instrument.sentence(result), instrument.table(result)))
    assert "208" not in said
    assert all("208" not in words for s in instrument.scenes(result) for words, _, _ in s.legend)


# Speeds.


def test_decode_is_memory_bound_and_prefill_is_not() -> None:
    instrument = MemoryBudget(batch=1, sequence=2048)
    assert instrument.decode.memory_bound
    assert not instrument.prefill.memory_bound
    assert (
        card(instrument, "Decode, textbook") == "205.9 tokens/s"
    )  # 3.35 TB/s over (16 GB + cache)
    assert round(instrument.prefill.tokens_per_second, -2) == 61800
    assert instrument.decode == ph.decode("llama31-8b", "h100-sxm", 1, 2048, kv_heads=8)


def test_attention_slows_the_prefill_of_long_sequences() -> None:
    instrument = MemoryBudget(batch=1, sequence=32768)
    before = instrument.prefill.tokens_per_second
    instrument.set(attention=True)
    assert instrument.prefill.tokens_per_second < before / 1.4


def test_fewer_bytes_hold_more() -> None:
    instrument = MemoryBudget(precision="fp16")
    wide = instrument.result
    instrument.set(precision="int8")
    assert instrument.result.total == pytest.approx(wide.total / 2)
    assert instrument.result.largest_batch > 2 * wide.largest_batch


def test_a_precision_that_the_device_lacks_is_refused_by_name() -> None:
    instrument = MemoryBudget(batch=3)
    before = instrument.inputs
    with pytest.raises(ValueError, match="Precision is 'int8'"):
        instrument.set(device="orin-nx", precision="int8")
    assert instrument.inputs == before


# What can be dragged.


@pytest.mark.parametrize("batch", [1, 7, 64, 200, 999])
def test_the_batch_is_dragged_along_its_curve(batch: int) -> None:
    instrument = MemoryBudget()
    instrument.drag("batch", batch, 1e10)
    assert instrument.batch == batch
    assert handle(instrument, "batch").x == batch
    assert handle(instrument, "batch").y == instrument.result.total


@pytest.mark.parametrize("gigabytes", [25, 40, 79, 82, 105])
def test_the_end_of_the_cache_is_dragged_along_the_bar(gigabytes: float) -> None:
    instrument = MemoryBudget()
    each = instrument.result.kv_cache / instrument.batch
    instrument.drag("cache", gigabytes * 1e9, 0.45)
    # Whole sequences, each 0.27 GB: the end lies half of one away at most.
    assert abs(handle(instrument, "cache").x - gigabytes * 1e9) <= each / 2
    assert handle(instrument, "cache").control == "batch"


@pytest.mark.parametrize("heads", ["grouped", "full"])
@pytest.mark.parametrize("sequence", [128, 2048, 131072])
@pytest.mark.parametrize("batch", [1, 30, 1024])
def test_the_axis_stands_still_while_the_bar_is_dragged(
    heads: str, sequence: int, batch: int
) -> None:
    instrument = MemoryBudget(heads=heads, sequence=sequence, batch=batch)

    def axis() -> Axis:
        return instrument.scenes(instrument.result)[0].across

    before = axis()
    for share in (0.0, 0.3, 0.8, 1.0, 1.0, 1.0, 0.1, 0.0, 0.0):
        instrument.drag("cache", share * before.high, 0.45)
        assert axis() == before


def test_a_drag_stops_at_the_ends() -> None:
    instrument = MemoryBudget()
    instrument.drag("cache", 0.0, 0.45)
    assert instrument.batch == 1
    instrument.drag("batch", 1e9, 0.0)
    assert instrument.batch == pytest.approx(1024, rel=5e-3)  # three digits are kept
    instrument = MemoryBudget(device="cortex-m7")
    instrument.drag("cache", 0.0, 0.45)
    instrument.drag("cache", 1e15, 0.45)
    assert 1 <= instrument.batch <= 1024


def test_a_predicted_batch_is_drawn_named_and_in_the_table() -> None:
    instrument = MemoryBudget(prediction=150)
    curve = instrument.scenes(instrument.result)[1]
    line = next(mark for mark in curve.marks if mark.name == "prediction")
    assert isinstance(line, Line)
    assert tuple(line.x) == (150, 150)
    assert ("Your prediction, batch 150", "prediction", "dashed") in curve.legend
    assert instrument.shown_table[1][-1][:2] == ("Your prediction", "150")
    assert instrument.code == "MemoryBudget(prediction=150)"
    beyond = MemoryBudget(prediction=5000)  # past the end of the axis: the base names it
    assert all(
        tone != "prediction" for s in beyond.scenes(beyond.result) for _, tone, _ in s.legend
    )
    assert (
        beyond._open().panel.readout["legends"][0][-1][0]
        == "Your prediction: 5,000 (beyond the chart)"
    )


def test_the_curves_are_in_the_table() -> None:
    instrument = MemoryBudget()
    rows = {row[0]: row for row in instrument.table(instrument.result)[1]}
    # The parts at batch 64, from PHYSICS.md: 17.2 GB of cache, or 68.7 GB with 32 heads, on 24 GB.
    assert rows["Batch 64"] == ("Batch 64", "41.2 GB; 92.7 GB with 32 KV heads", "51.5%")
    instrument.set(batch=256)
    assert rows["Batch 256"][1].startswith(show(instrument.result.total, "B"))


def test_the_math_marks_what_decides() -> None:
    instrument = MemoryBudget()
    assert instrument.dominant(instrument.result) == "kv_cache"
    assert instrument.dominant(instrument.decode) == "memory_time"
    assert instrument.dominant(instrument.prefill) == "compute_time"
    instrument.set(batch=1)
    assert instrument.dominant(instrument.result) == "weights"
    assert instrument.headline in instrument.result.outputs()


# What is drawn.


def test_the_bar_and_the_limit() -> None:
    instrument = MemoryBudget()
    result = instrument.result
    bar = instrument.marks["parts"]
    assert [float(row[1] - row[0]) for row in bar.x] == pytest.approx(
        [result.weights, result.activations, result.kv_cache]
    )
    assert list(instrument.marks["limit"].x) == [80e9, 80e9]
    assert not instrument.marks["too much"].visible
    instrument.set(heads="full")
    assert list(instrument.marks["too much"].x) == [80e9, instrument.result.total]


def test_the_other_heads_are_drawn_beside() -> None:
    instrument = MemoryBudget()
    own, other = (instrument.marks[name].y.copy() for name in ("need", "other heads"))
    instrument.set(heads="full")
    assert np.array_equal(instrument.marks["need"].y, other)
    assert np.array_equal(instrument.marks["other heads"].y, own)


@given(st.lists(moves, min_size=1, max_size=6), st.data())
@settings(max_examples=40)
def test_random_walks_stay_true(walk: list[dict[str, object]], data: st.DataObject) -> None:
    instrument = MemoryBudget()
    for move in walk:
        instrument.set(**move)
        precisions = ph.devices[instrument.device].precisions
        instrument.set(precision=data.draw(st.sampled_from(precisions)))
        result = instrument.result
        parts = {
            "Weights": result.weights,
            "Activations": result.activations,
            "KV cache": result.kv_cache,
        }
        assert result.total == pytest.approx(sum(parts.values()))
        sentence = instrument.sentence(result)
        *compared, total, _ = in_one_unit("B", *parts.values(), result.total, result.memory)
        _, rows = instrument.table(result)
        for (label, size), row, said in zip(parts.items(), rows[:3], compared, strict=True):
            assert card(instrument, label) == show(size, "B", pad=True)
            assert said in sentence
            assert row[:2] == (label, show(size, "B"))
        assert rows[3][:2] == ("Needed", show(result.total, "B"))
        assert total in sentence
        short = result.total > ph.devices[instrument.device].memory
        assert result.out_of_memory == short
        assert (instrument.alert(result) is not None) == short
        assert ("does not fit" in card(instrument, "Decode, textbook")) == short
        if not short:
            assert card(instrument, "Decode, textbook") == show(
                instrument.decode.tokens_per_second, "tokens/s"
            )
            assert card(instrument, "Decode, textbook") in sentence
        assert instrument.marks["parts"].x[2, 1] == pytest.approx(result.total)
        assert instrument.marks["now"].y[0] == result.total


# The calibrated form.


def test_a_measured_device_has_two_forms_and_every_speed_says_which() -> None:
    instrument = MemoryBudget(device="h200-sxm", batch=16, sequence=2048)
    assert "form" not in instrument.hidden()
    textbook = instrument.decode
    assert card(instrument, "Decode, textbook") == show(textbook.tokens_per_second, "tokens/s")
    instrument.set(form="calibrated")
    decode = ph.serving_time("llama31-8b", "h200-sxm", "decode", 16, 2048, "fp16")
    prefill = ph.serving_time("llama31-8b", "h200-sxm", "prefill", 16, 2048, "fp16")
    assert instrument.calibrated is not None
    assert [step.time for step in instrument.calibrated] == [decode.time, prefill.time]
    assert instrument.decode == textbook  # still there, and faster
    assert decode.time > textbook.time
    said, rows = instrument.sentence(instrument.result), instrument.table(instrument.result)[1]
    for name, step in (("Decode", decode), ("Prefill", prefill)):
        speed = show(float(f"{step.tokens_per_second:.2g}"), "tokens/s")
        assert card(instrument, f"{name}, calibrated") == speed
        assert speed in said
        assert speed in {row[0]: row[1] for row in rows}[f"{name}, calibrated"]
    assert "Calibrated, with kernels replayed as a graph" in said
    assert "textbook" not in said
    assert list(instrument.explanations) == ["Memory", "Decode, calibrated", "Prefill, calibrated"]
    assert "attention" in instrument.hidden()  # counted in any case
    played = instrument.film(instrument.result)
    assert sum("(calibrated)" in words for _, words in played.moments) == 3


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"device": "h100-sxm"}, "no measurement of the H100 SXM is on record"),
        ({"precision": "fp8"}, "no measurement with a KV cache in fp8 is on record"),
    ],
)
def test_without_a_measurement_the_textbook_is_shown_and_named(
    inputs: dict[str, str], why: str
) -> None:
    instrument = MemoryBudget(**({"device": "h200-sxm", "form": "calibrated"} | inputs))
    assert instrument.shown_form == "textbook"
    assert instrument.calibrated is None
    assert f"By the textbook ({why}), decoding writes" in instrument.sentence(instrument.result)
    assert card(instrument, "Decode, textbook") == show(
        instrument.decode.tokens_per_second, "tokens/s"
    )


def test_heads_of_their_own_take_longer_in_either_form() -> None:
    instrument = MemoryBudget(device="h200-sxm", form="calibrated", batch=16, sequence=2048)
    assert instrument.calibrated is not None
    grouped = instrument.calibrated[0].time
    instrument.set(heads="full")
    assert instrument.calibrated[0].time > grouped


def test_the_calibrated_form_waits_for_its_gate() -> None:
    gate = Lock()
    instrument = MemoryBudget(device="h200-sxm", measurements=gate)
    panel = instrument._open().panel

    def offered() -> bool:
        return "form" not in panel.readout["hidden"]

    assert "form" in instrument.hidden()
    before = offered()
    gate.open()
    assert "form" not in instrument.hidden()
    assert (before, offered()) == (False, True)
