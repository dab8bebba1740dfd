"""The child that measures while a notebook stays usable: ``python -m`` this module, with a file.

It runs at low priority, writes a line of JSON for everything it begins, and lives only as long as
whoever started it holds the other end of its standard input: if a kernel is restarted or killed,
that pipe closes and the measurement ends with it. The file is written at the end, in one step.
"""

from __future__ import annotations

import _thread
import argparse
import contextlib
import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from mlsys_widgets.files import FULL_DISK
from mlsys_widgets.measured import cpu
from mlsys_widgets.measured.checks import MeasurementError
from mlsys_widgets.measured.documents import save
from mlsys_widgets.measured.queries import ceilings, points
from mlsys_widgets.measured.recorder import Document

#: Seconds of a measurement, after which no further case starts.
BUDGET: Final = 9.0
#: Below what a person is doing at the same machine, and above what merely waits for idle time.
_NICENESS: Final = 5
#: Seconds to end in an orderly way once nobody holds the pipe.
_GRACE: Final = 3.0
_CLOSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def not_saved(problem: OSError, file: str) -> str:
    """Say why a measurement could not be saved, and what to do about it."""
    if problem.errno in FULL_DISK:
        return f"The disk is full, so {file} could not be saved. Free some space and measure again."
    if problem.errno in _CLOSED:
        return (
            f"{file} could not be saved, because the folder of this notebook cannot be written."
            " Copy the lab into a folder of your own and measure there."
        )
    return f"{file} could not be saved: {problem.strerror or problem}."


def lacking(document: Document, sizes: Sequence[int]) -> str:
    """Say what a measurement lacks of what a lab needs; empty if it lacks nothing."""
    found = ceilings(document)
    timed = {point.shape["n"] for point in points(document, "fp32", "gemm") if point.is_square}
    missing = [f"the fp32 product of N = {n:,}" for n in sizes if n not in timed]
    missing += [] if found.bandwidth else ["copies that are larger than the caches"]
    missing += [] if "fp32" in found.peaks or missing else ["an fp32 product"]
    if not missing:
        return ""
    return (
        f"There was no time for {' and '.join(missing)}: the machine is too busy."
        " Close other programs and measure again."
    )


def unfinished(document: Document) -> str:
    """Say what sections that were asked for by name left out, and why; empty if nothing."""
    for entry in document["skipped"]:
        return (
            f"The measurement did not get through: {entry['what']} ended with “{entry['reason']}”."
            " Close other programs and measure again."
        )
    return ""


def measure_into(
    out: Path,
    sizes: Sequence[int],
    budget: float,
    tell: Callable[[dict[str, object]], None],
    sections: Sequence[str] = (),
) -> bool:
    """Measure this CPU quickly and save it. What happens is told; `False` if nothing was saved."""
    began, names = time.monotonic(), list(sections or cpu.SECTIONS)

    def say(doing: str) -> None:
        # Whatever is further: a fast machine is done before the time is up.
        begun = names.index(doing.partition(":")[0]) / len(names)
        spent = (time.monotonic() - began) / budget
        tell({"share": round(min(0.99, max(begun, spent)), 3), "doing": doing})

    try:
        chosen = sections or None
        document = cpu.measure(quick=True, budget=budget, sections=chosen, say=say).document()
        if problem := unfinished(document) if sections else lacking(document, sizes):
            tell({"problem": problem})
            return False
        save(document, out)
    except MeasurementError as problem:
        tell({"problem": f"The measurement contradicts itself, so it was not saved. {problem}"})
    except MemoryError:
        tell({"problem": "There is too little memory to measure. Close other programs first."})
    except OSError as problem:
        tell({"problem": not_saved(problem, out.name)})
    else:
        tell({"share": 1.0, "doing": "saved"})
        return True
    return False


def end_with_parent(handle: int) -> None:
    """Interrupt this process once nobody holds the other end of a pipe any longer."""

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(handle, 1):
                pass
        _thread.interrupt_main()
        time.sleep(_GRACE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure as the command line says; 0 if the measurement was saved."""
    parser = argparse.ArgumentParser(prog="python -m mlsys_widgets.measured.child_process")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=[])
    parser.add_argument("--budget", type=float, default=BUDGET)
    parser.add_argument(
        "--sections", nargs="*", choices=[*cpu.SECTIONS, *cpu.ON_REQUEST], default=[]
    )
    arguments = parser.parse_args(argv)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)

    def tell(news: dict[str, object]) -> None:
        print(json.dumps(news), flush=True)

    try:
        end_with_parent(sys.stdin.fileno())
        saved = measure_into(
            arguments.out, arguments.sizes, arguments.budget, tell, arguments.sections
        )
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0 if saved else 1


if __name__ == "__main__":
    raise SystemExit(main())
