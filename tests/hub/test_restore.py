"""A restore gives everything back to whom it belonged, or changes nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import pwd
import subprocess
import tarfile

import pytest

from mlsys_widgets.hub.accounts.machine_users import remove_accounts
from mlsys_widgets.hub.accounts.passwords import hashes
from mlsys_widgets.hub.backup import restore as module
from mlsys_widgets.hub.backup.restore import new_ids, read_contents, refuse_unfinished, run_restore
from mlsys_widgets.hub.backup.taking import run_backup
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from tests.hub.people import foreigner, hub_without_server, needs_root

pytestmark = needs_root


@pytest.fixture
def backed_up():
    """A hub with work in it, its backup, and afterward nothing left of it."""
    with hub_without_server() as (places, state):
        account = state.accounts[state.student]
        home = places.home(state.student)
        (home / "lab").mkdir(mode=0o750)
        (home / "lab" / "ledger.jsonl").write_text('{"seq": 1}\n')
        (home / "lab" / "two\nlines").hardlink_to(home / "lab" / "ledger.jsonl")
        (home / "to_root").symlink_to("/root")
        with (home / "holes").open("wb") as file:
            file.truncate(1 << 40)
        for path in (home / "lab", *(home / "lab").iterdir(), home / "to_root", home / "holes"):
            os.lchown(path, account.uid, account.gid)
        subprocess.run(["chpasswd"], input=f"{account.name}:own-choice", text=True, check=True)
        target = places.root.parent / "b.tar.gz"
        run_backup(places, target)
        remembered = hashes()[account.name]
        remove_accounts(state)
        places.root.rename(places.root.with_name("old"))
        yield places, state, target, remembered
        if places.state.is_file():  # with the ids that a restore has given
            remove_accounts(HubState.read(places.state))


def test_everything_comes_back_with_its_owners_and_passwords(backed_up):
    places, state, target, remembered = backed_up
    assert run_restore(places, target) == 0
    account, home = state.accounts[state.student], places.home(state.student)
    entry = pwd.getpwnam(account.name)
    assert (entry.pw_uid, entry.pw_gid, entry.pw_dir) == (account.uid, account.gid, str(home))
    assert entry.pw_gecos == state.mark
    assert hashes()[account.name] == remembered
    lab = home / "lab"
    assert (lab / "ledger.jsonl").read_text() == '{"seq": 1}\n'
    assert (lab / "ledger.jsonl").stat().st_ino == (lab / "two\nlines").stat().st_ino
    assert lab.stat().st_mode & 0o7777 == 0o750
    assert str((home / "to_root").readlink()) == "/root"
    assert (home / "holes").stat().st_size == 1 << 40
    assert (home / "holes").stat().st_blocks < 100
    for path in (home, lab, lab / "ledger.jsonl", home / "to_root", home / "holes"):
        assert path.lstat().st_uid == account.uid
    assert places.exchange.stat().st_mode & 0o7777 == 0o1777
    assert places.secrets.stat().st_mode & 0o7777 == 0o700
    with pytest.raises(ValueError, match="exists"):
        run_restore(places, target)
    with pytest.raises(ValueError, match="at home in"):
        run_restore(Places(places.root.with_name("elsewhere")), target)


def test_ids_that_others_have_are_replaced_and_the_files_follow(backed_up, monkeypatch):
    places, state, target, _ = backed_up
    account = state.accounts[state.student]
    with foreigner() as name:
        subprocess.run(["usermod", "--uid", str(account.uid), name], check=True)
        assert run_restore(places, target) == 0
        entry = pwd.getpwnam(account.name)
        assert entry.pw_uid != account.uid
        ledger = places.home(account.name) / "lab" / "ledger.jsonl"
        assert (ledger.stat().st_uid, ledger.stat().st_gid) == (entry.pw_uid, entry.pw_gid)
        content = json.loads(places.state.read_text())
        assert {each["name"]: each["uid"] for each in content["accounts"]}[account.name] == (
            entry.pw_uid
        )


def test_a_name_that_somebody_else_has_stops_it_before_anything_is_written(backed_up):
    places, state, target, _ = backed_up
    subprocess.run(["useradd", "--comment", "Somebody", state.student], check=True)
    try:
        with pytest.raises(ValueError, match="did not create"):
            run_restore(places, target)
    finally:
        subprocess.run(["userdel", state.student], check=True, capture_output=True)
    assert not places.root.exists()
    assert sorted(each.name for each in places.root.parent.iterdir()) == ["b.tar.gz", "old"]


def test_a_restore_that_was_cut_off_is_repeated(backed_up, monkeypatch):
    places, state, target, remembered = backed_up

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "make_accounts", killed)
        with pytest.raises(KeyboardInterrupt):
            run_restore(places, target)
    with pytest.raises(ValueError, match="cut off"):
        refuse_unfinished(places)
    assert run_restore(places, target) == 0
    refuse_unfinished(places)
    assert hashes()[state.student] == remembered


@pytest.mark.parametrize("end", [0.3, 0.9, 0.999])
def test_a_backup_that_breaks_off_restores_nothing(backed_up, end):
    places, _, target, _ = backed_up
    whole = target.read_bytes()
    target.write_bytes(whole[: int(len(whole) * end)])
    with pytest.raises(ValueError, match=r"is not a whole backup|breaks off"):
        run_restore(places, target)
    assert not places.root.exists()


def forged(*names, kind=tarfile.REGTYPE, link=""):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        begin = json.dumps({"format": 1, "id": "x", "begun": "x"}).encode()
        info = tarfile.TarInfo("backup.json")
        info.size = len(begin)
        tar.addfile(info, io.BytesIO(begin))
        for name in names:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            tar.addfile(info)
    return gzip.compress(data.getvalue())


@pytest.mark.parametrize(
    "archive",
    [
        forged("/etc/cron.d/x"), forged("homes/../../etc/x"), forged("elsewhere/x"),
        forged("homes/x", kind=tarfile.CHRTYPE), forged("homes"), forged("homes/a//b"),
        forged("homes/x", kind=tarfile.LNKTYPE, link="/etc/shadow"),
        forged("homes/x", kind=tarfile.LNKTYPE, link="hub.json"),
        forged("homes", "homes/x", kind=tarfile.SYMTYPE, link="/etc"),
        forged("homes", "homes", kind=tarfile.DIRTYPE), forged("homes/..", kind=tarfile.DIRTYPE),
        forged("homes", "homes/..", kind=tarfile.DIRTYPE),
    ],
)  # fmt: skip
def test_a_forged_archive_is_refused(tmp_path, archive):
    (tmp_path / "b").write_bytes(archive)
    with pytest.raises(ValueError, match="is no backup of a hub"):
        read_contents(tmp_path / "b")


def test_nobody_gets_rights_from_an_archive(tmp_path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, kind in (("homes", tarfile.DIRTYPE), ("homes/x", tarfile.REGTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.uid = kind, 0o6755, 4_000_000
            tar.addfile(info)
    (tmp_path / "b").write_bytes(data.getvalue())
    (tmp_path / "to").mkdir()
    module.unpack(tmp_path / "b", tmp_path / "to", {0: 0}, {0: 0})
    about = (tmp_path / "to" / "homes" / "x").stat()
    assert about.st_mode & 0o7777 == 0o755
    assert about.st_uid == 0, "whom the hub does not know"


def linked_out(outside):
    """An archive with a link where a later member wants a folder."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, kind in (("homes", tarfile.DIRTYPE), ("homes/a", tarfile.SYMTYPE),
                           ("homes/a/x", tarfile.REGTYPE)):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(outside) if kind == tarfile.SYMTYPE else ""
            tar.addfile(info)
    return data.getvalue()


@pytest.mark.parametrize("checked", [True, False])
def test_a_link_in_an_archive_is_never_written_through(tmp_path, monkeypatch, checked):
    outside, to = tmp_path / "outside", tmp_path / "to"
    outside.mkdir()
    to.mkdir()
    (tmp_path / "b").write_bytes(linked_out(outside))
    if not checked:  # tarfile refuses it as well
        monkeypatch.setattr(module, "members", lambda _, tar: iter(tar))
    with pytest.raises(ValueError, match=r"is no backup of a hub|outside the destination"):
        module.unpack(tmp_path / "b", to, {0: 0}, {0: 0})
    assert list(outside.iterdir()) == []


def test_who_has_their_own_ids_keeps_them():
    with hub_without_server() as (_, state):
        assert new_ids(state) == {}
