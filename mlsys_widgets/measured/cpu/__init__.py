"""Measures the CPU with numpy and its BLAS: always available, about two minutes."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..recorder import Recorder
from . import sections as parts
from . import small_sections, waiting_sections
from . import transformer_sections as language
from .machine import cores, describe, free_memory, last_cache, load_note
from .timing import CpuBench

METHOD = {
    "summary": (
        "numpy and its BLAS, wall time by the performance counter, per call of a repeated loop."
        " Copy and triad run with one thread and with one thread per core, each on its own part of"
        " the arrays; matrix products use the threads of the BLAS; other operations run in one"
        " thread, as numpy does, unless threads says otherwise. Triad add is STREAM's add, which"
        " moves what triad moves in one operation; triad blocked multiplies and adds in blocks of"
        " 32768 elements, so that each array crosses memory once. The kernels of a language model"
        " and one layer of a small transformer are plain numpy that writes into arrays it is given;"
        " attention writes its scores, and a weight is stored [out, in] and used transposed. Their"
        " sizes are a short list and sizes drawn with the seed 15, and each result is first held"
        " against a plain reference in float64. Waiting sends drawn requests to a server on a"
        " socket of this machine, which keeps each for a drawn time."
    ),
    "warm_up": "At least two calls of each case before its clock starts; memory is touched first.",
    "repetitions": (
        "Each repetition is a loop of about 2 ms (at least one call); at least 5 repetitions, 3"
        " in a quick run, and as many as fit in the time for one case. Median and quartiles."
    ),
    "counting": (
        "Bytes as STREAM counts them: what the program reads plus what it writes, so copy is 16 and"
        " triad 24 per element; the line a store fetches before writing (write-allocate) is not"
        " counted, although it may cross the memory bus. GEMM 2MNK FLOP and b(MN+NK+MK) bytes."
        " traffic is the fewest bytes the implementation moves. Norms and softmax 5 FLOP per"
        " element, other kernels of a language model 1 per element and operation; each numpy"
        " operation reads its inputs and writes its output, and kernels is how many there are."
        " Attention 4 FLOP per query, key and element of a head, masked pairs included; its bytes"
        " are queries, keys, values, results and, over a prompt, four times the scores, and its"
        " traffic is what every operation on the scores moves. A layer is the sum of its kernels."
    ),
}

SECTIONS: dict[str, Callable[[CpuBench], None]] = {
    "copy": parts.streams,
    "launch": parts.overhead,
    "gemm": parts.products,
    "elementwise": parts.elementwise,
    "fusion": parts.fusion,
    "attention": language.prompts,
    "decoding": language.cached_tokens,
    "transformer": small_sections.kernels,
    "few_rows": language.few_rows,
    "layer": language.layers,
}

#: Sections that are taken only when they are asked for: their time is their own and not the
#: processor's, so no budget shortens it.
ON_REQUEST: dict[str, Callable[[CpuBench], None]] = {"waiting": waiting_sections.waiting}

# The fraction of all the time that a section leaves to those after it, if the machine is busy.
# The roofs come first: without copies and products nothing else can be judged.
RESERVE = {
    "copy": 0.5, "launch": 0.4, "gemm": 0.25, "elementwise": 0.2, "fusion": 0.15, "attention": 0.12,
    "decoding": 0.1, "transformer": 0.05, "few_rows": 0.03, "layer": 0.0,
}  # fmt: skip


def _blas() -> str | None:
    """Name and version of the BLAS that numpy was built with."""
    try:
        found = np.show_config(mode="dicts")
        blas = found["Build Dependencies"]["blas"]  # type: ignore[index, unused-ignore]
        return f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):
        return None


def arena_bytes(cache: int, free: int, quick: bool) -> int:
    """Size the operands: over four times the last cache (2.5 in a quick run) if memory allows.

    Examples
    --------
    >>> arena_bytes(cache=32 << 20, free=16 << 30, quick=False) >> 20
    256
    >>> arena_bytes(cache=300 << 20, free=1 << 30, quick=False) >> 20
    341
    """
    wanted = max(256 << 20, math.ceil((2.5 if quick else 4.2) * cache))
    return min(wanted, free // 3) // 4096 * 4096


def measure(
    *,
    quick: bool = False,
    budget: float | None = None,
    sections: Iterable[str] | None = None,
    key: str | None = None,
    say: Callable[[str], None] = lambda text: None,
    after: Callable[[Recorder], None] = lambda recorder: None,
) -> Recorder:
    """Measure this CPU; the arguments are those of the GPU's `measure`."""
    device = describe(key)
    cache, known = last_cache()
    size = arena_bytes(cache, free_memory(), quick)
    software = {"python": platform.python_version(), "numpy": np.__version__}
    blas = _blas()
    if blas:
        software["blas"] = blas
    buffers = (
        f"Operands are cut in rotation from one arena of {size / 1e6:.0f} MB,"
        f" {size / cache:.1f} times the last cache of {cache / 1e6:.0f} MB"
        f" ({'as the system reports it' if known else 'assumed'}); random data."
    )
    method: dict[str, Any] = {**METHOD, "buffers": buffers, "quick": quick}
    recorder = Recorder(
        device=device, software=software, method=method, say=say,
        budget=(9.0 if quick else 170.0) if budget is None else budget,
    )  # fmt: skip
    if size < 2 * cache:
        recorder.notes.append(
            "There is too little memory for arrays well past the last cache:"
            " copy and triad may read too fast."
        )
    if note := load_note():
        recorder.notes.append(note)
    bench = CpuBench(
        recorder, cores=cores(), arena=size, patience=0.05 if quick else 0.4, quick=quick
    )
    wanted = set(SECTIONS if sections is None else sections)
    try:
        for name, action in (SECTIONS | ON_REQUEST).items():
            if name in wanted:
                reserve = 0.0 if sections is not None else RESERVE[name] * recorder.budget
                with recorder.within(name, reserve):
                    action(bench)
                after(recorder)
    finally:
        bench.close()
    return recorder
