"""How long a class waits until it is told, if it hands in within the minute before the due time.

A simulated class hands in Lab 07 at random moments of that minute, in an exchange with notes as a
hub has them; the judge and its socket run as on a hub, on two cores. After half of the minute the
judge is killed, in the middle of whatever it does, and started again. Prints one table: who was
told, who is in the gradebook, and how long each waited from the note to the line that is told. Run
as ``python benchmarks/told.py [STUDENTS]``; it ends within five minutes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.ledger.hand_in_notes import notes_beside, read_notes
from tests.grading.classroom import rows
from tests.grading.telling import ToldClass
from tests.labs.rehearsal import ROOT, Workshop, nbgrader

LAB = "lab_07_kernel_fusion"
#: Students of all kinds but those who break something.
KINDS = ("right", "mostly-right", "misconceived")
MINUTE, GOAL, CORES = 60.0, 10.0, 2
#: Seconds after the start at which it gives up.
LIMIT = 280.0


def main(count: int) -> None:
    """Measure a class."""
    began = time.monotonic()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with tempfile.TemporaryDirectory() as folder:
        told, students = _class(Path(folder), count)
        made = time.monotonic() - began
        # Until then nobody is told, because nobody hands in; the minute ends with it.
        due = datetime.now(UTC) + timedelta(seconds=MINUTE + 1)
        told.settings('feedback = "at hand-in"', f"due = {due.isoformat(timespec='seconds')}")
        kept = JudgedHandIns(told.root, LAB)
        handing_in = threading.Thread(target=_hand_in, args=(told, students), daemon=True)
        handing_in.start()
        with _service(told):
            time.sleep(MINUTE / 2)  # and the kernel kills it, in the middle of whatever it does
        before = sum(kept.of_student(each).last is not None for each in students)
        with _service(told) as process:
            while not all(kept.of_student(each).last for each in students):
                if time.monotonic() - began > LIMIT or process.poll() is not None:
                    break  # the table says who was told
                time.sleep(0.1)
        handing_in.join(MINUTE)
        _report(told, students, before, made)


def _class(folder: Path, count: int) -> tuple[ToldClass, list[str]]:
    """A course with a lab, and the work of a class that has not handed it in yet."""
    root = folder / "course"
    for name in ("assignments", "source", "release"):
        shutil.copytree(ROOT / name / LAB, root / name / LAB)
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    nbgrader(root, ["generate_assignment", LAB, "--force"])
    made = simulate(root, LAB, count, seed=7, kinds=KINDS)
    (root / "submitted").rename(folder / "homes")
    told = ToldClass(folder, 'feedback = "at hand-in"', course=Workshop(root, LAB))
    return told, [each.student for each in made]


def _report(told: ToldClass, students: list[str], before: int, made: float) -> None:
    count = len(students)
    noted = {note.student: note.noted for note in read_notes(notes_beside(told.root))}
    path = told.root / OWN_FOLDER / f"told-{LAB}.jsonl"
    lines = [json.loads(each) for each in path.read_text().splitlines()]
    judged = {line["student"]: line for line in lines}
    waits = sorted(
        (datetime.fromisoformat(line["judged"]) - noted[name]).total_seconds()
        for name, line in judged.items()
    )
    later = {name for name, line in judged.items() if line["told"]["later"]}
    graded = {who for who, _, auto, *_ in rows(told.root)["grade"] if auto is not None}
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    for about, found in {
        "handed in": f"{len(noted)} of {count}, within {MINUTE:g} s",
        "told": f"{len(judged)} of {count}, in {len(lines)} lines",
        "told that it must be run": f"{len(later)}",
        "in the gradebook": f"{len(graded)} of {count - len(later)}",
        "told before the judge was killed": f"{before}",
        "longest wait": f"{waits[-1]:.1f} s (goal {GOAL:g} s)",
        "95 of 100 waited at most": f"{waits[int(0.95 * (len(waits) - 1))]:.1f} s",
        "median wait": f"{statistics.median(waits):.1f} s",
        "machine": f"{len(os.sched_getaffinity(0))} cores, load {load}",
        "making the class took": f"{made:.0f} s",
    }.items():
        print(f"{about:<34}{found}")
    lost = {*students} - judged.keys() | ({*students} - later - graded)
    if lost or len(lines) != count:
        raise SystemExit(f"lost, or told twice: {', '.join(sorted(lost)) or len(lines)}")


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
        told.submit(name, told.root.parent / "homes" / name / LAB)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
