"""Compiling a function with a cold cache, and timing the compilation."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from .timing import GpuBench

MODES = {"compiled": None, "compiled_graph": "reduce-overhead"}


@contextlib.contextmanager
def cold_cache(torch: Any) -> Iterator[None]:
    """Within this block, nothing compiled earlier is reused, from disk or from memory."""
    torch._dynamo.reset()
    try:
        from torch._inductor.utils import (  # type: ignore[import-not-found, unused-ignore]
            fresh_inductor_cache,
        )

        fresh: Any = fresh_inductor_cache()
    except ImportError:
        fresh = _fresh_folder()
    with fresh:
        yield
    torch._dynamo.reset()


@contextlib.contextmanager
def _fresh_folder() -> Iterator[None]:
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ.update(dict.fromkeys(names, folder))
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


def compile_timed(
    bench: GpuBench, function: Any, variant: str, first: Callable[[Any], object]
) -> tuple[Any, float]:
    """Compile a function and make its first calls; the compiled function and the seconds both took.

    A function compiled with graphs records its graph on the second and replays from the third call,
    so three calls belong to its compilation.
    """
    torch = bench.torch
    bench.synchronize()
    began = time.perf_counter()
    compiled = torch.compile(function, mode=MODES[variant], dynamic=False)
    for _ in range(1 if variant == "compiled" else 3):
        first(compiled)
    bench.synchronize()
    return compiled, time.perf_counter() - began


def warm_compiler(bench: GpuBench) -> None:
    """Import the compiler and start its workers before any compilation is timed."""
    if bench.compiler_warm:
        return
    torch = bench.torch
    x = torch.randn(64, 64, device=bench.device)

    def small(x: Any) -> Any:
        return torch.relu(x + 1.0) * 2.0

    with cold_cache(torch), torch.no_grad():
        torch.compile(small, dynamic=False)(x)
        bench.synchronize()
        torch._dynamo.reset()
        graphed = torch.compile(small, mode=MODES["compiled_graph"], dynamic=False)
        for _ in range(3):
            graphed(x)
        bench.synchronize()
    bench.compiler_warm = True
