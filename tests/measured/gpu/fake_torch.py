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

    def view(self, shape: tuple[int, ...]) -> Tensor:
        return Tensor(self.data.reshape(shape))

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

    def __and__(self, other: Tensor) -> Tensor:
        return Tensor(self.data & other.data)

    def __gt__(self, other: Any) -> Tensor:
        return Tensor(self.data > _data(other))

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


def _softmax(x: Tensor, _axis: int, out: Tensor) -> Tensor:
    raised = np.exp(x.data - x.data.max(-1, keepdims=True))
    return _into(out, raised / raised.sum(-1, keepdims=True))


def fake_torch() -> Any:
    """A module-like object; compiling a function gives the function back."""
    chance = np.random.default_rng(0)

    def randn(*shape: int, dtype: Any = np.float32, device: str = "cpu") -> Tensor:
        return Tensor(chance.standard_normal(shape).astype(dtype))

    functional = SimpleNamespace(
        layer_norm=_layer_norm,
        relu=lambda x: x.clamp_min(0),
        dropout=lambda x, p, training: Tensor(
            np.where(chance.random(x.shape) < p, 0, x.data / (1 - p)).astype(x.data.dtype)
        ),
    )
    return SimpleNamespace(
        float16=np.float16, float32=np.float32, bfloat16=np.float16, int8=np.int8, int32=np.int32,
        channels_last="channels_last", contiguous_format="contiguous_format",
        nn=SimpleNamespace(functional=functional),
        linalg=SimpleNamespace(vector_norm=lambda x: np.linalg.norm(x.data)),
        _dynamo=SimpleNamespace(reset=lambda: None),
        randn=randn,
        randint=lambda low, high, shape, dtype, device: Tensor(
            chance.integers(low, high, shape).astype(dtype)
        ),
        empty=lambda *shape, dtype=np.float32, device="cpu": Tensor(np.empty(shape, dtype)),
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
