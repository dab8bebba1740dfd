"""What the hub's watchers have in common: they look again and again, whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def poll_forever(look: Callable[[], object], trouble: str, every: float) -> NoReturn:
    """Look until somebody ends the process; trouble is told once, and again when it changes.

    Parameters
    ----------
    look
        Looks once. What it raises, such as on a full disk, does not end the watch: the next look
        tries again.
    trouble
        What does not happen then, for the log.
    every
        Seconds between two looks.
    """
    told = ""
    while True:
        problem = ""
        try:
            look()
        except (OSError, ValueError) as why:
            problem = f"{trouble}: {why}"
        if problem != told:
            told = problem
            with suppress(OSError):
                print(problem or f"{trouble}: no longer", file=sys.stderr, flush=True)
        time.sleep(every)
