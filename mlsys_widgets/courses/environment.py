"""nbgrader calls ``alembic`` by name; it is installed beside this interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def tools_on_path() -> Iterator[None]:
    """Have programs found that were installed with the package, activated or not."""
    before = os.environ.get("PATH")
    beside = str(Path(sys.executable).parent)
    os.environ["PATH"] = beside if before is None else os.pathsep.join([beside, before])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before
