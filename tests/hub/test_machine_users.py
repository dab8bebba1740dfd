"""Users of the machine: created, recognized, and never confused with those of others."""

from __future__ import annotations

import pwd
import subprocess
import sys

import pytest

from mlsys_widgets.hub.accounts.machine_users import (
    check_names,
    end_all_processes,
    end_processes,
    make_accounts,
    remove_accounts,
)
from mlsys_widgets.hub.accounts.passwords import Passwords, hashes, is_locked
from mlsys_widgets.hub.accounts.run_as import reaches, run_as
from mlsys_widgets.hub.hub_state import Account, HubState
from tests.hub.people import (
    foreigner,
    hub_without_server,
    needs_root,
    new_name,
    open_folder,
    somebody,
)

pytestmark = needs_root


def test_accounts_are_marked_closed_and_have_private_homes():
    with hub_without_server() as (places, state):
        entry = pwd.getpwnam(state.student)
        assert entry.pw_gecos == state.mark
        assert entry.pw_shell.endswith("nologin")
        assert places.home(state.student).stat().st_mode & 0o777 == 0o700
        assert is_locked(hashes()[state.student])
        kept = HubState.read(places.state)
        assert kept == state
    with pytest.raises(KeyError):
        pwd.getpwnam(state.student)


def test_an_account_of_somebody_else_is_never_touched():
    with foreigner() as name:
        before = pwd.getpwnam(name), hashes()[name]
        state = HubState.new("hub", new_name("i"), name)
        with pytest.raises(ValueError, match=f"{name} that this hub did not create"):
            check_names(state, [state.instructor, name])
        with pytest.raises(ValueError, match="did not create"):
            check_names(state, ["root"])
        assert (pwd.getpwnam(name), hashes()[name]) == before


def test_a_refused_name_leaves_no_trace():
    with foreigner() as name, open_folder() as above:
        folder = above / "hub"
        done = subprocess.run(
            [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(folder),
             "--student", name, "--instructor", new_name("i")],
            capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stderr.startswith(f"mlsys: this machine has a user {name}")
        assert not folder.exists()
        assert "Traceback" not in done.stderr


def test_without_a_course_nobody_is_made():
    with open_folder() as above:
        names = new_name("i"), new_name("s")
        done = subprocess.run(
            [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(above / "hub"),
             "--instructor", names[0], "--student", names[1], "--from", str(above / "no.tar.gz")],
            capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 1
        assert "mlsys build --bundle" in done.stderr
        assert list(above.iterdir()) == []
        for name in names:
            with pytest.raises(KeyError):
                pwd.getpwnam(name)


def test_the_accounts_of_another_hub_are_not_ours():
    with hub_without_server() as (_, theirs):
        ours = HubState.new("hub", new_name("i"), theirs.student)
        with pytest.raises(ValueError, match="did not create"):
            check_names(ours, [theirs.student])
        ours.accounts = dict(theirs.accounts)
        assert sorted(remove_accounts(ours)) == sorted(theirs.accounts)
        assert pwd.getpwnam(theirs.student)


def test_an_account_that_lost_its_mark_is_left_alone():
    with hub_without_server() as (_, state):
        name = state.student
        subprocess.run(["usermod", "--comment", "mine now", name], check=True)
        assert remove_accounts(state) == [name]
        assert pwd.getpwnam(name)
        subprocess.run(["usermod", "--comment", state.mark, name], check=True)


def test_a_name_that_was_taken_by_another_uid_is_refused():
    with hub_without_server() as (places, state):
        name, mark = state.student, state.mark
        subprocess.run(["userdel", name], check=True, capture_output=True)
        subprocess.run(["useradd", "--no-create-home", "--uid", "59999", "--comment", mark, name],
                       check=True)  # fmt: skip
        try:
            with pytest.raises(ValueError, match="did not create"):
                make_accounts(places, state, {name: "student"}, welcome=lambda home: None)
        finally:
            subprocess.run(["userdel", name], check=True, capture_output=True)


def sleeping(account: Account) -> subprocess.Popen[bytes]:
    """A program of somebody that does not end when it is asked, in a session of its own."""
    return subprocess.Popen(
        ["/bin/sh", "-c", "trap '' TERM; sleep 300 & wait"],
        user=account.uid, group=account.gid, cwd="/", start_new_session=True,
    )  # fmt: skip


def test_everything_of_a_hubs_users_ends_and_nothing_of_others():
    with (
        hub_without_server() as (_, state),
        somebody() as (stranger, _),
        sleeping(stranger) as other,
    ):
        running = [sleeping(account) for account in state.accounts.values()]
        end_all_processes(state)
        assert all(each.wait(60) < 0 for each in running)
        assert other.poll() is None
        end_processes(stranger.uid)


def test_processes_of_a_removed_account_are_ended():
    with hub_without_server() as (places, state):
        account = state.accounts[state.student]
        sleeper = sleeping(account)
        assert remove_accounts(state) == []
        assert sleeper.wait(60) < 0
        assert places.home(account.name).exists()  # files are for the reset to remove


def test_a_program_has_the_rights_of_its_user_and_none_of_roots(monkeypatch):
    monkeypatch.setenv("SECRET_OF_ROOT", "x")
    with somebody() as (account, home):
        done = run_as(account, ["/bin/sh", "-c", "id -un; id -Gn; umask; pwd; env"], home=home)
        assert done.stdout.split("\n")[:4] == [account.name, account.name, "0077", str(home)]
        assert "SECRET_OF_ROOT" not in done.stdout
        assert reaches(account, home)
        assert not reaches(account, home.parents[1] / "secrets")


def test_passwords_are_set_and_are_the_ones_that_were_kept():
    with hub_without_server() as (places, state):
        passwords = Passwords(places.secrets / "passwords.json")
        passwords.make(state.accounts)
        passwords.give(state.accounts)
        known = hashes()
        assert all(passwords.counts(name, known[name]) for name in state.accounts)
        again = Passwords(places.secrets / "passwords.json")
        again.make(state.accounts)
        assert again.shown(state.student, known) == passwords.shown(state.student, known)
        subprocess.run(["chpasswd"], input=f"{state.student}:my-own-words", text=True, check=True)
        assert "changed" in passwords.shown(state.student, hashes())
