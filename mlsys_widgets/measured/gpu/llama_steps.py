"""One layer and the whole of Llama-3-8B: reading prompts and decoding, eager and as a graph."""

from __future__ import annotations

import gc
from typing import Any

from ..recorder import Value
from .attention_kernels import cache_attention
from .timing import Call, GpuBench
from .transformer import LLAMA3_8B, TOY, PlainLlama

PATIENCE = 0.12
Step = tuple[str, int, int]

LAYER: list[Step] = [
    ("prefill", 1, 128), ("prefill", 1, 777), ("prefill", 1, 2048), ("prefill", 4, 1024),
    ("prefill", 8, 2000), ("prefill", 1, 15001), ("decode", 1, 128), ("decode", 1, 2048),
    ("decode", 1, 16384), ("decode", 7, 999), ("decode", 16, 2048), ("decode", 32, 512),
    ("decode", 64, 4096), ("decode", 128, 1301),
]  # fmt: skip
SERVING: list[Step] = [
    ("decode", 1, 512), ("decode", 1, 2048), ("decode", 1, 8192), ("decode", 1, 20000),
    ("decode", 2, 2048), ("decode", 4, 1000), ("decode", 4, 8192), ("decode", 7, 3001),
    ("decode", 8, 2048), ("decode", 16, 512), ("decode", 16, 8192), ("decode", 32, 2048),
    ("decode", 32, 16000), ("decode", 64, 512), ("decode", 64, 2048), ("decode", 128, 512),
    ("decode", 128, 4000), ("decode", 256, 1024),
    ("prefill", 1, 128), ("prefill", 1, 500), ("prefill", 1, 2048), ("prefill", 1, 3333),
    ("prefill", 1, 8192), ("prefill", 2, 6000), ("prefill", 4, 1024), ("prefill", 8, 2000),
    ("prefill", 16, 512),
]  # fmt: skip
OTHER: list[Step] = [("decode", 1, 2048), ("decode", 32, 2048), ("prefill", 4, 1024)]
TOYS: list[Step] = [("prefill", 2, 9), ("decode", 3, 11)]


def _model(
    bench: GpuBench, steps: list[Step], precision: str, layers: int | None = None
) -> PlainLlama:
    """A model with room for the largest of the steps, or for what the device has room for."""
    torch, sizes = bench.torch, TOY if bench.dry else LLAMA3_8B
    way = cache_attention(bench)
    built = layers or sizes.layers
    tokens = max(64, *(batch * sequence for _, batch, sequence in steps))
    if bench.cuda:
        free, _ = torch.cuda.mem_get_info()
        room = (0.75 * free - 2 * sizes.weights(built)) / (2 * sizes.cached(built))
        tokens = max(64, min(tokens, int(room)))
    model = PlainLlama(
        bench, sizes, torch.float16 if precision == "fp16" else torch.bfloat16, layers=built,
        tokens=tokens, longest=max(64, *(sequence for _, _, sequence in steps)), way=way,
    )  # fmt: skip
    error = model.check()
    bench.recorder.notes.append(
        f"Section {bench.recorder.section}, {precision}: a token decoded over the cache against the"
        f" same token read with its prompt, relative error of the logits {error:.2g}."
    )
    return model


def _shape(phase: str, batch: int, sequence: int) -> dict[str, Value]:
    return {"model": "llama3-8b", "phase": phase, "batch": batch, "sequence": sequence}


def layers(bench: GpuBench) -> None:
    """One layer; calls alternate between two, so that no weight waits in the cache."""
    steps = bench.pick(LAYER, [LAYER[2], LAYER[7]], TOYS)
    with bench.torch.no_grad(), bench.patient(PATIENCE):
        model = _model(bench, steps, "fp16", 2)
        for phase, batch, sequence in steps:
            what = f"layer, {phase} of {batch} x {sequence}"
            with bench.recorder.attempt(what), model.kernels(phase):
                _layer(bench, model, phase, batch, sequence)
            bench.release()
        del model
    bench.release()


def _layer(bench: GpuBench, model: PlainLlama, phase: str, batch: int, sequence: int) -> None:
    sizes, torch = model.sizes, bench.torch
    tokens = sequence if phase == "prefill" else 1
    positions = model.places(phase, sequence)
    caches = model.caches(batch, sequence)
    turn = model.turned(positions)
    x = bench.random(2, (batch, tokens, sizes.width), model.dtype)

    def call(i: int) -> Any:
        return model.layer(i % 2, x[i % 2], positions, turn, caches[i % 2])

    if not bool(torch.isfinite(call(0)).all()):
        raise RuntimeError("the layer's output is not finite")
    counts: dict[str, Any] = {
        "flops": sizes.flops(batch, tokens, sequence, 1, False),
        "bytes": sizes.bytes(batch, tokens, sequence, 1, False),
    }
    shape = _shape(phase, batch, sequence)
    seen = bench.profile(call, 2)
    counts |= {"kernels": seen.kernels, "gpu_busy": seen.busy}
    eager, enqueue = bench.steps(call)
    bench.recorder.add(
        "layer", "eager", "fp16", shape, eager, enqueue=enqueue,
        throughput=batch * tokens / eager.median, **counts,
    )  # fmt: skip
    graph = bench.replay(call, 2)
    counts["gpu_busy"] = None
    bench.recorder.add(
        "layer", "graph", "fp16", shape, graph, throughput=batch * tokens / graph.median, **counts
    )


def serving(bench: GpuBench) -> None:
    """The whole model in fp16, then some of it in bf16."""
    for precision, steps in (("fp16", SERVING), ("bf16", OTHER)):
        wanted = bench.pick(steps, [("decode", 1, 2048), ("prefill", 1, 2048)], TOYS)
        with bench.recorder.attempt(f"the model in {precision}"):
            _serve(bench, wanted, precision)
        gc.collect()  # the next model needs the room of this one
        bench.release()


def _serve(bench: GpuBench, steps: list[Step], precision: str) -> None:
    with bench.torch.no_grad(), bench.patient(PATIENCE):
        model = _model(bench, steps, precision)
        for phase, batch, sequence in steps:
            what = f"{precision} {phase} of {batch} x {sequence}"
            with bench.recorder.attempt(what), model.kernels(phase):
                _whole(bench, model, precision, phase, batch, sequence)
            bench.release()


def _whole(
    bench: GpuBench, model: PlainLlama, precision: str, phase: str, batch: int, sequence: int
) -> None:
    sizes, torch = model.sizes, bench.torch
    tokens = sequence if phase == "prefill" else 1
    positions = model.places(phase, sequence)
    caches = model.caches(batch, sequence)
    ids = torch.randint(0, sizes.vocabulary, (batch, tokens), device=bench.device)
    number = len(model.layers)

    def call(i: int) -> Any:
        return model.step(ids, positions, caches)

    if not bool(torch.isfinite(call(0)).all()):
        raise RuntimeError("the logits are not finite")
    counts: dict[str, Any] = {
        "flops": sizes.flops(batch, tokens, sequence, number, True),
        "bytes": sizes.bytes(batch, tokens, sequence, number, True),
    }

    def record(variant: str, step: Call) -> None:
        wall, enqueue = bench.steps(step)
        seen = bench.profile(step, 1)
        bench.recorder.add(
            "serving", variant, precision, _shape(phase, batch, sequence), wall, enqueue=enqueue,
            kernels=seen.kernels, gpu_busy=seen.busy, throughput=batch * tokens / wall.median,
            **counts,
        )  # fmt: skip

    record("eager", call)
    again = bench.capture(call, 1, hold=1)
    record("graph", lambda i: again())
