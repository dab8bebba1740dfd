"""``mlsys report``: the page about a class, and its tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from mlsys_widgets.classes import csv_tables
from mlsys_widgets.classes.course_page import course_page
from mlsys_widgets.classes.course_totals import course_totals
from mlsys_widgets.classes.export import export_totals
from mlsys_widgets.classes.ideas import held_in, ideas_over_labs
from mlsys_widgets.classes.lecture_page import lecture_page
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.summary_builder import class_summary
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import CHECKS
from mlsys_widgets.labs.about_lab import title_of
from mlsys_widgets.wording.plurals import counted


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and the tables if asked to; without a lab, about the whole course."""
    if arguments.lab is None:
        if arguments.for_lecture:
            raise ValueError("--for-lecture is a page about one lab; name it")
        return _whole_course(arguments)
    if arguments.for_lecture and (arguments.names or arguments.csv):
        raise ValueError(
            "--for-lecture is for everybody to see, and --names and --csv are for staff; make them"
            " apart"
        )
    summary = class_summary(arguments.lab, arguments.course, names=arguments.names)
    # Names of their own: who made both must not show the wrong one.
    kind = "lecture" if arguments.for_lecture else "report"
    target: Path = arguments.output or Path(f"{kind}-{arguments.lab}.html")
    made = lecture_page(summary) if arguments.for_lecture else page(summary)
    target.write_text(made, "utf-8")
    print(f"Wrote {target}: {counted(len(summary.rows), 'submission')}.")
    if arguments.csv:
        for table, name in (
            (csv_tables.members(summary), "members"),
            (csv_tables.submissions(summary), "submissions"),
            (csv_tables.questions(summary), "questions"),
            (csv_tables.statistics(summary), "statistics"),
        ):
            path = target.with_name(f"{target.stem}-{name}.csv")
            # The text has its own line ends; the byte order mark tells Excel that it is UTF-8.
            path.write_text(table, "utf-8-sig", newline="")
            print(f"Wrote {path}.")
    return 0


def _whole_course(arguments: argparse.Namespace) -> int:
    course = Course.at(arguments.course)
    totals = course_totals(course)
    target: Path = arguments.output or Path("report-course.html")
    title = course.course_id or course.home.name
    labs = [*(lab.name for lab in totals.labs), *totals.ungraded]
    titles = {lab: title_of(course.folder("release", lab)) or lab for lab in labs}
    summaries = [
        class_summary(lab.name, arguments.course, names=True)
        for lab in totals.labs
        if (course.folder("assignments", lab.name) / CHECKS).is_file()
    ]
    ideas = ideas_over_labs([(s.lab, titles[s.lab], held_in(s)) for s in summaries])
    made = course_page(
        totals, title, titles, course.calendar.zone, names=arguments.names, ideas=ideas
    )
    target.write_text(made, "utf-8")
    print(f"Wrote {target}: {counted(len(totals.labs), 'lab')}.")
    if arguments.csv:
        path = target.with_name(f"{target.stem}-grades.csv")
        path.write_text(export_totals(arguments.course, "csv").text, "utf-8-sig", newline="")
        print(f"Wrote {path}, which names everybody.")
        path = target.with_name(f"{target.stem}-ideas.csv")
        path.write_text(csv_tables.ideas(ideas), "utf-8-sig", newline="")
        print(f"Wrote {path}, which names everybody.")
    return 0
