"""What an instrument costs in the kernel: Python time of a move, import time, memory.

A move is all that the kernel does: compute, update the marks, and make the one message with the
whole state, which is serialized here as it is for the wire. The marks of an instrument send nothing
on their own. Times are CPU times, on which other programs have less effect, and medians taken in
turns with a baseline in the same run: three bare bqplot marks that get new data and serialize it,
each in a message of its own, which is the least that any picture on bqplot can do.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from typing import Any

import bqplot
import numpy as np
from ipywidgets.widgets.widget import _remove_buffers

import mlsys_widgets
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.instrument import Instrument

MOVES = 200


def bare_marks() -> list[bqplot.Lines]:
    scales = {"x": bqplot.LogScale(), "y": bqplot.LogScale()}
    marks = [bqplot.Lines(x=[1.0, 2.0], y=[1.0, 2.0], scales=scales) for _ in range(3)]
    bqplot.Figure(marks=marks)
    return marks


def serialized(widget: Any, *names: str) -> int:
    """Write a part of a widget's state as the wire has it; how many bytes that are.

    Without a kernel ipywidgets sends nothing, so it would cost nothing.
    """
    state, _, buffers = _remove_buffers(widget.get_state(names))
    text = json.dumps(state, ensure_ascii=False).encode()
    return len(text) + sum(len(memoryview(each).cast("B")) for each in buffers)


def move_bare(marks: list[bqplot.Lines], value: float) -> None:
    for mark in marks:
        mark.x = np.array([1.0, value])
        mark.y = np.array([value, 2.0])
        serialized(mark, "x", "y")


def sliders(instrument: Instrument) -> list[tuple[str, Slider]]:
    hidden = instrument.hidden()
    found = instrument.controls.items()
    return [(n, c) for n, c in found if isinstance(c, Slider) and n not in hidden]


def kernel_time(unfold: str = "") -> None:
    walk = random.Random(1)
    state = f"with {unfold} open" if unfold else "all folded"
    print(f"Python time of a slider move, {state}, median of {MOVES} (goal: at most 3 ms)")
    for name in mlsys_widgets.__all__:
        kind = getattr(mlsys_widgets, name)
        if not (isinstance(kind, type) and issubclass(kind, Instrument)) or kind is Instrument:
            continue
        instrument, marks = kind(), bare_marks()
        instrument._repr_mimebundle_()
        view = instrument._view
        if not sliders(instrument):
            continue
        if unfold:
            view._fold(unfold, True)
        ours, bare, sizes = [], [], []
        for k in range(MOVES):
            control, slider = walk.choice(sliders(instrument))
            share = walk.random()
            value = slider.low * (slider.high / slider.low) ** share if slider.log else (
                slider.low + (slider.high - slider.low) * share
            )  # fmt: skip
            value = slider.snap(value)
            start = time.process_time()
            view._moved({"old": {}, "new": {control: [value, k]}})
            sizes.append(serialized(view.panel, "readout"))
            middle = time.process_time()
            move_bare(marks, 1 + share)
            ours.append(middle - start)
            bare.append(time.process_time() - middle)
        a, b = statistics.median(ours), statistics.median(bare)
        print(
            f"  {name:20} {a * 1e3:5.2f} ms   {a / b:5.1f}× three bare marks ({b * 1e3:.2f} ms)"
            f"   {statistics.median(sizes) / 1e3:4.1f} KB of state"
        )


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def imports() -> None:
    timed = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    cases = {
        "import mlsys_widgets": "import mlsys_widgets",
        "the physics core": "from mlsys_widgets import physics",
        "import bqplot": "import bqplot",
        "first instrument shown": (
            "import mlsys_widgets as mw; mw.RooflineWidget()._repr_mimebundle_()"
        ),
    }
    print("Seconds in a fresh process, median of 5 (goals: import 0.05, first instrument 1.5)")
    for name, code in cases.items():
        seconds = statistics.median(float(run(timed.format(code))) for _ in range(5))
        print(f"  {name:24} {seconds:6.3f}")


def memory() -> None:
    resident = (
        "print(next(int(line.split()[1]) for line in open('/proc/self/status') "
        "if line.startswith('VmRSS')) / 1024)"
    )
    print("Resident memory of a process, MB")
    for name, code in {
        "ipykernel alone": "import ipykernel.kernelapp",
        "with a bqplot figure": "import ipykernel.kernelapp, bqplot; bqplot.Figure()",
        "with one instrument": (
            "import ipykernel.kernelapp, mlsys_widgets as mw; "
            "mw.RooflineWidget()._repr_mimebundle_()"
        ),
    }.items():
        print(f"  {name:24} {float(run(f'{code}; {resident}')):6.0f}")


if __name__ == "__main__":
    kernel_time()
    kernel_time("math")
    imports()
    memory()
