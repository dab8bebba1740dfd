"""A ledger brought back from the notebook that carries its lines, when a lab is opened.

Somebody moved only the notebook: to a machine where no ledger lies beside it, or back to one where
an older one does. Nothing is ever overwritten, and lines are only added where they continue what is
there. Only an intact record of this lab and this student is taken, and a lab that was begun again
stays begun again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.files import write_new
from mlsys_widgets.ledger.carried_record import (
    BadRecord,
    Owner,
    continues,
    owner_of,
    read_ledger_file,
    record_in,
    whole_lines,
)
from mlsys_widgets.ledger.errors import LedgerError
from mlsys_widgets.ledger.events import from_line
from mlsys_widgets.ledger.journal import beside, journal_at
from mlsys_widgets.ledger.verification import verify_lines

#: What may happen to an honest student, and does not keep a ledger from coming back.
_HARMLESS: Final = frozenset({"late prediction", "torn"})


def restore_ledger(
    path: Path, notebook: Path, lab: str, student: str, *, now: datetime | None = None
) -> str | None:
    """Bring a ledger up to what its notebook carries.

    Returns what to tell the student about it; `None` if there was nothing to do.
    """
    if path.is_symlink() or beside(path, "old"):
        return None
    owner, moment = Owner(lab, student), now or datetime.now(UTC)
    if path.exists():
        return _continued(path, notebook, owner, moment)
    return _written(path, notebook, owner, moment)


def _written(path: Path, notebook: Path, owner: Owner, now: datetime) -> str | None:
    """Write a ledger that is missing."""
    try:
        content = record_in(notebook)
        if content is None:
            return None
        found = owner_of(content)
        if found is None:
            raise BadRecord("does not say whose it is")
        if found != owner:
            whose = found.student if found.lab == owner.lab else f"{found.student} in {found.lab}"
            return (
                f"This notebook carries the record of {whose}, and you are {owner.student}, so it"
                " was not taken over. What you record here starts a ledger of your own."
            )
        lines = _intact(content, owner, now)
        write_new(path, _text(lines))
    except BadRecord as problem:
        return f"{path.name} is missing, and the record in the notebook {problem}."
    except FileExistsError:  # another kernel was faster
        return None
    except OSError as problem:
        return (
            f"{path.name} is missing, and it could not be restored from the notebook:"
            f" {problem.strerror or problem}."
        )
    return (
        f"{path.name} was missing beside this notebook, so it was restored from the record that the"
        f" notebook carries, with everything up to {from_line(lines[-1]).time}."
    )


def _continued(path: Path, notebook: Path, owner: Owner, now: datetime) -> str | None:
    """Add what a ledger lacks of the record that continues it."""
    file = read_ledger_file(path)
    # Whose ledger it is, the lab says itself; what the notebook got elsewhere, the next save drops.
    if file is None or owner_of(file) != owner:
        return None
    try:
        content = record_in(notebook)
        if content is None or owner_of(content) != owner:
            return None
        ours, theirs = _filled(whole_lines(file)), _filled(whole_lines(content))
        if continues(ours, theirs):
            return None
        if not continues(theirs, ours):
            return (
                f"The record that this notebook carries and {path.name} have gone different ways."
                f" {path.name} counts, and the next save puts it into the notebook; make a copy of"
                " the notebook first if work of yours is missing here."
            )
        more = _intact(content, owner, now)[len(ours) :]
        journal = journal_at(path)
        with journal.writing(create=False) as writer:
            if journal.tail or _filled(writer.news.lines) != ours:  # somebody is writing
                return None
            writer.append(_text(more))
    except BadRecord:
        return None
    except LedgerError as problem:
        return f"This notebook carries newer entries than {path.name}. {problem}"
    return (
        f"{path.name} was older than the record that this notebook carries, so everything up to"
        f" {from_line(more[-1]).time} was added to it."
    )


def _intact(content: bytes, owner: Owner, now: datetime) -> list[bytes]:
    """Return the lines of a record that verifies."""
    lines = _filled(whole_lines(content))
    verdict = verify_lines(lines, student=owner.student, lab=owner.lab, now=now)
    wrong = next((each for each in verdict.problems if each.kind not in _HARMLESS), None)
    if wrong is not None:
        raise BadRecord(f"is not intact. {wrong.sentence.rstrip('.')}")
    return lines


def _filled(lines: Iterable[bytes]) -> list[bytes]:
    return [line for line in lines if line.strip()]


def _text(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
