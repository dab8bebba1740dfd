"""Readers: whatever a request does to the process that handles it, one sentence comes of it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from mlsys_widgets.grading.reading.readers import (
    CannotRead,
    PutOff,
    ReaderMessage,
    Readers,
    ReadingLimits,
)
from mlsys_widgets.sandbox.usage import children
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
LIMITS = ReadingLimits(wall=30, cpu=2, memory=300_000_000, file=1_000_000, reply=10_000)


#: What requests leave behind in the process that does them.
LEFT: list[bytes] = []


def note(path: str) -> None:
    """Write down which process has got here."""
    with Path(path).open("a") as tries:
        tries.write(f"{os.getpid()}\n")


@dataclass(frozen=True)
class Ask(ReaderMessage):
    """What a child must do, and with what."""

    do: str
    what: str = ""
    path: str = ""
    size: int = 0


@dataclass(frozen=True)
class Answer(ReaderMessage):
    """What a child says, and who it is."""

    said: str = ""
    pid: int = field(default_factory=os.getpid)
    reader: int = field(default_factory=os.getppid)
    led: tuple[str, ...] = ()


def work(request: Ask) -> Answer:
    """Do as the request says."""
    match request.do:
        case "leave":
            LEFT.append(bytes(request.size))
        case "be first":
            note(request.path)
            if LEFT:
                raise ValueError("somebody was here before")
        case "say":
            return Answer(request.what)
        case "hold":
            return Answer(str(len(bytearray(1_000_000_000))))
        case "nest":
            return work(request)
        case "loop":
            if request.path:
                note(request.path)
            while True:
                pass
        case "sleep":
            time.sleep(100)
        case "talk":
            return Answer("x" * 100_000)
        case "write":
            Path(request.path).write_bytes(bytes(2_000_000))
        case "die":
            if not Path(request.path).exists():
                Path(request.path).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "always die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "files":
            led = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
            return Answer(led=tuple(each for each in led if Path(each).exists()))
        case "fill":
            raise OSError(errno.ENOSPC, "No space left on device")
        case "fail":
            raise ValueError("no \x1b[31m verdict")
        case "lie":
            return Answer(pid="not a number")
    return Answer()


@pytest.fixture
def readers(tmp_path):
    made = Readers(work, 1, tmp_path, LIMITS)
    yield made
    made.close()


def test_ordinary_requests_are_done_in_one_child(readers):
    first, second = (readers.ask(Ask("say", what=word)) for word in ("a", "b"))
    assert (first.said, second.said) == ("a", "b")
    assert first.reader == second.reader in children(os.getpid())
    assert first.pid == second.pid
    assert len({os.getpid(), first.pid, first.reader}) == 3


def test_nothing_is_said_about_a_submission_that_is_not_its_own(readers, tmp_path):
    """What fails in a child that has done others is done again in one that has not."""
    before = readers.ask(Ask("leave", size=1)).pid
    path = tmp_path / "tries"
    after = readers.ask(Ask("be first", path=str(path))).pid
    assert path.read_text().split() == [str(before), str(after)]


def test_a_child_that_has_grown_is_replaced(readers):
    pids = [readers.ask(Ask("leave", size=60_000_000)).pid for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_child_that_was_killed_while_it_waited_is_replaced(readers):
    before = readers.ask(Ask("say", what="")).pid
    os.kill(before, signal.SIGKILL)
    assert readers.ask(Ask("say", what="")).pid != before


def test_who_is_hurried_has_less_time(tmp_path):
    readers = Readers(work, 1, tmp_path, replace(LIMITS, cpu=30, hurried=1))
    with pytest.raises(PutOff, match="takes longer than 1 s"):
        readers.ask(Ask("loop"), turn=0)
    assert readers.ask(Ask("say", what="next"), turn=0).said == "next"
    readers.close()


def test_what_takes_too_long_is_not_tried_twice(readers, tmp_path):
    before = readers.ask(Ask("say", what="")).pid
    path = tmp_path / "tries"
    with pytest.raises(CannotRead, match="takes longer than 2 s"):
        readers.ask(Ask("loop", path=str(path)))
    assert path.read_text().split() == [str(before)]


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("hold", "reading it takes more than 0.3 GB; ask for a notebook"),
        ("nest", "it is nested too deeply"),
        ("loop", "reading it takes longer than 2 s"),
        ("talk", "there is too much to say about it"),
        ("crash", r"ended the process that read it \(SIGSEGV\)"),
        ("always die", "was killed twice.*fewer --workers"),
        ("fail", "ValueError: no .* verdict"),
        ("lie", r"Expected `int`, got `str`.*pid"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_the_next_one_is_served(readers, do, said):
    with pytest.raises(CannotRead, match=said):
        readers.ask(Ask(do))
    assert readers.ask(Ask("say", what="still here")).said == "still here"


def test_nobody_waits_for_one_that_sleeps(tmp_path):
    made = Readers(work, 1, tmp_path, ReadingLimits(wall=0.3, cpu=2))
    try:
        with pytest.raises(CannotRead, match="takes longer than"):
            made.ask(Ask("sleep"))
    finally:
        made.close()


def test_files_have_a_limit(readers, tmp_path):
    with pytest.raises(CannotRead, match=r"SIGXFSZ|File too large"):
        readers.ask(Ask("write", path=str(tmp_path / "large")))


def test_a_full_disk_is_nobodys_alone(readers):
    with pytest.raises(ValueError, match=r"No space left on device.*make room and continue with"):
        readers.ask(Ask("fill"))


def test_one_that_was_killed_from_outside_is_asked_once_more(readers, tmp_path):
    assert readers.ask(Ask("die", path=str(tmp_path / "died"))).said == ""
    assert (tmp_path / "died").exists()


def test_a_reader_that_was_killed_is_replaced(readers):
    before = readers.ask(Ask("say", what="")).reader
    os.kill(before, signal.SIGKILL)
    after = readers.ask(Ask("say", what="")).reader
    assert after != before
    assert after in children(os.getpid())


def test_it_has_no_open_file_of_its_owner(tmp_path):
    kept = tmp_path / "secret"
    kept.write_text("x")
    with kept.open():
        made = Readers(work, 2, tmp_path)
        try:
            assert set(made.ask(Ask("files")).led) <= {"/dev/null"}
        finally:
            made.close()


def test_closing_ends_it_under_whoever_waits(tmp_path):
    made, said = Readers(work, 1, tmp_path), []
    reader = made.ask(Ask("say", what="")).reader

    def wait() -> None:
        try:
            made.ask(Ask("sleep"))
        except CannotRead as problem:
            said.append(str(problem))

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_for(lambda: children(reader), "nothing was asked")
    (child,) = children(reader)
    made.close()
    waiting.join(30)
    assert said == ["grading ends here"]
    wait_for(lambda: not Path(f"/proc/{child}").exists(), "a child outlives its reader")


def test_one_that_nobody_holds_any_more_is_gone(tmp_path):
    made = Readers(work, 1, tmp_path)
    reader = made.ask(Ask("say", what="")).reader
    del made
    wait_for(lambda: not Path(f"/proc/{reader}").exists(), "a reader outlives its owner")


def test_what_one_may_take_while_others_wait_follows_what_they_take(tmp_path):
    """With an allowance of an hour it ends all the same, once it is known what is usual."""
    made = Readers(work, 1, tmp_path, replace(LIMITS, wall=3600, cpu=3600, hurried=3600))
    try:
        for _ in range(8):
            made.ask(Ask("say", what="a"), turn=0)
        for turn in (0, 1):
            with pytest.raises(PutOff):
                made.ask(Ask("loop"), turn=turn)
        assert made.ask(Ask("say", what="b"), turn=0).said == "b"
    finally:
        made.close()


def test_who_has_got_all_there_is_is_not_put_off_again(tmp_path):
    made = Readers(work, 1, tmp_path, replace(LIMITS, cpu=1), usual=0.05)
    try:
        with pytest.raises(CannotRead, match="takes longer than 1 s") as told:
            made.ask(Ask("loop"), turn=9)
        assert not isinstance(told.value, PutOff)
    finally:
        made.close()


READ_AT_ONCE = """
import contextlib, sys, threading
from pathlib import Path
from mlsys_widgets.grading import messages
from mlsys_widgets.grading.reading.readers import ReaderMessage, Readers
sys.setswitchinterval(1e-6)
Readers(lambda request: request, 1, Path("."))
kinds = list(ReaderMessage._kinds)
start = threading.Barrier(16)
def read(number):
    start.wait()
    for kind in kinds[number % len(kinds):] + kinds:
        with contextlib.suppress(ValueError):
            ReaderMessage.from_data({"message": kind})
threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_threads_that_read_their_first_messages_at_once_crash_nothing():
    """Two of four such processes crashed when their threads learned the fields by themselves."""
    command = [sys.executable, "-c", READ_AT_ONCE]
    for _ in range(6):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
