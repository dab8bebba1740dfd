"""``mlsys hand-in``: says what is missing, then makes one file to hand in."""

from __future__ import annotations

import argparse
import sys

from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.due_now import due_now, lateness
from mlsys_widgets.handin.missing import what_is_missing
from mlsys_widgets.handin.work import find_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.wording.local_time import with_local_times


def run(arguments: argparse.Namespace) -> int:
    """Hand in a lab; 1 if somebody decided not to."""
    work = find_work(arguments.lab)
    work.must_count()
    who = student(work.folder)
    missing = what_is_missing(work, who)
    print(f"{work.title}, as {who.name} ({who.known_from})")
    if due := due_now(work):
        print(f"  {' '.join((due['headline'], *due['more']))}")
    for each in missing:
        print(f"  - {with_local_times(each.words)}")
    if not missing:
        print("  Nothing is missing.")
    elif not arguments.anyway and not _agrees():
        print("Nothing was handed in.")
        return 1
    done = hand_in(work, who.name, into=arguments.output)
    print(f"Wrote {done.path}")
    if words := lateness(work, done.time):
        print(f"  {words} What counts is when your course gets the file.")
    for name, size in done.files.items():
        print(f"  {name}: {size:,} bytes")
    print("Upload this one file where your course collects the lab.")
    return 0


def _agrees() -> bool:
    if not sys.stdin.isatty():
        print("To hand in anyway: mlsys hand-in --anyway")
        return False
    return input("Hand in anyway? [y/N] ").strip().lower() in ("y", "yes")
