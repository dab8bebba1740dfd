"""Environment variables that hold for a while, such as a path that has our own programs on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path


@contextmanager
def environment_variables(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or remove those whose value is `None`, and restore them afterward."""
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def tools_on_path() -> AbstractContextManager[None]:
    """Find the programs that are installed beside this interpreter, activated or not.

    nbgrader calls ``alembic`` by name.
    """
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return environment_variables({"PATH": os.pathsep.join(filter(None, folders))})


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
