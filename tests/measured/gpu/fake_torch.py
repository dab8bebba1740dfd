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


class Tensor:
    """A tensor on a numpy array."""

    def __init__(self, data: Any) -> None:
        self.data = np.asarray(data)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def element_size(self) -> int:
        return self.data.itemsize

    def numel(self) -> int:
        return self.data.size

    def view(self, *shape: Any) -> Tensor:
        return Tensor(self.data.reshape(*shape))

    reshape = view

    def transpose(self, first: int, second: int) -> Tensor:
        return Tensor(self.data.swapaxes(first, second))

    def unsqueeze(self, axis: int) -> Tensor:
        return Tensor(np.expand_dims(self.data, axis))

    def repeat_interleave(self, times: int, axis: int) -> Tensor:
        return Tensor(np.repeat(self.data, times, axis))

    def to(self, dtype: Any) -> Tensor:
        return Tensor(self.data.astype(dtype))

    def t(self) -> Tensor:
        return Tensor(self.data.T)

    def float(self) -> Tensor:
        return Tensor(self.data.astype(np.float32))

    def double(self) -> Tensor:
        return Tensor(self.data.astype(np.float64))

    def clone(self) -> Tensor:
        return Tensor(self.data.copy())

    def contiguous(self, memory_format: object = None) -> Tensor:
        return self

    def clamp_min(self, low: float) -> Tensor:
        return Tensor(np.maximum(self.data, low))

    def copy_(self, other: Tensor) -> Tensor:
        self.data[...] = other.data
        return self

    def fill_(self, value: float) -> Tensor:
        self.data[...] = value
        return self

    def neg_(self) -> Tensor:
        np.negative(self.data, out=self.data)
        return self

    def zero_(self) -> Tensor:
        return self.fill_(0.0)

    def round_(self) -> Tensor:
        np.round(self.data, out=self.data)
        return self

    def add_(self, other: Tensor) -> Tensor:
        self.data += other.data
        return self

    def normal_(self, middle: float = 0.0, spread: float = 1.0) -> Tensor:
        self.data[...] = np.random.default_rng(self.data.size).normal(
            middle, spread, self.data.shape
        )
        return self

    def index_copy_(self, axis: int, places: Tensor, source: Tensor) -> Tensor:
        np.moveaxis(self.data, axis, 0)[places.data] = np.moveaxis(source.data, axis, 0)
        return self

    def abs(self) -> Tensor:
        return Tensor(np.abs(self.data))

    def amax(self, axis: int, keepdim: bool = False) -> Tensor:
        return Tensor(self.data.max(axis, keepdims=keepdim))

    def cos(self) -> Tensor:
        return Tensor(np.cos(self.data))

    def sin(self) -> Tensor:
        return Tensor(np.sin(self.data))

    def all(self) -> bool:
        return bool(self.data.all())

    def any(self) -> bool:
        return bool(self.data.any())

    def sum(self) -> Any:
        return self.data.sum()

    def __getitem__(self, place: Any) -> Tensor:
        return Tensor(self.data[_data(place)])

    def __matmul__(self, other: Tensor) -> Tensor:
        return Tensor(self.data @ other.data)

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self.data + _data(other))

    def __sub__(self, other: Any) -> Tensor:
        return Tensor(self.data - _data(other))

    def __mul__(self, other: Any) -> Tensor:
        return Tensor(self.data * _data(other))

    def __truediv__(self, other: Any) -> Tensor:
        return Tensor((self.data / _data(other)).astype(self.data.dtype))

    def __rpow__(self, base: float) -> Tensor:
        return Tensor(base**self.data)

    def __neg__(self) -> Tensor:
        return Tensor(-self.data)

    def __rshift__(self, places: int) -> Tensor:
        return Tensor(self.data >> places)

    def __and__(self, other: Any) -> Tensor:
        return Tensor(self.data & _data(other))

    def __gt__(self, other: Any) -> Tensor:
        return Tensor(self.data > _data(other))

    def __lt__(self, other: Any) -> Tensor:
        return Tensor(self.data < _data(other))

    def __le__(self, other: Any) -> Tensor:
        return Tensor(self.data <= _data(other))

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return Tensor(self.data != _data(other))

    __hash__ = None  # type: ignore[assignment]


def _data(value: Any) -> Any:
    return value.data if isinstance(value, Tensor) else value


def _into(out: Tensor | None, data: Any) -> Tensor:
    return Tensor(data) if out is None else out.copy_(Tensor(data))


def _layer_norm(x: Tensor, _shape: object, w: Tensor, b: Tensor) -> Tensor:
    middle, spread = x.data.mean(-1, keepdims=True), x.data.std(-1, keepdims=True)
    return Tensor(((x.data - middle) / (spread + 1e-5) * w.data + b.data).astype(x.data.dtype))


def _softmax(x: Tensor, _axis: int, out: Tensor | None = None) -> Tensor:
    raised = np.exp(x.data - x.data.max(-1, keepdims=True))
    return _into(out, raised / raised.sum(-1, keepdims=True))


def _rms_norm(x: Tensor, _shape: object, w: Tensor, epsilon: float) -> Tensor:
    wide = x.data.astype(np.float32)
    size = np.sqrt((wide**2).mean(-1, keepdims=True) + epsilon)
    return Tensor((wide / size * w.data).astype(x.data.dtype))


def _linear(x: Tensor, w: Tensor) -> Tensor:
    wide = x.data.astype(np.float32) @ w.data.astype(np.float32).T
    return Tensor(wide.astype(x.data.dtype))


def _attention(
    q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False, enable_gqa: bool = False
) -> Tensor:
    times = q.shape[1] // k.shape[1]
    if times > 1 and not enable_gqa:
        raise ValueError("queries and keys have different heads")
    wide = [t.data.astype(np.float64) for t in (q, k, v)]
    keys, values = (np.repeat(t, times, 1) for t in wide[1:])
    scores = wide[0] @ keys.swapaxes(-2, -1) / np.sqrt(q.shape[-1])
    if is_causal:
        scores += np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    return Tensor((_softmax(Tensor(scores), -1).data @ values).astype(q.data.dtype))


def _scaled(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, out_dtype: Any, use_fast_accum: bool
) -> Tensor:
    wide = (a.data.astype(float) * scale_a.data) @ (b.data.astype(float) * scale_b.data)
    return Tensor(wide.astype(out_dtype))


def _pack_four_bits(raw: Tensor, _tiles: int) -> Tensor:
    """As PyTorch's kernel reads a byte: the high half first."""
    numbers = np.stack((raw.data >> 4, raw.data & 15), -1)
    return Tensor(numbers.reshape(raw.shape[0], -1).astype(float) - 8)


def _four_bit_product(x: Tensor, packed: Tensor, group: int, scales: Tensor) -> Tensor:
    scale, zero = (np.repeat(scales.data[..., i].T, group, 1) for i in range(2))
    return Tensor(x.data.astype(float) @ (packed.data * scale + zero).T)


def fake_torch() -> Any:
    """A module-like object; compiling a function gives the function back."""
    chance = np.random.default_rng(0)

    def randn(*shape: int, dtype: Any = np.float32, device: str = "cpu") -> Tensor:
        return Tensor(chance.standard_normal(shape).astype(dtype))

    functional = SimpleNamespace(
        layer_norm=_layer_norm,
        rms_norm=_rms_norm,
        linear=_linear,
        embedding=lambda ids, table: Tensor(table.data[ids.data]),
        silu=lambda x: Tensor(x.data / (1 + np.exp(-x.data))),
        scaled_dot_product_attention=_attention,
        relu=lambda x: x.clamp_min(0),
        dropout=lambda x, p, training: Tensor(
            np.where(chance.random(x.shape) < p, 0, x.data / (1 - p)).astype(x.data.dtype)
        ),
    )
    return SimpleNamespace(
        float16=np.float16, float32=np.float32, bfloat16=np.float16, int8=np.int8, int32=np.int32,
        uint8=np.uint8, int64=np.int64, float8_e4m3fn=np.float16,
        channels_last="channels_last", contiguous_format="contiguous_format",
        nn=SimpleNamespace(functional=functional),
        linalg=SimpleNamespace(vector_norm=lambda x: np.linalg.norm(x.data)),
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
        triu=lambda x, diagonal: Tensor(np.triu(x.data, diagonal)),
        arange=lambda *limits, device: Tensor(np.arange(*limits)),
        outer=lambda a, b: Tensor(np.outer(a.data, b.data)),
        cat=lambda parts, axis: Tensor(np.concatenate([part.data for part in parts], axis)),
        stack=lambda parts, axis: Tensor(np.stack([part.data for part in parts], axis)),
        index_select=lambda x, axis, places: Tensor(np.take(x.data, places.data, axis)),
        _fused_sdp_choice=lambda *operands, enable_gqa: 1,
        _scaled_mm=_scaled,
        ops=SimpleNamespace(
            aten=SimpleNamespace(
                _convert_weight_to_int4pack=_pack_four_bits, _weight_int4pack_mm=_four_bit_product
            )
        ),
        mm=lambda a, b, out: _into(out, a.data @ b.data),
        _int_mm=lambda a, b, out: _into(out, a.data.astype(int) @ b.data.astype(int)),
        add=lambda a, b, alpha=1.0, out=None: _into(out, a.data + alpha * b.data),
        clamp_min=lambda x, low, out: _into(out, np.maximum(x.data, low)),
        relu=lambda x: x.clamp_min(0),
        sigmoid=lambda x: Tensor(1 / (1 + np.exp(-x.data))),
        softmax=_softmax,
        equal=lambda a, b: np.array_equal(a.data, b.data),
        isfinite=lambda x: Tensor(np.isfinite(x.data)),
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
