"""A corrected lab of the site, for a student whose browser keeps the notebook of the one before.

The site has the lab's other files in the new version only, so an old notebook must not run: its
student is offered the new one first. What the student wrote is carried over, the old notebook is
kept, and the new one is stored last: whatever ends the tab before leaves the old one, and an offer.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.lab_versions import changes_in, stamp_in
from mlsys_widgets.files import LEDGER, write_whole
from mlsys_widgets.handin.work import read_work
from mlsys_widgets.ledger.journal import journal_at
from mlsys_widgets.lite.page.stored_journal import read_whole, write_behind
from mlsys_widgets.server.carry_over import (
    CannotTakeOver,
    carry_over,
    read_book,
    recorded_remarks,
)
from mlsys_widgets.server.version_outlook import (
    OfferedVersion,
    VersionOutlook,
    notes_since,
    remarks_on,
    saved_steps,
)

#: Beside the labs: notebooks that were replaced.
BACKUPS: Final = ".mlsys_versions"
#: What a cell says that would run in a notebook of another version.
OLD: Final = (
    "This notebook is of an earlier version of the lab, and the site has the questions of the"
    " newest one only. Press Start or Resume above the notebook, and take the new version over:"
    " what you wrote comes along, and nothing of your record changes."
)
SILENT: Final = "The page of this notebook does not answer. Load it again."
_NOT_KEPT: Final = "The browser has not kept {}, so your notebook is what it was. Try again."

#: Gives a file of the site by its address there, as it is now; `None` if there is none.
FromSite = Callable[[str], bytes | None]


@dataclass(frozen=True)
class Release:
    """The version of a lab that the site has, and digests of its files by their names."""

    lab: str
    version: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class SiteOutlook(VersionOutlook):
    """The version that a page shows, the one that is out, and whether the browser has it already.

    Another tab took it over then, and this one still shows the version before.
    """

    elsewhere: bool


class Releases:
    """The labs of the site as they are now, whatever this browser keeps of them.

    Parameters
    ----------
    from_site
        What is asked again each time. The random part of an address is for hosts that let browsers
        keep a list for a while; a file is asked for with its digest.
    """

    def __init__(self, from_site: FromSite) -> None:
        self._from_site = from_site

    def of(self, notebook: Path) -> Release | None:
        """Return the release of a notebook in its folder; `None` if the site does not have it."""
        names = notebook.parts[-2:]
        return next((each for path, each in self._all() if path.parts[-2:] == names), None)

    def beside(self, folder: Path) -> Release | None:
        """Return the release whose files are in a folder; `None` if the site has none there."""
        return next((each for path, each in self._all() if path.parent.name == folder.name), None)

    def _all(self) -> Iterator[tuple[Path, Release]]:
        content = self._from_site(f"labs.json?now={secrets.token_hex(4)}")
        if content is None:
            raise CannotTakeOver("The site does not say which labs it has; try again in a minute")
        for row in json.loads(content)["labs"]:
            yield Path(row["path"]), Release(row["lab"], row["version"], row["files"])

    def files(self, notebook: Path, release: Release) -> dict[str, bytes]:
        """Return the files of a release by their names; `CannotTakeOver` if they change now."""
        found = {}
        for name, digest in release.files.items():
            address = f"files/{notebook.parent.name}/{name}?version={digest[:16]}"
            content = self._from_site(address)
            if content is None or hashlib.sha256(content).hexdigest() != digest:
                raise CannotTakeOver("The lab is being published just now; try again in a minute")
            found[name] = content
        return found


def objection(folder: Path, shown: str | None, releases: Releases) -> str | None:
    """Say why a notebook must not open the lab in its folder; `None` if it may.

    Parameters
    ----------
    shown
        The version of the notebook that the page shows; empty for a notebook that is no lab's, and
        `None` if the page does not say.
    """
    if shown is None:
        return SILENT
    if not shown:
        return None
    try:
        release = releases.beside(folder)
    except CannotTakeOver as problem:
        return f"{problem}."
    return None if release is None or release.version in ("", shown) else OLD


def outlook(notebook: Path, mine: str | None, releases: Releases) -> SiteOutlook:
    """Say whether the site has another version than the page shows, and what changes with it.

    Parameters
    ----------
    mine
        The version of the notebook that the page shows, which may not be stored.
    """
    release = releases.of(notebook)
    offered, elsewhere = None, False
    lab = read_work(notebook).lab
    if release is not None and release.version not in ("", mine):
        # Without a notebook that was replaced, nothing is stored: what is read is the site's.
        is_stored = any(_backups(notebook).glob("*.ipynb"))
        elsewhere = is_stored and stamp_in(notebook.read_bytes()) == release.version
        if not elsewhere:
            new = _book(releases.files(notebook, release), notebook)
            notes = notes_since(changes_in(new), mine, release.version)
            offered = OfferedVersion(release.version, notes, remarks_on(notebook, lab, new))
    # The site has nothing else of the version before, so there is no way back to it.
    return SiteOutlook(lab, mine, offered, None, elsewhere)


def take(notebook: Path, releases: Releases) -> dict[str, Any]:
    """Take the version of the site over, with what the student wrote.

    Returns
    -------
    dict
        What a server says, and whether the kernel has nothing of the version before.
    """
    ledger = notebook.with_name(LEDGER)
    if words := journal_at(ledger).hindrance:
        raise CannotTakeOver(words)
    release = releases.of(notebook)
    if release is None:
        raise CannotTakeOver(f"The site no longer has {notebook.name}")
    files = releases.files(notebook, release)
    new = _book(files, notebook)
    old = read_book(notebook.read_bytes(), notebook.name)
    carried = carry_over(old, new)
    recorded = recorded_remarks(old, new, saved_steps(notebook.parent, release.lab))
    backup = _keep(notebook, old)
    for name, content in files.items():
        mine = notebook.with_name(name)
        # What this browser stores itself would hide the file of the site.
        if mine != notebook and (not mine.is_file() or mine.read_bytes() != content):
            mine.parent.mkdir(parents=True, exist_ok=True)
            write_whole(mine, content)
            if mine.read_bytes() != content:
                raise CannotTakeOver(_NOT_KEPT.format(name))
    _store(notebook, carried.book)
    return {
        "version": stamp_in(notebook.read_bytes()),
        "cells": carried.cells,
        "remarks": [*carried.remarks, *recorded],
        "backup": backup.relative_to(notebook.parent.parent).as_posix(),
        "fresh": not _has_run(),
    }


def _has_run() -> bool:
    """Whether this kernel has opened a lab, which is then of the version before."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell is not None and "lab" in shell.user_ns


def _book(files: Mapping[str, bytes], notebook: Path) -> dict[str, Any]:
    return read_book(files[notebook.name], notebook.name)


def _backups(notebook: Path) -> Path:
    return notebook.parent.parent / BACKUPS / notebook.parent.name


def _keep(notebook: Path, book: Mapping[str, Any]) -> Path:
    """Keep the notebook that is replaced."""
    place = _backups(notebook)
    place.mkdir(parents=True, exist_ok=True)
    numbers = [int(each.stem) for each in place.iterdir() if each.stem.isdigit()]
    path = place / f"{max(numbers, default=0) + 1}.ipynb"
    path.touch(exist_ok=False)
    _store(path, book)
    return path


def _store(path: Path, book: Mapping[str, Any]) -> None:
    """Store a notebook over what a file holds, and read it again.

    Never emptied first, as a ledger is not: blanks at the end cover what is longer now.
    """
    text = json.dumps(book, indent=1, sort_keys=True)
    write_behind(path, b"", text.encode().ljust(len(read_whole(path)), b"\n"))
    # As data: the browser does not store a notebook as it was written.
    if json.loads(read_whole(path)) != json.loads(text):
        raise CannotTakeOver(_NOT_KEPT.format(path.name))
