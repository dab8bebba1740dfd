"""Several kernels on one ledger: they interleave, and nothing is lost."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import from_line

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 4
EVENTS = 1000


def test_four_processes_write_a_thousand_events_each(tmp_path):
    path = tmp_path / "ledger.jsonl"
    program = [sys.executable, "-m", "tests.ledger.committing", str(path)]
    running = [
        subprocess.Popen(
            [*program, word, "0", str(EVENTS), "short"], stdout=subprocess.DEVNULL, cwd=ROOT
        )
        for word in "abcd"
    ]
    # A reader in the meantime, that must never see anything but whole events in order.
    watcher = Ledger.open(path)
    seen = 0
    while any(process.poll() is None for process in running):
        events = watcher.events()
        assert len(events) >= seen
        assert [event.seq for event in events[seen:]] == list(range(seen, len(events)))
        seen = len(events)
    assert [process.wait() for process in running] == [0] * PROCESSES
    led = Ledger.open(path)
    wanted = {f"{word}{number}" for word in "abcd" for number in range(EVENTS)}
    assert led.state().predictions.keys() == wanted
    assert len(led.events()) == PROCESSES * EVENTS + 1
    assert led.verify().ok
    assert led.torn == ()
    assert watcher.state() == led.state()
    # They did take turns: no one of them wrote all its events in one go.
    words = [from_line(line).id[0] for line in path.read_bytes().splitlines()[1:]]
    assert sum(a != b for a, b in itertools.pairwise(words)) > PROCESSES
