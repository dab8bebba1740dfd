"""Somebody who swaps a folder for a link and back as fast as they can, in another process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SWAP = """
import os, sys
inner, own, link = sys.argv[1:]
print(flush=True)
while True:
    os.rename(inner, own); os.rename(link, inner)
    os.rename(inner, link); os.rename(own, inner)
"""


@contextmanager
def swapping(folder: Path, aside: Path, link: Path) -> Iterator[None]:
    """Swap a folder for a link meanwhile; ``aside`` is where the folder waits."""
    words = [sys.executable, "-c", _SWAP, str(folder), str(aside), str(link)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert process.stdout
    try:
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()
