"""Why nothing was saved, and what to do about it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mlsys_widgets.ledger import DiskFull, LedgerError, NotSaved, ReadOnly, ValueRefused, Vanished
from mlsys_widgets.ledger.errors import not_saved

PATH = Path("labs/lab_07/ledger.jsonl")


@pytest.mark.parametrize(
    ("number", "kind", "remedy"),
    [
        (errno.ENOSPC, DiskFull, "Delete files you do not need"),
        (errno.EDQUOT, DiskFull, "ask for more space"),
        (errno.EFBIG, DiskFull, r"no room left for ledger\.jsonl"),
        (errno.EROFS, ReadOnly, "Copy the lab's folder"),
        (errno.EACCES, ReadOnly, r"ledger\.jsonl may not be written \(Permission denied\)"),
        (errno.ENOENT, Vanished, "labs/lab_07 is gone"),
        (errno.ESTALE, Vanished, "Put the folder back"),
        (errno.EIO, NotSaved, r"failed \(Input/output error\)\. Try again"),
    ],
)
def test_the_reason_and_the_remedy(number, kind, remedy):
    error = not_saved(OSError(number, os.strerror(number)), PATH)
    assert type(error) is kind
    assert isinstance(error, NotSaved)
    with pytest.raises(NotSaved, match=f"^Nothing was saved: .*{remedy}"):
        raise error


def test_a_refused_value_is_an_ordinary_value_error_too():
    assert issubclass(ValueRefused, LedgerError)
    assert issubclass(ValueRefused, ValueError)
