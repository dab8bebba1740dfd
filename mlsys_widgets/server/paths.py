"""Which files may be served: those below the server's root that its file browser would show.

A path comes from outside, so it is checked twice: as it is written, and where it leads once all
links are followed.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from mlsys_widgets.files import LEDGER


class PathRefused(Exception):
    """A path that is not served, whether or not a file is there."""


class NotFound(Exception):
    """A path that may be served, but no file is there."""


class Root:
    """The folder of a server; names that begin with a dot are served if it is `hidden`."""

    def __init__(self, folder: str | os.PathLike[str], *, hidden: bool = False) -> None:
        self.folder = Path(folder).resolve()
        self.hidden = hidden

    def notebook(self, path: str) -> Path:
        """Return the notebook that a path of the server names.

        Raises `PathRefused` when the path leaves the root, is hidden, or does not name a notebook,
        and `NotFound` when there is no such notebook.
        """
        found = self._below(path)
        if found.suffix != ".ipynb":
            raise PathRefused(f"{path} is not a notebook.")
        if not found.is_file():
            raise NotFound(f"There is no notebook {path}.")
        return found

    def ledger(self, path: str) -> Path:
        """Return the ledger beside a notebook, which may not exist yet; raises like `notebook`."""
        beside = self.notebook(path).with_name(LEDGER)
        if not self.serves(beside):
            raise PathRefused(f"The ledger beside {path} is a link that leads elsewhere.")
        return beside

    def serves(self, file: Path) -> bool:
        """Whether a file is below the root and not hidden, once all links are followed."""
        try:
            inside = file.resolve().relative_to(self.folder)
        except (OSError, ValueError, RuntimeError):
            return False
        return self.hidden or not any(part.startswith(".") for part in inside.parts)

    def path_of(self, file: Path) -> str:
        """Return the path by which the server knows a file below its root."""
        return file.relative_to(self.folder).as_posix()

    def _below(self, path: str) -> Path:
        wrong = PathRefused(f"{path} is not a path below the folder of this server.")
        pure = PurePosixPath(path)
        # Backslashes, drives and colons have a meaning on Windows only, and none that is safe.
        outward = pure.is_absolute() or ".." in pure.parts or PureWindowsPath(path).anchor
        if not pure.parts or outward or "\\" in path or "\0" in path:
            raise wrong
        if not self.hidden and any(part.startswith(".") for part in pure.parts):
            raise PathRefused(f"{path} is hidden, so it is not served.")
        found = self.folder.joinpath(*pure.parts)
        if not self.serves(found):
            raise wrong
        return found
