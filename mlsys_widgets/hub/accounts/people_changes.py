"""Makes the accounts of a hub follow the people of its course, while it runs.

The settings are written by an instructor, not by root, so they are taken for what they are: names
that must be fit for users of this machine, of accounts that carry this hub's mark. The two accounts
that every hub has stay as they are.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.staff import CoursePeople, read_people
from mlsys_widgets.courses.people_moves import move_inbound, renamed
from mlsys_widgets.courses.roster import RosterEntry, hub_remarks
from mlsys_widgets.hub.accounts.machine_users import (
    check_names,
    close_account,
    end_processes,
    fill_groups,
    make_accounts,
    open_account,
    rename_account,
)
from mlsys_widgets.hub.accounts.passwords import Passwords, hashes, is_locked
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.backup.safe_walk import walk
from mlsys_widgets.hub.hub_state import Account, HubState, Standing
from mlsys_widgets.hub.places import Places, Role
from mlsys_widgets.hub.running.configuration import TEACHING
from mlsys_widgets.hub.running.settings import welcome
from mlsys_widgets.hub.services.hand_in_watch import notes_locked
from mlsys_widgets.hub.services.hub_api import HubApi
from mlsys_widgets.hub.services.watched_files import write_for_group
from mlsys_widgets.ledger.hand_in_notes import notes_beside
from mlsys_widgets.wording.system_errors import error_sentence

#: Renames a student's own copies of what they handed in; run with their rights.
_CACHE: Final = (
    "import sys, pathlib\n"
    "cache = pathlib.Path.home() / '.local/share/jupyter/nbgrader_cache'\n"
    "for path in cache.glob(f'*/{sys.argv[1]}+*'):\n"
    "    path.rename(path.with_name(sys.argv[2] + path.name[len(sys.argv[1]):]))\n"
)


class PeopleChanges:
    """Follows the settings of a course; `admitted` tells whom JupyterHub lets in or turns away."""

    def __init__(
        self, places: Places, state: HubState, hub: HubApi, python: Path, admitted: dict[str, bool]
    ) -> None:
        self._places, self._state, self._hub, self._python = places, state, hub, python
        self._admitted = admitted
        self._passwords = Passwords(places.passwords)

    def follow(self, settings: bytes) -> list[str]:
        """Do what the settings say; return a sentence for everything that could not be done."""
        try:
            people = people_in(settings)
        except ValueError as problem:
            return [f"assignments/course.toml is not followed: {problem}"]
        problems: list[str] = []
        for name, change in self._changes(people):
            try:
                if name in (self._state.instructor, self._state.student):
                    raise ValueError(f"{name} belongs to the hub itself, and stays as it is")
                change()
            except (ValueError, OSError) as problem:
                problems.append(f"{name}: {error_sentence(problem)}")
        try:
            self._admit()
        except OSError as problem:
            problems.append(error_sentence(problem))
        return problems

    def _changes(self, people: CoursePeople) -> Iterator[tuple[str, Callable[[], None]]]:
        accounts = self._state.accounts
        for new, known in people.names.items():
            for account in list(accounts.values()):
                same = known.numbers and known.numbers == (account.numbers or account.name)
                if same and account.name != new and account.role == "student":
                    yield account.name, partial(self._rename, account, new)
        closed: dict[str, Standing] = {
            **dict.fromkeys(people.locked, "locked"), **dict.fromkeys(people.dropped, "dropped"),
        }  # fmt: skip
        for name, member in people.staff.items():
            if name != self._state.instructor:
                yield name, partial(self._employ, name, member.role)
        renamed_later = {
            new for new, known in people.names.items()
            if known.numbers in {each.numbers or each.name for each in accounts.values()}
        }  # fmt: skip
        for name in people.added:
            if name not in accounts and name not in closed and name not in renamed_later:
                yield name, partial(self._create, name, "student")
        for account in list(accounts.values()):
            name = account.name
            if name == self._state.instructor:
                continue
            if account.role == "student":
                wanted: Standing = closed.get(name, "active")
            else:
                wanted = "active" if name in people.staff else "dropped"
            if wanted != account.standing:
                yield name, partial(self._set_standing, name, wanted)

    def _create(self, name: str, role: Role) -> None:
        if remarks := hub_remarks([RosterEntry(name)]):
            raise ValueError(remarks[0])
        check_names(self._state, [name])
        self._passwords.make([name])
        make_accounts(self._places, self._state, {name: role}, welcome=welcome)
        if is_locked(hashes().get(name, "!")):
            self._passwords.give([name])
        fill_groups(self._state)

    def _employ(self, name: str, role: Role) -> None:
        known = self._state.accounts.get(name)
        if known is None:
            self._create(name, role)
        elif known.role == "student":
            raise ValueError("is a student here; somebody who teaches needs another login")
        elif known.role != role:
            self._keep(replace(known, role=role))
            fill_groups(self._state)
            # Their server still has the groups from before.
            self._hub.stop_server(name)

    def _set_standing(self, name: str, standing: Standing) -> None:
        account = self._state.accounts[name]
        if standing == "active":
            open_account(self._state, account)
        else:
            # First what refuses them, and at last what remembers it: a crash repeats all of it.
            self._hub.turn_away(name)
            self._admitted[name] = False
            close_account(self._state, account)
        self._keep(replace(account, standing=standing))
        fill_groups(self._state)

    def _rename(self, account: Account, new: str) -> None:
        if remarks := hub_remarks([RosterEntry(new)]):
            raise ValueError(remarks[0])
        old = account.name
        if new in self._state.accounts:
            raise ValueError(f"cannot become {new}, which is somebody else's account")
        self._hub.turn_away(old)
        self._admitted.pop(old, None)
        rename_account(self._places, self._state, account, new)
        self._passwords.rename(old, new)
        self._move_hand_ins(old, new)
        moved = replace(account, name=new, numbers=account.numbers or old)
        with suppress(OSError):  # their own copies, which they can do without
            run_as(moved, [self._python, "-I", "-c", _CACHE, old, new], home=self._places.home(new))
        # At last what remembers it: a crash before repeats all of it.
        del self._state.accounts[old]
        self._keep(moved)

    def merge_hand_ins(self, old: str, into: Account, labs: set[str]) -> None:
        """Let what somebody handed in be another's; only some labs keep counting."""
        giver = self._state.accounts[old]
        # Nobody may change a folder while it changes hands.
        for account in (giver, into):
            self._hub.stop_server(account.name)
            end_processes(account.uid)
        self._move_hand_ins(
            old, into.name, keep=lambda lab: lab in labs,
            give=lambda name, inbound: give_files(name, giver.uid, into, dir_fd=inbound),
        )  # fmt: skip

    def _move_hand_ins(
        self,
        old: str,
        new: str,
        *,
        keep: Callable[[str], bool] = lambda _: True,
        give: Callable[[str, int], None] = lambda _name, _folder: None,
    ) -> None:
        """Let what somebody handed in be under another name, in the exchange and in the notes.

        What does not keep counting is moved out of the way.
        """
        notes = notes_beside(self._places.course)
        with notes_locked(notes):
            lines = notes.read_bytes().splitlines(keepends=True) if notes.is_file() else []
            left = [_renamed_note(line, old, new, keep) for line in lines]
            # Both names, while folders move: nothing may look new to who watches the exchange.
            if lines:
                both = [*lines, *(line for line in left if line not in lines)]
                write_for_group(notes, b"".join(both))
            inbound = self._places.exchange / self._state.course_id / "inbound"
            move_inbound(inbound, old, new, keep=keep, give=give)
            if lines:
                write_for_group(notes, b"".join(left))

    def _keep(self, account: Account) -> None:
        self._state.accounts[account.name] = account
        self._state.write(self._places.state)

    def _admit(self) -> None:
        """Let JupyterHub know who may come in, and who teaches."""
        closed = self._state.closed()
        for name in self._state.accounts:
            if self._admitted.get(name) is not (name not in closed):
                (self._hub.turn_away if name in closed else self._hub.admit)(name)
                self._admitted[name] = name not in closed
        teaching = [each.name for each in self._state.of_role("instructor")]
        self._hub.set_group(TEACHING, [name for name in teaching if name not in closed])

    def fresh_passwords(self, names: set[str]) -> dict[str, str]:
        """Return the passwords of some accounts, as far as their owners have not changed them."""
        known = hashes()
        return {
            name: self._passwords.shown(name, known)
            for name in sorted(names)
            if self._passwords.counts(name, known.get(name, "!"))
        }


def people_in(settings: bytes) -> CoursePeople:
    """Read the people in the settings of a course, without the rest of them; else `ValueError`."""
    try:
        tables: dict[str, Any] = tomllib.loads(settings.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ValueError(str(problem)) from None
    sections = tables.get("sections", {})
    known = {
        name: [each for each in of.get("students", []) if isinstance(each, str)]
        for name, of in (sections.items() if isinstance(sections, dict) else ())
        if isinstance(of, dict) and isinstance(of.get("students", []), list)
    }
    return read_people(tables, known)


def _renamed_note(line: bytes, old: str, new: str, keep: Callable[[str], bool]) -> bytes:
    try:
        note = json.loads(line)
        mine = note["student"] == old and keep(note["lab"])
    except (ValueError, KeyError, TypeError):
        return line
    return json.dumps(renamed(note, old, new)).encode() + b"\n" if mine else line


def give_files(
    folder: Path | str, giver: int, taker: Account, *, dir_fd: int | None = None
) -> None:
    """Let files and folders of one user be another's, while either may still change them.

    Whoever walks by path with the rights of root can be sent elsewhere by a link that takes a
    folder's place, so everything is opened by descriptor. Only what belongs to the giver changes
    hands: a hard link to a file of somebody else stays theirs.
    """
    for entry in walk(folder, "", lambda path, why: None, dir_fd=dir_fd):
        if entry.handle >= 0 and entry.about.st_uid == giver:
            os.fchown(entry.handle, taker.uid, taker.gid)
