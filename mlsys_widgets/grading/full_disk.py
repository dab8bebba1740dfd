"""Telling a full disk from other failures: it is nobody's submission, and it stops everything."""

from __future__ import annotations

import errno
from typing import Final

#: No space, a quota that is used up, a file as large as the system lets it become.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full_disk(problem: BaseException) -> bool:
    """Whether something failed because nothing more can be written.

    Examples
    --------
    >>> is_full_disk(OSError(errno.ENOSPC, "No space left on device")), is_full_disk(OSError())
    (True, False)
    """
    return isinstance(problem, OSError) and problem.errno in _FULL


def full_disk_sentence(problem: OSError, kept: str) -> str:
    """Return what happened, what is kept, and what to do."""
    where = f" at {problem.filename}" if problem.filename else ""
    return (
        f"the disk is full{where}; {kept}. Free some space, then repeat the command with --resume"
    )
