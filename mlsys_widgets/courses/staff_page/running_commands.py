"""Commands that the page has started: what they print, and how they end."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from mlsys_widgets.courses.staff_page.actions import Words, as_process

#: Runs that are remembered, and characters of what one printed.
_MOST: Final = 30
_LONGEST: Final = 100_000
#: With this code a command has done what it should, and somebody should look.
_NEEDS_A_PERSON: Final = 3
_GOOD: Final = (0, _NEEDS_A_PERSON)
#: How the sentence begins that says why something could not be done.
_REFUSED: Final = "mlsys: "
#: How a command ends that asked somebody who was not there.
_ASKED: Final = ("Nothing was changed.", "Nothing was removed.")
#: How a command tells which other one goes ahead, where the page has a button.
_BY_COMMAND: Final = re.compile(r"^(Nothing is \w+ yet): mlsys .*$", re.M)


class CommandRun:
    """Commands that run one after the other, until one fails.

    Parameters
    ----------
    label, fails
        What they do, and what it is called when one fails, in words that the page shows.
    again
        The form to send for going ahead, if the command only says what would happen.
    typed
        What has to be typed once more for that; nothing if empty.
    when_ended
        Called at the end, with whether all of them have succeeded.
    """

    def __init__(
        self,
        label: str,
        again: Mapping[str, str] | None = None,
        *,
        typed: str = "",
        fails: str = "not done",
        when_ended: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.name = secrets.token_urlsafe(9)
        self.label, self.again, self.typed = label, again, typed
        self._fails, self._when_ended = fails, when_ended
        self._code: int | None = None
        self._printed = ""

    @property
    def state(self) -> str:
        """Where it stands, in words that the page shows."""
        if self._code is None:
            return "running"
        if self.again and (self._code in _GOOD or self._asked):
            return "this is what would happen"
        if self._code == _NEEDS_A_PERSON:
            return "done, and somebody should look"
        return self._fails if self._code else "done"

    @property
    def failed(self) -> bool:
        """Whether it could not be done."""
        return self._code not in (None, *_GOOD) and not self._asked

    @property
    def _asked(self) -> bool:
        return bool(self.again) and self._printed.rstrip().endswith(_ASKED)

    @property
    def said(self) -> str:
        """What it printed; of a command that was not understood, only why."""
        text = self._printed.strip().removeprefix(_REFUSED)
        if self._asked:  # the question, which the page asks in its own way
            text = text.rpartition("\n")[0]
        if self.again:
            text = _BY_COMMAND.sub(r"\1.", text)
        return text.rpartition("error: ")[2] if self._code == 2 else text

    async def run(self, commands: Sequence[Words], folder: Path) -> None:
        """Run the commands in a folder; they ask nobody and have no terminal."""
        code = 0
        for words in commands:
            try:
                code = await self._run(words, folder)
            except (OSError, ValueError) as problem:  # no process, or a null byte in a word
                self._print(str(problem))
                code = 1
            if code not in _GOOD:
                break
        try:
            self._when_ended(code in _GOOD)
        except (OSError, ValueError) as problem:
            self._print(str(problem))
        self._code = code

    async def _run(self, words: Words, folder: Path) -> int:
        process = await asyncio.create_subprocess_exec(
            *as_process(words), cwd=folder, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "100", "NO_COLOR": "1"},
        )  # fmt: skip
        assert process.stdout
        while chunk := await process.stdout.read(65_536):
            self._print(chunk.decode("utf-8", "replace"))
        return await process.wait()

    def _print(self, text: str) -> None:
        self._printed = (self._printed + text)[-_LONGEST:]


class CommandRuns:
    """The commands that were run in the folder of a course, by name; old runs are forgotten."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: dict[str, tuple[CommandRun, asyncio.Task[None]]] = {}

    def get(self, name: str) -> CommandRun | None:
        """Return a run; `None` if there is none of that name."""
        return self._runs[name][0] if name in self._runs else None

    async def start(self, run: CommandRun, commands: Sequence[Words], patience: float) -> None:
        """Start a run, and wait for its end, but no longer than so many seconds."""
        task = asyncio.create_task(run.run(commands, self._folder))
        self._runs[run.name] = run, task
        while len(self._runs) > _MOST:
            del self._runs[next(iter(self._runs))]
        await asyncio.wait({task}, timeout=patience)
