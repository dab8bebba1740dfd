"""The engine writes in slots what reading each sequence whole gives, whatever lies beside it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu.attention_kernels import CacheAttention
from mlsys_widgets.measured.gpu.ragged_attention import RaggedRows, gathered
from mlsys_widgets.measured.gpu.serving_engine import SlotEngine
from mlsys_widgets.measured.gpu.transformer import TOY, PlainLlama
from mlsys_widgets.measured.recorder import Skip
from tests.measured.gpu.fake_torch import FakeBench


class ForgetfulBench(FakeBench):
    """Records as CUDA does: what was recorded holds no tensor and no function."""

    def capture(self, call: Any, calls: int, hold: int = 0) -> Any:
        recorded = weakref.ref(call)

        def again() -> None:
            recalled = recorded()
            assert recalled is not None, "nothing holds what the recorded step reads"
            recalled(0)

        return again


def engine(
    attend: Any = gathered, slots: int = 4, room: int = 16, bench: FakeBench | None = None
) -> SlotEngine:
    bench = bench or FakeBench()
    model = PlainLlama(
        bench, TOY, np.float32, layers=2, tokens=80, longest=32, way=CacheAttention("grouped", True)
    )
    made = SlotEngine(bench, model, slots, room, attend)
    made.prepare((4, 8), (1, 3, 4))
    return made


def test_a_token_in_a_slot_is_that_of_its_sequence() -> None:
    assert engine().check((8, 4)) < 1e-5


def test_what_a_recorded_step_reads_is_kept() -> None:
    """On a GPU the places of a prompt were freed once, and something else came to lie there."""
    made = engine(bench=ForgetfulBench())
    gc.collect()
    assert made.check((8, 4)) < 1e-5


def test_steps_can_be_launched_instead() -> None:
    bench = FakeBench()
    bench.capture = None  # type: ignore[assignment,method-assign]
    model = engine().model
    launched = SlotEngine(bench, model, 4, 16, gathered, recorded=False)
    launched.prepare((4, 8), (3,))
    assert launched.check((8, 4)) < 1e-5


def test_a_prompt_that_is_read_wrongly_is_told_from_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shifted(made: SlotEngine, number: int, where: Any, k: Any, v: Any) -> None:
        for cache, new in zip(made.caches[number], (k, v), strict=True):
            cache[where] = new * 2 if len(where) == 3 else new

    monkeypatch.setattr(SlotEngine, "_keep", shifted)
    with pytest.raises(RuntimeError, match="a token written in slot 3 differs from reading it"):
        engine().check((8, 4))
    monkeypatch.setattr(SlotEngine, "read", lambda made, slot, ids: made._whole(ids[:2])[None])
    with pytest.raises(RuntimeError, match="the prompt of slot 3 differs from reading it alone"):
        engine().check((8, 4))


def test_attention_that_looks_past_a_sequence_is_refused() -> None:
    def too_far(torch: Any, q: Any, keys: Any, values: Any, rows: RaggedRows) -> Any:
        return gathered(
            torch, q, keys, values, RaggedRows(rows.starts, rows.lengths + 2, rows.longest)
        )

    with pytest.raises(RuntimeError, match=r"a token written in slot \d differs"):
        engine(too_far).check((8, 4))


def test_many_steps_later_the_tokens_are_still_right() -> None:
    """Two sequences beside each other are what each of them is alone."""
    made = engine()
    prompts = {0: np.arange(4), 2: np.arange(8)}
    written: dict[int, list[int]] = {}
    for slot, ids in prompts.items():
        made.read(slot, ids)
        written[slot] = [int(made.tokens[slot])]
    for step in range(5):
        made.write((0, 2), (4 + step, 8 + step))
        for slot in prompts:
            written[slot].append(int(made.tokens[slot]))
    for slot, ids in prompts.items():
        alone = engine()
        alone.read(1, ids)
        found = [int(alone.tokens[1])]
        for step in range(5):
            alone.write((1,), (len(ids) + step,))
            found.append(int(alone.tokens[1]))
        assert found == written[slot]


def test_the_fewest_rows_that_hold_the_sequences() -> None:
    made = engine()
    assert [made.rows_for(count) for count in (1, 2, 3, 4)] == [1, 3, 3, 4]


def test_slots_that_do_not_fit_are_refused() -> None:
    with pytest.raises(Skip, match="the cache has room for 80"):
        engine(slots=5)
