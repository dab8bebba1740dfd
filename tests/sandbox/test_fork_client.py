"""A fork server from its owner's side: whoever dies, nobody is left waiting or running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.sandbox.fork_client import ForkServer, ForkServerLost
from mlsys_widgets.sandbox.job import Job
from tests.grading.classroom import classroom, grade, hand_in, running, small
from tests.sandbox.children import LAB, LIMITS, a_sleep, is_running
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def test_a_fork_server_that_is_killed_takes_its_child_with_it():
    one, sleep = ForkServer(), a_sleep()
    try:
        job = Job("ann", LAB, {}, not one.cannot_isolate, LIMITS)
        code = f"import os\nos.system('{sleep} &')\nos.kill(os.getppid(), 0)"
        killer = threading.Thread(target=_kill_when, args=(one.pid, sleep))
        killer.start()
        with pytest.raises(ForkServerLost):
            one.run(job, {}, [code, "import time\ntime.sleep(60)"], {})
        killer.join()
        wait_for(lambda: not is_running(sleep), f"{sleep} still runs")
    finally:
        one.close()


def _kill_when(pid: int, sleep: str) -> None:
    wait_for(lambda: is_running(sleep), f"{sleep} was never started")
    os.kill(pid, signal.SIGKILL)


def test_a_fork_server_whose_owner_dies_ends():
    sleep = a_sleep()
    code = (
        "from mlsys_widgets.sandbox.fork_client import ForkServer\n"
        "from mlsys_widgets.sandbox.job import Job\n"
        "one = ForkServer(); print(one.pid, flush=True)\n"
        f"one.run(Job('a', '{LAB}', {{}}, not one.cannot_isolate), {{}},"
        f" ['import os', 'os.system(\"{sleep}\")'], {{}})"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        pid = int(owner.stdout.readline())
        wait_for(lambda: is_running(sleep), f"{sleep} was never started")
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), "the fork server outlives its owner")
    wait_for(lambda: not is_running(sleep), f"{sleep} still runs")


def test_a_fork_server_that_dies_is_tried_once_more(tmp_path):
    """A submission whose fork server dies twice is reported, and its class continues."""
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        hand_in(course, name, answers=course.asked(name).right())
    hand_in(course, "cat", running("print('here')"), course.asked("cat").right())
    plain, times = ForkServer.deliver, []

    def dying(self, parcel, *more):
        if parcel.student != "ann":
            return plain(self, parcel, *more)
        times.append(self.pid)
        os.kill(self.pid, 9)
        self._process.wait()
        return plain(self, parcel, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ForkServer, "deliver", dying)
        graded = grade(course, limits=small(), own_engine=True)
    assert len(set(times)) == 2
    assert [flag.kind for flag in graded["ann"].flags] == [FlagKind.NOT_GRADED]
    assert (graded["ann"].scores, graded["bob"].earned, graded["cat"].earned) == ((), 60, 60)
    assert not (course.root / "autograded" / "ann").exists()
    again = grade(course)
    assert set(again) == {"ann"}
    assert again["ann"].earned == 60
