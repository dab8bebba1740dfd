"""A student at work in a lab: opens it, runs all, commits, moves sliders, types, hands in.

What is chosen and how long a pause takes is drawn from a seed, so that a class can be had again.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable

from classroom.browser import Browser
from classroom.widgets import filled_in
from classroom.wire import PATIENCE, Sent

#: Moves of a slider in a second while it is dragged, and how many a drag has.
RATE = 20.0
MOVES = (10, 20)
#: Seconds in which somebody looks at what they see, and between two clicks on a card.
LOOKS = (2.0, 8.0)
CLICKS = (0.3, 0.9)
#: What is done while exploring, with the weights of the choice.
DOES = {"drag": 16, "answer": 3, "save": 1}
#: What cards ask for, and what they ask for next. A lab has no more cards than this.
CARDS = {"propose": "confirm", "compare": "", "answer": ""}
MOST_CARDS = 60


class Student:
    """Somebody in front of a browser."""

    def __init__(self, browser: Browser, seed: str) -> None:
        self.browser = browser
        self._chance = random.Random(seed)
        #: Seconds that each kind of thing took, since they were last taken.
        self.times: defaultdict[str, list[float]] = defaultdict(list)
        self.troubles: Counter[str] = browser.troubles

    async def arrive(self, course: str, lab: str) -> None:
        """Fetch the lab."""
        await self._note("fetch", self.browser.fetch_lab(course, lab))

    async def open_and_run(self) -> None:
        """Open the lab and press Run All, from the click on the notebook to the last cell."""
        began = time.perf_counter()
        await self._note("open", self.browser.open())
        await self._note("kernel", self.browser.start_kernel())
        sent = [self.browser.run(cell) for cell in self.browser.code_cells()]
        await self._answers(*sent)
        self.times["run all"].append(time.perf_counter() - began)

    async def commit(self) -> None:
        """Go through the cards: commit predictions, compare, reflect. Some wait for others."""
        touched: set[str] = set()
        for _ in range(MOST_CARDS):
            waiting = ((comm, action) for comm, action in self.browser.models.asking(*CARDS)
                       if comm not in touched)  # fmt: skip
            comm, action = next(waiting, ("", ""))
            if not comm:
                break
            touched.add(comm)
            await self._pause(CLICKS)
            values = filled_in(self.browser.models.cards[comm], self._chance)
            if values:
                await self._answers(self.browser.update(comm, {"drafts": values}))
            await self._click(comm, action, values)
            if then := CARDS[action]:
                await self._pause(CLICKS)
                await self._click(comm, then, values)
        if left := self.browser.models.asking("propose"):
            self.troubles["predictions not committed"] += len(left)

    async def explore(self, seconds: float) -> None:
        """Move sliders most of the time, type an answer or save now and then, with pauses."""
        end = time.perf_counter() + seconds
        # Nobody begins at the same moment.
        await asyncio.sleep(self._chance.uniform(0, LOOKS[0]))
        while time.perf_counter() < end:
            (does,) = self._chance.choices(list(DOES), list(DOES.values()))
            try:
                await {"drag": self.drag, "answer": self.answer, "save": self.save}[does]()
            except (OSError, TimeoutError) as problem:
                self.troubles[f"{does}: {problem or type(problem).__name__}"] += 1
            await self._pause(LOOKS)

    async def drag(self) -> None:
        """Drag a slider. A browser sends the newest value once the one before is answered."""
        panels = self.browser.models.panels
        comms = [name for name, panel in panels.items() if panel.sliders]
        if not comms:
            raise OSError("no instrument is open")
        comm = self._chance.choice(comms)
        path = panels[comm].drag(self._chance, self._chance.randint(*MOVES))
        began, shown = time.perf_counter(), -1
        while shown < len(path) - 1:
            place = min(int((time.perf_counter() - began) * RATE), len(path) - 1)
            if place == shown:
                await asyncio.sleep(began + (place + 1) / RATE - time.perf_counter())
                continue
            name, value = path[place]
            moved = {**panels[comm].moved, name: [value, 1e3 * time.perf_counter()]}
            panels[comm].moved = moved
            sent = time.perf_counter()
            answered = await self._answers(self.browser.update(comm, {"moved": moved}))
            self.times["update"].append(answered - sent)
            # Also what the hand waited for before it was sent.
            self.times["felt"].append(answered - (began + place / RATE))
            shown = place

    async def answer(self) -> None:
        """Type an answer into its cell, and run it and its check."""
        cells = self.browser.book["cells"]
        cell = self._chance.choice(
            [k for k in self.browser.code_cells() if cells[k].get("id", "").startswith("answer_")]
        )
        name = cells[cell]["id"].removeprefix("answer_")
        offered = re.findall(r'"([\w-]+)"', "".join(cells[cell]["source"]))
        typed = f'"{self._chance.choice(offered)}"' if offered else self._chance.randint(1, 99)
        # The comment stays, as it says what can be chosen the next time.
        cells[cell]["source"] = re.sub(
            rf"{name} = \S+", f"{name} = {typed}", "".join(cells[cell]["source"])
        )
        began = time.perf_counter()
        answered = await self._answers(self.browser.run(cell), self.browser.run(cell + 1))
        self.times["cell"].append(answered - began)

    async def save(self) -> None:
        """Save the notebook."""
        await self._note("save", self.browser.save())

    async def hand_in(self, course: str, lab: str) -> None:
        """Save and hand in."""
        await self.save()
        await self._note("submit", self.browser.submit(course, lab))

    async def _click(self, comm: str, action: str, values: dict[str, object]) -> None:
        began = time.perf_counter()
        answered = await self._answers(self.browser.click(comm, action, values))
        self.times["commit"].append(answered - began)

    async def _pause(self, between: tuple[float, float]) -> None:
        await asyncio.sleep(self._chance.uniform(*between))

    async def _note(self, what: str, doing: Awaitable[None]) -> None:
        began = time.perf_counter()
        await doing
        self.times[what].append(time.perf_counter() - began)

    @staticmethod
    async def _answers(*sent: Sent) -> float:
        """When the last of several messages was answered."""
        waits = asyncio.gather(*(each.done for each in sent))
        return max(await asyncio.wait_for(waits, PATIENCE))
