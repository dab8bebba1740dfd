"""The plain references: right where the answer is known, and strict about a wrong result."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import float64_references as plain


def test_a_wrong_result_is_refused() -> None:
    wanted = np.array([1.0, 2.0, 3.0])
    assert plain.relative_difference(wanted * (1 + 1e-6), wanted) == pytest.approx(1e-6, rel=0.01)
    for wrong in (wanted * 1.01, wanted * np.nan, np.zeros(3)):
        with pytest.raises(RuntimeError, match="the result is wrong"):
            plain.relative_difference(wrong, wanted)


def test_equal_keys_share_the_attention() -> None:
    q, k = np.ones((2, 4)), np.ones((3, 4))
    v = np.arange(12.0).reshape(3, 4)
    assert plain.plain_attention(q, k, v) == pytest.approx(np.tile(v.mean(axis=0), (2, 1)))
    # Two new tokens after one in the cache: the first of them does not see the second.
    causal = plain.plain_attention(q, k, v, causal=True)
    assert causal[0] == pytest.approx(v[:2].mean(axis=0))
    assert causal[1] == pytest.approx(v.mean(axis=0))


def test_rotary_turns_the_first_pair_by_one_radian_per_position() -> None:
    x = np.array([[[1.0, 0.0]]] * 3)
    found = plain.plain_rotary(x, np.arange(3))
    assert found[:, 0, 0] == pytest.approx(np.cos([0, 1, 2]))
    assert found[:, 0, 1] == pytest.approx(np.sin([0, 1, 2]))


def test_norms_have_unit_scale() -> None:
    x = np.random.default_rng(0).normal(3.0, 2.0, (4, 1000))
    assert np.mean(plain.plain_rms_norm(x) ** 2, axis=-1) == pytest.approx(np.ones(4), rel=1e-4)
    centered = plain.plain_layer_norm(x)
    assert centered.mean(axis=-1) == pytest.approx(np.zeros(4), abs=1e-9)
    assert centered.std(axis=-1) == pytest.approx(np.ones(4), rel=1e-4)
