"""Whole models at several batch sizes: eager, compiled and compiled with graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..recorder import Spread, Value
from . import models
from .compiling import MODES, cold_cache, compile_timed, warm_compiler
from .timing import Call, GpuBench, checked


@dataclass(frozen=True)
class ModelWorkload:
    """A model to measure: how to build it, its input, and the seconds its compilation may take."""

    name: str
    build: Any
    sample: tuple[int, ...]
    batches: tuple[int, ...]
    channels_last: bool
    patience: float


WORKLOADS = {
    "kws": ModelWorkload("ds-cnn", models.ds_cnn, (1, 49, 10), (1, 256), True, 25.0),
    "gpt2": ModelWorkload("gpt2-layer", models.gpt2_layer, (1024, 768), (8, 1), False, 20.0),
    "resnet50": ModelWorkload("resnet50", models.resnet50, (3, 224, 224), (32, 1, 256), True, 35.0),
}


def infer(bench: GpuBench, key: str) -> None:
    """Measure one model."""
    torch, recorder = bench.torch, bench.recorder
    workload = WORKLOADS[key]
    sample = workload.sample
    if bench.dry and key == "resnet50":
        sample = (3, 32, 32)
    if bench.dry and key == "gpt2":
        sample = (8, 768)
    recorder.need()
    torch.manual_seed(0)
    model = workload.build(torch).to(bench.device)
    models.settle(torch, model, torch.randn(16, *sample, device=bench.device))
    # Half precision on a CPU is emulated and slow; a rehearsal only has to run every line.
    dtype = torch.float16 if bench.cuda else torch.float32
    layout = torch.channels_last if workload.channels_last else torch.contiguous_format
    model = model.to(dtype=dtype, memory_format=layout)
    with recorder.attempt("warming the compiler"), torch.no_grad():
        warm_compiler(bench)
    for batch in bench.pick(workload.batches, workload.batches[:1], (2,)):
        with recorder.attempt(f"{workload.name} batch {batch}"), torch.no_grad():
            _batch(bench, workload, model, (batch, *sample), dtype, layout)
        bench.release()


def _batch(
    bench: GpuBench,
    workload: ModelWorkload,
    model: Any,
    shape: tuple[int, ...],
    dtype: Any,
    layout: Any,
) -> None:
    torch, recorder = bench.torch, bench.recorder
    batch = shape[0]
    size = torch.empty(0, dtype=dtype).element_size()
    elements = math.prod(shape)
    sets = min(64, bench.sets(elements * size))
    inputs = [x.contiguous(memory_format=layout) for x in bench.random(sets, shape, dtype)]
    case: dict[str, Value] = {
        "model": workload.name,
        "batch": batch,
        "input": "x".join(str(side) for side in shape),
        "channels_last": workload.channels_last,
        "parameter_bytes": sum(p.numel() * p.element_size() for p in model.parameters()),
        "input_bytes": elements * size,
    }
    if workload.name == "gpt2-layer":
        case |= {"width": 768, "heads": 12, "length": shape[1]}
    flops = _flops(torch, model, inputs[0])
    precision = "fp16" if size == 2 else "fp32"

    def record(variant: str, call: Call, first: Spread | None = None, **more: Any) -> None:
        bench.warm(call)
        seconds = bench.quiet_steps(call, 4)[0] if first else bench.wall(call)
        if first is not None and first.median < seconds.median:
            seconds = first
        seen = bench.profile(call)
        recorder.add(
            "model", variant, precision, case, seconds, latency=bench.latency(call), flops=flops,
            kernels=seen.kernels, gpu_busy=seen.busy, throughput=batch / seconds.median, **more,
        )  # fmt: skip

    def eager(i: int) -> object:
        return model(inputs[i % sets])

    reference = model(inputs[0]).clone()
    if not bool(torch.isfinite(reference).all()):
        raise RuntimeError("the model's output is not finite")
    # Launching waits for the host, which others share: before and after compiling, the quieter.
    bench.warm(eager)
    first = bench.quiet_steps(eager, 4)[0]
    for variant in MODES:
        with recorder.attempt(f"{workload.name} batch {batch} {variant}"):
            recorder.need(workload.patience)
            with cold_cache(torch):
                function, spent = compile_timed(bench, model, variant, lambda f: f(inputs[0]))

                def compiled(i: int, function: Any = function) -> object:
                    return function(inputs[i % sets])

                differ = "compiled and eager differ"
                checked(torch, function(inputs[0]), reference, 0.05, differ)
                record(variant, compiled, compile_seconds=spent)
                del function, compiled
    with recorder.attempt(f"{workload.name} batch {batch} eager"):
        record("eager", eager, first)


def _flops(torch: Any, model: Any, example: Any) -> float:
    """Multiply-adds of the matrix products and convolutions, times two."""
    from torch.utils.flop_counter import (  # type: ignore[import-not-found, unused-ignore]
        FlopCounterMode,
    )

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(example)
    return float(counter.get_total_flops())
