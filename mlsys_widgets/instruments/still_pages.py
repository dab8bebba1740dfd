"""How widgets look now, written down for the server, which puts it into the notebook's file.

A notebook's file holds what a cell showed when it ran. What a student does afterward in a card or
with an instrument changes the live widget only, so a page that is exported without running anything
would show every question unanswered. Therefore each widget that has been shown writes its page
without a kernel to a small file in Jupyter's runtime folder, a moment after it has changed, and
the server's part of this package (``server.saved_pages``) uses these files when it saves.
"""

from __future__ import annotations

import asyncio
import json
import os
import weakref
from pathlib import Path
from typing import Any, Final, Protocol

from mlsys_widgets.files import PAGES, write_whole

#: Seconds without a change after which a page is written: while somebody drags, nothing is.
REST: Final = 0.6
#: Set by a Jupyter server for the kernel of a notebook; no grader or builder has it.
SESSION: Final = "JPY_SESSION_NAME"


class StillWidget(Protocol):
    """A widget that can be shown without a kernel."""

    @property
    def model_id(self) -> str:
        """The name under which a notebook's file has it."""

    def still(self) -> dict[str, str]:
        """Return its page without a kernel, by type of content."""


class StillPages:
    """The pages of the widgets of one kernel, written after ``rest`` seconds without a change."""

    def __init__(self, folder: Path, *, rest: float = REST) -> None:
        self.folder = folder
        self._rest = rest
        #: What a notebook's file calls each widget. Asking the widget would show it to the browser.
        self._shown: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._changed: weakref.WeakSet[Any] = weakref.WeakSet()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def follow(self, widget: StillWidget) -> None:
        """A widget is being shown: from now on its changes count."""
        self._shown[widget] = widget.model_id
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:  # outside a kernel nothing is ever saved
            self._loop = None

    def changed(self, widget: StillWidget) -> None:
        """A widget looks different now; its page is written when it has come to rest."""
        if self._loop is None or widget not in self._shown:
            return
        self._changed.add(widget)
        # A thread that follows a measurement calls this as well.
        self._loop.call_soon_threadsafe(self._soon)

    def _soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._timer = self._loop.call_later(self._rest, self.write)

    def write(self) -> None:
        """Write the pages of everything that has changed."""
        changed, self._changed = self._changed, weakref.WeakSet()
        for widget in changed:
            name = self._shown[widget]
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                page = json.dumps(widget.still())
                write_whole(self.folder / f"{name}.json", page, mode=0o600)
            except Exception:  # an export that lags behind must never disturb a student
                continue


def _of_this_kernel() -> StillPages | None:
    if SESSION not in os.environ:
        return None
    from jupyter_core.paths import jupyter_runtime_dir

    return StillPages(Path(jupyter_runtime_dir()) / PAGES)


_pages: Final = _of_this_kernel()


def follow(widget: StillWidget) -> dict[str, str]:
    """Have the page of a widget kept up to date from now on; returns the page as it is."""
    if _pages is not None:
        _pages.follow(widget)
    return widget.still()


def changed(widget: StillWidget) -> None:
    """Say that a widget looks different now. Costs nothing where nobody saves notebooks."""
    if _pages is not None:
        _pages.changed(widget)
