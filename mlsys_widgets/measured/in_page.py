"""What Python can time in a web page: copies and products in WebAssembly, in one thread.

That is no measurement of the machine. Its vector units, its other cores, its name and its load are
out of sight there, so nothing of this is saved as one.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Final

import numpy as np

from mlsys_widgets.measured.cpu.machine import describe
from mlsys_widgets.measured.cpu.sections import square_product, streams
from mlsys_widgets.measured.cpu.timing import CpuBench
from mlsys_widgets.measured.recorder import Document, Recorder

#: Bytes of all operands. A page that has taken memory never gives it back, and phones have little.
_ARENA: Final = 96 << 20
#: Sides of the fp32 products; larger ones take seconds each.
_SIZES: Final = (64, 128, 256, 512)


def time_in_page(tell: Callable[[str, float], None] = lambda doing, share: None) -> Document:
    """Time copies and products where this runs, and return them in the form of a measurement.

    Parameters
    ----------
    tell
        Called with what begins, and how far along this is, from 0 to 1.
    """
    recorder = Recorder(
        device=describe("webassembly"),
        software={"python": platform.python_version(), "numpy": np.__version__},
        method={"summary": "numpy in WebAssembly, in the one thread of a page"},
    )
    bench = CpuBench(recorder, cores=1, arena=_ARENA, patience=0.05, quick=True)
    try:
        with recorder.within("copy"):
            tell("copies", 0.0)
            streams(bench)
        with recorder.within("gemm"):
            bench.fill("float32")
            for k, n in enumerate(_SIZES):
                tell(f"products of N = {n}", (k + 1) / (len(_SIZES) + 1))
                square_product(bench, "fp32", n)
    finally:
        bench.close()
    return recorder.document()
