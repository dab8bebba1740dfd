"""Numbers about a course in Prometheus' format: how many, never who."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from mlsys_widgets.files import TIMESTAMP, open_folder, open_regular
from mlsys_widgets.hub.services.health import (
    HubPart,
    Surroundings,
    last_backup,
    last_release,
    services_alive,
)

#: A student whose server saw something within that time is working.
_WORKING: Final = timedelta(minutes=5)
#: What is handed in under a name that no lab has; students choose these names.
OTHER: Final = "other"
#: Labs by name; more than that is no course.
_MOST_LABS: Final = 200
#: The time in the name of a hand-in, as nbgrader writes it.
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \S{1,9}")


def exposition(
    around: Surroundings, parts: Iterable[HubPart], users: Iterable[Mapping[str, Any]] | None
) -> bytes:
    """Return our numbers as text; `users` is what JupyterHub says about students, if it does."""
    registry = CollectorRegistry()

    def gauge(name: str, words: str, *labels: str) -> Gauge:
        return Gauge(f"mlsys_{name}", words, labels, registry=registry)

    well = gauge("part_up", "Whether a part of the hub does what it must", "part")
    for part in parts:
        if not part.name.startswith("service "):
            well.labels(part.name).set(part.well)
    alive = gauge("service_up", "Whether a service of the hub runs", "service")
    for name, runs in services_alive(around).items():
        alive.labels(name).set(runs)
    if users is not None:
        everybody = list(users)
        gauge("students", "Students whom the hub knows").set(len(everybody))
        active = count_working(everybody)
        gauge("students_working", "Students active within five minutes").set(active)
    disk = shutil.disk_usage(around.places.root)
    gauge("disk_free_bytes", "Free bytes where the hub keeps everything").set(disk.free)
    gauge("disk_size_bytes", "Bytes there in all").set(disk.total)
    labs = released_labs(around)
    handed_in = hand_ins(around, labs)
    counts = gauge("hand_ins", "Hand-ins in the exchange", "lab")
    waiting = gauge("grading_queue", "Students whose newest hand-in is not graded yet", "lab")
    ungraded = grading_queue(around, handed_in)
    for lab in [*labs, OTHER]:
        counts.labels(lab).set(sum(handed_in.get(lab, Counter()).values()))
        if lab != OTHER:
            waiting.labels(lab).set(ungraded.get(lab, 0))
    for name, words, when in (
        ("last_release", "When a lab was last released", last_release(around)),
        ("last_backup", "When the last backup was complete", last_backup(around.places)),
    ):
        if when is not None:
            gauge(f"{name}_timestamp_seconds", words).set(when)
    return generate_latest(registry)


def count_working(users: Iterable[Mapping[str, Any]], now: datetime | None = None) -> int:
    """Count people who have a server that saw something lately.

    Examples
    --------
    >>> at = datetime(2026, 11, 2, 12, tzinfo=UTC)
    >>> seen = {"ready": True, "last_activity": "2026-11-02T11:58:00Z"}
    >>> count_working([{"servers": {"": seen}}, {"servers": {}}], at)
    1
    """
    since = (now or datetime.now(UTC)) - _WORKING
    found = 0
    for user in users:
        servers = (user.get("servers") or {}).values()
        times = [each["last_activity"] for each in servers if each.get("last_activity")]
        found += any(datetime.fromisoformat(each) >= since for each in times)
    return found


def released_labs(around: Surroundings) -> list[str]:
    """Return the labs in the exchange: only these become names of numbers."""
    return sorted(_folders(around.places.exchange / around.course_id / "outbound"))[:_MOST_LABS]


def hand_ins(around: Surroundings, labs: Iterable[str]) -> dict[str, Counter[str]]:
    """Count how often each student handed in each lab; what is of no lab counts as other."""
    known, found = set(labs), dict[str, Counter[str]]()
    for name in _folders(around.places.exchange / around.course_id / "inbound"):
        student, _, rest = name.partition("+")
        lab = rest.partition("+")[0]
        counter = found.setdefault(lab if lab in known else OTHER, Counter())
        counter[student] += 1
    return found


def grading_queue(around: Surroundings, handed_in: Mapping[str, Counter[str]]) -> dict[str, int]:
    """Count, for each lab, students whose newest hand-in is later than what was graded."""
    newest: dict[tuple[str, str], str] = {}
    for name in _folders(around.places.exchange / around.course_id / "inbound"):
        student, lab, when = ([*name.split("+"), "", ""])[:3]
        if lab in handed_in and _TIME.fullmatch(when):
            newest[student, lab] = max(newest.get((student, lab), ""), when)
    queue: Counter[str] = Counter()
    for (student, lab), when in newest.items():
        graded = _first_line(around.places.course / "autograded", student, lab, TIMESTAMP)
        queue[lab] += graded < when
    return queue


def _folders(folder: Path) -> list[str]:
    """Names of folders in a folder, through no link."""
    try:
        with open_folder(folder) as handle, os.scandir(handle) as found:
            return [each.name for each in found if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _first_line(root: Path, *way: str) -> str:
    """The beginning of a small file; empty if there is none, or a link is on the way to it."""
    try:
        with ExitStack() as stack:
            handle = stack.enter_context(open_folder(root))
            for name in way[:-1]:
                handle = stack.enter_context(open_folder(name, dir_fd=handle))
            file = stack.enter_context(open_regular(way[-1], dir_fd=handle))
            return file.read(100).decode("utf-8", "replace").strip()
    except OSError:
        return ""
