"""Measures an NVIDIA GPU through PyTorch, which is imported only when a measurement starts."""

from __future__ import annotations

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
        "At least 7 calls of each case before its clock starts, two replays of each graph, 0.1 s of"
        " calls of a fused chain and 0.3 s of a model."
    ),
    "repetitions": (
        "Each repetition is a loop of about 5 ms (at least one call), or one replay; 9 to 41"
        " repetitions, 3 or more where one takes longer than 0.05 s. Median and quartiles."
    ),
    "buffers": (
        "Random operands in rotating sets that together exceed four times the L2, except for the"
        " in-place kernels of launch and dispatch, and for model weights, which stay in place."
        " Temporaries lie where the allocator puts them."
    ),
    "counting": (
        "flops and bytes as the physics core counts them: GEMM 2MNK and b(MN+NK+MK); layer norm"
        " and softmax 5 FLOP per element and 3 passes; a chain's operations each read and write;"
        " LayerNorm + Dropout + ReLU 10 FLOP per element, LayerNorm + ReLU 6. traffic is the fewest"
        " bytes that this implementation moves: wider results, dropout masks and fused passes"
        " counted as they are. Copy counts bytes read plus bytes written. Model FLOP: convolutions"
        " and matrix products, causal attention counted in full."
    ),
}

# Seconds that a section leaves to those after it.
SECTIONS: dict[str, float] = {
    "copy": 0, "launch": 0, "gemm": 0, "projection": 0, "dispatch": 0, "fusion": 150,
    "kws": 140, "gpt2": 130, "resnet50": 110, "precisions": 30, "elementwise": 10,
    "normalization": 0,
}  # fmt: skip

KEYS = {
    "h200": "h200-sxm", "h100-80gb-hbm3": "h100-sxm", "h100": "h100-sxm",
    "a100-sxm4-80gb": "a100-sxm", "a100-sxm4-40gb": "a100-sxm-40gb",
}  # fmt: skip


def _run(bench: GpuBench, section: str) -> None:
    from . import fused_chains, gemm, inference, launches, streams

    actions: dict[str, Callable[[], None]] = {
        "copy": lambda: streams.copies(bench),
        "launch": lambda: launches.launches(bench),
        "gemm": lambda: gemm.squares(bench, ["fp16"]),
        "projection": lambda: gemm.projections(bench, ["fp16"]),
        "dispatch": lambda: launches.streams(bench),
        "fusion": lambda: fused_chains.fusions(bench),
        "kws": lambda: inference.infer(bench, "kws"),
        "gpt2": lambda: inference.infer(bench, "gpt2"),
        "resnet50": lambda: inference.infer(bench, "resnet50"),
        "precisions": lambda: _precisions(bench),
        "elementwise": lambda: streams.elementwise(bench),
        "normalization": lambda: streams.normalizations(bench),
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
    """What nvidia-smi reports; ``None`` if it is not installed or does not answer."""
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
    budget: float = 420.0,
    sections: Iterable[str] | None = None,
    key: str | None = None,
    dry: bool = False,
    say: Callable[[str], None] = lambda text: None,
    after: Callable[[Recorder], None] = lambda recorder: None,
) -> Recorder:
    """Measure the first GPU.

    Parameters
    ----------
    quick : bool
        Fewer sizes and repetitions.
    budget : float
        Seconds after which no further case starts.
    sections : iterable of str, optional
        Only these, in the order of `SECTIONS`.
    key : str, optional
        What the document calls the device; by default, derived from its name.
    dry : bool
        Rehearse every section with toy sizes, on a CPU too. The document is marked as such and
        is not accepted as a measurement.
    say, after : callable
        Called with what is being done, and with the recorder after every section.
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
        for section, reserve in SECTIONS.items():
            if section in wanted:
                share = reserve * min(1.0, budget / 420.0) if sections is None else 0.0
                with recorder.within(section, share):
                    _run(bench, section)
                after(recorder)
    recorder.notes.append(f"After ({state}): {_smi(state) or 'not known'}.")
    return recorder
