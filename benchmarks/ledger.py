"""A ledger of 10,000 events: how long opening, asking and appending take.

Opening is compared with a bare ``json.loads`` of each line, an append with a bare ``write`` and
``fsync`` of the same line, in turns on the same disk: the ratio is what the lock, the look at what
others wrote, the hash and the fold cost. Give a folder to measure another disk than that of the
temporary files.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import GENESIS, Event, chained, to_line

EVENTS = 10_000
ROUNDS = 9
APPENDS = 200


def ten_thousand() -> bytes:
    """Lines as a busy student leaves them, chained and all."""
    lab, at = "lab_07_kernel_fusion", "2026-02-03T09:30:00.000Z"
    event: Event | None = None
    lines = []
    for seq in range(EVENTS):
        kind, name, value = "opened", "0" * 32, {"schema": 1, "student": "student-01"}
        if seq % 3 == 1:
            kind, name = "prediction", f"question_{seq}"
            value = {"value": "C", "confidence": 4}
        elif seq % 3 == 2:
            kind, name = "use", "dispatch_audit"
            value = {"needs": ["act1"], "inputs": {"kernels": seq, "launch_overhead": 1e-5}}
        elif seq:
            kind, name = "answer", f"answer_{seq % 50}"
            value = {"value": seq / 7, "unit": "percent", "confidence": None}
        event = chained(event.hash if event else GENESIS, seq, at, lab, kind, name, value)
        lines.append(to_line(event))
    return b"".join(lines)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def show(what: str, times: list[float], goal: str) -> None:
    ordered = sorted(times)
    median, worst = statistics.median(ordered), ordered[int(0.99 * len(ordered))]
    print(f"  {what:34} {median * 1e3:8.3f} ms, 99 of 100 under {worst * 1e3:8.3f} ms   {goal}")


def main() -> None:
    chosen = sys.argv[1] if len(sys.argv) > 1 else None
    with TemporaryDirectory(dir=chosen) as folder:
        path = Path(folder) / "ledger.jsonl"
        path.write_bytes(ten_thousand())
        print(f"{EVENTS:,} events, {path.stat().st_size / 1e6:.1f} MB")
        lines = path.read_bytes().splitlines()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(seconds(lambda: Ledger.open(path)))
            theirs.append(seconds(lambda: [json.loads(line) for line in lines]))
        show("open", ours, "goal: 200 ms")
        show("bare json.loads of each line", theirs, "")
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"  opening costs {ratio:.2f}× a bare json.loads of each line")
        ledger = Ledger.open(path)
        show("verify", [seconds(ledger.verify) for _ in range(ROUNDS)], "")
        show("state, nothing new", [seconds(ledger.state) for _ in range(APPENDS)], "")

        line = path.read_bytes().splitlines(keepends=True)[-1]
        bare = os.open(Path(folder) / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def plain_append() -> None:
            os.write(bare, line)
            os.fsync(bare)

        ours, theirs = [], []
        for number in range(APPENDS):
            name = f"new_{number}"
            ours.append(seconds(lambda name=name: ledger.commit_prediction(name, "C", 4)))
            theirs.append(seconds(plain_append))
        os.close(bare)
        show("append, on the disk", ours, "goal: 10 ms")
        show("bare write and fsync", theirs, "")
        ratio = statistics.median(ours) / statistics.median(theirs)
        extra = statistics.median(ours) - statistics.median(theirs)
        print(f"  an append costs {ratio:.2f}× a bare write and fsync ({extra * 1e3:+.3f} ms)")
        moved = [seconds(lambda: ledger.record_use("slider")) for _ in range(APPENDS)]
        show("record_use on each move of a slider", moved, "")
        assert ledger.verify().ok


if __name__ == "__main__":
    main()
