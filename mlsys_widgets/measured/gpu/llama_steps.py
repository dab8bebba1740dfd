"""One layer and the whole of Llama-3.1-8B: reading prompts and decoding, eager and as a graph."""

from __future__ import annotations

import gc
from typing import Any

from ..recorder import Value
from .attention_kernels import cache_attention
from .timing import Call, GpuBench
from .transformer import LLAMA31_8B, TOY, PlainLlama

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


def build(
    bench: GpuBench, steps: list[Step], precision: str, layers: int | None = None
) -> PlainLlama:
    """Build a model with room for the largest step, or for what the device can hold."""
    torch, sizes = bench.torch, TOY if bench.dry else LLAMA31_8B
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


def step_shape(phase: str, batch: int, sequence: int) -> dict[str, Value]:
    """Return what a document says of the sizes of a step."""
    return {"model": "llama31-8b", "phase": phase, "batch": batch, "sequence": sequence}


def layers(bench: GpuBench) -> None:
    """Measure one layer; calls alternate between two, so that no weight waits in the cache."""
    steps = bench.pick(LAYER, [LAYER[2], LAYER[7]], TOYS)
    with bench.torch.inference_mode(), bench.patient(PATIENCE):
        model = build(bench, steps, "fp16", 2)
        calls: dict[Step, Call] = {}
        for step in steps:
            with bench.recorder.attempt(f"layer, {step[0]} of {step[1]} x {step[2]}"):
                calls[step] = _layer(bench, model, *step)
            bench.release()
        _launched(bench, model, "layer", "fp16", calls)
        del model, calls
    bench.release()


def _layer(bench: GpuBench, model: PlainLlama, phase: str, batch: int, sequence: int) -> Call:
    """Record one layer replayed as a graph; return it for launching one by one."""
    tokens = sequence if phase == "prefill" else 1
    positions = model.places(phase, sequence)
    memory = model.static(positions, model.caches(batch, sequence))
    turn = model.turned(positions)
    x = bench.random(2, (batch, tokens, model.sizes.width), model.dtype)

    def call(i: int) -> Any:
        with model.kernels(phase):
            return model.layer(i % 2, x[i % 2], turn, memory)

    if not bool(bench.torch.isfinite(call(0)).all()):
        raise RuntimeError("the layer's output is not finite")
    graph = bench.replay(call, 2)
    bench.recorder.add(
        "layer", "graph", "fp16", step_shape(phase, batch, sequence), graph,
        kernels=bench.profile(call, 2).kernels, throughput=batch * tokens / graph.median,
        **counts(model, phase, batch, sequence, 1),
    )  # fmt: skip
    return call


def counts(model: PlainLlama, phase: str, batch: int, sequence: int, layers: int) -> dict[str, Any]:
    """Return the operations and the bytes of a step of so many layers."""
    tokens, whole = sequence if phase == "prefill" else 1, layers > 1
    sizes = model.sizes
    return {
        "flops": sizes.flops(batch, tokens, sequence, layers, whole),
        "bytes": sizes.bytes(batch, tokens, sequence, layers, whole),
    }


def _launched(
    bench: GpuBench, model: PlainLlama, kind: str, precision: str, calls: dict[Step, Call]
) -> None:
    """Record calls whose kernels are launched one by one, which waits for the host."""
    count = 1 if kind == "layer" else len(model.layers)
    for step, (wall, enqueue) in bench.host_steps(calls).items():
        phase, batch, sequence = step
        with bench.recorder.attempt(f"{kind}, {phase} of {batch} x {sequence}, one by one"):
            seen = bench.profile(calls[step], 2)
            tokens = sequence if phase == "prefill" else 1
            bench.recorder.add(
                kind, "eager", precision, step_shape(*step), wall, enqueue=enqueue,
                kernels=seen.kernels, gpu_busy=seen.busy, throughput=batch * tokens / wall.median,
                **counts(model, *step, count),
            )  # fmt: skip


def serving(bench: GpuBench) -> None:
    """Measure the whole model in fp16, then some of it in bf16."""
    for precision, steps in (("fp16", SERVING), ("bf16", OTHER)):
        wanted = bench.pick(steps, [("decode", 1, 2048), ("prefill", 1, 2048)], TOYS)
        with bench.recorder.attempt(f"the model in {precision}"):
            _serve(bench, wanted, precision)
        gc.collect()  # the next model needs the room of this one
        bench.release()


def _serve(bench: GpuBench, steps: list[Step], precision: str) -> None:
    with bench.torch.inference_mode(), bench.patient(PATIENCE):
        model = build(bench, steps, precision)
        calls: dict[Step, Call] = {}
        for step in steps:
            with bench.recorder.attempt(f"{precision}, {step[0]} of {step[1]} x {step[2]}"):
                calls[step] = _whole(bench, model, precision, *step)
            bench.release()
        _launched(bench, model, "serving", precision, calls)


def step_call(bench: GpuBench, model: PlainLlama, phase: str, batch: int, sequence: int) -> Call:
    """Return a step of the whole model as a call, tried once."""
    tokens = sequence if phase == "prefill" else 1
    positions = model.places(phase, sequence)
    caches = model.caches(batch, sequence)
    ids = bench.torch.randint(0, model.sizes.vocabulary, (batch, tokens), device=bench.device)

    def call(i: int) -> Any:
        with model.kernels(phase):
            return model.step(ids, positions, caches)

    if not bool(bench.torch.isfinite(call(0)).all()):
        raise RuntimeError("the logits are not finite")
    return call


def _whole(
    bench: GpuBench, model: PlainLlama, precision: str, phase: str, batch: int, sequence: int
) -> Call:
    """Record a step of the whole model as a graph; return it for launching one by one."""
    call = step_call(bench, model, phase, batch, sequence)
    tokens = sequence if phase == "prefill" else 1
    again = bench.capture(call, 1, hold=1)
    wall, enqueue = bench.steps(lambda i: again())
    seen = bench.profile(lambda i: again(), 1)
    bench.recorder.add(
        "serving", "graph", precision, step_shape(phase, batch, sequence), wall, enqueue=enqueue,
        kernels=seen.kernels, gpu_busy=seen.busy, throughput=batch * tokens / wall.median,
        **counts(model, phase, batch, sequence, len(model.layers)),
    )  # fmt: skip
    return call
