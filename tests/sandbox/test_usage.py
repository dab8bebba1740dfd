"""What a tree of processes uses, while processes in it come and go."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.usage import Meter, children, descendants
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def test_children_of_every_thread_are_found():
    started: list[subprocess.Popen[bytes]] = []
    done = threading.Event()

    def start() -> None:
        started.append(subprocess.Popen(["sh", "-c", "sleep 60; true"]))
        done.wait()

    thread = threading.Thread(target=start)
    thread.start()
    try:
        wait_for(lambda: started, "nothing was started")
        (shell,) = started
        assert shell.pid in children(os.getpid())
        wait_for(lambda: descendants(shell.pid), "the shell has started nothing")
        assert set(descendants(os.getpid())) >= {shell.pid, *descendants(shell.pid)}
    finally:
        for pid in (*descendants(started[0].pid), started[0].pid):
            os.kill(pid, 9)
        started[0].wait()
        done.set()
        thread.join()


def test_a_process_that_has_vanished_has_no_children_and_uses_nothing():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert children(gone.pid) == descendants(gone.pid) == []
    assert Meter(gone.pid, Limits()).over() is None


def test_threads_that_end_while_one_looks_do_no_harm():
    over = threading.Event()

    def churn() -> None:
        while not over.is_set():
            one = threading.Thread(target=int)
            one.start()
            one.join()

    churning = [threading.Thread(target=churn) for _ in range(4)]
    for each in churning:
        each.start()
    try:
        for _ in range(200):
            descendants(os.getpid())
    finally:
        over.set()
        for each in churning:
            each.join()


def test_a_process_that_was_seen_counts_after_it_is_gone():
    """Whoever lets its children vanish unwaited has used their time all the same."""
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); input()"
    busy = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    meter = Meter(busy.pid, Limits(cpu=0))
    busy.stdout.readline()
    assert meter.over() == "out of processor time"
    busy.communicate(b"\n")
    assert meter.over() == "out of processor time"
    assert Meter(busy.pid, Limits(cpu=0)).over() is None


def test_processes_that_come_and_go_while_one_looks_do_no_harm():
    code = "import os\nwhile True:\n    if not os.fork(): os._exit(0)\n    os.wait()"
    churning = subprocess.Popen([sys.executable, "-c", code])
    try:
        meter = Meter(churning.pid, Limits())
        for _ in range(300):
            assert meter.over() is None
    finally:
        churning.kill()
        churning.wait()
