"""Keeps the judge of hand-ins running, as the course's own account: a job of the course service."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from mlsys_widgets.hub.accounts.run_as import start_as
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places

#: Looks until one that has ended is started again.
_LOOKS: Final = 5
_SERVICE: Final = "mlsys_widgets.grading.telling.service"


class JudgeKeeper:
    """Starts the judge, and again when it has ended."""

    def __init__(self, places: Places, python: Path) -> None:
        self._places, self._python = places, python
        self._running: subprocess.Popen[bytes] | None = None
        self._wait = 0

    def look(self) -> None:
        """Look once; `ValueError` if it has ended, which is told."""
        state = HubState.read(self._places.state)
        if state is None or not state.course_id:
            return  # a hub that is just being made
        if self._running is not None:
            ended = self._running.poll()
            if ended is None:
                return
            self._running, self._wait = None, _LOOKS
            raise ValueError(f"their judge has ended with {ended}, and is started again soon")
        if self._wait:
            self._wait -= 1
            return
        teacher = state.accounts[state.instructor]
        self._running = start_as(
            teacher,
            [self._python, "-m", _SERVICE, self._places.course],
            home=self._places.home(teacher.name),
            folder=self._places.course,
            environment={"JUPYTER_CONFIG_PATH": str(self._places.settings_of("instructor"))},
        )
