"""How long a class waits until it is told, when it hands in within one minute.

Students hand in at random moments of a minute, in an exchange with notes as a hub has them; the
judge and its socket run as on a hub. After half of the minute the judge is killed and started
again. Prints who was told, how long each had to wait from the note to the line that is told, and
what the machine did besides. Run as ``python benchmarks/told.py [STUDENTS]``.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.ledger.hand_in_notes import notes_beside, read_notes
from tests.grading.classroom import LAB, rows
from tests.grading.telling import ToldClass, in_days

MINUTE, GOAL, PATIENCE = 60.0, 10.0, 900.0


def main(count: int) -> None:
    """Measure a class."""
    with tempfile.TemporaryDirectory() as folder:
        told = ToldClass(Path(folder), 'feedback = "at hand-in"', f"due = {in_days(1)}")
        students = [f"s{k:03}" for k in range(count)]
        for name in students:
            told.answer(name, told.wrong(name))
        kept = JudgedHandIns(told.root, LAB)
        handing_in = threading.Thread(target=_hand_in, args=(told, students))
        handing_in.start()
        with _service(told):
            time.sleep(MINUTE / 2)  # and the kernel kills it, in the middle of whatever it does
        with _service(told) as process:
            limit = time.monotonic() + PATIENCE
            while not all(kept.of_student(each).last for each in students):
                if time.monotonic() > limit or process.poll() is not None:
                    raise SystemExit("not everybody was told")
                time.sleep(0.1)
        handing_in.join()
        noted = {note.student: note.noted for note in read_notes(notes_beside(told.root))}
        lines = (told.root / OWN_FOLDER / f"told-{LAB}.jsonl").read_text().splitlines()
        judged = {(line := json.loads(each))["student"]: line["judged"] for each in lines}
        waits = sorted(
            (datetime.fromisoformat(moment) - noted[name]).total_seconds()
            for name, moment in judged.items()
        )
        graded = {who for who, _, auto, *_ in rows(told.root)["grade"] if auto is not None}
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{len(judged)} of {count} told, {len(lines)} times; {len(graded)} in the gradebook")
    print(f"load {load}, {os.cpu_count()} cores")
    print(f"longest wait {waits[-1]:.1f} s, median {statistics.median(waits):.1f} s")
    print(f"goal {GOAL:g} s")


@contextmanager
def _service(told: ToldClass) -> Iterator[subprocess.Popen[bytes]]:
    """The judge as a hub starts it, until it is killed."""
    command = [sys.executable, "-m", "mlsys_widgets.grading.telling.service", str(told.root)]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


def _hand_in(told: ToldClass, students: list[str]) -> None:
    began = time.monotonic()
    draw = random.Random(7)
    moments = sorted(draw.uniform(0, MINUTE) for _ in students)
    for moment, name in zip(moments, students, strict=True):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        told.submit(name)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
