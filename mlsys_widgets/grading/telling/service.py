"""Judges and tells hand-ins as long as a hub runs, with the rights of the course's account.

Run as ``python -m mlsys_widgets.grading.telling.service COURSE``; the hub's course service starts
it, and again if it ends. One process judges, another answers students: what somebody hands in can
keep the first one busy, and never the second.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final

from mlsys_widgets.course.exchange_place import TOLD_SOCKET, exchange_folder, nbgrader_settings
from mlsys_widgets.grading.reading.readers import end_with
from mlsys_widgets.grading.telling.hand_in_judge import HandInJudge
from mlsys_widgets.grading.telling.told_socket import ToldSocket

#: Seconds between two looks, and after something went wrong.
_LOOK: Final = 0.2
_AGAIN: Final = 5.0


def main(folder: Path) -> None:
    """Judge and tell until the process that started this is gone."""
    end_with(os.getppid())
    os.chdir(folder)  # where nbgrader looks for its settings
    _answer_beside(folder)
    judge, told = HandInJudge(folder), ""
    while True:
        problem, done = "", 0
        try:
            done = judge.look()
        except (OSError, ValueError) as why:
            problem = f"hand-ins are not judged: {why}"
        if problem != told:
            told = problem
            print(problem or "hand-ins are judged again", file=sys.stderr, flush=True)
        if problem:
            time.sleep(_AGAIN)
        elif not done:
            time.sleep(_LOOK)


def _answer_beside(folder: Path) -> None:
    """Start the process that answers students; it ends with this one."""
    exchange = exchange_folder(nbgrader_settings(folder))
    if exchange is None:
        raise ValueError("the course has no exchange that is a folder")
    owner = os.getpid()
    if os.fork():
        return
    try:
        end_with(owner)
        ToldSocket(exchange, TOLD_SOCKET, folder).serve()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
