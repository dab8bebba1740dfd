"""An advisory lock on an open file, so that two kernels never write at the same moment.

The lock is the system's ``flock``: it belongs to the open file and ends with it, so a killed
process leaves none behind. Some file systems have no such locks, and Windows has others; there the
caller is told, and goes on without.
"""

from __future__ import annotations

import errno
import random
import time
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_NO_LOCKS_HERE: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_LONGEST_NAP: Final = 0.005


class StillHeld(Exception):
    """Another process kept the lock for as long as we were ready to wait."""


def acquire(handle: int, *, shared: bool = False, patience: float) -> bool:
    """Lock an open file until it is closed; false where files cannot be locked.

    Parameters
    ----------
    handle : int
        Descriptor of the open file.
    shared : bool
        Whether others may read at the same time.
    patience : float
        Seconds to wait. A process that was stopped while it held the lock may never let go, and a
        student's click must not hang with it.

    Raises
    ------
    StillHeld
        When patience has run out.
    """
    if fcntl is None:
        return False
    mode = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + patience
    nap = 0.0002
    while True:
        try:
            fcntl.flock(handle, mode)
        except OSError as error:
            if error.errno in _NO_LOCKS_HERE:
                return False
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES, errno.EINTR}:
                raise
        else:
            return True
        if time.monotonic() >= deadline:
            raise StillHeld
        # Naps of random length: two that wait do not knock in step.
        time.sleep(nap * random.uniform(0.5, 1.5))
        nap = min(2 * nap, _LONGEST_NAP)
