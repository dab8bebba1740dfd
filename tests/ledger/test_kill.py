"""SIGKILL at random moments: what was acknowledged is there, and nothing that was not tried.

A kill can fall between the moment an event is on the disk and the moment its acknowledgment is on
its way. So after each kill the ledger holds every acknowledged commit, and beyond these at most the
one that was under way, whole.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsys_widgets.ledger import Ledger
from tests.ledger.committing import value_of

ROOT = Path(__file__).resolve().parents[2]
COMMITS = 500


class Toll:
    """What was tried and acknowledged over all kills, and the check after each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.acknowledged: set[int] = set()
        self.in_flight: set[int] = set()
        self.tried = -1
        self.kills = 0
        self.torn = 0

    def check(self, said: bytes) -> None:
        """Take in what a killed process said, and hold the ledger to it."""
        self.kills += 1
        mine = set()
        for line in said.split(b"\n")[:-1]:  # what follows the last line end was cut off
            word, number = line.split()
            self.tried = int(number)
            if word == b"ack":
                mine.add(self.tried)
        self.acknowledged |= mine
        led = Ledger.open(self.path)
        found = {int(name[1:]) for name in led.state().predictions}
        assert found >= self.acknowledged, "an acknowledged commit is lost"
        extra = found - self.acknowledged - self.in_flight
        assert extra <= {self.tried}, "a commit appeared that was not under way"
        self.in_flight |= extra
        for number in found:
            assert led.state().predictions[f"p{number}"].value == value_of(number, long=True)
        verdict = led.verify()
        self.torn += not verdict.ok
        assert all(problem.kind == "torn" for problem in verdict.problems)

    def report(self, say: Callable[[str], None]) -> None:
        led = Ledger.open(self.path)
        say(
            f"{self.kills} kills during {self.tried + 1} commits: {len(self.acknowledged)}"
            f" acknowledged and all found, {len(self.in_flight)} whole but not yet acknowledged,"
            f" {self.torn} torn lines, {len(led.torn)} set aside"
        )


@pytest.mark.long
@pytest.mark.parametrize("commits", [40, pytest.param(COMMITS, marks=pytest.mark.slow)])
def test_a_process_that_is_killed_again_and_again(tmp_path, capsys, commits):
    toll = Toll(tmp_path / "ledger.jsonl")
    dice = random.Random(7)
    program = [sys.executable, "-m", "tests.ledger.committing", str(toll.path), "p"]
    # On a busy machine a process may get far between two looks at it, so kills are counted as well.
    while len(toll.acknowledged) < commits or toll.kills < commits / 20:
        command = [*program, str(toll.tried + 1), "100000", "long"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout is not None
            # Counted, because one disk syncs a hundred times faster than another.
            said = b"".join(process.stdout.readline() for _ in range(dice.randrange(1, 16)))
            time.sleep(dice.uniform(0, 0.004))
            process.kill()
            toll.check(said + process.stdout.read())
    led = Ledger.open(toll.path)
    led.record_answer("after", 1)
    assert led.verify().ok
    assert len(led.torn) == toll.torn
    with capsys.disabled():
        toll.report(lambda sentence: print(f"\n  {sentence}"))


@pytest.mark.slow
def test_a_real_kernel_that_is_killed_again_and_again(tmp_path, capsys):
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: no kernel to kill")
    manager = pytest.importorskip(
        "jupyter_client.manager", reason="jupyter_client is not installed: no kernel to kill"
    )
    toll = Toll(tmp_path / "ledger.jsonl")
    dice = random.Random(11)
    pipe = tmp_path / "said"
    os.mkfifo(pipe)
    while len(toll.acknowledged) < COMMITS or toll.kills < 3:
        code = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from mlsys_widgets.ledger import Ledger
from tests.ledger.committing import value_of
said = os.open({str(pipe)!r}, os.O_WRONLY)
led = Ledger.open({str(toll.path)!r}, lab="lab_07_kernel_fusion", student="student-01")
for number in range({toll.tried + 1}, 100_000):
    os.write(said, b"try %d\\n" % number)
    led.commit_prediction(f"p{{number}}", value_of(number, long=True))
    os.write(said, b"ack %d\\n" % number)
"""
        kernel = manager.KernelManager(kernel_name="python3")
        kernel.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = kernel.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=60)
            client.execute(code)
            with pipe.open("rb", buffering=0) as reader:
                said, enough = b"", dice.randrange(20, 800)
                while len(said) < enough:
                    said += reader.read(1)
                time.sleep(dice.uniform(0, 0.004))
                os.kill(kernel.provisioner.pid, signal.SIGKILL)
                while part := reader.read(1 << 16):
                    said += part
        finally:
            client.stop_channels()
            kernel.shutdown_kernel(now=True)
        toll.check(said)
    with capsys.disabled():
        toll.report(lambda sentence: print(f"\n  kernel: {sentence}"))
