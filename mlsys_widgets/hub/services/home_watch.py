"""Looks how much room homes take, and warns: a job of the course service."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.student_limits import GIB


class HomeWatch:
    """Measures homes of students, and names those of more than `most` GiB; 0: any."""

    def __init__(self, places: Places, most: float) -> None:
        self._places, self._most = places, most

    def look(self) -> None:
        """Measure them once; `ValueError` names whose homes take more, and how much."""
        state = HubState.read(self._places.state) if self._most else None
        homes = [self._places.home(each.name) for each in state.of_role("student")] if state else []
        large = sorted(
            (size, home.name) for home, size in sizes(homes).items() if size > self._most * GIB
        )
        if large:
            named = ", ".join(f"{name} ({size / GIB:.1f} GiB)" for size, name in reversed(large))
            raise ValueError(f"more than {self._most:g} GiB in the home of {named}")


def sizes(folders: list[Path]) -> dict[Path, int]:
    """Return the bytes that folders take on their disk; links are not followed."""
    if not folders:
        return {}
    done = subprocess.run(
        ["nice", "-n", "19", "du", "-xsk", "--", *folders],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = (line.partition("\t") for line in done.stdout.splitlines())
    return {Path(path): int(size) << 10 for size, _, path in lines}
