"""``mlsys ledger``: carry ledgers to another machine, and check whether one is unbroken."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger.errors import LedgerError
from mlsys_widgets.ledger.events import HASH
from mlsys_widgets.ledger.ledger import Ledger
from mlsys_widgets.ledger.transfer import export_ledgers, import_ledgers
from mlsys_widgets.ledger.verification import Head


def run(arguments: argparse.Namespace) -> int:
    """Do what ``mlsys ledger`` was asked to do, and return the exit code."""
    try:
        return _ACTIONS[arguments.action](arguments)
    except LedgerError as error:
        raise ValueError(str(error)) from None


def _export(arguments: argparse.Namespace) -> int:
    ledgers = list(_find(arguments.paths))
    written = export_ledgers(ledgers, arguments.output)
    for ledger in ledgers:
        print(f"Packed {ledger}")
    print(f"Wrote {written}. On the other machine, run: mlsys ledger import {written.name}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    for lab, path in import_ledgers(
        arguments.file, arguments.folder, student=arguments.student
    ).items():
        print(f"{lab}: {path}")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    ledgers, noted = list(_find(arguments.paths)), arguments.head
    if noted is not None and not HASH.fullmatch(noted):
        raise ValueError(
            f"--head is {noted!r}; it must be the 64 digits that mlsys ledger verify shows"
        )
    if noted is not None and len(ledgers) > 1:
        raise ValueError(f"--head belongs to one ledger, and there are {len(ledgers)} here")
    broken = 0
    for path in ledgers:
        about, problems = _judge(path, arguments.student, noted)
        broken += bool(problems)
        print(f"{path}: {'does not verify' if problems else 'verifies'}")
        for line in (*about, *problems):
            print(f"  {line}")
    if len(ledgers) > 1:
        print(f"{len(ledgers) - broken} of {len(ledgers)} ledgers verify.")
    return 1 if broken else 0


def _judge(path: Path, student: str | None, noted: str | None) -> tuple[list[str], list[str]]:
    """Describe a ledger, and what does not fit; ``noted`` is a head that somebody wrote down."""
    try:
        ledger = Ledger.open(path)
    except LedgerError as error:
        return [], [str(error)]
    events = ledger.events()
    if not events:
        return [], ["It holds no events. If it is an export, mlsys ledger import checks it."]
    last = events[-1]
    about = [
        f"{ledger.lab} of {ledger.student}, last event {last.seq} at {last.time}",
        f"head {last.hash}",
    ]
    heads = [Head(event.seq, event.hash) for event in events if event.hash == noted]
    problems = [str(each) for each in ledger.verify(student=student, heads=heads[:1]).problems]
    if noted is not None and not heads:
        problems.append(
            f"No event has the head {noted[:12]}…: the end of the ledger was cut off, or the"
            " ledger was rewritten."
        )
    return about, problems


def _find(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the ledgers that were named: files, folders of labs, or folders of such folders."""
    for path in paths:
        if not path.is_dir():
            found = [path] if path.exists() else []
        elif (path / LEDGER).exists():
            found = [path / LEDGER]
        else:
            found = sorted(path.glob(f"*/{LEDGER}"))
        if not found:
            where = f"in {path.absolute()} or the folders in it" if path.is_dir() else f"at {path}"
            raise ValueError(f"there is no ledger {where}")
        yield from found


_ACTIONS: Final[Mapping[str, Callable[[argparse.Namespace], int]]] = {
    "export": _export,
    "import": _import,
    "verify": _verify,
}
