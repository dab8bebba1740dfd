"""A terminal that may be closed early, as by ``| head``: the work is done all the same."""

from __future__ import annotations

import os
import sys

from rich.console import Console


def print_plain(console: Console, words: str, *, style: str | None = None) -> None:
    """Print words as they are: nothing in them is markup, and no command is broken in two."""
    console.print(words, style=style, highlight=False, markup=False, soft_wrap=True)


class PatientConsole(Console):
    """A console of rich's that goes quiet when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        silence_stdout()


def silence_stdout() -> None:
    """Nobody reads any more; what Python would still write at its end must fail in silence."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
