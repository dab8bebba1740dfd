"""The kernels of a language model in numpy: the right numbers, and the work that they count."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import float64_references as plain
from mlsys_widgets.measured.cpu import numpy_kernels as nk
from mlsys_widgets.measured.cpu.timing import Array


def random(*shape: int) -> Array:
    seed = np.random.SeedSequence(shape)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_softmax_sums_to_one_and_survives_large_scores() -> None:
    x = random(5, 33) * 1000
    out = nk.softmax(x, np.empty_like(x))
    assert np.isfinite(out).all()
    assert out.sum(axis=-1) == pytest.approx(np.ones(5), rel=1e-5)
    assert np.array_equal(nk.softmax(x, x), out)  # in place


def test_norms_scale_each_row_alone_and_apply_gain_and_bias() -> None:
    x = random(7, 65)
    gain, bias = random(65), random(1, 65)[0]
    scaled = nk.rms_norm(x, gain, np.empty_like(x))
    assert np.allclose(scaled, plain.plain_rms_norm(x) * gain, atol=1e-5)
    centered = nk.layer_norm(x, gain, bias, np.empty_like(x))
    assert np.allclose(centered, plain.plain_layer_norm(x) * gain + bias, atol=1e-5)
    assert np.allclose(nk.rms_norm(100 * x, gain, np.empty_like(x)), scaled, atol=1e-4)


def test_rotary_keeps_lengths_and_sees_only_distances() -> None:
    """The property that rotary embedding exists for: q·k depends on how far apart they are."""
    width = 16
    q, k = random(1, 1, width), random(1, 2, width)[:, :1]

    def product(at: int, other: int) -> float:
        turned = [
            nk.rotary(
                x, *nk.rotary_tables(np.array([position]), width),
                np.empty((1, 1, width // 2), dtype=np.float32), np.empty_like(x),
            )
            for x, position in ((q, at), (k, other))
        ]  # fmt: skip
        assert np.linalg.norm(turned[0]) == pytest.approx(np.linalg.norm(q), rel=1e-5)
        return float(turned[0].ravel() @ turned[1].ravel())

    assert product(9, 4) == pytest.approx(product(105, 100), abs=1e-4)
    assert product(9, 4) != pytest.approx(product(9, 5), abs=1e-3)
    with pytest.raises(ValueError, match="head_width must be even"):
        nk.rotary_tables(np.arange(3), 7)


def test_the_gate_closes_for_negative_numbers() -> None:
    both = np.array([[-80.0, 0.0, 20.0, 3.0, 3.0, 3.0]], dtype=np.float32)
    out = nk.gated(both, np.empty((1, 3), dtype=np.float32))
    assert out[0] == pytest.approx([0.0, 0.0, 60.0], abs=1e-5)


def test_an_embedding_is_the_rows_of_its_table() -> None:
    table, words = random(11, 4), np.array([3, 3, 10, 0])
    out = np.empty((4, 4), dtype=np.float32)
    assert np.array_equal(nk.embedding(table, words, out), table[words])
    assert np.array_equal(out, table[words])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (6, 1)])
def test_attention_is_that_of_each_head_alone(heads: int, kv_heads: int, causal: bool) -> None:
    batch, length, width = 2, 13, 8
    q = random(batch, heads, length, width)
    k, v = random(2, batch, kv_heads, length, width)
    # The heads' results side by side, as the next product wants them.
    side_by_side = np.full((batch, length, heads, width), np.nan, dtype=np.float32)
    out = nk.attention(
        q, k, v, np.empty_like(q), np.empty((batch, heads, length, length), dtype=np.float32),
        side_by_side.swapaxes(1, 2), nk.causal_mask(length) if causal else None,
    )  # fmt: skip
    assert np.shares_memory(out, side_by_side)
    for b in range(batch):
        for head in range(heads):
            group = head // (heads // kv_heads)
            wanted = plain.plain_attention(q[b, head], k[b, group], v[b, group], causal)
            assert np.allclose(side_by_side[b, :, head], wanted, atol=1e-5)


def test_a_new_token_gets_what_the_last_query_of_a_prompt_gets() -> None:
    batch, heads, kv_heads, length, width = 3, 8, 2, 21, 4
    q = random(batch, heads, length, width)
    k, v = random(2, batch, kv_heads, length, width)
    whole = nk.attention(
        q, k, v, np.empty_like(q), np.empty((batch, heads, length, length), dtype=np.float32),
        np.empty_like(q), nk.causal_mask(length),
    )  # fmt: skip
    last = np.ascontiguousarray(q[:, :, -1])
    scores = np.empty((batch, kv_heads, heads // kv_heads, length), dtype=np.float32)
    out = nk.decode_attention(last, k, v, np.empty_like(last), scores, np.empty_like(last))
    assert np.allclose(out, whole[:, :, -1], atol=1e-5)


def test_attention_counts_as_its_formula() -> None:
    work = nk.attention_work(2, 8, 2, 100, 100, 64, causal=False)
    assert work.flops == 4 * 2 * 8 * 100 * 100 * 64
    assert work.bytes == 4 * (2 * 2 * 8 * 100 * 64 + 2 * 2 * 2 * 100 * 64 + 4 * 2 * 8 * 100 * 100)
    masked = nk.attention_work(2, 8, 2, 100, 100, 64, causal=True)
    assert (masked.flops, masked.bytes) == (work.flops, work.bytes)
    assert masked.traffic > work.traffic > work.bytes
    token = nk.decode_attention_work(2, 8, 2, 100, 64)
    assert token.flops == 4 * 2 * 8 * 100 * 64
    assert token.bytes == 4 * (2 * 2 * 8 * 64 + 2 * 2 * 2 * 100 * 64)
    assert token.traffic > token.bytes


@pytest.mark.parametrize(
    ("work", "flops", "passes"),
    [
        (nk.softmax_work, 5, 8),
        (nk.rms_norm_work, 5, 5),
        (nk.layer_norm_work, 5, 10),
        (nk.gated_work, 5, 12),
        (nk.residual_work, 1, 3),
        (nk.embedding_work, 0, 2),
    ],
)
def test_small_kernels_count_flops_and_passes(work: object, flops: int, passes: int) -> None:
    assert callable(work)
    counted = work(2000, 3000)
    assert counted.flops == flops * 6_000_000
    assert counted.traffic == counted.bytes == pytest.approx(4 * passes * 6_000_000, rel=0.01)


class CountingArray(np.ndarray):
    """Counts the numpy operations that touch it."""

    operations = 0

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **how: object
    ) -> object:
        CountingArray.operations += 1
        plain_inputs = [np.asarray(x) if isinstance(x, CountingArray) else x for x in inputs]
        if "out" in how:
            how["out"] = tuple(np.asarray(x) for x in how["out"])  # type: ignore[attr-defined]
        return np.asarray(getattr(ufunc, method)(*plain_inputs, **how)).view(CountingArray)


@pytest.mark.parametrize(
    ("operations", "kernel"),
    [
        (nk.softmax_work(3, 8).operations, lambda x: nk.softmax(x, np.empty_like(x))),
        (nk.gated_work(3, 4).operations, lambda x: nk.gated(x, np.empty_like(x[:, :4]))),
        (
            nk.rotary_work(3, 1, 8).operations,
            lambda x: nk.rotary(
                x[:, None], *nk.rotary_tables(np.arange(3), 8), np.empty_like(x[:, None, :4]),
                np.empty_like(x[:, None]),
            ),
        ),
        (
            nk.attention_work(1, 1, 1, 3, 3, 8, causal=True).operations,
            lambda x: nk.attention(
                *[x[None, None]] * 3, np.empty_like(x[None, None]),
                np.empty((1, 1, 3, 3), dtype=np.float32).view(CountingArray),
                np.empty_like(x[None, None]), nk.causal_mask(3),
            ),
        ),
    ],
)  # fmt: skip
def test_operations_are_those_that_numpy_runs(operations: int, kernel: object) -> None:
    x = random(3, 8).view(CountingArray)
    CountingArray.operations = 0
    assert callable(kernel)
    kernel(x)
    assert CountingArray.operations == operations
