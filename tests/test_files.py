"""Files that are written whole, folders that are laid out, and locks between real processes."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mlsys_widgets import files
from mlsys_widgets.files import (
    StillHeld,
    acquire,
    held,
    lay_out,
    open_folder,
    open_no_follow,
    open_regular,
    write_new,
    write_whole,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def a_process(code: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run code in another Python until it has said something; it is killed in the end."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


# ---- writing a file whole


@pytest.mark.parametrize("content", ["", "text – 텍스트\n", b"\x00\xff\r\n"])
def test_what_is_written_is_read(tmp_path, content):
    path = write_whole(str(tmp_path / "file"), content)
    assert path == tmp_path / "file"
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [path]


# Writes, and at the chosen system call says so and waits for its end.
WRITER = """
import os, sys
from mlsys_widgets import files

path, where, mode = sys.argv[1:]

def stop(*arguments, **more):
    print("ready", flush=True)
    sys.stdin.read()

if where == "sync":
    os.fsync = stop
else:
    files.Path.replace = stop
files.write_whole(path, b"new" * 100_000, mode=int(mode, 8) if mode else None)
"""


@pytest.mark.parametrize("where", ["sync", "replace"])
@pytest.mark.parametrize("old", [b"old", None])
def test_a_writer_that_is_killed_leaves_the_old_file_and_no_half_one(tmp_path, where, old):
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    with a_process(WRITER, path, where, "") as writer:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    assert (path.read_bytes() if path.exists() else None) == old
    # What it leaves is hidden, and in nobody's way.
    assert all(each.name.startswith(".file.") for each in tmp_path.iterdir() if each != path)
    write_whole(path, "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("where", ["sync", "replace"])
def test_a_private_file_is_never_readable_by_others(tmp_path, where):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with umask(0), a_process(WRITER, path, where, "600"):
        modes = {each.name: mode_of(each) for each in tmp_path.iterdir()}
    assert len(modes) == 2
    assert set(modes.values()) == {0o600}


def test_a_private_file_replaces_one_that_everybody_could_read(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    assert mode_of(write_whole(path, "new", mode=0o600)) == 0o600


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_mode_is_that_of_an_ordinary_new_file_unless_it_is_given(tmp_path, mask):
    with umask(mask):
        (tmp_path / "plain").write_text("")
        usual = mode_of(tmp_path / "plain")
        assert usual == 0o666 & ~mask
        assert mode_of(write_whole(tmp_path / "usual", "")) == usual
        assert mode_of(write_whole(tmp_path / "given", "", mode=0o640)) == 0o640
        assert mode_of(write_whole(tmp_path / "read-only", "", mode=0o444)) == 0o444


def test_the_umask_of_other_threads_is_left_alone(tmp_path, monkeypatch):
    """It belongs to the process: a file made meanwhile would be open to everybody."""

    def changed(mask):
        raise AssertionError("the umask was changed")

    monkeypatch.setattr(os, "umask", changed)
    write_whole(tmp_path / "file", "")
    lay_out(tmp_path, {"a": b""})


@pytest.mark.parametrize("write", [write_whole, write_new])
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, write):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_failure_while_writing_leaves_the_old_file_and_no_litter(
    tmp_path, monkeypatch, step, error
):
    path = tmp_path / "mine.json"
    path.write_text("old")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises((KeyboardInterrupt, OSError)):
        write_whole(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.json"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_that_cannot_sync_is_written_to(tmp_path, monkeypatch, number):
    def cannot(handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", cannot)
    assert write_whole(tmp_path / "file", "new").read_text() == "new"


def test_a_link_is_replaced_and_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "file").symlink_to(other)
    write_whole(tmp_path / "file", "new")
    assert other.read_text() == "precious"
    assert not (tmp_path / "file").is_symlink()


def test_the_longest_name_there_is_can_be_written(tmp_path):
    assert write_whole(tmp_path / ("ü" * 127), "new").read_text() == "new"


def test_without_its_folder_nothing_is_written(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "nowhere" / "file", "new")
    assert list(tmp_path.iterdir()) == []


def test_readers_see_the_old_content_or_the_new(tmp_path):
    path, sizes = tmp_path / "file", (1, 300_000)
    write_whole(path, b"x" * sizes[0])
    code = (
        "import sys; from mlsys_widgets.files import write_whole; print('ready', flush=True)\n"
        "while True:\n"
        f"    for size in {sizes}: write_whole(sys.argv[1], b'x' * size)"
    )
    with a_process(code, path):
        seen: set[int] = set()
        while seen != set(sizes):
            seen.add(len(path.read_bytes()))
            assert seen <= set(sizes)


# ---- a new file


def test_a_new_file_is_written_once(tmp_path):
    path = tmp_path / "file"
    write_new(path, b"first")
    with pytest.raises(FileExistsError):
        write_new(path, b"second")
    assert path.read_bytes() == b"first"


# ---- opening without following links


def test_a_file_is_opened_by_its_path_or_from_its_folder(tmp_path):
    (tmp_path / "file").write_text("content")
    with open(tmp_path / "file", "rb", opener=open_no_follow) as file:
        assert file.read() == b"content"
    with open_folder(tmp_path) as folder:
        handle = open_no_follow("file", dir_fd=folder)
        assert os.read(handle, 100) == b"content"
        os.close(handle)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(folder)


def test_a_new_file_is_its_owners_unless_a_mode_is_given(tmp_path):
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with umask(0), open_folder(tmp_path) as folder:
        os.close(open_no_follow("mine", flags, dir_fd=folder))
        os.close(open_no_follow("ours", flags, 0o640, dir_fd=folder))
    assert (mode_of(tmp_path / "mine"), mode_of(tmp_path / "ours")) == (0o600, 0o640)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
@pytest.mark.parametrize("target", ["there", "missing"])
def test_a_link_is_not_opened(tmp_path, flags, target):
    (tmp_path / "there").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        open_no_follow(tmp_path / "link", flags)
    assert (tmp_path / "there").read_text() == "precious"
    assert not (tmp_path / "missing").exists()


def test_a_link_to_a_folder_and_a_file_are_no_folders(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "file").touch()
    for name in ("link", "file"):
        with pytest.raises(NotADirectoryError), open_folder(tmp_path / name):
            pass


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.close(open_no_follow(tmp_path / "pipe"))


def test_only_a_regular_file_is_read(tmp_path):
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("link", "folder", "pipe", "missing"):
        with pytest.raises(OSError, match=name), open_regular(tmp_path / name):
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before, "none stays open"
    with open_folder(tmp_path) as folder, open_regular("file", dir_fd=folder) as file:
        assert file.read() == b"content"


# ---- laying out a folder


def test_files_are_laid_out_below_a_folder(tmp_path):
    folder = tmp_path / "a" / "b"
    wanted = {"top.txt": b"1", "sub/deep/er.txt": b"2", "sub/empty": b""}
    with umask(0o022):
        lay_out(folder, wanted)
    found = {each for each in folder.rglob("*") if each.is_file()}
    assert {each.relative_to(folder).as_posix(): each.read_bytes() for each in found} == wanted
    assert {mode_of(each) for each in found} == {0o644}
    lay_out(folder, {"top.txt": b"another"})
    assert (folder / "top.txt").read_bytes() == b"another"
    assert (folder / "sub" / "empty").exists()


def test_laid_out_files_have_their_mode_before_their_content(tmp_path, monkeypatch):
    (tmp_path / "there").write_bytes(b"for all to read")
    (tmp_path / "there").chmod(0o666)
    chmod, sizes = Path.chmod, []

    def noted(self: Path, mode: int) -> None:
        chmod(self, mode)
        sizes.append(self.stat().st_size)

    monkeypatch.setattr(Path, "chmod", noted)
    with umask(0):
        lay_out(tmp_path, {"there": b"secret", "new": b"secret"}, mode=0o600)
    assert sizes == [0, 0]
    assert {mode_of(each) for each in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["../out", "sub/../../out", "/etc/out"])
def test_nothing_is_laid_out_elsewhere(tmp_path, name):
    folder = tmp_path / "folder"
    with pytest.raises(ValueError, match="leads out of"):
        lay_out(folder, {"good": b"", name: b"out"})
    assert list(tmp_path.iterdir()) == []


# ---- locks

HOLDER = """
import sys
from pathlib import Path
from mlsys_widgets import files

path, shared = sys.argv[1:]
with Path(path).open("ab") as file:
    assert files.acquire(file.fileno(), shared=shared == "shared")
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def released_by_kill(holder: subprocess.Popen[bytes]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()


def released_by_end(holder: subprocess.Popen[bytes]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()
    assert holder.wait() == 0


@pytest.mark.parametrize("release", [released_by_kill, released_by_end])
def test_a_lock_of_another_process_holds_until_that_ends(
    lock, release: Callable[[subprocess.Popen[bytes]], None]
):
    with a_process(HOLDER, lock, "alone") as holder, lock.open("ab") as file:
        for shared in (False, True):
            with pytest.raises(StillHeld):
                acquire(file.fileno(), shared=shared)
        release(holder)
        assert acquire(file.fileno())


def test_readers_share_a_lock_and_writers_do_not(lock):
    with a_process(HOLDER, lock, "shared"), lock.open("ab") as file:
        with pytest.raises(StillHeld):
            acquire(file.fileno())
        assert acquire(file.fileno(), shared=True)


def test_patience_lasts_until_the_lock_is_free(lock):
    code = HOLDER.replace("sys.stdin.read()", "import time; time.sleep(0.3)")
    with a_process(code, lock, "alone"), lock.open("ab") as file:
        assert acquire(file.fileno(), patience=60)


def test_patience_has_an_end(lock):
    with a_process(HOLDER, lock, "alone"), lock.open("ab") as file:
        begun = time.monotonic()
        with pytest.raises(StillHeld):
            acquire(file.fileno(), patience=0.2)
        assert time.monotonic() - begun >= 0.2


def test_a_lock_file_refuses_with_the_sentence_it_was_given(tmp_path):
    lock = tmp_path / "made" / "lock"
    with held(lock, "busy"):
        pass
    with a_process(HOLDER, lock, "alone") as holder:
        with pytest.raises(ValueError, match=r"^busy$"), held(lock, "busy"):
            pass
        released_by_kill(holder)
        with held(lock, "busy"):
            other = subprocess.run(
                [sys.executable, "-c", HOLDER, str(lock), "alone"], capture_output=True, check=False
            )
        assert b"StillHeld" in other.stderr
    with held(lock, "busy"):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_where_files_cannot_be_locked_the_caller_is_told(lock, monkeypatch, number):
    def cannot(handle, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.fcntl, "flock", cannot)
    with lock.open("ab") as file:
        assert not acquire(file.fileno())
    with held(lock, "busy"):
        pass


def test_windows_has_no_such_locks(lock, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    with lock.open("ab") as file:
        assert not acquire(file.fileno())


def test_what_is_no_lock_problem_is_raised(lock):
    with lock.open("ab") as file:
        handle = file.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        acquire(handle)
