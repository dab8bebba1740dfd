"""Measures an NVIDIA GPU through PyTorch, which is imported only when a measurement starts."""

from __future__ import annotations

import gc
import importlib
import platform
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..cpu import machine
from ..recorder import Recorder
from .timing import GpuBench

METHOD = {
    "summary": (
        "PyTorch on one GPU, clocks as found. Kernels are timed twice: variant eager is the wall"
        " time per call of a synchronized loop of calls; variants graph and triton_graph are CUDA"
        " events around replays of a graph that holds many calls, which leaves launches out."
        " latency is one call alone between two synchronizations; enqueue is the host's share with"
        " room in the queue. Dispatch cases are the wall time of the whole stream, final"
        " synchronization included. Kernel counts and GPU-busy time (union of kernels and copies)"
        " come from torch.profiler. compile_seconds is the first call (compiled) or the first three"
        " (compiled_graph: warm-up, recording, replay) with an empty Inductor and Triton cache, the"
        " compiler itself imported and its workers started. compiled_graph is mode reduce-overhead,"
        " which copies its inputs into the graph. Models run in eval mode, fp16 weights"
        " (model.half), no autocast, channels_last for the convolutional ones, random weights,"
        " cuDNN autotuning off. fp32 products run with TF32 off, fp8 products are e4m3 with fast"
        " accumulation into bf16, int8 products give int32. Products up to N = 1024, fused chains"
        " and compiled models are checked before they are timed: error is the relative error"
        " against float64."
    ),
    "warm_up": (
        "At least 7 calls of each case before its clock starts, 2 where one takes longer than"
        " 0.05 s, two replays of each graph, 0.1 s of calls of a fused chain and 0.3 s of a model."
    ),
    "repetitions": (
        "Each repetition is a loop of about 5 ms (at least one call), or one replay; 9 to 41"
        " repetitions, 3 or more where one takes longer than 0.05 s. Median and quartiles."
        " What waits for the host (layers, models, streams and training steps launched one by one)"
        " is taken in several rounds, of which the quietest stands: a host that others share is up"
        " to twice as slow for seconds at a time."
    ),
    "buffers": (
        "Random operands in rotating sets that together exceed four times the L2, except for the"
        " in-place kernels of launch and dispatch, and for model weights, which stay in place."
        " Temporaries lie where the allocator puts them. Attention, the small kernels of a"
        " transformer and conversions rotate through at most 1024 sets: what is smaller than that"
        " stays in the cache, as in a model. A KV cache larger than four times the L2 is one set,"
        " and so is a batch of products, whose matrices take 3 GB."
        " Beside listed sizes, every section since attention, and gemm in fp16, holds sizes drawn"
        " log-uniform with seed 15."
    ),
    "counting": (
        "flops and bytes as the physics core counts them: GEMM 2MNK and b(MN+NK+MK); layer norm"
        " and softmax 5 FLOP per element and 3 passes; a chain's operations each read and write;"
        " LayerNorm + Dropout + ReLU 10 FLOP per element, LayerNorm + ReLU 6. traffic is the fewest"
        " bytes that this implementation moves: wider results, dropout masks and fused passes"
        " counted as they are. Copy counts bytes read plus bytes written. Model FLOP: convolutions"
        " and matrix products, causal attention counted in full. Sections attention to training"
        " count causal attention by half. Attention: 4 FLOP per query, key and channel; queries,"
        " keys, values and results once, and four passes over the scores where they are written"
        " (traffic: six with a mask, which is added in a pass of its own). Rotary, gated, residual,"
        " conversion: one FLOP per element of each operation; bytes read and write each tensor"
        " once, traffic counts each kernel. Weight-only int4: half a byte per weight, traffic adds"
        " scales and zeros. A layer or a model: 2 FLOP per weight of the products and token;"
        " bytes are the weights once and the cache."
    ),
    "language_models": (
        "Sections attention, decoding, transformer, few_rows and quantized are replayed only"
        " (variant graph). Tiled attention is scaled_dot_product_attention with the backend that"
        " PyTorch picks; naive attention is two products with a softmax between them. Attention"
        " over a cache is the fastest of four ways, tried in a few shapes (see the notes): grouped"
        " folds the query heads of a group into the query length, plain leaves them to PyTorch."
        " fp8 products have one scale per tensor; int4 is PyTorch's packed weight with bf16"
        " activations and groups of 128. layer and serving are"
        " Llama-3.1-8B in plain PyTorch with random weights: RMS norm, one QKV product, rotary"
        " embedding of queries and keys together (five kernels), a write to the cache by"
        " index_copy (two), attention, output product, sum, RMS norm, one gate-up product, gated"
        " activation (two), down product, sum; then the last token's norm and logits. prefill"
        " reads batch prompts of sequence tokens; decode reads one new token each, writes it to"
        " the last place of a static cache of sequence tokens and attends over all of them."
        " Before either is timed, a token decoded over the cache must agree with the same token"
        " read with its prompt. layer: eager is wall time, graph device time of replays, calls"
        " alternating between two layers. serving: wall time of a step, final synchronization"
        " included, launched kernel by kernel or as one replayed graph. throughput is tokens per"
        " second."
    ),
    "training": (
        "GPT-2 in plain PyTorch, eager: weights, gradients and both Adam states in bf16 (fused"
        " AdamW), no dropout, embedding tied to the logits, cross entropy on bf16 logits, gradients"
        " set to zero and kept. A step is zeroing, forward, backward and optimizer. memory:"
        " weights, gradients and optimizer are the sizes of their tensors; peak is the allocator's"
        " highest mark during a step minus what was allocated before the model was built (token"
        " ids and library workspaces are not in it); activations is the rest. Saved for backward"
        " per layer, in units of batch x sequence x width x 2 bytes: the input of each norm (2) and"
        " its result (2), queries, keys and values (3), the result of attention (1), the input of"
        " GELU and its result (4 each): 16; beside them two numbers per row and norm and one per"
        " row and head in fp32. The residual stream is the inputs of the norms. Past the last"
        " layer: input and result of the last norm, log-softmax of the logits, and at the peak the"
        " logits or their gradient."
    ),
    "energy": (
        "The card as found: neither clocks nor a limit of power are set. A call is repeated without"
        " a pause, two pieces of 25 ms ahead of the device: 1.2 s warm, then at least 3 s in which"
        " a thread reads the driver's counter of the card's energy (NVML) every 2 ms. watts is the"
        " counter's difference between its first and its last tick of that time, over the time"
        " between them; joules is watts times the mean time of a call. reported_watts is the median"
        " of what the driver calls power, an average over its last second. Serving is the model of"
        " section serving, one recorded step per call (eager: launched kernel by kernel). Steps"
        " marked drawn were drawn with a seed, to judge a model of power that was fitted to the"
        " others. idle is the card without work, before anything ran and at the end."
    ),
    "replay": (
        "Requests are drawn with a seed: Poisson arrivals, sizes log-normal with sigma 0.7, prompts"
        " rounded to 64 tokens and at most 1024, answers at most 512. Medians of prompt and answer,"
        " rate and number: steady 256, 120, 16 per s, 256; busy 384, 100, 24 per s, 320; burst 256,"
        " 120, all at once, 128. The engine is the model of section serving with slots of 1536"
        " tokens. A prompt is read alone, which writes the first token of its answer; a step writes"
        " one token for each running sequence, over exactly the tokens it has. Both are replayed as"
        " graphs, recorded for every length of a prompt and for 1, 2, 4, 8, 12, 16, 24, 32, 40, 48,"
        " 56 or 64 rows, the fewest that hold the sequences. The host waits for every step."
        " continuous: before each step, requests that have come are read into free slots, the"
        " oldest first; then every running sequence gets a token; a slot is free when its answer is"
        " complete. static: when as many requests wait as there are slots, or all that are left,"
        " they are read one after the other and get tokens until the longest answer is complete;"
        " rows of complete answers go on. seconds is the time until the last answer is complete,"
        " throughput is tokens of answers per second of it, energy that of the whole replay."
        " verification (section speculation) reads several new tokens of each sequence in one step"
        " over a cache that holds the others; tokens = 1 is a plain step."
    ),
}

# Seconds that a whole measurement may take, and that the sections before one leave for it.
BUDGET = 1500.0
SECTIONS: dict[str, float] = {
    "copy": 10, "launch": 10, "gemm": 30, "batched": 5, "projection": 10, "dispatch": 50,
    "fusion": 45, "kws": 10, "gpt2": 10, "resnet50": 20, "precisions": 80, "elementwise": 20,
    "normalization": 10, "attention": 50, "decoding": 30, "transformer": 30, "few_rows": 50,
    "quantized": 40, "layer": 20, "serving": 80, "training": 30, "energy": 230, "replay": 240,
    "speculation": 70,
}  # fmt: skip

KEYS = {
    "h200": "h200-sxm", "h100-80gb-hbm3": "h100-sxm", "h100": "h100-sxm",
    "a100-sxm4-80gb": "a100-sxm", "a100-sxm4-40gb": "a100-sxm-40gb",
}  # fmt: skip


def _run(bench: GpuBench, section: str) -> None:
    from . import (
        attention_kernels,
        card_energy,
        fused_chains,
        gemm,
        inference,
        launches,
        linear_products,
        llama_steps,
        quantized_products,
        replays,
        speculation,
        streams,
        token_kernels,
        training_steps,
    )

    actions: dict[str, Callable[[], None]] = {
        "copy": lambda: streams.copies(bench),
        "launch": lambda: launches.launches(bench),
        "gemm": lambda: gemm.squares(bench, ["fp16"]),
        "batched": lambda: gemm.batches(bench),
        "projection": lambda: gemm.projections(bench, ["fp16"]),
        "dispatch": lambda: launches.streams(bench),
        "fusion": lambda: fused_chains.fusions(bench),
        "kws": lambda: inference.infer(bench, "kws"),
        "gpt2": lambda: inference.infer(bench, "gpt2"),
        "resnet50": lambda: inference.infer(bench, "resnet50"),
        "precisions": lambda: _precisions(bench),
        "elementwise": lambda: streams.elementwise(bench),
        "normalization": lambda: streams.normalizations(bench),
        "attention": lambda: attention_kernels.attention(bench),
        "decoding": lambda: attention_kernels.decoding(bench),
        "transformer": lambda: token_kernels.token_kernels(bench),
        "few_rows": lambda: linear_products.linear_products(bench),
        "quantized": lambda: quantized_products.quantized_products(bench),
        "layer": lambda: llama_steps.layers(bench),
        "serving": lambda: llama_steps.serving(bench),
        "training": lambda: training_steps.training(bench),
        "energy": lambda: card_energy.energy(bench),
        "replay": lambda: replays.replays(bench),
        "speculation": lambda: speculation.speculation(bench),
    }
    actions[section]()


def _precisions(bench: GpuBench) -> None:
    from . import gemm

    gemm.squares(bench, ["bf16", "tf32", "fp32", "int8", "fp8"])
    gemm.projections(bench, ["bf16"])


def usable() -> bool:
    """Whether PyTorch is installed and sees a CUDA GPU."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def describe(torch: Any, key: str | None = None) -> dict[str, Any]:
    """Describe the GPU for a document."""
    if not torch.cuda.is_available():
        return {
            "key": "dry-run", "name": "no GPU, a rehearsal", "kind": "gpu", "units": 1,
            "memory_bytes": 0, "last_cache_bytes": 0, "driver": None, "capability": None,
        }  # fmt: skip
    seen = torch.cuda.get_device_properties(0)
    slug = re.sub(r"[^a-z0-9]+", "-", seen.name.lower().replace("nvidia", "")).strip("-")
    return {
        "key": key or KEYS.get(slug, slug) or "gpu",
        "name": seen.name,
        "kind": "gpu",
        "units": int(seen.multi_processor_count),
        "memory_bytes": int(seen.total_memory),
        "last_cache_bytes": int(getattr(seen, "L2_cache_size", 0)),
        "driver": _smi("driver_version"),
        "capability": f"{seen.major}.{seen.minor}",
    }


def _smi(fields: str) -> str | None:
    """Return what nvidia-smi reports; ``None`` if it is not installed or does not answer."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        done = subprocess.run(
            [tool, f"--query-gpu={fields}", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if lines else None


def _software(torch: Any) -> dict[str, str]:
    versions = {"python": platform.python_version(), "torch": str(torch.__version__)}
    if torch.version.cuda:
        versions["cuda"] = str(torch.version.cuda)
    cudnn = torch.backends.cudnn.version()
    if cudnn:
        versions["cudnn"] = str(cudnn)
    for name in ("numpy", "triton", "torchvision"):
        try:
            versions[name] = str(importlib.import_module(name).__version__)
        except Exception:  # a broken optional library is no reason not to measure the GPU
            continue
    return versions


def measure(
    *,
    quick: bool = False,
    budget: float = BUDGET,
    sections: Iterable[str] | None = None,
    key: str | None = None,
    dry: bool = False,
    say: Callable[[str], None] = lambda text: None,
    after: Callable[[Recorder], None] = lambda recorder: None,
) -> Recorder:
    """Measure the first GPU.

    No case starts after ``budget`` seconds. ``dry`` rehearses every section with toy sizes, on a
    CPU too; the document is marked as such and is not accepted as a measurement. ``say`` is called
    with what is being done, and ``after`` with the recorder after every section.
    """
    torch: Any = importlib.import_module("torch")
    if not dry and not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no CUDA GPU on this machine")
    device = describe(torch, key)
    recorder = Recorder(
        device=device,
        software=_software(torch),
        method={**METHOD, "quick": quick},
        status="dry" if dry else "complete",
        say=say,
        budget=budget,
    )
    bench = GpuBench(
        torch,
        recorder,
        device="cuda" if torch.cuda.is_available() else "cpu",
        patience=0.04 if quick else 0.2,
        cache=device["last_cache_bytes"] or 64 << 20,
        quick=quick,
        dry=dry,
    )
    state = "clocks.sm,clocks.mem,temperature.gpu,power.draw,power.limit"
    recorder.notes.append(f"Before ({state}): {_smi(state) or 'not known'}.")
    recorder.notes.append(f"Host: {machine.name()}, {machine.cores()} cores.")
    wanted = set(SECTIONS if sections is None else sections)
    # PyTorch's deprecation warnings would bury the progress lines.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if bench.cuda:
            with recorder.within("profiler"):
                bench.profile(lambda i: torch.zeros(8, device="cuda"), 3)
        asked = [section for section in SECTIONS if section in wanted]
        scale = min(1.0, budget / BUDGET) if sections is None else 1.0
        for number, section in enumerate(asked):
            reserve = scale * sum(SECTIONS[later] for later in asked[number + 1 :])
            with recorder.within(section, reserve):
                _run(bench, section)
            gc.collect()  # a section that failed may hold what the next one needs
            bench.release()
            after(recorder)
    recorder.notes.append(f"After ({state}): {_smi(state) or 'not known'}.")
    return recorder
