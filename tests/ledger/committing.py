"""A program that commits and reports, for tests that kill it or run several of it at once.

Arguments: the ledger, the prefix of its ids, the first number, how many, and whether some of the
values are long (a long line takes long enough to write that a kill can tear it).
"""

from __future__ import annotations

import os
import sys
import time

from mlsys_widgets.ledger import Ledger

LONG = 150_000


def value_of(number: int, *, long: bool) -> str:
    return f"{number}" + ("x" * LONG if long and number % 10 == 3 else "")


def main() -> None:
    path, word, first, count, long = sys.argv[1:]
    led = Ledger.open(path, lab="lab_07_kernel_fusion", student="student-01", patience=60)
    for number in range(int(first), int(first) + int(count)):
        os.write(1, b"try %d\n" % number)
        led.commit_prediction(f"{word}{number}", value_of(number, long=long == "long"))
        os.write(1, b"ack %d\n" % number)
        # Locks are not fair: without a pause, one process may be done before another gets a turn.
        time.sleep(0.001)


if __name__ == "__main__":
    main()
