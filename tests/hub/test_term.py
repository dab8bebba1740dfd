"""A term on a real hub: three labs, two sections, two TAs, and all that happens in between.

The same term is run once more while the machine is cut off at random moments, ten of them and, with
the slow tests, twenty: every process of the hub and of its users is killed at once, and the hub is
started again. Nothing that was acknowledged may be lost.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import websocket

from tests.hub.running import Hub, running_hub
from tests.hub.term import FIRST, SECOND, Term, dated_bundle
from tests.lms_platform import LearningPlatform

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
#: Seconds that a step takes at most before a cut.
LONGEST = 4.0
#: What somebody sees whose machine is gone.
CUT_OFF: tuple[type[BaseException], ...] = (
    requests.RequestException, websocket.WebSocketException, OSError, AssertionError, KeyError,
)  # fmt: skip
STUDENTS = ("ada", "ben", "cleo", "dan")


@contextmanager
def a_term() -> Iterator[Term]:
    with (
        LearningPlatform(page=7) as platform,
        running_hub(
            STUDENTS, made_of=lambda folder, names: dated_bundle(folder, names, platform)
        ) as hub,
    ):
        yield Term(hub, platform)


def test_a_term(hub_is_possible: None) -> None:
    with a_term() as term:
        for _, step in term.steps:
            step()
        term.all_facts()
        versions_are_judged_as_they_are(term)
        late_is_late(term)


def versions_are_judged_as_they_are(term: Term) -> None:
    """Ada has the corrected lab, cleo the first one, and both have all points for right answers."""
    shown = term.says(
        "teacher", f"mlsys course versions {SECOND} --json > ~/versions.json; cat ~/versions.json"
    )
    assert shown.count('"version"') >= 2, shown
    with term._book() as book:
        for who in ("ada", "cleo"):
            found = term._submission(book, who, SECOND)
            right = set(term.answers(who, SECOND))
            grades = [
                g for nb in found.notebooks for g in nb.grades
                if g.name in right and g.auto_score is not None
            ]  # fmt: skip
            assert grades
            assert all(g.score == g.max_score for g in grades), who


def late_is_late(term: Term) -> None:
    """Ben handed in after the due time; ada has longer, and cleo's section is due later."""
    with term._book() as book:
        late = {
            who: float(term._submission(book, who, SECOND).late_submission_penalty or 0)
            for who in ("ada", "ben", "cleo")
        }
        ben = float(term._submission(book, "ben", SECOND).score)
    assert late["ada"] == late["cleo"] == 0
    assert late["ben"] == pytest.approx(0.1 * ben, abs=0.02)
    assert term.total("ben", FIRST) > 0


class Cutter:
    """Cuts the machine off at random moments, and starts it again."""

    def __init__(self, hub: Hub, cuts: int) -> None:
        self._hub, self._chance, self._wanted = hub, random.Random(cuts), cuts
        self._cut = threading.Event()
        self.cuts = 0

    def plan(self, steps: int) -> list[int]:
        """How many cuts fall into each step."""
        times = [0] * steps
        for _ in range(self._wanted):
            times[self._chance.randrange(steps)] += 1
        return times

    def soon(self) -> threading.Timer:
        """Cut the machine off within the next seconds."""
        self._cut.clear()
        timer = threading.Timer(self._chance.uniform(0, LONGEST), self.cut)
        timer.start()
        return timer

    def cut(self) -> None:
        """Kill every process of the hub and of its users at once."""
        for _ in range(3):  # some start others while they die
            for pid in self._everything():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.cuts += 1
        self._cut.set()

    def _everything(self) -> list[int]:
        mine = os.getpid()
        users = {(self._hub.places.home(n)).stat().st_uid
                 for n in os.listdir(self._hub.places.homes)}  # noqa: PTH208  # fmt: skip
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == mine:
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes()
                of_hub = str(self._hub.places.root).encode() in words
                if of_hub or entry.stat().st_uid in users:
                    found.append(int(entry.name))
        return found

    def back(self) -> None:
        """Start the machine again."""
        assert self._cut.is_set()
        assert self._hub.process
        self._hub.process.wait(60)
        self._hub.start()


@pytest.mark.parametrize("cuts", [20])
def test_nothing_acknowledged_is_lost_when_the_machine_is_cut_off(
    hub_is_possible: None, cuts: int
) -> None:
    with a_term() as term:
        cutter = Cutter(term.hub, cuts)
        steps = term.steps
        for (_, step), times in zip(steps, cutter.plan(len(steps)), strict=True):
            for _ in range(times):
                timer = cutter.soon()
                with contextlib.suppress(*CUT_OFF):
                    step()
                timer.join()
                cutter.back()
                term.all_facts()
            step()
        assert cutter.cuts == cuts
        term.all_facts()
        versions_are_judged_as_they_are(term)
        late_is_late(term)
