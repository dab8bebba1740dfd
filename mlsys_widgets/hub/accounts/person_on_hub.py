"""What a hub keeps about one person besides the course: account, home, hand-ins, notes, logs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.courses.people_moves import MERGED_INBOUND
from mlsys_widgets.courses.personal_data import KnownNames, Search
from mlsys_widgets.files import open_folder
from mlsys_widgets.hub.accounts.machine_users import delete_account
from mlsys_widgets.hub.accounts.passwords import Passwords
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.services.hand_in_watch import notes_locked
from mlsys_widgets.hub.services.hub_api import HubApi
from mlsys_widgets.hub.services.watched_files import write_for_group
from mlsys_widgets.ledger.hand_in_notes import notes_beside

_OTHERS: Final = "it is the work of somebody else"
#: Seconds to wait for what the hub still says about somebody, and looks without any of that.
_LAST_WORDS: Final = 15.0
_QUIET: Final = 4


class PersonOnHub:
    """One person, everywhere in the hub's folder but in the course and in others' homes."""

    def __init__(self, places: Places, state: HubState, names: KnownNames) -> None:
        self._places, self._state, self._names = places, state, names
        self._accounts = [
            account for name, account in state.accounts.items() if name in names.logins
        ]
        self._notes = notes_beside(places.course)

    def about(self) -> dict[str, Any]:
        """Return what is kept, as data; no password."""
        search = self._search()
        return {
            "accounts": [asdict(each) for each in self._accounts],
            "hand_ins": [json.loads(line) for line in self._notes_by_owner()[0]],
            "records": {
                name: content.decode("utf-8", "replace").splitlines()
                for trace in search.traces() if trace.how == "edit"
                for name, content in search.pieces(trace).items()
            },
        }  # fmt: skip

    def forget(self, hub: HubApi) -> list[dict[str, str]]:
        """Remove all of it; return what could not be removed, and why."""
        for account in self._accounts:
            hub.turn_away(account.name)
            delete_account(self._places, self._state, account)
        self._remove_hand_ins()
        with notes_locked(self._notes):
            own, others = self._notes_by_owner()
            if own:
                write_for_group(self._notes, b"".join(others))
        passwords = Passwords(self._places.passwords)
        for name in self._names.logins:
            passwords.forget(name)
            self._state.accounts.pop(name, None)
            shutil.rmtree(self._places.home(name), ignore_errors=True)
        self._state.write(self._places.state)
        left = []
        search = self._search()
        for trace in search.traces():
            try:
                if trace.how != "cannot":
                    search.remove(trace)
                    continue
                why = trace.why
            except OSError as problem:
                why = problem.strerror or str(problem)
            left.append({"path": str(trace.path), "why": why})
        left += [{"path": str(path), "why": why} for path, why in self._rewrite_databases()]
        self._wait_for_last_words()
        return left

    def _wait_for_last_words(self) -> None:
        """Take the name out of logs until the hub says no more about who has just left."""
        quiet, deadline = 0, time.monotonic() + _LAST_WORDS
        while quiet < _QUIET and time.monotonic() < deadline:
            quiet = 0 if self.mask_logs() else quiet + 1
            time.sleep(0.5)

    def mask_logs(self) -> bool:
        """Take the name out of logs; return whether there was any."""
        search = Search(self._places.logs, self._names, live=True)
        found = [trace for trace in search.traces() if trace.how == "edit"]
        for trace in found:
            search.remove(trace)
        return bool(found)

    def _search(self) -> Search:
        places = self._places
        inbound = places.exchange / self._state.course_id / "inbound"
        apart = {
            places.course, places.homes, places.environment, places.proxy, places.state,
            places.passwords, self._notes, inbound,
            places.lock, *places.database.glob("*.sqlite*"),
        }  # fmt: skip
        closed = {places.exchange: _OTHERS}
        return Search(places.root, self._names, frozenset(apart), closed, live=True)

    def _remove_hand_ins(self) -> None:
        """Remove them by descriptor: students and instructors can change these folders."""
        for name in ("inbound", MERGED_INBOUND):
            with (
                suppress(OSError),
                open_folder(self._places.exchange / self._state.course_id) as exchange,
                open_folder(name, dir_fd=exchange) as folder,
            ):
                for each in filter(self._names.owns, os.listdir(folder)):  # noqa: PTH208
                    shutil.rmtree(each, ignore_errors=True, dir_fd=folder)

    def _notes_by_owner(self) -> tuple[list[bytes], list[bytes]]:
        """Return the notes about this person's hand-ins, and those about others'."""
        lines = self._notes.read_bytes().splitlines(True) if self._notes.is_file() else []
        own = [line for line in lines if self._is_own(line)]
        return own, [line for line in lines if line not in own]

    def _is_own(self, line: bytes) -> bool:
        try:
            return json.loads(line)["student"] in self._names.logins
        except (ValueError, KeyError, TypeError):
            return bool(self._names.pattern.search(line))

    def _rewrite_databases(self) -> Iterator[tuple[Path, str]]:
        """Write JupyterHub's database again, without pages that hold what was deleted."""
        for path in sorted(self._places.database.glob("*.sqlite")):
            try:
                db = sqlite3.connect(path, timeout=20)
                try:
                    db.execute("PRAGMA secure_delete = ON")
                    db.execute("VACUUM")
                finally:
                    db.close()
            except sqlite3.Error as problem:
                yield path, f"it could not be rewritten: {problem}"
                continue
            if self._names.pattern.search(path.read_bytes()):
                yield path, "JupyterHub still names them in it"
