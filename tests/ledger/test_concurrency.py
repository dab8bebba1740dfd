"""Several kernels on one ledger: they interleave, and nothing is lost."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.files import acquire
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import from_line

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 4


@pytest.mark.long
@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_four_processes_write_many_events_each(tmp_path, count):
    path = tmp_path / "ledger.jsonl"
    program = [sys.executable, "-m", "tests.ledger.committing", str(path)]
    running = [
        subprocess.Popen(
            [*program, word, "0", str(count), "short"], stdout=subprocess.PIPE, cwd=ROOT
        )
        for word in "abcd"
    ]
    # All of them wait at the lock for their first event, and begin together when it is released.
    with path.open("ab") as file:
        assert acquire(file.fileno(), patience=60)
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == b"try 0\n"
    # A reader in the meantime, that must never see anything but whole events in order.
    watcher = Ledger.open(path)
    seen = 0
    while any(process.poll() is None for process in running):
        events = watcher.events()
        assert len(events) >= seen
        assert [event.seq for event in events[seen:]] == list(range(seen, len(events)))
        seen = len(events)
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * PROCESSES
    led = Ledger.open(path)
    wanted = {f"{word}{number}" for word in "abcd" for number in range(count)}
    assert led.state().predictions.keys() == wanted
    assert len(led.events()) == PROCESSES * count + 1
    assert led.verify().ok
    assert led.torn == ()
    assert watcher.state() == led.state()
    # They did take turns: no one of them wrote all its events in one go.
    words = [from_line(line).id[0] for line in path.read_bytes().splitlines()[1:]]
    assert sum(a != b for a, b in itertools.pairwise(words)) > PROCESSES
