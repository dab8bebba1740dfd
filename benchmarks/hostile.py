"""What hostile submissions take from an honest class that is graded by record.

Two classes of the same size are graded in turns: one in which all are honest, and one in which most
are hostile (tests/grading/hostile.py). The first ratio is how long the last honest student waits in
either; the second is the processor time that the most expensive submission gets while others wait,
against the usual one. What takes longer is put off until the others are done. Submissions whose
record is not enough are only read: running them has limits of its own.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mlsys_widgets.course.course import Course  # noqa: E402
from mlsys_widgets.grading.coordinator import GradingRun, Plan  # noqa: E402
from mlsys_widgets.grading.messages import JudgedSubmission  # noqa: E402
from mlsys_widgets.grading.reading.readers import PutOff  # noqa: E402
from tests.grading.classroom import LAB, classroom  # noqa: E402
from tests.grading.hostile import NEIGHBOR, honest, hostile  # noqa: E402
from tests.labs.rehearsal import Workshop  # noqa: E402

HONEST, ROUNDS = 40, 3


@dataclass
class Wait:
    """How long the last honest student waited, and what was taken from the class meanwhile."""

    seconds: float = 0.0
    honest: list[float] = field(default_factory=list)
    largest: float = 0.0
    put_off: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small class, for a look")
    number = 30 if parser.parse_args().quick else 300
    with TemporaryDirectory() as scratch:
        calm, mixed = (classroom(Path(scratch) / name) for name in ("calm", "mixed"))
        for course in (calm, mixed):
            honest(course, NEIGHBOR, "right")
            for k in range(HONEST):  # spread over the class
                honest(course, f"h{k * number // HONEST:03}-honest", "right")
        for each in hostile(number, 30):
            each.make(mixed)
            honest(calm, each.name, "right")
        waits = [(graded(calm), graded(mixed)) for _ in range(ROUNDS)]
    times = statistics.median(m.seconds / c.seconds for c, m in waits)
    usual = statistics.median(s for c, m in waits for s in (*c.honest, *m.honest))
    largest = statistics.median(m.largest for _, m in waits)
    print(f"{number} hostile submissions among {HONEST} honest ones, by record:")
    print(f"the last honest one waits {times:.2f} times as long as if all were honest")
    print(f"an honest one takes {1000 * usual:.1f} ms of processor time; the most expensive takes")
    print(f"{1000 * largest:.1f} ms from the class, {largest / usual:.1f} times as much")
    print(f"{waits[-1][1].put_off} were put off until the others were done")


def graded(course: Workshop) -> Wait:
    """Grade a class by record, with one reader, and watch what it does."""
    run = GradingRun(Plan(Course(course.root), LAB, workers=1, force=True))
    readers, wait, began = run._readers, Wait(), time.perf_counter()
    ask, run_one, taken = readers.ask, readers._pool.run, Counter[str]()
    here = threading.local()

    def watched(request, *, turn=None):
        """Note what each one has taken as long as an honest one waits."""
        here.seconds = 0.0 if turn is None else readers._allowance.seconds(turn)
        try:
            reply = ask(request, turn=turn)
        except PutOff:
            wait.put_off += turn == 0
            raise
        else:
            if isinstance(reply, JudgedSubmission) and "-honest" in request.student:
                wait.honest.append(here.seconds)
            return reply
        finally:
            if len(wait.honest) < HONEST + 1:
                taken[request.student] += here.seconds
                wait.largest = max(wait.largest, taken[request.student])

    def timed(work):
        reply, here.seconds = run_one(work)
        return reply, here.seconds

    readers.ask = watched  # type: ignore[method-assign]
    readers._pool.run = timed  # type: ignore[method-assign]
    run._open_engine = lambda _: None  # type: ignore[method-assign]
    run._by_running = lambda *_: iter(())  # type: ignore[method-assign]
    for each in run.grade():
        if "-honest" in each.student:
            wait.seconds = time.perf_counter() - began
    return wait


if __name__ == "__main__":
    main()
