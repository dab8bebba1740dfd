"""Root gives files of one user to another, and nothing else, whatever the giver does meanwhile."""

from __future__ import annotations

import os

import pytest

from mlsys_widgets.hub.accounts.people_changes import give_files
from mlsys_widgets.hub.hub_state import Account
from tests.link_swapper import swapping

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

#: Users that no machine has.
GIVER, TAKER = 61_001, 61_002
ANN = Account("ann", TAKER, TAKER, "student")


def owners(folder) -> set[int]:
    return {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}


def work(folder):
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").touch()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, GIVER, GIVER)
    return folder


def test_files_and_folders_change_hands(tmp_path):
    folder = work(tmp_path / "work")
    give_files(folder, GIVER, ANN)
    assert owners(folder) == {TAKER}


def test_what_is_somebody_elses_stays_theirs(tmp_path):
    """A hard link, a link to a folder, and a file that root left there."""
    folder, secret = work(tmp_path / "work"), tmp_path / "secret"
    secret.mkdir()
    (secret / "key").touch()
    os.link(secret / "key", folder / "deep" / "hard")
    (folder / "soft").symlink_to(secret)
    give_files(folder, GIVER, ANN)
    assert owners(secret) == {0}
    assert (folder / "deep" / "file").stat().st_uid == TAKER


def test_no_moment_gives_away_what_a_link_leads_to(tmp_path):
    """Seven of ten such races were won when root walked by path.

    The folder behind the link belongs to the giver, so that only the walk protects it.
    """
    folder, other = work(tmp_path / "work"), work(tmp_path / "other")
    link = tmp_path / "link"
    link.symlink_to(other)
    with swapping(folder / "deep", tmp_path / "own", link):
        for _ in range(300):
            give_files(folder, GIVER, ANN)
            assert owners(other) == {GIVER}
