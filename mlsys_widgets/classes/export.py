"""``mlsys export``: grades as CSV, in the columns that other systems read.

nbgrader's own exporter is ``nbgrader export``. Both let points that a person gave take precedence
over computed ones, and both subtract the late penalty.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes.course_totals import CourseTotals, course_totals
from mlsys_widgets.classes.csv_tables import as_csv
from mlsys_widgets.classes.gradebook_reader import GradebookStudent, Grades, Standing, grades
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.wording.plurals import counted

#: The cells of one line.
_Line = Sequence[str]


@dataclass(frozen=True)
class GradeExport:
    """Grades as text, and what to know before passing them on."""

    text: str
    warnings: tuple[str, ...]


def export(root: Path, lab: str, to: str, *, column: str | None = None) -> GradeExport:
    """Export the grades of a lab in the columns of another system.

    There the assignment is called `column`, or else as the lab. Raises `ValueError` if there is no
    such system, or the gradebook does not know the lab.
    """
    if to not in _LAYOUTS:
        raise ValueError(
            f"grades cannot be exported to {to!r}; choose one of: {', '.join(_LAYOUTS)}"
        )
    course = Course.at(root)
    found, graded = grades(course, lab), GradedLog(course.home, lab).read()
    header, lines = _LAYOUTS[to](found, column or lab, graded)
    return GradeExport(as_csv(header, lines), tuple(_warnings(found, to)))


def _warnings(found: Grades, to: str) -> Iterator[str]:
    if found.trial:
        yield f"Left out, because they only try the course: {', '.join(found.trial)}."
    waiting = Counter(name for one in found.standings.values() for name in one.waiting)
    for name, count in waiting.items():
        verb = "waits" if count == 1 else "wait"
        yield (
            f"{counted(count, 'submission')} still {verb} for a person to grade {name}, so grades"
            " will change."
        )
    missing = [each.id for each in found.people if each.id not in found.standings]
    if missing:
        listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        yield (
            f"{counted(len(missing), 'student')} handed in nothing, so the grade is left empty:"
            f" {listed}."
        )
    nameless = sum(not (each.first_name or each.last_name) for each in found.people)
    if to == "canvas" and nameless and not all(_canvas_id(each) for each in found.people):
        yield (
            f"{counted(nameless, 'student')} without a name in the gradebook. Canvas can match them"
            " only by login; add names or ids with: mlsys course roster . FILE"
        )


def export_totals(root: Path, to: str) -> GradeExport:
    """Export the grades of all labs and the total of the course, by the weights of its calendar.

    Raises `ValueError` if there is no such layout, or nothing is graded yet.
    """
    layouts = {"csv": _totals_csv, "canvas": _totals_canvas, "moodle": _totals_moodle}
    if to not in layouts:
        raise ValueError(
            f"all labs together cannot be exported to {to!r}; choose one of: {', '.join(layouts)}"
        )
    totals = course_totals(Course.at(root))
    header, lines = layouts[to](totals)
    return GradeExport(as_csv(header, lines), tuple(_totals_warnings(totals)))


def _totals_warnings(totals: CourseTotals) -> Iterator[str]:
    if totals.trial:
        yield f"Left out, because they only try the course: {', '.join(totals.trial)}."
    if totals.ungraded:
        yield f"Not graded yet, and in no total: {', '.join(totals.ungraded)}."
    waiting = [lab.name for lab in totals.labs if any(s.waiting for s in lab.standings.values())]
    if waiting:
        yield f"Something still waits for a person to grade it in: {', '.join(waiting)}."


def _totals_csv(totals: CourseTotals) -> tuple[_Line, Iterator[_Line]]:
    header = ["student", "last_name", "first_name", "email", "section"]
    for lab in totals.labs:
        header += [lab.name, f"{lab.name}_of", f"{lab.name}_late", f"{lab.name}_late_penalty"]

    def lines() -> Iterator[_Line]:
        for each in totals.people:
            line = [each.id, each.last_name, each.first_name, each.email]
            line.append(totals.sections.get(each.id, ""))
            for lab in totals.labs:
                of, standing = as_points(lab.most), lab.standings.get(each.id)
                if standing is None:
                    line += ["", of, "", ""]
                    continue
                late = in_words(standing.seconds_late) if standing.seconds_late else ""
                line += [as_points(standing.total), of, late, as_points(standing.penalty)]
            yield [*line, _percent(totals.percent(each.id))]

    return [*header, "total_percent"], lines()


def _totals_canvas(totals: CourseTotals) -> tuple[_Line, Iterator[_Line]]:
    columns = [lab.name for lab in totals.labs]
    header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *columns, "Course total")

    def lines() -> Iterator[_Line]:
        most = (as_points(lab.most) for lab in totals.labs)
        yield ("    Points Possible", "", "", "", "", *most, "100")
        for each in totals.people:
            canvas_id = _canvas_id(each)
            sis_id = "" if canvas_id else each.lms_user_id
            section = totals.sections.get(each.id, "")
            points = (as_points(s.total) if s else "" for s in totals.standings_of(each.id))
            total = _percent(totals.percent(each.id))
            yield (_sortable(each), canvas_id, sis_id, each.id, section, *points, total)

    return header, lines()


def _totals_moodle(totals: CourseTotals) -> tuple[_Line, Iterator[_Line]]:
    columns = [f"{lab.name} (Real)" for lab in totals.labs]
    header = ("First name", "Last name", "Username", "ID number", "Email address", *columns,
              "Course total (Percentage)")  # fmt: skip

    def lines() -> Iterator[_Line]:
        for each in totals.people:
            points = (as_points(s.total) if s else "-" for s in totals.standings_of(each.id))
            who = (each.first_name, each.last_name, each.id, each.lms_user_id, each.email)
            yield (*who, *points, _percent(totals.percent(each.id)) or "-")

    return header, lines()


def _percent(percent: float | None) -> str:
    return "" if percent is None else f"{percent:.2f}"


# Canvas looks for the student by ID, then by SIS User ID, then by SIS Login ID, then by name. It
# needs the column Section, and takes the row of points possible by its first cell.


def _canvas(found: Grades, column: str, _said: Mapping[str, Any]) -> tuple[_Line, Iterator[_Line]]:
    def lines() -> Iterator[_Line]:
        yield ("    Points Possible", "", "", "", "", as_points(sum(found.most.values())))
        for each in found.people:
            canvas_id = _canvas_id(each)
            sis_id = "" if canvas_id else each.lms_user_id
            standing = found.standings.get(each.id)
            total = as_points(standing.total) if standing else ""
            yield (_sortable(each), canvas_id, sis_id, each.id, "", total)

    return ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", column), lines()


def _canvas_id(person: GradebookStudent) -> str:
    """Canvas numbers its users, so an id that is not a number comes from the student register."""
    known = person.lms_user_id.strip()
    return known if known.isascii() and known.isdigit() else ""


def _sortable(person: GradebookStudent) -> str:
    names = [name for name in (person.last_name, person.first_name) if name]
    return ", ".join(names) or person.id


# Moodle asks which column says who it is (username, ID number or email address) and which is the
# grade. A grade must come with its feedback, because an import of feedback alone would clear it.


def _moodle(found: Grades, column: str, graded: Mapping[str, Any]) -> tuple[_Line, Iterator[_Line]]:
    header = ("First name", "Last name", "Username", "ID number", "Email address",
              f"{column} (Real)", f"{column} (Feedback)")  # fmt: skip

    def lines() -> Iterator[_Line]:
        for each in found.people:
            standing = found.standings.get(each.id)
            who = (each.first_name, each.last_name, each.id, each.lms_user_id, each.email)
            if standing is None:
                yield (*who, "-", "")
                continue
            feedback = _feedback(found, standing, graded.get(each.id, {}))
            yield (*who, as_points(standing.total), feedback)

    return header, lines()


def _feedback(found: Grades, standing: Standing, line: Mapping[str, Any]) -> str:
    """Write what a student reads: points, the late penalty, and recognized misconceptions."""
    most = sum(found.most.values())
    sentences = [f"{as_points(standing.total)} of {as_points(most)} points."]
    if standing.seconds_late:
        sentences.append(f"{in_words(standing.seconds_late).capitalize()} late.")
    if standing.penalty:
        sentences.append(f"Late penalty: {counted(round(standing.penalty, 2), 'point')}.")
    if standing.waiting:
        sentences.append(f"Not graded yet: {', '.join(standing.waiting)}.")
    for score in line.get("scores", ()):
        if score.get("belief"):
            earned = standing.points.get(score["name"], 0.0)
            worth = f"{as_points(earned)} of {as_points(score['most'])}"
            sentences.append(f"{score['name']} ({worth}): {score['says']}")
    return " ".join(sentences)


# Gradescope exports grades and imports none: these are the columns of its own export, for tools
# that read it.


def _gradescope(
    found: Grades, _column: str, _said: Mapping[str, Any]
) -> tuple[_Line, Iterator[_Line]]:
    questions = [
        f"{k}: {name} ({most:.1f} pts)" for k, (name, most) in enumerate(found.most.items(), 1)
    ]
    header = (
        "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points",
        "Status", "Submission ID", "Submission Time", "Lateness (H:M:S)", "View Count",
        "Submission Count", *questions,
    )  # fmt: skip
    most = f"{sum(found.most.values()):.1f}"

    def lines() -> Iterator[_Line]:
        for each in found.people:
            who = (each.first_name, each.last_name, each.lms_user_id or each.id, each.email, "")
            standing = found.standings.get(each.id)
            if standing is None:
                yield (*who, "", most, "Missing", "", "", "", "", "0", *[""] * len(questions))
                continue
            total, at = as_points(standing.total), standing.timestamp
            status = "Ungraded" if standing.waiting else "Graded"
            moment = f"{at:%Y-%m-%d %H:%M:%S} +0000" if at else ""
            late = _duration(standing.seconds_late)
            points = (as_points(standing.points.get(name, 0.0)) for name in found.most)
            yield (*who, total, most, status, "", moment, late, "", "1", *points)

    return header, lines()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}"


def as_points(points: float) -> str:
    """Write points without the rounding noise of binary fractions.

    Examples
    --------
    >>> as_points(67.60000000000001), as_points(100.0)
    ('67.6', '100')
    """
    return f"{round(points, 2):g}" if abs(points) < 1e5 else f"{points:.2f}"


_Layout = Callable[[Grades, str, Mapping[str, Any]], tuple[_Line, Iterator[_Line]]]
_LAYOUTS: Final[Mapping[str, _Layout]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
}


def run(arguments: argparse.Namespace) -> int:
    """Write the grades of a lab, or of all labs with a total; print what to know about them."""
    if arguments.lab is None:
        if arguments.column:
            raise ValueError("--column names the column of one lab; omit it, or name a LAB")
        made = export_totals(arguments.course, arguments.to)
    elif arguments.to in _LAYOUTS:
        made = export(arguments.course, arguments.lab, arguments.to, column=arguments.column)
    else:
        raise ValueError(f"--to {arguments.to} is for all labs together; omit {arguments.lab}")
    target: Path = arguments.output or Path(f"{arguments.lab or 'course'}-{arguments.to}.csv")
    if str(target) == "-":
        sys.stdout.write(made.text.replace("\r\n", "\n"))
    else:
        target.write_text(made.text, "utf-8", newline="")
        print(f"Wrote {target}.")
    for warning in made.warnings:
        print(warning, file=sys.stderr)
    return 0
