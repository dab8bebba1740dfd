"""How many students one machine holds: simulated ones in Lab 07, on real servers and kernels.

Each opens the lab, runs all cells, commits predictions, drags sliders with pauses, types answers,
saves and hands in, over the same requests and websocket messages as a browser. Students are added
until the median answer to a slider takes more than 100 ms, memory ends or the time is up.
The data, the pictures and the tables of docs/administrators/sizing.md are written again.

The load tool itself shares the processor with what it measures; what it uses is reported, and
nothing is corrected for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from classroom import machine, marking, page, pictures, ramp, sizing
from classroom.hub import Hub
from classroom.servers import Alone

from mlsys_widgets.hub.running.server_process import interruptible

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "docs" / "_static"
PAGE = ROOT / "docs" / "administrators" / "sizing.md"
DATA = "sizing.json"
LEVELS = (1, 2, 4, 8, 16, 32, 48, 64, 80, 96)
QUICK = ramp.Plan(levels=(2,), rush=2, explore=6, budget=60)
WAYS = {
    "hub": "Through JupyterHub and its proxy, one server process for each student.",
    "servers": "One JupyterLab server for each student, without a hub in front.",
}
LIBRARIES = ("jupyterhub", "jupyterlab", "jupyter_server", "ipykernel", "ipywidgets", "nbgrader")


def measure(plan: ramp.Plan, *, hub: bool, grade: bool) -> dict[str, Any]:
    """Run a class that grows, and grade one for the plan; everything that was seen."""
    found: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": {
            "cores": os.cpu_count(),
            "memory_gib": round(machine.installed() / 1024, 1),
            "load_before": round(os.getloadavg()[0], 1),
        },
        "versions": {
            "Python": sys.version.split()[0],
            **{each: version(each) for each in LIBRARIES},
        },
    }
    with TemporaryDirectory(prefix="mlsys-load-", ignore_cleanup_errors=True) as aside:
        folder = Path(aside) / "class"
        folder.mkdir()
        servers = Hub(folder) if hub else Alone(folder)
        found["way"] = WAYS[servers.kind]
        growing = ramp.Ramp(servers, plan, lambda line: print(line, flush=True))
        try:
            with interruptible():  # or a polite end would leave all servers behind
                asyncio.run(growing.run())
        finally:
            servers.close()
        found |= {"ended": growing.ended, "levels": growing.levels}
        if grade:
            found["grading"] = marking.measure(Path(aside) / "marking")
            found["measuring_mib"] = round(machine.peak_of_measuring(Path(aside)), 1)
    return found


def concluded(found: dict[str, Any]) -> dict[str, Any]:
    """The same with what follows from it."""
    found["limits"] = sizing.limits(found)
    if "grading" in found:
        found["plan"] = sizing.plan(found)
    return found


def write(found: dict[str, Any], folder: Path) -> None:
    """The data and the pictures."""
    (folder / DATA).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    pictures.draw(found, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="two students and no grading, for a look"
    )
    parser.add_argument(
        "--minutes", type=float, default=26, metavar="M",
        help="begin no further level after this time (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--hub", action=argparse.BooleanOptionalAction, default=True,
        help="through JupyterHub and its proxy, or to each server directly",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER",
        help="put data and pictures there, and leave the page alone (default: docs/)",
    )  # fmt: skip
    parser.add_argument(
        "--page", action="store_true", help="write the page again from the existing data"
    )
    arguments = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("hub_load.py reads what students cost from /proc, so it needs Linux 4.14 or newer")
    if arguments.page:
        found = json.loads((STATIC / DATA).read_text("utf-8"))
    elif arguments.quick:
        found = measure(QUICK, hub=arguments.hub, grade=False)
    else:
        plan = ramp.Plan(LEVELS, rush=32, explore=20, budget=60 * arguments.minutes)
        found = measure(plan, hub=arguments.hub, grade=True)
    found = concluded(found)
    print(f"Ended because {found['ended']}; {sizing.held(found['levels'])} students were held.")
    # A quick look is no measurement to publish.
    folder = arguments.output or (None if arguments.quick else STATIC)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write(found, folder)
    if folder == STATIC:
        PAGE.write_text(page.fill(PAGE.read_text("utf-8"), found), "utf-8")


if __name__ == "__main__":
    main()
