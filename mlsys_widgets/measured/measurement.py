"""``mlsys measure``: takes a measurement of this machine and saves it."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ..files import write_whole
from ..wording.plurals import counted
from ..wording.system_errors import error_sentence
from . import cpu
from .checks import MeasurementError, can_check_schema, validate
from .documents import load, merged, save, text
from .progress import progress as shown
from .recorder import Document, Recorder

try:
    gpu: Any = importlib.import_module(".gpu", __package__)
except ImportError:  # only a checkout has it: nobody measures a GPU with a student's wheel
    gpu = None

_NEEDS_CHECKOUT = (
    "measuring a GPU needs a checkout of the mlsys_widgets repository, because what does it is not"
    " part of the installed package; measure the CPU, or install with pip install -e from a clone"
)


def measure(
    target: str = "auto",
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: bool = True,
    sections: Iterable[str] | None = None,
    budget: float | None = None,
    update: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    key: str | None = None,
    dry: bool = False,
) -> Document:
    """Measure this machine, and save the document if asked to.

    Parameters
    ----------
    target : {"auto", "cpu", "gpu"}
        What to measure; ``auto`` takes the GPU if PyTorch sees one and this is a checkout, which
        alone has what measures GPUs.
    quick : bool
        Fewer sizes and repetitions: under 10 s on a CPU.
    out : path, optional
        Where to save the document. The file is written once, at the end, in one step.
    sections : iterable of str, optional
        The parts of the measurement to take; all by default.
    budget : float, optional
        Seconds after which no further case starts.
    update : bool
        Keep the sections of `out` that are not measured now.
    checkpoint : path, optional
        A second file that is replaced after every section by the measurement so far, with status
        ``partial``; it remains if the measurement is cut short.
    dry : bool
        Rehearse the GPU measurement with toy sizes. The document says so and is not saved.

    Raises
    ------
    MeasurementError
        If `out` cannot be updated, or the new document fails its checks, in which case the
        measurement is saved at `out` with ``.rejected`` appended.

    Examples
    --------
    What does the smallest operation of numpy cost on this machine, just for being called?

    >>> from mlsys_widgets import measured
    >>> document = measured.measure("cpu", quick=True, sections=["launch"], progress=False)
    >>> document["status"], document["device"]["kind"]
    ('complete', 'cpu')
    >>> 1e-8 < measured.ceilings(document).launch < 1e-3  # seconds
    True
    """
    if target not in ("auto", "cpu", "gpu"):
        raise ValueError(f"target must be 'auto', 'cpu' or 'gpu', not {target!r}")
    if target == "gpu" and gpu is None:
        raise ValueError(_NEEDS_CHECKOUT)
    on_gpu = target == "gpu" or (target == "auto" and gpu is not None and gpu.usable())
    usual = list(gpu.SECTIONS if on_gpu else cpu.SECTIONS)
    known = [*usual, *(() if on_gpu else cpu.ON_REQUEST)]
    wanted = usual if sections is None else list(sections)
    for name in wanted:
        if name not in known:
            raise ValueError(f"sections must be among {', '.join(known)}, not {name!r}")
    if out is not None and not Path(out).resolve().parent.is_dir():
        raise ValueError(f"out must be in a folder that exists, and {os.fspath(out)!r} is not")
    base = load(out) if update and out is not None and Path(out).exists() else None

    def after(recorder: Recorder) -> None:
        if checkpoint is not None:
            write_whole(checkpoint, text(recorder.document("partial")))

    chosen = None if sections is None else wanted
    with shown([name for name in known if name in wanted], show=progress) as say:
        if on_gpu:
            recorder: Recorder = gpu.measure(
                quick=quick, budget=gpu.BUDGET if budget is None else budget, sections=chosen,
                key=key, dry=dry, say=say, after=after,
            )  # fmt: skip
        else:
            if dry:
                raise ValueError("dry is for the GPU measurement; on a CPU use quick")
            recorder = cpu.measure(
                quick=quick, budget=budget, sections=chosen, key=key, say=say, after=after
            )
    document = recorder.document()
    if base is not None:
        document = merged(base, document)
    _keep(document, out, dry)
    return document


def _keep(document: Document, out: str | os.PathLike[str] | None, dry: bool) -> None:
    """Check what was measured and save it; set it aside if it fails the checks."""
    allow = ("dry",) if dry else ("complete",)
    if out is None or dry:
        validate(document, source="the measurement", allow=allow)
        return
    try:
        save(document, out, allow=allow)
    except MeasurementError:
        write_whole(f"{os.fspath(out)}.rejected", text(document))
        raise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options of ``mlsys measure``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--cpu", dest="target", action="store_const", const="cpu", help="measure the CPU"
    )
    which.add_argument(
        "--gpu", dest="target", action="store_const", const="gpu", help="measure the GPU"
    )
    parser.set_defaults(target="auto")
    parser.add_argument("--quick", action="store_true", help="fewer sizes; under 10 s on a CPU")
    parser.add_argument(
        "--out", type=Path, default=Path("measurement.json"), metavar="FILE",
        help="where to save (default: %(default)s); written once, at the end, in one step",
    )  # fmt: skip
    parser.add_argument(
        "--sections", nargs="+", metavar="NAME",
        help="only these; " + "; ".join(
            f"{name}: {', '.join(known)}"
            for name, known in (
                ("CPU", [*cpu.SECTIONS, *cpu.ON_REQUEST]), ("GPU", gpu.SECTIONS if gpu else ()),
            ) if known
        ),
    )  # fmt: skip
    parser.add_argument(
        "--update", action="store_true",
        help="keep the sections of FILE that are not measured now",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="start no further case after this long"
    )
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE",
        help="a second file that holds the measurement so far, replaced after every section",
    )  # fmt: skip
    parser.add_argument("--key", help="what the document calls the device")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--dry-run", action="store_true", help=argparse.SUPPRESS)


class _Terminated(BaseException):
    """SIGTERM as an exception, so that everything that is open gets closed on the way out."""


@contextlib.contextmanager
def _sigterm_raises() -> Iterator[None]:
    def raise_it(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    before = signal.signal(signal.SIGTERM, raise_it)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run(args: argparse.Namespace) -> int:
    """Measure with the parsed options of `add_arguments`; return the exit status."""
    try:
        with _sigterm_raises():
            document = measure(
                args.target, quick=args.quick, out=args.out, progress=not args.quiet,
                sections=args.sections, budget=args.budget, update=args.update,
                checkpoint=args.checkpoint, key=args.key, dry=args.dry_run,
            )  # fmt: skip
    except KeyboardInterrupt:
        print("Interrupted; nothing was saved.", file=sys.stderr)
        return 130
    except _Terminated:
        print("Terminated; nothing was saved.", file=sys.stderr)
        return 143
    except (MeasurementError, ValueError, RuntimeError, OSError) as error:
        print(f"mlsys measure: {error_sentence(error)}", file=sys.stderr)
        return 1
    if not can_check_schema():
        print(
            "The jsonschema library is not installed, so the schema was not checked.",
            file=sys.stderr,
        )
    print(_summary(document, None if args.dry_run else args.out))
    return 0


def _summary(document: Document, out: Path | None) -> str:
    device = document["device"]
    lines = [
        f"{device['name']}: {counted(len(document['cases']), 'case')},"
        f" {len(document['skipped'])} skipped."
    ]
    for entry in document["skipped"]:
        lines.append(f"  skipped {entry['section']}: {entry['what']}: {entry['reason']}")
    times = ", ".join(f"{s['name']} {s['seconds']:.0f} s" for s in document.get("sections", []))
    lines.append(f"Time: {times}.")
    lines.append("A rehearsal: nothing was saved." if out is None else f"Saved {out}.")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """``python -m mlsys_widgets.measured``, the same as ``mlsys measure``."""
    parser = argparse.ArgumentParser(
        prog="mlsys measure", description="Measure the roofline of this machine."
    )
    add_arguments(parser)
    return run(parser.parse_args(argv))
