"""``mlsys report``: the page about a class, and its tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from mlsys_widgets.classes import sheets
from mlsys_widgets.classes.gathering import class_summary
from mlsys_widgets.classes.page import page


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and the tables if they are wanted."""
    summary = class_summary(arguments.lab, arguments.course, names=arguments.names)
    target: Path = arguments.output or Path(f"report-{arguments.lab}.html")
    target.write_text(page(summary), "utf-8")
    print(f"Wrote {target}: {len(summary.rows)} submissions.")
    if arguments.csv:
        for made, name in (
            (sheets.submissions(summary), "submissions"),
            (sheets.questions(summary), "questions"),
        ):
            path = target.with_name(f"{target.stem}-{name}.csv")
            # Lines end as they are written; the mark tells Excel that this is UTF-8.
            path.write_text(made, "utf-8-sig", newline="")
            print(f"Wrote {path}.")
    return 0
