"""What a student's server on Slurm costs, against one on the hub's own machine.

A real hub with real users on a Slurm of two nodes, all on this machine, as the tests have them;
that needs root. Processor time is counted and not waiting, because hub and nodes share the cores
here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the hub and the cluster of the tests, which are real ones

from tests.hub.running import Hub, Person, running_hub  # noqa: E402
from tests.hub.slurm import running_slurm  # noqa: E402

#: As many as there are places on the two nodes.
STUDENTS = ("ada", "ben", "cleo", "dan")
SETTINGS = 'hub = "127.0.0.1"\npartition = "course"\nmemory = "1500M"\n'
DAEMONS = ("munged", "slurmctld", "slurmd", "slurmstepd")
WATCHED = 60
_TICKS = os.sysconf("SC_CLK_TCK")


def spent(pid: int, *, children: bool) -> float:
    """Seconds of processor time of a process, with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / _TICKS


def of_daemons() -> float:
    """What Slurm itself has used; what jobs have used is not in it."""
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text("utf-8").strip() in DAEMONS:
                total += spent(int(process.name), children=False)
        except OSError:  # it has ended
            continue
    return total


def during(hub: Hub, does: Callable[[], object]) -> tuple[float, float]:
    """Seconds that the hub, with the commands that it runs, and Slurm use while it is done."""
    before = spent(hub.hub_pid, children=True), of_daemons()
    does()
    return spent(hub.hub_pid, children=True) - before[0], of_daemons() - before[1]


def start(whom: Iterable[Person]) -> None:
    """Start servers at once, and ask seldom whether they run: asking costs the hub time, too."""
    waiting = list(whom)
    for each in waiting:
        assert each.ask_hub("POST", f"users/{each.name}/server").status_code in (201, 202)
    while waiting:
        time.sleep(2)
        waiting = [each for each in waiting if not is_ready(each)]


def is_ready(person: Person) -> bool:
    model = person.ask_hub("GET", f"users/{person.name}").json()
    return bool(model.get("servers", {}).get("", {}).get("ready"))


def measure(name: str, *options: str) -> None:
    with running_hub(STUDENTS, *options) as hub:
        people = [Person(hub, hub.names[each]) for each in STUDENTS]
        for each in people:
            assert each.login().status_code == 302

        one = during(hub, lambda: start(people[:1]))
        more = during(hub, lambda: start(people[1:]))
        quiet = during(hub, lambda: time.sleep(WATCHED))
    print(f"{name}: processor time in s, of the hub and of Slurm")
    print(f"  the first start            {one[0]:5.2f} {one[1]:5.2f}")
    print(f"  each of three more at once {more[0] / 3:5.2f} {more[1] / 3:5.2f}")
    print(f"  a minute with four servers {quiet[0]:5.2f} {quiet[1]:5.2f}", flush=True)


def main() -> None:
    measure("on the hub's machine")
    with running_slurm() as slurm:
        os.environ |= slurm.environment
        settings = slurm.folder / "slurm.toml"
        settings.write_text(SETTINGS, "utf-8")
        measure("on Slurm", "--slurm", str(settings))


if __name__ == "__main__":
    main()
