"""Writes measured results into the page about sizing, between its marks; the prose stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import findings

from classroom import sizing


def fill(page: str, found: dict[str, Any]) -> str:
    """Fill in every table and sentence of the page that comes from the data."""
    parts = {
        "result": _result(found),
        "levels": _levels(found),
        "limits": _limits(found),
        "plan": _plan(found),
        "conditions": _conditions(found),
        "start": _start(found),
    }
    return findings.fill(page, parts)


def _result(found: dict[str, Any]) -> str:
    levels = found["levels"]
    best = sizing.held(levels)
    at = next(level for level in levels if level["students"] == best)
    full = [level for level in levels if "memory_mib" in level]
    most = max(full, key=lambda level: int(level["students"]))
    memory = most["memory_mib"]["student"]["median"]
    cores = found["machine"]["cores"]
    return (
        f"**{best} students can work on {cores} cores.** The answer to a slider move is complete"
        f" after {at['update_ms']['median']:.0f} ms in the median, and after at most"
        f" {at['update_ms']['p95']:.0f} ms for 95 moves out of 100. A student takes"
        f" **{memory:.0f} MiB**: {most['memory_mib']['server']['median']:.0f} for the Jupyter"
        f" server and {most['memory_mib']['kernel']['median']:.0f} for the kernel. The measurement"
        f" ended because {found['ended']}."
    )


def _levels(found: dict[str, Any]) -> str:
    rows = []
    for level in found["levels"]:
        explore, rush, memory = level["explore"], level.get("rush"), level.get("memory_mib")
        everybody = rush and rush["students"] == level["students"]
        rows.append(
            (
                f"{level['students']}",
                f"{level['update_ms']['median']:.0f}",
                f"{level['update_ms']['p95']:.0f}",
                f"{level['felt_ms']['median']:.0f}",
                f"{explore['cores_machine']:.2f}",
                f"{explore['cores_load_tool']:.2f}",
                f"{rush['seconds']['max']:.0f}" if everybody else "",
                f"{memory['student']['median']:.0f}" if memory else "",
                f"{level['troubled']}",
            )
        )
    return _table(
        ("students", "median, ms", "p95, ms", "felt, ms", "cores busy", "load tool",
         "run all, s", "MiB each", "in trouble"),
        rows,
    )  # fmt: skip


def _limits(found: dict[str, Any]) -> str:
    limits, rule = found["limits"], found["limits"]["rule"]
    return _table(
        ("", "value", "rule"),
        [
            ("memory guarantee", f"{limits['memory_guarantee_mib']:.0f} MiB",
             rule["memory_guarantee"]),
            ("memory limit", f"{limits['memory_limit_mib']:.0f} MiB", rule["memory_limit"]),
            ("CPU guarantee", f"{limits['cpu_guarantee']:.2f} cores", rule["cpu_guarantee"]),
            ("CPU limit", f"{limits['cpu_limit']:.1f} cores", rule["cpu_limit"]),
        ],
    )  # fmt: skip


def _plan(found: dict[str, Any]) -> str:
    rows = [
        ("online at once", "online", "{:,.0f}"),
        ("cores for students", "cores", "{:,.0f}"),
        ("memory, GiB", "memory_gib", "{:,.0f}"),
        (f"machines with {sizing.MACHINE_CORES} cores and {sizing.MACHINE_GIB} GiB", "machines",
         "{:,.0f}"),
        ("nodes of Slurm of that size", "slurm_nodes", "{:,.0f}"),
        (f"{sizing.RUSH:.0%} press Run All at the same moment: done after, s", "rush_s",
         "{:,.0f}"),
        ("grading one lab, core-hours", "grading_core_hours", "{:,.2g}"),
        ("cores needed to grade it within an hour", "grading_cores", "{:,.0f}"),
        ("time the gradebook's only writer is busy, minutes", "writer_minutes", "{:,.2g}"),
        (f"gradebook of {sizing.LABS} labs, MB", "gradebook_mb", "{:,.0f}"),
        (f"submissions of {sizing.LABS} labs, as handed in and as graded, GB", "files_gb",
         "{:,.2f}"),
    ]  # fmt: skip
    plan = found["plan"]
    return _table(
        ("", *(f"{each['students']:,} students" for each in plan)),
        [(words, *(shown.format(each[key]) for each in plan)) for words, key, shown in rows],
    )


def _start(found: dict[str, Any]) -> str:
    alone = next(level for level in found["levels"] if "start" in level)
    start, run = alone["start"]["cpu_s_per_student"], alone["rush"]["cpu_s_per_student"]
    minute = 60 * alone["explore"]["cores_student"]["median"]
    return (
        f"A student takes {start:.1f} s of processor time to start the server, {run:.1f} s to open"
        f" the lab and run all cells, and {minute:.1f} s for each minute of exploring."
    )


def _conditions(found: dict[str, Any]) -> str:
    about, versions = found["machine"], found["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{about['cores']} cores and {about['memory_gib']:.0f} GiB in a virtual machine; load"
        f" before the start {about['load_before']:.1f}. {found['way']} {listed}. {found['date']}."
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *("--:" if len(header) > 3 else "---" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
