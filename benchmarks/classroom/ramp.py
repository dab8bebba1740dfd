"""More and more students at once, until a slider is slow, memory ends or the time is up."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tornado.httpclient import AsyncHTTPClient

from classroom import machine
from classroom.browser import Browser
from classroom.servers import COURSE, LAB, Servers
from classroom.student import Student

#: Milliseconds for the median answer to a slider; the goal of a hub.
GOAL = 100.0
#: The fraction of memory that is left to the system; below it, processes would be killed.
SPARE = 0.1
#: Numbers of students between which a finer look is worth its time.
FINE = 4
Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What is tried."""

    levels: Sequence[int]
    #: Up to this many, everybody opens the lab again at every level; beyond, only newcomers do.
    rush: int
    #: Seconds of exploring at each level.
    explore: float
    #: Seconds after which no further level starts.
    budget: float
    seed: int = 7


def spread(values: Iterable[float], scale: float = 1.0) -> dict[str, float]:
    """Median, 95th percentile and worst value, rounded for people.

    >>> spread([1, 2, 3, 4])["median"]
    2.5
    """
    found = np.asarray(list(values)) * scale
    if not found.size:
        return {"count": 0}
    return {
        "median": round(float(np.median(found)), 3),
        "p95": round(float(np.percentile(found, 95)), 3),
        "max": round(float(found.max()), 3),
        "count": int(found.size),
    }


@dataclass
class Ramp:
    """A class that grows."""

    servers: Servers
    plan: Plan
    say: Say
    students: list[Student] = field(default_factory=list)
    levels: list[dict[str, Any]] = field(default_factory=list)
    #: Why it ended.
    ended: str = ""

    async def run(self) -> None:
        """Go through the levels, then look closer where it broke."""
        # Each student keeps a request of the Lab panel open, and many ask at the same time.
        AsyncHTTPClient.configure(None, max_clients=100 * max(self.plan.levels))
        self._client = AsyncHTTPClient(force_instance=True)
        self._began = time.monotonic()
        await self.servers.open()
        for planned in self.plan.levels:
            # The last level is as large as memory lets it be.
            count = min(planned, self._fitting())
            if count > len(self.students):
                self.ended = self._no_time(count) or broke(await self._level(count))
            if not self.ended and count < planned:
                self.ended = (
                    f"more than {count} students would leave less than {SPARE:.0%} of the memory"
                )
            if self.ended:
                break
        else:
            self.ended = "that was the last level"
        if any(map(broke, self.levels)):
            await self._look_closer()
        self.levels.sort(key=lambda level: int(level["students"]))
        for student in self.students:
            await student.browser.leave()

    def _fitting(self) -> int:
        """How many students there is memory for."""
        if not self.levels:
            return max(self.plan.levels)
        each = self.levels[-1]["memory_mib"]["student"]["max"]
        left = machine.available() - SPARE * machine.installed()
        return len(self.students) + max(0, int(left / each))

    def _no_time(self, count: int) -> str:
        """Why there is no time left for a level, if there is none."""
        if self.levels:
            # New students take as long as the previous new ones did, each.
            last = self.levels[-1]
            took = last["seconds"] * max(1.0, (count - last["students"]) / last["new"])
            if time.monotonic() - self._began + took > self.plan.budget:
                return f"no time was left for {count} students"
        return ""

    async def _level(self, count: int) -> dict[str, Any]:
        began = time.monotonic()
        new = count - len(self.students)
        level: dict[str, Any] = {"students": count, "new": new}
        level["start"] = await self._start(count)
        everybody = count <= self.plan.rush
        level["rush"] = await self._rush(self.students if everybody else self.students[-new:])
        level |= await self._explore(self.students)
        level["memory_mib"] = self._memory()
        level["hand_in"] = await self._hand_in(self.students[-new:])
        level |= self._troubles()
        level["seconds"] = round(time.monotonic() - began, 1)
        self.levels.append(level)
        self._tell(level)
        return level

    async def _start(self, count: int) -> dict[str, Any]:
        """Start the servers of new students, all at once."""
        usage, began = machine.Usage(), time.perf_counter()
        taken: list[float] = []

        async def start(number: int) -> Student:
            place = await self.servers.start(f"student-{number:03}")
            taken.append(time.perf_counter() - began)
            browser = Browser(self._client, place, f"{LAB}/{LAB}.ipynb")
            student = Student(browser, f"{self.plan.seed}-{number}")
            await student.arrive(COURSE, LAB)
            return student

        new = range(len(self.students) + 1, count + 1)
        self.students += await asyncio.gather(*(start(number) for number in new))
        return {
            "seconds": spread(taken),
            "cpu_s_per_student": round(self._own_cpu(self.students[-len(new) :]) / len(new), 2),
            **_cores(usage),
        }

    async def _rush(self, students: list[Student]) -> dict[str, Any]:
        """Everybody opens the lab and presses Run All at the same moment, then does the cards."""
        await asyncio.gather(*(each.browser.begin_again() for each in students))
        before = self._own_cpu(students)
        usage = machine.Usage()
        await self._together("run all", students, Student.open_and_run)
        # Processor times of kernels that ended are gone; these kernels are all new.
        spent = (self._own_cpu(students) - before) / len(students)
        found = {"students": len(students), "cpu_s_per_student": round(spent, 2), **_cores(usage)}
        await self._together("commit", students, Student.commit)
        times = self._times(students)
        found |= {
            "seconds": spread(times["run all"]),
            "open_s": spread(times["open"]),
            "kernel_s": spread(times["kernel"]),
            "fetch_s": spread(times["fetch"]),
            "commit_ms": spread(times["commit"], 1e3),
        }
        return found

    async def _explore(self, students: list[Student]) -> dict[str, Any]:
        """Everybody explores; how long answers took, and who used the processor."""
        families = self._families(students)
        before = {name: machine.processor(family) for name, family in families.items()}
        shared = {name: machine.processor([each]) for name, each in self.servers.shared().items()}
        # Few students make few moves, so they get more time for them.
        enough = self.plan.explore * (2 if len(students) < 4 else 1)
        usage, began = machine.Usage(), time.perf_counter()
        await self._together("explore", students, lambda each: each.explore(enough))
        cores, seconds = _cores(usage), time.perf_counter() - began
        used = [
            (machine.processor(family) - before[name]) / seconds
            for name, family in families.items()
        ]
        cores |= {
            f"cores_{name}": round((machine.processor([each]) - shared[name]) / seconds, 3)
            for name, each in self.servers.shared().items()
        }
        times = self._times(students)
        return {
            "update_ms": spread(times["update"], 1e3),
            "felt_ms": spread(times["felt"], 1e3),
            "updates_per_s": round(len(times["update"]) / seconds, 1),
            "cell_ms": spread(times["cell"], 1e3),
            "explore": {"seconds": round(seconds, 1), **cores, "cores_student": spread(used)},
        }

    async def _hand_in(self, students: list[Student]) -> dict[str, Any]:
        await self._together("hand in", students, lambda each: each.hand_in(COURSE, LAB))
        times = self._times(students)
        return {"save_ms": spread(times["save"], 1e3), "submit_ms": spread(times["submit"], 1e3)}

    async def _look_closer(self) -> None:
        """Between the last level that held and the one that broke, with some who only look on."""
        held = max((each["students"] for each in self.levels if not broke(each)), default=0)
        broken = min(each["students"] for each in self.levels if broke(each))
        while broken - held > FINE and self._time_for_another():
            count = (held + broken) // 2
            level = {"students": count, "onlookers": len(self.students) - count}
            level |= await self._explore(self.students[:count])
            level |= self._troubles()
            self.levels.append(level)
            self._tell(level)
            if broke(level):
                broken = count
            else:
                held = count

    def _time_for_another(self) -> bool:
        return time.monotonic() - self._began + self.plan.explore < self.plan.budget

    # What is counted.

    @staticmethod
    async def _together(
        what: str, students: list[Student], do: Callable[[Student], Awaitable[None]]
    ) -> None:
        """Do something at the same time. What fails for one student is counted, not raised."""
        outcomes = await asyncio.gather(*map(do, students), return_exceptions=True)
        for student, outcome in zip(students, outcomes, strict=True):
            if isinstance(outcome, (OSError, TimeoutError)):
                student.troubles[f"{what}: {outcome or type(outcome).__name__}"] += 1
            elif outcome is not None:
                raise outcome

    def _families(self, students: list[Student]) -> dict[str, list[int]]:
        by_parent = machine.children()
        places = (student.browser.place for student in students)
        return {place.student: machine.family(place.process, by_parent) for place in places}

    def _own_cpu(self, students: list[Student]) -> float:
        return sum(map(machine.processor, self._families(students).values()))

    def _memory(self) -> dict[str, Any]:
        families = self._families(self.students)
        whole = [machine.memory(family) for family in families.values()]
        servers = [machine.memory(family[:1]) for family in families.values()]
        kernels = [machine.memory(family[1:]) for family in families.values()]
        return {
            "student": spread(each.proportional for each in whole),
            "server": spread(each.proportional for each in servers),
            "kernel": spread(each.proportional for each in kernels),
            "private": spread(each.private for each in whole),
            "peak": spread(each.peak for each in whole),
            "shared": {
                name: round(machine.memory([process]).proportional)
                for name, process in self.servers.shared().items()
            },
            "available": round(machine.available()),
        }

    @staticmethod
    def _times(students: list[Student]) -> dict[str, list[float]]:
        """What students have timed since they were last asked."""
        found: dict[str, list[float]] = {
            name: []
            for name in ("run all", "open", "kernel", "fetch", "commit", "update", "felt", "cell",
                         "save", "submit")
        }  # fmt: skip
        for student in students:
            for name, times in student.times.items():
                found[name] += times
            student.times.clear()
        return found

    def _troubles(self) -> dict[str, Any]:
        """What went wrong and how often, for how many students, and what recovered by itself."""
        kinds: Counter[str] = Counter()
        troubled = reconnected = 0
        for student in self.students:
            kinds += student.troubles
            troubled += bool(student.troubles)
            student.troubles.clear()
            reconnected += student.browser.reconnected
            student.browser.reconnected = 0
        return {"troubles": dict(kinds), "troubled": troubled, "reconnected": reconnected}

    def _tell(self, level: dict[str, Any]) -> None:
        line = (
            f"{level['students']:4} students: slider {level['update_ms']['median']:6.0f} ms,"
            f" 95 of 100 under {level['update_ms']['p95']:6.0f} ms;"
            f" {level['explore']['cores_machine']:.2f} cores"
        )
        if "rush" in level:
            line += (
                f"; run all {level['rush']['seconds'].get('median', 0):5.1f} s"
                f" ({level['rush']['students']} at once);"
                f" {level['memory_mib']['student']['median']:.0f} MiB each"
            )
        self.say(line + (f"; {level['troubles']}" if level["troubles"] else ""))


def broke(level: dict[str, Any]) -> str:
    """Why a level did not hold, if it did not."""
    median = level["update_ms"].get("median")
    count = level["students"]
    if median is None:
        return f"with {count} students no slider was answered"
    if median > GOAL:
        return f"with {count} students the median answer took {median:.0f} ms"
    if level["troubled"] > 0.05 * count:
        return f"with {count} students more than 5 % had trouble"
    return ""


def _cores(usage: machine.Usage) -> dict[str, float]:
    everything, own = usage.cores()
    return {"cores_machine": round(everything, 3), "cores_load_tool": round(own, 3)}
