"""Users of this machine for tests that need no hub."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mlsys_widgets.hub.accounts.machine_users import make_accounts, remove_accounts
from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import Places

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("useradd") is None,
    reason="users of this machine are made, so this test needs root and useradd",
)


def new_name(what: str) -> str:
    return f"mlsystest{secrets.token_hex(2)}{what}"


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user can go through, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="mlsystest_"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def hub_without_server() -> Iterator[tuple[Places, HubState]]:
    """A hub's folder with an instructor and a student, as a first start makes them."""
    with open_folder() as folder:
        places = Places(folder / "hub")
        state = HubState.new("hub", new_name("i"), new_name("s"))
        places.make()
        try:
            make_accounts(
                places,
                state,
                {state.instructor: "instructor", state.student: "student"},
                welcome=lambda home: None,
            )
            yield places, state
        finally:
            remove_accounts(state)


@contextmanager
def somebody() -> Iterator[tuple[Account, Path]]:
    """A user with a home."""
    with hub_without_server() as (places, state):
        yield state.accounts[state.student], places.home(state.student)


@contextmanager
def foreigner() -> Iterator[str]:
    """A user that no hub has made."""
    name = new_name("f")
    subprocess.run(["useradd", "--no-create-home", "--comment", "Somebody", name], check=True)
    try:
        yield name
    finally:
        subprocess.run(["userdel", name], check=True, capture_output=True)
