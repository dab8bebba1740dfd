"""Where the ledger of a submission comes from: its file, or the notebook that carries its lines.

One of them is enough. If both are there and one continues the other, the longer one counts; if they
contradict each other, the file does, and a person looks. What is used in place of the file is then
read, limited, verified and flagged exactly as the file would be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER, write_whole
from mlsys_widgets.grading.reading.misplaced_work import FoundWork
from mlsys_widgets.ledger.carried_record import (
    RECORD,
    BadRecord,
    Owner,
    carried,
    continues,
    owner_of,
    read_ledger_file,
    whole_lines,
)
from mlsys_widgets.ledger.events import Malformed, from_line
from mlsys_widgets.ledger.journal import LARGEST_FILE, MOST_LINES, beside
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted
from mlsys_widgets.wording.plurals import counted

#: Earlier ledgers of a lab that was begun again, as many as are read.
_MOST_EARLIER: Final = 20


@dataclass(frozen=True)
class FoundLedger:
    """The ledger that counts."""

    #: As its file has it, or would have it; `None` if there is none.
    content: bytes | None
    #: What there is to say about it, unless it is the file that was handed in.
    remark: Remark | None = None


def find_ledger(file: bytes | None, book: Any, earlier: Iterable[bytes] = ()) -> FoundLedger:
    """Choose between the file of a ledger and the record in the notebook.

    Parameters
    ----------
    file
        What is in the file; `None` if there is none.
    book
        The notebook, as JSON has it.
    earlier
        Ledgers from before the lab was begun again: a notebook that was not saved since carries
        one of them.
    """
    is_there = file is not None and _has_events(file)
    try:
        record = carried(book)
    except BadRecord as problem:
        if is_there:
            return FoundLedger(file)
        return FoundLedger(file, Remark(RemarkKind.RECORD_UNUSABLE, detail=str(problem)))
    if not record or not record.strip():
        return FoundLedger(file)
    if file is None:
        return FoundLedger(record, Remark(RemarkKind.RECORD_ALONE))
    if not is_there:
        return FoundLedger(record, Remark(RemarkKind.RECORD_INSTEAD))
    ours, theirs = whole_lines(file), whole_lines(record)
    if continues(ours, theirs):
        return FoundLedger(file)
    if continues(theirs, ours):
        more = counted(_count(theirs) - _count(ours), "entry", "entries")
        return FoundLedger(record, Remark(RemarkKind.RECORD_LONGER, detail=more))
    if any(continues(whole_lines(each), theirs) for each in earlier):
        return FoundLedger(file)
    return FoundLedger(file, Remark(RemarkKind.RECORD_DIFFERS, detail=_how(file, record)))


def with_found_ledger(work: FoundWork, lab: str) -> FoundWork:
    """Return the files of a submission with the ledger that counts among them."""
    files = work.files
    book = _parsed(files.get(f"{lab}.ipynb", b""))
    if book is None:
        return work
    old = sorted(name for name in files if name.startswith(f"{LEDGER}.old-"))
    found = find_ledger(files.get(LEDGER), book, (files[n] for n in old[-_MOST_EARLIER:]))
    if found.remark is None:
        return work
    kept = {**files, LEDGER: found.content} if found.content is not None else files
    return FoundWork(kept, (*work.remarks, found.remark))


def lay_out_ledger(folder: Path, book: Any) -> Remark | None:
    """Have the ledger that counts in a folder, as its file: for whoever grades in there.

    Returns
    -------
    Remark or None
        What there is to say about it.
    """
    path = folder / LEDGER
    file = read_ledger_file(path)
    old = (read_ledger_file(each) or b"" for each in beside(path, "old")[-_MOST_EARLIER:])
    found = find_ledger(file, book, old)
    if found.content is not None and found.content != file:
        write_whole(path, found.content)
    return found.remark


def carried_owner(notebook: bytes) -> Owner | None:
    """Tell of which lab and whose the record in a notebook says it is; `None` without one."""
    try:
        record = carried(_parsed(notebook))
    except BadRecord:
        return None
    return owner_of(record) if record else None


def _parsed(notebook: bytes) -> Any:
    """Return a notebook as JSON has it; `None` if it is none, or carries nothing."""
    if f'"{RECORD}"'.encode() not in notebook:
        return None
    try:
        return json.loads(notebook)
    except (ValueError, RecursionError):
        return None


def _has_events(file: bytes) -> bool:
    """Whether anything in a file can be read as an event."""
    if len(file) > LARGEST_FILE or file.count(b"\n") > MOST_LINES:
        return False
    return any(map(_is_event, whole_lines(file)))


def _is_event(line: bytes) -> bool:
    try:
        from_line(line)
    except Malformed:
        return False
    return True


def _count(lines: Iterable[bytes]) -> int:
    return sum(bool(line.strip()) for line in lines)


def _how(file: bytes, record: bytes) -> str:
    """Say in what way a file and a record contradict each other."""
    theirs, ours = owner_of(record), owner_of(file)
    if theirs is not None and ours is not None and theirs.student != ours.student:
        return f"The record says it is that of {quoted(theirs.student)}"
    pairs = zip(whole_lines(file), whole_lines(record), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0].strip() == pair[1].strip(), pairs))
    return f"They have {counted(same, 'entry', 'entries')} in common, and then differ"
