"""The calibration that ships, held against a GPU of the same kind that it was not fitted to.

``mlsys validate`` fits its parameters to half of the cases of a measurement and judges the rest.
Here nothing is fitted: the parameters are those that labs and instruments use, and every case of
the other machine is judged. Measure that machine first, whole or in parts::

    mlsys measure --gpu --out other.json
    python benchmarks/another_gpu.py other.json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import findings

import mlsys_widgets.physics as ph
from mlsys_widgets.measured.documents import load, merged
from mlsys_widgets.measured.trial import Errors, Trial, hold_trial


def nothing(_count: int) -> Sequence[int]:
    """Which cases are fitted: none."""
    return ()


def judged(paths: Sequence[Path]) -> Trial:
    """The verdicts on a measurement, which may have been taken in parts."""
    document = load(paths[0])
    for path in paths[1:]:
        document = merged(document, load(path))
    return hold_trial(document, nothing, ph.calibration_of(document["device"]["key"]))


def errors(name: str, trial: Trial, topics: Sequence[str] | None = None) -> dict[str, Any]:
    """How far off both forms are, over some topics or all of them."""
    cases = [v for t in trial.topics if topics is None or t.name in topics for v in t.judged]
    ours, textbook = Errors.of(cases), Errors.of(cases, textbook=True)
    return {
        "name": name,
        "cases": len(cases),
        "mean": ours.mean,
        "median": ours.median,
        "tenth": ours.tenth,
        "worst": ours.worst,
        "textbook_mean": textbook.mean,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("measurement", type=Path, nargs="*", help="its files, if taken in parts")
    parser.add_argument("--publish", action="store_true", help="for the pages to quote")
    arguments = parser.parse_args()
    if not arguments.measurement:
        print("Nothing to judge: name a file that mlsys measure --gpu wrote on another machine.")
        return
    trial = judged(arguments.measurement)
    rows = [errors(topic.name, trial, [topic.name]) for topic in trial.topics]
    rows.append(errors("all cases", trial))
    for row in rows:
        print(
            f"{row['name']:40} {row['cases']:4} cases  mean {row['mean']:6.1%}  median"
            f" {row['median']:6.1%}  nine in ten {row['tenth']:6.1%}  worst {row['worst']:6.1%}"
            f"  (textbook: mean {row['textbook_mean']:6.1%})"
        )
    missed = [goal for goal in trial.goals if not goal.met]
    print(f"{len(missed)} of {len(trial.goals)} goals are missed")
    if arguments.publish:
        document = trial.document
        under = {**findings.conditions(), "date": document["date"][:10]}
        found = {
            "device": document["device"]["name"],
            "fitted": trial.calibration.source.date[:10],
            "topics": rows,
            "goals": len(trial.goals),
            "missed": [goal.what for goal in missed],
        }
        findings.keep("another_gpu", "verdicts", found, under)


if __name__ == "__main__":
    main()
