"""Parts shared by the sections of a language model: drawn sizes, rotating operands, recording."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from ..recorder import Skip, Value
from .numpy_kernels import KernelWork
from .timing import Array, Call, CpuBench

SEED = 15
DTYPE = "float32"
#: Enough sets of operands that those of a later call are not in a near cache.
MOST_SETS = 1024

Shape = tuple[int, ...]


def log_uniform(chance: random.Random, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`; each doubling of the size is equally likely.

    Examples
    --------
    >>> chance = random.Random(15)
    >>> [log_uniform(chance, 16, 1024) for _ in range(3)]
    [886, 17, 342]
    """
    return round(math.exp(chance.uniform(math.log(low), math.log(high))))


def operands(
    bench: CpuBench, inputs: Sequence[Shape], outputs: Sequence[Shape]
) -> list[list[Array]]:
    """Sets of operands, cut before the timing because cutting costs as much as a tiny kernel."""
    read, written = ([math.prod(shape) for shape in shapes] for shapes in (inputs, outputs))
    shapes = [*inputs, *outputs]
    found = [
        [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        for parts in bench.cut_apart(DTYPE, read, written, MOST_SETS)
    ]
    if not found:
        raise Skip("too little memory")
    return found


def record(
    bench: CpuBench,
    kind: str,
    shape: Mapping[str, Value],
    call: Call,
    work: KernelWork,
    *,
    threads: int,
    error: float,
    rate: float | None = None,
) -> None:
    """Time a call and record it; `rate` is what its throughput counts, per call."""
    seconds = bench.time(call)
    bench.recorder.add(
        kind, "numpy", "fp32", {**shape, "threads": threads}, seconds, flops=work.flops,
        bytes=work.bytes, traffic=work.traffic, kernels=work.operations, error=error,
        throughput=None if rate is None else rate / seconds.median,
    )  # fmt: skip
