"""As much of PyTorch as the sections of the GPU measurement use, on numpy.

It makes their bookkeeping testable where PyTorch is not installed: which cases they record, what
they count, and that they refuse wrong results. Times mean nothing here.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from mlsys_widgets.measured.gpu.timing import GpuBench, Profile
from mlsys_widgets.measured.recorder import Recorder


class Tensor(np.ndarray):
    """An array that also answers to what PyTorch calls otherwise."""

    def __new__(cls, data: Any) -> Any:
        return np.asarray(data).view(cls)

    __array_priority__ = 1  # joined to something, it stays a tensor
    view: Any = np.ndarray.reshape
    clone: Any = np.ndarray.copy
    to: Any = np.ndarray.astype
    transpose: Any = np.ndarray.swapaxes
    repeat_interleave: Any = np.ndarray.repeat

    def element_size(self) -> int:
        return self.itemsize

    def numel(self) -> int:
        return self.size

    def unsqueeze(self, axis: int) -> Any:
        return np.expand_dims(self, axis)

    def t(self) -> Any:
        return self.T

    def float(self) -> Any:
        return self.astype(np.float32)

    def double(self) -> Any:
        return self.astype(np.float64)

    def contiguous(self, memory_format: object = None) -> Any:
        return self

    def clamp_min(self, low: float) -> Any:
        return np.maximum(self, low)

    def abs(self) -> Any:
        return np.abs(self)

    def cos(self) -> Any:
        return np.cos(self)

    def sin(self) -> Any:
        return np.sin(self)

    def amax(self, axis: int, keepdim: bool = False) -> Any:
        return self.max(axis, keepdims=keepdim)

    def fill_(self, value: Any) -> Any:
        self[...] = value
        return self

    copy_ = fill_

    def zero_(self) -> Any:
        return self.fill_(0.0)

    def neg_(self) -> Any:
        return self.fill_(-self)

    def round_(self) -> Any:
        return self.fill_(np.round(self))

    def add_(self, other: Tensor) -> Any:
        return self.fill_(self + other)

    def normal_(self, middle: float = 0.0, spread: float = 1.0) -> Any:
        return self.fill_(np.random.default_rng(self.size).normal(middle, spread, self.shape))

    def index_copy_(self, axis: int, places: Tensor, source: Tensor) -> Any:
        self[(slice(None),) * axis + (places,)] = source
        return self

    def __truediv__(self, other: Any) -> Any:
        return super().__truediv__(other).astype(self.dtype)


def _into(out: Tensor | None, data: Any) -> Any:
    return Tensor(data) if out is None else out.copy_(data)


def _layer_norm(x: Tensor, _shape: object, w: Tensor, b: Tensor) -> Any:
    middle, spread = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
    return ((x - middle) / (spread + 1e-5) * w + b).astype(x.dtype)


def _softmax(x: Tensor, _axis: int, out: Tensor | None = None) -> Any:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return _into(out, raised / raised.sum(-1, keepdims=True))


def _rms_norm(x: Tensor, _shape: object, w: Tensor, epsilon: float) -> Any:
    wide = x.float()
    return (wide / np.sqrt((wide**2).mean(-1, keepdims=True) + epsilon) * w).astype(x.dtype)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    is_causal: bool = False,
    enable_gqa: bool = False,
    attn_mask: Any = 0.0,
) -> Any:
    times = q.shape[1] // k.shape[1]
    if times > 1 and not enable_gqa:
        raise ValueError("queries and keys have different heads")
    keys, values = (np.repeat(each.double(), times, 1) for each in (k, v))
    scores = q.double() @ keys.swapaxes(-2, -1) / np.sqrt(q.shape[-1]) + attn_mask
    if is_causal:
        scores += np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    return (_softmax(scores, -1) @ values).astype(q.dtype)


def _scaled(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, out_dtype: Any, use_fast_accum: bool
) -> Any:
    return ((a.double() * scale_a) @ (b.double() * scale_b)).astype(out_dtype)


def _pack_four_bits(raw: Tensor, _tiles: int) -> Any:
    """As PyTorch's kernel reads a byte: the high half first."""
    return np.stack((raw >> 4, raw & 15), -1).reshape(raw.shape[0], -1).double() - 8


def _four_bit_product(x: Tensor, packed: Tensor, group: int, scales: Tensor) -> Any:
    scale, zero = (np.repeat(scales[..., i].T, group, 1) for i in range(2))
    return x.double() @ (packed * scale + zero).T


def fake_torch() -> Any:
    """A module-like object; compiling a function gives the function back."""
    chance = np.random.default_rng(0)

    def randn(*shape: int, dtype: Any = np.float32, device: str = "cpu") -> Any:
        return Tensor(chance.standard_normal(shape).astype(dtype))

    functional = SimpleNamespace(
        layer_norm=_layer_norm,
        rms_norm=_rms_norm,
        linear=lambda x, w: (x.float() @ w.float().T).astype(x.dtype),
        embedding=lambda ids, table: table[ids],
        silu=lambda x: x / (1 + np.exp(-x)),
        scaled_dot_product_attention=_attention,
        relu=lambda x: x.clamp_min(0),
        dropout=lambda x, p, training: Tensor(
            np.where(chance.random(x.shape) < p, 0, x / (1 - p)).astype(x.dtype)
        ),
    )
    return SimpleNamespace(
        float16=np.float16, float32=np.float32, bfloat16=np.float16, int8=np.int8, int32=np.int32,
        uint8=np.uint8, int64=np.int64, float8_e4m3fn=np.float16,
        channels_last="channels_last", contiguous_format="contiguous_format",
        nn=SimpleNamespace(functional=functional),
        linalg=SimpleNamespace(vector_norm=np.linalg.norm),
        _dynamo=SimpleNamespace(reset=lambda: None),
        randn=randn,
        rand=lambda shape, device: Tensor(chance.random(shape)),
        randint=lambda low, high, shape, dtype=np.int64, device="cpu": Tensor(
            chance.integers(low, high, shape).astype(dtype)
        ),
        empty=lambda *shape, dtype=np.float32, device="cpu": Tensor(
            np.empty(shape[0] if isinstance(shape[0], tuple) else shape, dtype)
        ),
        ones=lambda shape, device, dtype=np.float32: Tensor(np.ones(shape, dtype)),
        full=lambda shape, value, dtype, device: Tensor(np.full(shape, value, dtype)),
        arange=lambda *limits, device: Tensor(np.arange(*limits)),
        where=lambda asked, yes, no: Tensor(np.where(asked, yes, no)),
        zeros=lambda shape, device, dtype=np.float32: Tensor(np.zeros(shape, dtype)),
        tensor=lambda data: Tensor(np.array(data)),
        triu=np.triu, outer=np.multiply.outer, cat=np.concatenate, stack=np.stack,
        equal=np.array_equal,
        isfinite=np.isfinite,
        index_select=lambda x, axis, places: np.take(x, places, axis),
        _fused_sdp_choice=lambda *operands, enable_gqa: 1,
        _scaled_mm=_scaled,
        ops=SimpleNamespace(
            aten=SimpleNamespace(
                _convert_weight_to_int4pack=_pack_four_bits, _weight_int4pack_mm=_four_bit_product
            )
        ),
        mm=lambda a, b, out: _into(out, a @ b),
        bmm=lambda a, b, out=None: _into(out, a @ b),
        _int_mm=lambda a, b, out: _into(out, a.astype(int) @ b.astype(int)),
        add=lambda a, b, alpha=1.0, out=None: _into(out, a + alpha * b),
        clamp_min=lambda x, low, out: _into(out, np.maximum(x, low)),
        relu=lambda x: x.clamp_min(0),
        sigmoid=lambda x: 1 / (1 + np.exp(-x)),
        softmax=_softmax,
        compile=lambda function, **options: function,
        no_grad=nullcontext,
        inference_mode=nullcontext,
        manual_seed=lambda seed: None,
        set_float32_matmul_precision=lambda word: None,
    )  # fmt: skip


class FakeBench(GpuBench):
    """A rehearsal without a profiler."""

    def __init__(self) -> None:
        recorder = Recorder(device={}, software={}, method={}, status="dry")
        super().__init__(fake_torch(), recorder, device="cpu", patience=0.0, dry=True)

    def profile(self, call: Any, calls: int = 5) -> Profile:
        call(0)
        return Profile(kernels=1, copies=0, busy=None)

    def recorded(self, kind: str) -> list[dict[str, Any]]:
        """The cases of a kind."""
        return [case for case in self.recorder.cases if case["kind"] == kind]
