"""Giving files of one user to another, as root, while either may still change them.

Whoever walks by path with the rights of root can be sent elsewhere by a link that takes a folder's
place. So everything is opened by descriptor, and only what belongs to the giver changes hands: a
hard link to a file of somebody else stays theirs.
"""

from __future__ import annotations

import os
from pathlib import Path

from mlsys_widgets.hub.backup.safe_walk import walk
from mlsys_widgets.hub.hub_state import Account


def give_files(folder: Path, giver: int, taker: Account) -> None:
    """Let files and folders of one user be another's; links stay, because nobody follows them."""
    for entry in walk(folder, folder.name, lambda path, why: None):
        if entry.handle >= 0 and entry.about.st_uid == giver:
            os.fchown(entry.handle, taker.uid, taker.gid)
