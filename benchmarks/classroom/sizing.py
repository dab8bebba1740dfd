"""Derives what a course needs from a measurement: limits per student, and a plan."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from classroom.ramp import broke

MIB = 1 << 20
#: Class sizes of the plan, and the fraction of each that is online at the busiest moment. A small
#: class sits in one room. On the evening before a deadline, half of a large class may be online, or
#: a quarter if deadlines are spread over sections and time zones.
CLASSES = {120: 1.0, 500: 0.5, 5_000: 0.25}
#: The fraction of those online who press Run All in the same minute.
RUSH = 0.1
#: Memory beyond what was measured, for what students do besides the lab.
MARGIN = 1.25
#: What system, hub, proxy and database need on top.
BASE_GIB = 2.0
#: A machine as clouds rent them.
MACHINE_CORES, MACHINE_GIB = 16, 64
#: Labs of a course, all of which stay in the gradebook.
LABS = 4
#: Hours in which a class should be graded.
GRADED_WITHIN = 1.0


@dataclass(frozen=True)
class Need:
    """What a class needs at its busiest moment."""

    students: int
    online: int
    cores: int
    memory_gib: int
    machines: int
    #: The same where each student is promised the limit, as a job of Slurm is.
    slurm_nodes: int
    #: Seconds until the last of a rush has all cells run.
    rush_s: float
    grading_core_hours: float
    #: Cores that have the class graded in time, and the least time that one writer needs.
    grading_cores: int
    writer_minutes: float
    gradebook_mb: float
    files_gb: float


def held(levels: list[dict[str, Any]]) -> int:
    """The largest number of students whose sliders answered in time, in the median.

    Of numbers below the first at which they did not: a lucky level beyond it counts for nothing.
    """
    best = 0
    for level in sorted(levels, key=lambda level: int(level["students"])):
        if broke(level):
            break
        best = level["students"]
    return best


def limits(found: dict[str, Any]) -> dict[str, Any]:
    """What each student should be promised and allowed, with the rule for each number."""
    levels = found["levels"]
    whole = [level for level in levels if "memory_mib" in level]
    usual = max(level["memory_mib"]["student"]["p95"] for level in whole)
    most = max(level["memory_mib"]["peak"]["max"] for level in whole)
    used = [level["explore"]["cores_student"]["p95"] for level in levels if not broke(level)]
    alone = whole[0]["rush"]
    in_a_rush = alone["cpu_s_per_student"] / alone["seconds"]["median"]
    return {
        "memory_guarantee_mib": _up(usual, 64),
        "memory_limit_mib": _up(most + found.get("measuring_mib", most), 256),
        "cpu_guarantee": _up(max(used, default=0.05), 0.05),
        "cpu_limit": max(1.0, _up(in_a_rush, 0.5)),
        "rule": {
            "memory_guarantee": "the p95 of students at the level where it was highest, rounded up"
            " to 64 MiB",
            "memory_limit": "the highest peak of server and kernel, and what mlsys measure --quick"
            " takes beside them in Lab 11, rounded up to 256 MiB",
            "cpu_guarantee": "the p95 of a student who explores, at levels that held, rounded up"
            " to 0.05 cores",
            "cpu_limit": "what one student alone used while opening the lab and running all,"
            " rounded up to half a core, and at least one",
        },
    }


def need(students: int, share: float, found: dict[str, Any]) -> Need:
    """What a class needs, from the data of a measurement."""
    levels, marking = found["levels"], found["grading"]
    online = math.ceil(students * share)
    cores = math.ceil(online * found["machine"]["cores"] / held(levels))
    memory = found["limits"]["memory_guarantee_mib"] * MARGIN * online / 1024 + BASE_GIB
    rush = [level["rush"] for level in levels if "rush" in level]
    work = rush[0]["cpu_s_per_student"]
    hours = students * marking["cpu_s_per_submission"] / 3600
    return Need(
        students=students,
        online=online,
        cores=cores,
        memory_gib=math.ceil(memory),
        machines=max(math.ceil(cores / MACHINE_CORES), math.ceil(memory / MACHINE_GIB)),
        slurm_nodes=math.ceil(online / per_node(found["limits"])),
        rush_s=max(rush[0]["seconds"]["median"], math.ceil(online * RUSH) * work / cores),
        grading_core_hours=hours,
        grading_cores=max(1, math.ceil(hours / GRADED_WITHIN)),
        writer_minutes=students * marking["writer_s_per_submission"] / 60,
        gradebook_mb=students * LABS * marking["gradebook_kb_per_submission"] / 1e3,
        files_gb=students * LABS * marking["files_kb_per_submission"] / 1e6,
    )


def per_node(limits: dict[str, Any]) -> int:
    """How many students have a place on a node of Slurm, where memory decides.

    >>> per_node({"memory_limit_mib": 1280})
    49
    """
    return int((MACHINE_GIB - BASE_GIB) * 1024 / limits["memory_limit_mib"])


def plan(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan for classes of different sizes."""
    return [asdict(need(students, share, found)) for students, share in CLASSES.items()]


def _up(value: float, step: float) -> float:
    """The next multiple of a step.

    >>> _up(130, 64), _up(0.05, 0.05)
    (192, 0.05)
    """
    steps = math.ceil(round(value / step, 6))
    return round(steps * step, 2)
