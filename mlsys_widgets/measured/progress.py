"""Shows what a measurement is doing: a progress bar if `rich` is installed, otherwise lines."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Say = Callable[[str], None]


@contextlib.contextmanager
def progress(parts: list[str], *, show: bool = True) -> Iterator[Say]:
    """Yield a function to call with what is being done, in the form ``section: what``.

    The bar moves by one of the ``parts`` when a new one begins.

    Examples
    --------
    >>> with progress(["copy"], show=False) as say:
    ...     say("copy: 1 MB")
    """
    if not show:
        yield lambda text: None
        return
    try:
        rich: Any = importlib.import_module("rich.progress")
        console: Any = importlib.import_module("rich.console").Console(stderr=True)
    except ImportError:
        yield _lines()
        return
    if not console.is_terminal and not console.is_jupyter:
        yield _lines()
        return
    bar = rich.Progress(
        rich.SpinnerColumn(), rich.BarColumn(bar_width=24), rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(), rich.TextColumn("{task.description}"),
        console=console, transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("starting", total=len(parts))

        def say(text: str) -> None:
            section = text.partition(":")[0]
            done = parts.index(section) if section in parts else None
            bar.update(task, description=text, completed=done)

        yield say


def _lines() -> Say:
    began, last = time.monotonic(), [""]

    def say(text: str) -> None:
        if text != last[0]:
            last[0] = text
            print(f"{time.monotonic() - began:7.1f} s  {text}", file=sys.stderr, flush=True)

    return say
