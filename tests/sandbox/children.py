"""Cells that run in a child of a fork server, for tests of what a child can do."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Mapping
from dataclasses import replace

from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.job import Job
from mlsys_widgets.sandbox.limits import Limits

LAB = "lab_02_demo"
LIMITS = Limits(cell=10, wall=20, cpu=15, memory=300_000_000, disk=10_000_000, output=1_000_000)


def report(server: ForkServer, *cells: str, isolate: bool = True, files=None, **limits):
    """Run cells; the outputs of each, and how the child ended."""
    job = Job("ann", LAB, {}, isolate, replace(LIMITS, **limits))
    report = server.run(job, files or {}, list(cells), {})
    lines: list[Mapping] = [json.loads(line) for line in report.lines]
    outputs = {line["cell"]: line["outputs"] for line in lines if "cell" in line}
    return [outputs.get(n, []) for n in range(len(cells))], report.ending.ended


def run(server: ForkServer, *cells: str, **more):
    """Run cells; what each printed or raised, and how the child ended."""
    outputs, ended = report(server, *cells, **more)
    return ["".join(map(_words, each)) for each in outputs], ended


def _words(output: Mapping) -> str:
    return output.get("text", "") or f"{output.get('ename')}: {output.get('evalue')}"


def is_running(words: str) -> bool:
    """Whether a process with this command line runs."""
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return words in told.stdout.splitlines()


def a_sleep() -> str:
    """A command that nobody else on this machine runs, to look for."""
    return f"sleep {1_000_000 + secrets.randbelow(1_000_000_000)}"
