"""Attention over sequences of different lengths: each row sees its own tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import ragged_attention
from mlsys_widgets.measured.gpu.ragged_attention import RaggedRows, gathered
from mlsys_widgets.measured.recorder import Skip
from tests.measured.gpu.fake_torch import Tensor, fake_torch


def attended(q: Any, keys: Any, values: Any, start: int, length: int) -> Any:
    """One row by the definition, head by head."""
    heads, width = q.shape
    share = heads // keys.shape[1]
    result = []
    for head in range(heads):
        k, v = (each[start : start + length, head // share] for each in (keys, values))
        weights = np.exp(k @ q[head] / np.sqrt(width))
        result.append(weights / weights.sum() @ v)
    return np.stack(result)


def test_every_row_sees_its_own_tokens_and_no_others() -> None:
    torch = fake_torch()
    keys, values = (torch.randn(60, 2, 8, dtype=np.float64) for _ in range(2))
    q = torch.randn(3, 4, 8, dtype=np.float64)
    starts, lengths = (20, 0, 40), (1, 20, 7)
    rows = RaggedRows(Tensor(np.array(starts)), Tensor(np.array(lengths)), 20)
    found = gathered(torch, q, keys, values, rows)
    for row in range(3):
        exact = attended(q[row], keys, values, starts[row], lengths[row])
        assert np.allclose(found[row], exact)


def test_without_triton_the_kernel_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged_attention, "triton", None)
    with pytest.raises(Skip, match="Triton is not installed"):
        ragged_attention.pieces(fake_torch(), None, None, None, RaggedRows(None, None, 1))
