"""The report on a class as tables for a spreadsheet: one of submissions, one of questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from mlsys_widgets.classes.summary import ClassSummary


def submissions(summary: ClassSummary) -> str:
    """A line for every submission, numbered instead of named unless names were asked for."""
    names = [each.name for each in summary.questions]
    header = (
        "student", "points", "of", "late_penalty", "minutes", "predictions", "predictions_right",
        "waiting", "flags", *names, *(f"{name}_belief" for name in names),
    )  # fmt: skip
    rows = (
        (
            row.student or str(number),
            f"{row.total:g}",
            f"{summary.most:g}",
            f"{row.penalty:g}",
            "" if row.minutes is None else f"{row.minutes:.1f}",
            str(row.predicted),
            str(row.predicted_right),
            "yes" if row.waiting else "no",
            "; ".join(row.flags),
            *(f"{row.points[name]:g}" if name in row.points else "" for name in names),
            *(row.beliefs.get(name, "") for name in names),
        )
        for number, row in enumerate(summary.rows, 1)
    )
    return as_csv(header, rows)


def questions(summary: ClassSummary) -> str:
    """A line for every question, and one for every misconception about it."""
    header = (
        "question", "title", "belief", "students", "of", "points", "mean", "discrimination",
        "says",
    )  # fmt: skip
    rows: list[Sequence[str]] = []
    for each in summary.questions:
        rows.append(
            (
                each.name,
                each.title,
                "",
                str(each.right),
                str(each.count),
                f"{each.most:g}",
                "" if each.mean is None else f"{each.mean:.4f}",
                "" if each.discrimination is None else f"{each.discrimination:.4f}",
                "",
            )
        )
        rows += [
            (
                each.name,
                each.title,
                b.belief,
                str(b.count),
                str(each.count),
                "",
                "",
                "",
                b.explanation,
            )
            for b in each.beliefs
        ]
    return as_csv(header, rows)


def as_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write lines as CSV that every spreadsheet reads."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(header)
    table.writerows(rows)
    return written.getvalue()
