"""Notices what a crash, a full disk or a careless hand has taken from the records of a grading run.

The gradebook, the autograded notebooks, the log and the history are written one after another, and
each knows who was graded. So one that was emptied or cut short is told by the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets.files import OWN_FOLDER, open_regular
from mlsys_widgets.grading.gradebook.grade_history import HISTORY, GradeHistory
from mlsys_widgets.grading.gradebook.graded_log import LOG, GradedLog
from mlsys_widgets.notebooks.remarks import printable
from mlsys_widgets.wording.plurals import counted

#: How every notebook ends, whoever wrote it: its members are sorted by name.
_END: Final = re.compile(rb'"nbformat_minor":\s*\d+\s*\}\s*\Z')
_TAIL: Final = 200
#: Names in a sentence; the others are counted.
_MOST_NAMED: Final = 5


def is_whole(notebook: Path) -> bool:
    """Whether a notebook is there to its last line; only that is read."""
    try:
        with open_regular(notebook) as file:
            size = os.fstat(file.fileno()).st_size
            return _END.search(os.pread(file.fileno(), _TAIL, max(0, size - _TAIL))) is not None
    except OSError:
        return False


def lost_records(root: Path, lab: str, *, leaving_out: Collection[str] = ()) -> Iterator[str]:
    """Yield a sentence for each record of a lab that was emptied or cut short, and what to do.

    Grading students again renews what is missing about them, so they are left out.
    """
    logged, graded = GradedLog(root, lab).read().keys(), GradeHistory(root, lab).graded()
    if graded is None and logged:
        yield (
            f"The history of grades is empty, though {counted(len(logged), 'submission')} of this"
            f" lab were graded: {OWN_FOLDER}/{HISTORY}{lab}.jsonl was emptied or removed. What was"
            " changed before, by whom and why, is only in a backup; from here on it is kept again"
        )
    missing = sorted((graded or set()) - logged - set(leaving_out))
    if missing:
        more = len(missing) - _MOST_NAMED
        names = ", ".join(map(printable, missing[:_MOST_NAMED]))
        yield (
            f"{OWN_FOLDER}/{LOG}{lab}.jsonl has no line about {names}"
            f"{f' and {more} more' if more > 0 else ''}, who were graded: it was emptied or cut"
            " short. Their points are in the gradebook, but not their flags, nor where their"
            f" ledgers ended. Put the file back from a backup, or run: mlsys grade {lab} --force"
        )
