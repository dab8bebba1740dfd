"""The memory budget on screen says what physics says, whether the model fits or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.memory_budget import MemoryBudget

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


def card(instrument: MemoryBudget, label: str) -> str:
    return next(value for name, value, _ in instrument.cards(instrument.result) if name == label)


# PHYSICS.md, reference values: Llama-3-8B KV, B=64 S=2048.


def test_the_cache_with_its_own_heads_and_with_all() -> None:
    instrument = MemoryBudget(batch=64, sequence=2048)
    assert instrument.result.kv_cache == pytest.approx(17.2e9, rel=2e-3)
    assert instrument.result.kv_heads == 8
    instrument.set(heads="full")
    assert instrument.result.kv_cache == pytest.approx(68.7e9, rel=1e-3)
    assert instrument.result.kv_heads == 32


def test_the_parts_and_what_fits() -> None:
    result = MemoryBudget(batch=64, sequence=2048).result
    assert result.weights == 16e9
    assert result.activations == 8e9  # half of the weights: lab 11's rule of thumb
    assert result.total == pytest.approx(41.2e9, rel=1e-3)
    assert result.largest_batch == 208


def test_out_of_memory_says_by_how_much_and_what_would_fit() -> None:
    instrument = MemoryBudget(batch=64, sequence=2048)
    assert instrument.alert(instrument.result) is None
    instrument.set(heads="full")
    result = instrument.result
    words, tone = instrument.alert(result) or ("", "")
    assert tone == "red"
    assert f"{show(-result.headroom, 'B')} too much" in words
    assert f"{show(result.total / 80e9, '×')} the memory of the device" in words
    assert f"batch {show(result.largest_batch)} at this length" in words
    assert f"{show(result.largest_sequence, 'tokens')} at this batch" in words
    assert "8 KV heads, which need 41.2 GB" in words
    assert "fp8, which needs" in words
    assert "H200 SXM with 141 GB" in words
    assert card(instrument, "Decode") == "does not fit"
    assert card(instrument, "Prefill") == "does not fit"


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
    assert "Weights and activations alone do not fit" in words
    assert card(instrument, "Largest batch that fits") == "none"
    assert instrument.precision == "fp32"
    assert instrument.hidden() == {"precision"}  # there is one only


def test_the_largest_case_fits_nowhere() -> None:
    instrument = MemoryBudget(device="h200-sxm", precision="fp32", heads="full", batch=1024)
    instrument.set(sequence=131072)
    words, _ = instrument.alert(instrument.result) or ("", "")
    assert "Not even one sequence of this length fits" in words
    assert words.endswith("What would fit: nothing here.")


# Speeds.


def test_decode_is_memory_bound_and_prefill_is_not() -> None:
    instrument = MemoryBudget(batch=1, sequence=2048)
    assert instrument.decode.memory_bound
    assert not instrument.prefill.memory_bound
    assert card(instrument, "Decode") == "205.9 tokens/s"  # 3.35 TB/s over (16 GB + cache)
    assert round(instrument.prefill.tokens_per_second, -2) == 61800
    assert instrument.decode == ph.decode("llama3-8b", "h100-sxm", 1, 2048, kv_heads=8)


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


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"batch": 2000}, "Batch is 2,000"),
        ({"sequence": 1}, r"Sequence length \(tokens\) is 1"),
        ({"heads": "none"}, "Attention heads is 'none'"),
        ({"precision": "fp64"}, "Precision is 'fp64'"),
        ({"device": "orin-nx", "precision": "int8"}, "Precision is 'int8'"),
        ({"attention": 1}, "it must be True or False"),
        ({"batch": 8, "sequence": "long"}, "'long' is not a number"),
    ],
)
def test_nonsense_is_refused_with_a_sentence_and_nothing_is_lost(
    inputs: dict[str, object], named: str
) -> None:
    instrument = MemoryBudget(batch=3)
    before, sentence = instrument.inputs, instrument.sentence(instrument.result)
    with pytest.raises(ValueError, match=named):
        instrument.set(**inputs)
    assert instrument.inputs == before
    assert instrument.sentence(instrument.result) == sentence


# What is drawn.


def test_the_bar_and_the_limit() -> None:
    instrument = MemoryBudget()
    result = instrument.result
    bar = instrument.marks["parts"]
    assert [float(row[1] - row[0]) for row in bar.x] == pytest.approx(
        [result.weights, result.kv_cache, result.activations]
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
    marks = instrument.marks
    for move in walk:
        instrument.set(**move)
        precisions = ph.devices[instrument.device].precisions
        instrument.set(precision=data.draw(st.sampled_from(precisions)))
        result = instrument.result
        parts = {
            "Weights": result.weights,
            "KV cache": result.kv_cache,
            "Activations": result.activations,
        }
        assert result.total == pytest.approx(sum(parts.values()))
        sentence = instrument.sentence(result)
        _, rows = instrument.table(result)
        for (label, size), row in zip(parts.items(), rows[:3], strict=True):
            assert card(instrument, label) == show(size, "B", pad=True)
            assert show(size, "B") in sentence
            assert row[:2] == (label, show(size, "B"))
        assert rows[3][:2] == ("Needed", show(result.total, "B"))
        assert show(result.total, "B") in sentence
        short = result.total > ph.devices[instrument.device].memory
        assert result.out_of_memory == short
        assert (instrument.alert(result) is not None) == short
        assert ("does not fit" in card(instrument, "Decode")) == short
        if not short:
            assert card(instrument, "Decode") == show(
                instrument.decode.tokens_per_second, "tokens/s"
            )
            assert card(instrument, "Decode") in sentence
        assert instrument.marks["parts"].x[2, 1] == pytest.approx(result.total)
        assert instrument.marks["now"].y[0] == result.total
        for mark in marks.values():
            assert np.isfinite(mark.x).all()
            assert np.isfinite(mark.y).all()
        assert all(instrument.marks[name] is mark for name, mark in marks.items())
        assert set(instrument.marks) == set(marks)
