"""The budget of the suite itself: which room, or which lab, has outgrown its share of the waiting.

Counted is processor time, of a test and of all processes that it started: those that ended, and
those that still run, as servers, kernels and browsers do. It is divided by the time that a fixed
piece of work takes in the same process. So the budget is in seconds of one kind of processor,
whichever machine runs the tests. Above its budget a room is named. No run fails for it: on a
virtual machine whose host is busy, the same work was seen to take ten times as much processor time
as a minute before.
"""

from __future__ import annotations

import os
import re
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.effort import unit
from tests.sampling import EXAMPLE, takes_everything

ROOT = Path(__file__).resolve().parent.parent
#: Seconds that `effort.unit` takes on the processor that budgets are in (x86-64 at 2.5 GHz, quiet).
REFERENCE = 0.15
#: Seconds for one lab in one run, and for the rooms of the tests in ``make test`` and in ``make
#: test-hub``, whichever takes longer; a room that is not listed has `ROOM`.
LAB = 60.0
ROOM = 40.0
ROOMS = {
    "authoring": 90.0, "browser": 2000.0, "cards": 70.0, "classes": 100.0, "courses": 420.0,
    "grading": 1500.0, "howto": 250.0, "hub": 1000.0, "instruments": 110.0, "labs": 300.0,
    "lite": 800.0, "measured": 130.0, "mlsys_widgets": 50.0, "physics": 60.0, "project": 50.0,
    "sandbox": 700.0, "server": 100.0,
}  # fmt: skip

CPU, UNIT = "cpu", "unit"
LABS = sorted(path.parent.name for path in ROOT.glob("assignments/*/lab.py"))


def used() -> float:
    """Processor time of this process and of all below it, whether they have ended or still run."""
    mine, theirs = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime
    return ended + sum(map(_with_all_below, _children(os.getpid())))


def _children(process: int) -> list[int]:
    """The processes that one has started and that still run; none where the system does not say."""
    found: list[int] = []
    for each in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            found += map(int, each.read_text().split())
    return found


def _with_all_below(process: int) -> float:
    """What a running process has used, with those that it waited for and those that still run."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return 0.0
    ticks = sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_with_all_below, _children(process)))


class Meter:
    """In the process that runs tests: notes what each one used, and how fast the process is."""

    def __init__(self) -> None:
        self._unit = unit()
        self._before = used()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Note what was used since the test before this one had ended.

        Ending is nobody's cost: servers that many tests shared end with the last of them. What
        ended and was somebody else's to wait for is lost, so the sum may fall.
        """
        item.user_properties += [(CPU, max(0.0, used() - self._before)), (UNIT, self._unit)]
        result = yield
        self._before = used()
        return result


class Budget:
    """In the process that reports: adds up, and says who has outgrown a budget."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a test used to its room, and to its lab."""
        noted = dict(report.user_properties)
        if report.when == "teardown" and CPU in noted:
            seconds = noted[CPU] / noted[UNIT] * REFERENCE
            self.spent[room_of(report.nodeid)] += seconds
            if lab := lab_of(report.nodeid):
                self.spent[lab] += seconds

    def over(self) -> list[str]:
        """Say who has spent more than the budget."""
        return [
            f"{name} took {spent:.0f} s of processor time; its budget is {budget_of(name):.0f} s"
            for name, spent in self.spent.most_common()
            if spent > budget_of(name)
        ]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what everybody has spent, and who too much."""
        total = sum(self.spent[name] for name in self.spent if name not in LABS)
        terminalreporter.section(f"the suite's budget: {total:.0f} s of processor time")
        shown = [f"{name} {spent:.0f}" for name, spent in self.spent.most_common()]
        terminalreporter.line(", ".join(shown))
        for sentence in self.over():
            terminalreporter.line(f"{sentence} (tests/budget.py). Share, sample, or raise it.")


def room_of(nodeid: str) -> str:
    """The folder of a test below ``tests/``, or the package for its doctests."""
    top, _, rest = nodeid.partition("/")
    return rest.partition("/")[0].partition("::")[0] if top == "tests" else top


def lab_of(nodeid: str) -> str | None:
    """The lab that a test is about, as its parameters have it; none for the suite's example."""
    found = re.findall(r"lab_\w+", nodeid.partition("[")[2])
    return next((lab for lab in found if lab in LABS and lab != EXAMPLE), None)


def budget_of(name: str) -> float:
    """The seconds that a room or a lab may take."""
    return LAB if name in LABS else ROOMS.get(name, ROOM)


def watch_the_budget(config: pytest.Config) -> None:
    """Measure where tests run, and add up where the run is reported."""
    if takes_everything() or config.option.collectonly:
        return
    reports = not hasattr(config, "workerinput")
    if reports:
        config.pluginmanager.register(Budget(), "mlsys-budget")
    if not reports or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Meter(), "mlsys-meter")
