"""``mlsys hub backup FILE``: one file from which a hub can be restored, made while it runs.

Parts are copied in an order in which what refers comes before what is referred to: notes before the
hand-ins that they are about, hand-ins before the homes whose ledgers they continue, and the log of
graded submissions before the gradebook. So nothing in the copy points to something that is missing.
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets import __version__
from mlsys_widgets.hub.accounts.passwords import hashes
from mlsys_widgets.hub.backup.backup_archive import BEGIN, FORMAT, ArchiveWriter, new_file
from mlsys_widgets.hub.backup.database_copy import COMPANIONS, MAGIC, copy_database
from mlsys_widgets.hub.backup.safe_walk import Entry, walk
from mlsys_widgets.hub.hub_state import HubState, write_private
from mlsys_widgets.hub.places import Places

#: In the hub's folder of records: when the last backup was complete.
LAST_BACKUP: Final = "last_backup.json"
#: The state and the accounts, in the archive.
STATE: Final = "hub.json"
ACCOUNTS: Final = "accounts.json"
#: What a start makes again, or what belongs to a process.
_LEFT_OUT: Final = frozenset({
    "database/proxy.pid", f"database/{LAST_BACKUP}", "secrets/jupyterhub_config.json",
})  # fmt: skip
#: How many things that were left out are listed.
_SHOWN: Final = 10


def parts(places: Places) -> tuple[Path, ...]:
    """Return the folders of a hub that are backed up, in this order."""
    return (
        places.notes, places.exchange, places.course, places.homes, places.secrets,
        places.database,
    )  # fmt: skip


def run_backup(places: Places, target: Path) -> int:
    """Back a hub up, whether it runs or not, and say what is in the file."""
    state = HubState.read(places.state)
    if state is None or state.kind != "hub":
        raise ValueError(f"there is no hub in {places.root}; name its folder with --folder")
    if os.geteuid() != 0:
        raise ValueError("everybody's work goes into a backup, so root must make it (sudo)")
    target = target.absolute()
    if target.parent.resolve().is_relative_to(places.root):
        raise ValueError(
            f"{target} is in the hub's own folder; put it on another disk, or at least elsewhere"
        )
    if target.exists() or target.is_symlink():
        raise ValueError(f"{target} exists; give the backup a name of its own")
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {target.parent}")
    begun = time.monotonic()
    with new_file(target) as stream:
        archive = ArchiveWriter(stream)
        skipped = _copy_hub(places, archive)
    seconds, size = time.monotonic() - begun, target.stat().st_size
    note = {"finished": time.time(), "seconds": round(seconds, 1), "bytes": size}
    write_private(places.database / LAST_BACKUP, json.dumps(note) + "\n")
    print(
        f"Backed up {archive.members} files and folders in {seconds:.0f} s: {target}, {size:,}"
        " bytes"
    )
    # Names were chosen by students and must not be able to write on this terminal.
    for path, why in skipped[:_SHOWN]:
        print(f"  left out: {path!a}, because {why}")
    if len(skipped) > _SHOWN:
        print(f"  and {len(skipped) - _SHOWN} more")
    for path in archive.changed[:_SHOWN]:
        print(f"  became shorter while it was copied: {path!a}")
    print("It holds everybody's work and all keys; keep it where only you can read it.")
    return 0


def _copy_hub(places: Places, archive: ArchiveWriter) -> list[tuple[str, str]]:
    """Copy everything, and return what was left out, and why."""
    skipped: list[tuple[str, str]] = []
    archive.add_json(BEGIN, {
        "format": FORMAT, "id": secrets.token_hex(8), "begun": f"{datetime.now(UTC):%FT%TZ}",
        "mlsys-widgets": __version__,
    })  # fmt: skip
    for part in parts(places):
        # Deeper down, or elsewhere, a database is somebody's work like any other file: a broken
        # one must not stop the backup.
        has_databases = part in (places.course, places.database)
        databases: dict[str, os.stat_result] = {}
        for entry in walk(part, part.name, lambda path, why: skipped.append((path, why))):
            if entry.path in _LEFT_OUT or _is_companion(entry.path, databases):
                continue
            if has_databases and entry.path.count("/") == 1 and _is_database(entry):
                databases[entry.path] = entry.about
            else:
                archive.add(entry)
        for path, about in databases.items():
            content = copy_database(part.parent / path, about.st_uid, about.st_gid)
            archive.add_bytes(path, content, about)
    # Last, because somebody may have been added meanwhile.
    archive.add_bytes(STATE, places.state.read_bytes(), places.state.stat())
    archive.add_json(ACCOUNTS, list(accounts(places)))
    archive.finish()
    return skipped


def accounts(places: Places) -> Iterator[dict[str, Any]]:
    """Yield everybody whom the hub knows: ids, role, and the hash of the password.

    Who was removed from this machine has no hash, and stays removed after a restore.
    """
    state, known = HubState.read(places.state), hashes()
    for account in state.accounts.values() if state else ():
        try:
            ours = state is not None and pwd.getpwnam(account.name).pw_gecos == state.mark
        except KeyError:
            ours = False
        yield {**asdict(account), "hash": known.get(account.name) if ours else None}


def _is_database(entry: Entry) -> bool:
    regular = stat.S_ISREG(entry.about.st_mode)
    return regular and os.pread(entry.handle, len(MAGIC), 0) == MAGIC


def _is_companion(path: str, databases: Mapping[str, os.stat_result]) -> bool:
    """Whether SQLite keeps this beside a database, which comes before it in any order by name."""
    return any(path.endswith(end) and path.removesuffix(end) in databases for end in COMPANIONS)
