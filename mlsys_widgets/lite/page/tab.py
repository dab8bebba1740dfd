"""One tab writes: the lock that a kernel holds on the folder of its lab until it ends.

The browser releases the lock with the worker that holds it, however that ends. Whoever waits for it
gets it then, without being asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.lite.page.visitor import visitor

NOT_READY: Final = "The Lab panel has not prepared this kernel yet. Wait a moment and try again."
NOBODY: Final = "Nobody has said yet who works here. Press Start above the notebook."
ELSEWHERE: Final = (
    "This lab is open in another tab or window, which keeps its record; here you can only read."
    " Go on there, or close it and go on here."
)
#: Asks for the lock, and calls back when it is there: with true at once, or later.
#: Somebody who restarts a kernel must not be told of another tab, so a moment is waited first.
_HOLD: Final = """
(name, held) => new Promise(done => {
  navigator.locks.request(name, () => { held(); done(); return new Promise(() => {}); });
  setTimeout(done, 400);
})
"""


class Tab:
    """The tab of a kernel: the folder of its lab, and whether it is the one that writes there."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.writes = False
        self._is_known = False

    def hindrance(self, folder: Path) -> str | None:
        """Why nothing can be written to a ledger in a folder; `None` if something can."""
        if self.folder is None:
            return NOT_READY
        if folder != self.folder:
            return f"A kernel writes only to the ledger beside its notebook, not in {folder.name}."
        if not self.writes:
            return ELSEWHERE
        # Asked until somebody is known, and no more: it is a trip to the page.
        self._is_known = self._is_known or visitor().name is not None
        return None if self._is_known else NOBODY

    async def hold(self, folder: Path, site: str, run_js: Callable[[str], Any]) -> None:
        """Ask to be the one that writes in a folder; until that is granted, this tab only reads.

        Parameters
        ----------
        site
            What tells the storage of this site from that of others at the same origin.
        run_js
            Runs JavaScript in this worker.
        """
        self.folder = folder

        def held() -> None:
            self.writes = True

        from pyodide.ffi import create_once_callable

        await run_js(_HOLD)(f"mlsys-widgets {site} {folder}", create_once_callable(held))
