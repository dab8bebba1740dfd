"""``mlsys hub restore FILE``: a hub as it was when the backup was made, on this or a new machine.

The whole archive is read and checked before anything is written. Files are put beside the place of
the hub, and moved there when all of them are on the disk. Users get the ids that they had; an id
that this machine has given to somebody else is replaced, and the files follow.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import sync_folder
from mlsys_widgets.hub.accounts.machine_users import check_names, make_accounts
from mlsys_widgets.hub.accounts.passwords import set_passwords
from mlsys_widgets.hub.backup.backup_archive import BEGIN, END, FORMAT, open_archive
from mlsys_widgets.hub.backup.taking import ACCOUNTS, STATE, parts
from mlsys_widgets.hub.hub_state import Account, HubState, write_private
from mlsys_widgets.hub.places import PRIVATE, Places, Role, closed_parent

#: In the folder of a hub until its users exist; then ``mlsys hub`` may start it.
UNFINISHED: Final = "restoring.json"
#: Members that are about the backup, and no files of the hub.
_RECORDS: Final = frozenset({BEGIN, STATE, ACCOUNTS, END})
#: Ids that are given to users who need others.
_IDS: Final = range(20_000, 60_000)


@dataclass(frozen=True)
class Contents:
    """The contents of an archive, after all of it was read."""

    #: Which backup it is, and when it began.
    id: str
    begun: str
    state: HubState
    #: Of the passwords of everybody who was a user.
    hashes: Mapping[str, str]


def run_restore(places: Places, archive: Path) -> int:
    """Restore a hub into a folder that does not exist yet, and create its users."""
    if os.geteuid() != 0:
        raise ValueError("a restore creates users of this machine, so root must do it (sudo)")
    if not archive.is_file():
        raise ValueError(f"there is no backup {archive}; mlsys hub backup FILE makes one")
    if closed := closed_parent(places.root.parent):
        raise ValueError(
            f"users cannot pass through {closed}, and their homes would be in {places.root}; choose"
            " another place with --folder, such as /srv/mlsys_hub"
        )
    contents = read_contents(archive)
    wanted: dict[str, Role] = {
        name: each.role for name, each in contents.state.accounts.items() if name in contents.hashes
    }
    if not _continues(places, contents):
        if places.root.exists():
            raise ValueError(
                f"{places.root} exists; name another place with --folder, or remove the hub there"
                " with mlsys hub --reset"
            )
        changed = new_ids(contents.state)
        _check_names(places, contents.state, wanted, changed)
        _lay_out(places, archive, contents, changed)
        for name, ids in changed.items():
            print(f"{name} has the ids {ids.uid} and {ids.gid} here; the files follow")
    state = HubState.read(places.state)
    assert state is not None
    check_names(state, list(wanted))
    made = make_accounts(places, state, wanted, welcome=lambda _: None)
    # Everybody logs in with the password that they had.
    set_passwords({name: contents.hashes[name] for name in wanted}, "--encrypted")
    (places.root / UNFINISHED).unlink()
    print(f"Restored the hub of {state.course_id} as of {contents.begun}: {places.root}")
    print(f"Users created: {len(made)}. Start it with: mlsys hub --folder {places.root}")
    return 0


def refuse_unfinished(places: Places) -> None:
    """Refuse to start a hub whose restore was cut off."""
    if (places.root / UNFINISHED).exists():
        raise ValueError(
            f"the restore of {places.root} was cut off; repeat it first: mlsys hub restore FILE"
            f" --folder {places.root}"
        )


def read_contents(archive: Path) -> Contents:
    """Read an archive from its first byte to its last, and refuse it if anything is wrong."""
    records: dict[str, Any] = {}
    count = 0
    with open_archive(archive) as tar:
        for info in members(archive, tar):
            if info.name in _RECORDS:
                records[info.name] = _json(tar, info)
            if not count and records.get(BEGIN, {}).get("format") != FORMAT:
                raise ValueError(
                    f"{archive} is no backup that this version of mlsys-widgets can read; mlsys hub"
                    " backup makes one"
                )
            count += info.name != END
    if not records.keys() >= _RECORDS or records[END]["members"] != count:
        raise ValueError(f"{archive} breaks off; use another backup")
    state = records[STATE]
    state.pop("format", None)
    people = [Account(**each) for each in state.pop("accounts")]
    return Contents(
        id=records[BEGIN]["id"],
        begun=records[BEGIN]["begun"],
        state=HubState(**state, accounts={each.name: each for each in people}),
        hashes={each["name"]: each["hash"] for each in records[ACCOUNTS] if each["hash"]},
    )


def new_ids(state: HubState) -> dict[str, Account]:
    """Return accounts whose ids belong to others on this machine, with ids that are free."""
    users = {each.pw_uid: each for each in pwd.getpwall()}
    groups = {each.gr_gid: each.gr_name for each in grp.getgrall()}
    kept = {n for each in state.accounts.values() for n in (each.uid, each.gid)}
    free = iter(n for n in _IDS if n not in users and n not in groups and n not in kept)
    found = {}
    for name, account in state.accounts.items():
        owner = users.get(account.uid)
        foreign = owner is not None and (owner.pw_name, owner.pw_gecos) != (name, state.mark)
        if foreign or groups.get(account.gid, name) != name:
            number = next(free)
            found[name] = replace(account, uid=number, gid=number)
    return found


def _check_names(
    places: Places, state: HubState, wanted: Mapping[str, Role], changed: Mapping[str, Account]
) -> None:
    """Refuse names that are taken, before anything is written."""
    check_names(replace(state, accounts={**state.accounts, **changed}), list(wanted))
    for each in pwd.getpwall():
        if each.pw_name in wanted and Path(each.pw_dir) != places.home(each.pw_name):
            raise ValueError(
                f"this machine has the users of this hub, at home in {Path(each.pw_dir).parent};"
                " remove that hub first (mlsys hub --reset), or restore it in its old place"
            )
    for name in wanted:
        try:
            group = grp.getgrnam(name)
        except KeyError:
            continue
        if group.gr_gid != (changed.get(name) or state.accounts[name]).gid:
            raise ValueError(
                f"this machine has a group {name} that this hub did not create; remove it with"
                f" groupdel {name} if nobody needs it"
            )


def _continues(places: Places, contents: Contents) -> bool:
    """Whether a restore of this very backup was cut off after its files were complete."""
    try:
        unfinished = json.loads((places.root / UNFINISHED).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(unfinished["id"] == contents.id)


def _lay_out(
    places: Places, archive: Path, contents: Contents, changed: Mapping[str, Account]
) -> None:
    """Write all files beside their place, and move them there in one step."""
    aside = places.root.with_name(f".{places.root.name}.restoring")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=PRIVATE, parents=True)
    uids, gids = {0: 0}, {0: 0}
    for name, account in contents.state.accounts.items():
        now = changed.get(name, account)
        uids[account.uid], gids[account.gid] = now.uid, now.gid
    try:
        unpack(archive, aside, uids, gids)
        state = replace(contents.state, accounts={**contents.state.accounts, **changed})
        state.write(Places(aside).state)
        write_private(aside / UNFINISHED, json.dumps({"id": contents.id}) + "\n")
        Places(aside).make()
        sync_folder(aside)
        os.sync()
        aside.rename(places.root)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    sync_folder(places.root.parent)


def members(archive: Path, tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive, and refuse one that no backup of ours has.

    Everything has a name of its own, in a folder that came before it, below a part of a hub. So no
    name leads out of the folder of a restore, and nothing is ever written through a link.
    """
    tops = {part.name for part in parts(Places(Path("/")))}
    folders: set[str] = set()
    files: set[str] = set()
    names: set[str] = set()
    for info in tar:
        above, _, name = info.name.rpartition("/")
        if info.name in _RECORDS:
            ours = info.isreg()
        elif above:
            linked = info.islnk() and info.linkname in files
            ours = above in folders and name not in ("", ".", "..")
            ours = ours and (info.isdir() or info.isreg() or info.issym() or linked)
        else:
            ours = info.isdir() and info.name in tops
        if not ours or info.name in names or END in names:
            raise ValueError(f"{archive} is no backup of a hub: it contains {info.name!a}")
        names.add(info.name)
        if info.isdir():
            folders.add(info.name)
        elif info.isreg():
            files.add(info.name)
        yield info


def unpack(archive: Path, target: Path, uids: Mapping[int, int], gids: Mapping[int, int]) -> None:
    """Write what is in an archive below a folder that nobody else can reach.

    Owners have other ids here, by those in the archive; what belongs to nobody whom the hub knows
    goes to root.
    """

    def owned(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        for info in members(archive, tar):
            if info.name not in _RECORDS:
                info.uid, info.gid = uids.get(info.uid, 0), gids.get(info.gid, 0)
                if not info.isdir():
                    info.mode &= 0o777  # nobody gets rights from an archive
                yield info

    with open_archive(archive) as tar:
        tar.errorlevel = 2  # an owner or a mode that cannot be set is an error
        tar.extraction_filter = _refuse_outside
        try:
            tar.extractall(target, owned(tar), numeric_owner=True)
        except tarfile.ExtractError as problem:
            raise OSError(f"{archive} cannot be unpacked: {problem}") from None


def _refuse_outside(info: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Let tarfile refuse what leads out of the folder; but links of students lead anywhere."""
    if not info.issym():
        tarfile.data_filter(info, folder)
    return info


def _json(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Any:
    stream = tar.extractfile(info)
    assert stream is not None
    return json.load(stream)
