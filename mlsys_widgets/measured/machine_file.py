"""The measurement beside a notebook: what it says, and whether it is of this machine."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

from mlsys_widgets.measured.checks import MeasurementError
from mlsys_widgets.measured.cpu.machine import cores, name
from mlsys_widgets.measured.documents import MOST_BYTES, parse
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.wording.plurals import counted


@dataclass(frozen=True)
class MachineFile:
    """A measurement as it lies in a folder."""

    document: Document | None  # what it says; `None` if it cannot be used
    digest: str  # the SHA-256 of the file
    problem: str = ""

    @property
    def machine(self) -> str:
        """The machine that was measured, in words."""
        assert self.document is not None
        device = self.document["device"]
        if device["kind"] != "cpu":
            return str(device["name"])
        return in_words(str(device["name"]), int(device["units"]))

    @property
    def date(self) -> str:
        """When it was measured, in UTC, as files and ledgers have it."""
        assert self.document is not None
        return str(self.document["date"])

    @property
    def is_of_this_machine(self) -> bool:
        """Whether the processor that runs this is the one that was measured."""
        return self.document is not None and self.machine == this_machine()


def in_words(processor: str, units: int) -> str:
    """Name a machine as people call it.

    Examples
    --------
    >>> in_words("Intel(R) Xeon(R) Processor", 2)
    'Intel(R) Xeon(R) Processor, 2 cores'
    """
    return f"{' '.join(processor.split())}, {counted(units, 'core')}"


def this_machine() -> str:
    """Return the machine that runs this, in words."""
    return in_words(name(), cores())


def read_machine_file(path: Path) -> MachineFile | None:
    """Read a measurement; `None` if there is no file. One that cannot be used says why."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return MachineFile(None, "", f"{path.name} is far too large for a measurement.")
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        return MachineFile(None, "", f"{path.name} cannot be read ({problem.strerror}).")
    return _parsed(path.name, content)


@functools.lru_cache(maxsize=8)
def _parsed(called: str, content: bytes) -> MachineFile:
    """Read a file, checked once: cards ask for it whenever something is saved."""
    digest = hashlib.sha256(content).hexdigest()
    try:
        return MachineFile(parse(content, source=called), digest)
    except MeasurementError as problem:
        return MachineFile(None, digest, str(problem))
