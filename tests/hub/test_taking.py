"""What goes into a backup, and what a student can do about it: nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from mlsys_widgets.hub.backup.backup_archive import open_archive
from mlsys_widgets.hub.backup.database_copy import copy_database
from mlsys_widgets.hub.backup.taking import run_backup
from tests.hub.people import hub_without_server, needs_root

pytestmark = needs_root


def members(path):
    with open_archive(path) as tar:
        return {each.name: each for each in tar}


def test_it_is_for_root_alone_whole_and_outside_the_hub(capsys):
    with hub_without_server() as (places, state):
        target = places.root.parent / "b.tar.gz"
        home = places.home(state.student)
        (home / "work.txt").write_text("mine")
        (home / "link").symlink_to("/etc/shadow")
        os.mkfifo(home / "pipe\x1b[2J")
        assert run_backup(places, target) == 0
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        output = capsys.readouterr().out
        assert "left out:" in output
        assert "\x1b" not in output, "names of students write nothing on the terminal of root"
        found = members(target)
        assert found[f"homes/{state.student}/link"].issym()
        assert found[f"homes/{state.student}"].uid == state.accounts[state.student].uid
        assert not [name for name in found if "pipe" in name]
        with pytest.raises(ValueError, match="exists"):
            run_backup(places, target)
        with pytest.raises(ValueError, match="own folder"):
            run_backup(places, places.homes / "b.tar.gz")
        with pytest.raises(ValueError, match="no folder"):
            run_backup(places, places.root.parent / "missing" / "b.tar.gz")


def test_a_folder_swapped_for_a_link_all_the_time_gives_nothing_away(tmp_path):
    with hub_without_server() as (places, state):
        secret = tmp_path / "secret"
        secret.mkdir()
        (secret / "key").write_text("the secret of root")
        home = places.home(state.student)
        (home / "real").mkdir()
        (home / "real" / "key").write_text("mine")
        stop = threading.Event()

        def swap():
            while not stop.is_set():
                (home / "real").rename(home / "aside")
                (home / "real").symlink_to(secret)
                (home / "real").unlink()
                (home / "aside").rename(home / "real")

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            for number in range(20):
                target = places.root.parent / f"{number}.tar.gz"
                run_backup(places, target)
                with open_archive(target) as tar:
                    for info in tar:
                        if info.isreg():
                            assert b"of root" not in tar.extractfile(info).read()
        finally:
            stop.set()
            thread.join()


def test_a_database_is_copied_while_somebody_writes(places):
    path = places.course
    path.mkdir(exist_ok=True)
    path /= "gradebook.db"
    writer = [sys.executable, "-c", f"""
import sqlite3, time
db = sqlite3.connect({str(path)!r}, isolation_level=None)
db.execute("create table if not exists pairs (a, b)")
print("begun", flush=True)
n = 0
while True:
    n += 1
    db.execute("begin immediate")
    db.execute("insert into pairs values (?, 0)", (n,))
    db.execute("update pairs set b = a where a = ?", (n,))
    db.execute("commit")
    time.sleep(0.001)
"""]  # fmt: skip
    with subprocess.Popen(writer, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"begun\n"
            for number in range(5):
                copy = path.with_name(f"copy{number}")
                copy.write_bytes(copy_database(path, 0, 0))
                db = sqlite3.connect(copy)
                assert db.execute("pragma integrity_check").fetchone() == ("ok",)
                assert db.execute("select count(*) from pairs where a != b").fetchone() == (0,)
                db.close()
        finally:
            process.kill()


def test_a_database_is_read_with_the_rights_of_its_owner():
    with hub_without_server() as (places, state):
        account = state.accounts[state.student]
        closed = places.secrets / "closed.db"
        sqlite3.connect(closed).execute("create table secret (x)").connection.close()
        link = places.home(account.name) / "mine.db"
        link.symlink_to(closed)
        with pytest.raises(OSError, match="unable to open database file"):
            copy_database(link, account.uid, account.gid)
        link.unlink()
        link.write_text("no database")
        os.chown(link, account.uid, account.gid)
        with pytest.raises(OSError, match="file is not a database"):
            copy_database(link, account.uid, account.gid)


def test_journals_of_a_database_stay_behind():
    with hub_without_server() as (places, state):
        places.course.mkdir(exist_ok=True)
        db = sqlite3.connect(places.course / "gradebook.db")
        db.execute("pragma journal_mode = wal")
        db.execute("create table kept (x)")
        db.execute("insert into kept values (1)")
        db.commit()
        (places.course / "notes-wal").write_text("no journal of anything")
        target = places.root.parent / "b.tar.gz"
        run_backup(places, target)
        db.close()
        found = members(target)
        assert "course/gradebook.db" in found
        assert "course/gradebook.db-wal" not in found
        assert "course/notes-wal" in found
        assert state.student
