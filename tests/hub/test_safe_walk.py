"""A walk through folders of strangers reads nothing behind a link, whatever they do meanwhile."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from mlsys_widgets.hub.backup.safe_walk import walk


def paths(root, **more):
    skipped = {}
    found = [each.path for each in walk(root, "top", skipped.__setitem__, **more)]
    return found, skipped


def test_files_folders_and_links_are_found_and_the_rest_is_named(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "socket"))
        found, skipped = paths(tmp_path)
    assert found == ["top", "top/a", "top/a/b", "top/a/b/file", "top/link"]
    assert set(skipped) == {"top/pipe", "top/socket"}


def test_a_folder_that_becomes_a_link_is_not_entered(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("of root")
    home = tmp_path / "home"
    (home / "a").mkdir(parents=True)
    (home / "b").mkdir()
    found = []
    for entry in walk(home, "home", lambda path, why: found.append((path, why))):
        found.append(entry.path)
        if entry.path == "home/a":  # the list of the folder above was read before
            (home / "b").rmdir()
            (home / "b").symlink_to(secret)
    assert found == ["home", "home/a", "home/b"]
    assert (home / "b").readlink() == secret


def test_an_open_folder_stays_the_one_that_was_found(tmp_path):
    """It is moved away and a link takes its place after it was opened."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "a").mkdir(parents=True)
    (home / "a" / "mine").touch()
    elsewhere.mkdir()
    (elsewhere / "key").touch()
    found = []
    for entry in walk(home, "home", lambda path, why: None):
        found.append(entry.path)
        if entry.path == "home/a":
            (home / "a").rename(tmp_path / "moved")
            (home / "a").symlink_to(elsewhere)
    assert found == ["home", "home/a", "home/a/mine"]


def test_folders_without_end_use_up_no_descriptors(tmp_path):
    deep = tmp_path
    for _ in range(40):
        deep /= "x"
        deep.mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    found, skipped = paths(tmp_path, deepest=10)
    assert len(found) == 10
    assert list(skipped.values()) == ["more than 10 folders are inside each other"]
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_path_that_no_restore_could_open_is_left_out(tmp_path):
    """Folders in folders, by descriptor, make paths that are longer than the system opens."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=here)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    found, skipped = paths(tmp_path)
    assert 10 < len(found) < 20
    assert list(skipped.values()) == ["its path is too long"]


def test_a_link_instead_of_the_folder_itself_is_nothing(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert paths(tmp_path / "link") == ([], {})
    assert paths(tmp_path / "missing") == ([], {})
