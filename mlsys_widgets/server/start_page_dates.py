"""Keeps the dates on the page where a student starts: how much time is left, and what is late.

A student's own server does it, with the student's own rights. It replaces the list between the two
marks on the page, and nothing if the student has removed them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mlsys_widgets.course.own_dates import LAB_DATES, VARIABLE, OwnDates, read_dates
from mlsys_widgets.course.page_dates import page_dates, with_page_dates
from mlsys_widgets.files import START_PAGE, write_whole

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

#: Milliseconds between two looks.
_EVERY: Final = 60_000
#: A page of more bytes is not ours.
_LARGEST: Final = 1 << 20


def refresh_start_page(root: Path, now: datetime | None = None) -> bool:
    """Bring the dates on the page up to date; returns whether something changed."""
    page = root / START_PAGE
    try:
        if page.is_symlink() or page.stat().st_size > _LARGEST:
            return False
        before = page.read_text("utf-8")
        after = with_page_dates(before, page_dates(_known(root), now or datetime.now(UTC)))
        if after == before:
            return False
        mode = page.stat().st_mode & 0o777
        write_whole(page, after, mode=mode)
    except (OSError, UnicodeError):
        return False
    return True


def _known(root: Path) -> Iterator[OwnDates]:
    """Find the student's own dates, or else those that came with the labs in the folder."""
    named = os.environ.get(VARIABLE)
    if own := read_dates(Path(named)) if named else None:
        yield own
        return
    for path in sorted(root.glob(f"*/{LAB_DATES}")):
        if dates := read_dates(path):
            yield dates


def keep_start_page(serverapp: ServerApp) -> None:
    """Do it now and every minute, as long as the server runs."""
    from tornado.ioloop import PeriodicCallback

    folder = getattr(serverapp.contents_manager, "root_dir", "") or serverapp.root_dir
    root = Path(folder)
    refresh_start_page(root)

    def look() -> None:
        refresh_start_page(root)

    PeriodicCallback(look, _EVERY).start()
