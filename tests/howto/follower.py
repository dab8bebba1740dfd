"""Following a how-to: one shell, its commands in order, and what each of them answers."""

from __future__ import annotations

import doctest
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.howto.reader import Command, File, HowTo

#: Seconds that one command may take, on a busy machine.
PATIENCE = 240
#: Installing is not repeated for each how-to: the test named here makes an environment from the
#: wheel, and everything else runs in the environment of the tests.
INSTALLING = re.compile(
    r"""python3 -m venv \S+.*|(sudo )?pip install -c constraints\.txt "\$\(ls mlsys_widgets-.*"""
)
INSTALLED_BY = "tests/courses/test_wheel.py::test_a_class_is_graded"

_CHECKER = doctest.OutputChecker()
_LIKE_A_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class NotAsWritten(AssertionError):
    """A page says one thing, and the computer another."""

    def __init__(self, how_to: HowTo, step: Command, problem: str, seen: str) -> None:
        expected = f"\nThe page shows:\n{step.output}" if step.output else ""
        super().__init__(
            f"{how_to.page}:{step.line}: “{how_to.title}”: {problem}\n"
            f"$ {step.words}{expected}\nSeen:\n{seen}"
        )


class Shell:
    """A bash that stays between commands, in a folder and with a home of its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str], log: Path) -> None:
        self.folder, self.log = folder, log
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    def run(self, words: str, patience: float = PATIENCE) -> tuple[int, str]:
        """Run a command; returns its exit code and what it printed, errors included."""
        assert self._bash.stdin
        assert self._bash.stdout
        self.log.write_bytes(b"")
        # From a file, so that nothing is quoted; a command that asks finds nobody at the keyboard.
        script = self.log.with_suffix(".sh")
        script.write_text(words + "\n", "utf-8")
        line = f'{{ . "{script}"; }} </dev/null >"{self.log}" 2>&1; echo "$?"\n'
        self._bash.stdin.write(line.encode())
        self._bash.stdin.flush()
        if not select.select([self._bash.stdout], [], [], patience)[0]:
            self.end()
            return 124, self._said() + f"\n(no end within {patience:g} s)"
        answer = self._bash.stdout.readline()
        if not answer:  # the shell itself has ended
            return self._bash.wait(10), self._said()
        return int(answer), self._said()

    def _said(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def end(self) -> None:
        """End the shell and whatever it has left running."""
        with suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.wait(10)
        for pipe in (self._bash.stdin, self._bash.stdout):
            if pipe:
                pipe.close()


def private(home: Path, root: Path) -> dict[str, str]:
    """The environment of somebody who has just installed the package, with a home of their own."""
    tools = home / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    # Hub how-tos are followed as root, for whom sudo is the command behind it.
    (tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n', "utf-8")
    (tools / "sudo").chmod(0o755)
    exchange = home / "exchange"
    exchange.mkdir(exist_ok=True)
    exchange.chmod(0o777)
    settings = home / ".jupyter"
    settings.mkdir(exist_ok=True)
    (settings / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
        f"c.Exchange.cache = {str(home / 'cache')!r}\n",
        "utf-8",
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUPYTER", "MLSYS"))}
    ours = Path(sys.executable).parent
    return {
        **kept,
        "PATH": os.pathsep.join([str(tools), str(ours), kept["PATH"]]),
        "PYTHONPATH": str(root),
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLUMNS": "160",
        "NO_COLOR": "1",
    }


def follow(
    how_to: HowTo,
    folder: Path,
    environment: Mapping[str, str],
    *,
    instead: Mapping[str, str] | None = None,
) -> None:
    """Do what a how-to says, in a folder.

    Parameters
    ----------
    how_to
        What the page says.
    folder
        Where it starts; nothing else is in it.
    environment
        What `private` returns.
    instead
        Words of the page, and what they are on this machine: a hub's folder, port and users.

    Raises
    ------
    NotAsWritten
        At the first step that ends otherwise than the page says.
    """
    log = Path(environment["HOME"]) / "said.txt"
    shell = Shell(folder, environment, log)
    try:
        for step in how_to.steps:
            if isinstance(step, File):
                _write(shell, step)
            elif not INSTALLING.fullmatch(step.words):
                _do(how_to, step, shell, instead or {})
    finally:
        shell.end()


def _write(shell: Shell, file: File) -> None:
    code, where = shell.run("pwd")  # a how-to may have changed the folder
    assert code == 0, where
    path = Path(where.strip()) / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if file.add else "w", encoding="utf-8") as out:
        out.write(file.text)


def _do(how_to: HowTo, step: Command, shell: Shell, instead: Mapping[str, str]) -> None:
    words = step.words
    for word, real in instead.items():
        words = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: real, words)  # noqa: B023
    code, seen = shell.run(words)
    for word, real in instead.items():
        seen = seen.replace(real, word)
    if code != step.code:
        raise NotAsWritten(how_to, step, f"exits with {code}, not with {step.code}", seen)
    if step.output and not _CHECKER.check_output(
        step.output + "\n", seen.rstrip() + "\n", _LIKE_A_DOCTEST
    ):
        raise NotAsWritten(how_to, step, "shows something else", seen)
