"""The report on a class as tables: members, submissions, questions, and statistics."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from mlsys_widgets.classes.ideas import IdeaInLab, idea_rows
from mlsys_widgets.classes.question_charts import right_share
from mlsys_widgets.classes.statistics import Estimate, share
from mlsys_widgets.classes.summary import ClassSummary, QuestionSummary, SubmissionRow

#: How a formula begins, in the wide characters of East Asian keyboards too.
_FORMULA: Final = (
    *"=+-@",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
#: A number, or the dash that says that there is none.
_NUMBER: Final = re.compile(r"-|[+-]?\d+(\.\d+)?")
#: Characters that turn the direction of writing: a name could hide its end behind its beginning.
_TURNING: Final = frozenset(
    map(chr, (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)


def submissions(summary: ClassSummary) -> str:
    """A line for every submission, numbered instead of named unless names were asked for."""
    names = list(dict.fromkeys(each.item or each.name for each in summary.questions))
    header = (
        "student", "points", "of", "of_graded", "late_hours", "late_penalty", "minutes",
        "predictions", "predictions_right", "waiting", "flags", *names,
        *(f"{name}_belief" for name in names), *(f"{name}_second" for name in names),
    )  # fmt: skip
    rows = (
        (
            row.student or str(number),
            f"{row.total:g}",
            f"{summary.most:g}",
            f"{summary.most - row.open_points:g}",
            f"{row.seconds_late / 3600:.2f}" if row.seconds_late else "",
            f"{row.penalty:g}",
            "" if row.minutes is None else f"{row.minutes:.1f}",
            str(row.predicted),
            str(row.predicted_right),
            "yes" if row.waiting else "no",
            "; ".join(row.flags),
            *(f"{row.points[name]:g}" if name in row.points else "" for name in names),
            *(row.beliefs.get(name, "") for name in names),
            *(_number(row.second_credits.get(name)) for name in names),
        )
        for number, row in enumerate(summary.rows, 1)
    )
    return as_csv(header, rows)


def members(summary: ClassSummary) -> str:
    """A line for everybody in the course, with the pace of their work and why they are at risk.

    Without names they stand in the order of their work, because a roster has that of the names.
    """
    header = ("student", "name", "section", "ta", "state", "began_hours_before_due",
              "half_done_hours_before_due", "at_risk")  # fmt: skip
    lines = [
        (each.name, each.section, each.ta, each.state, *_pace(each.row), "; ".join(each.signs))
        for each in summary.members
    ]
    if not any(each.student for each in summary.members):
        return as_csv(header, ((str(n), *line) for n, line in enumerate(sorted(lines), 1)))
    names = (each.student for each in summary.members)
    return as_csv(header, ((name, *line) for name, line in zip(names, lines, strict=True)))


def _pace(row: SubmissionRow | None) -> tuple[str, str]:
    return (_number(row.began), _number(row.half_done)) if row else ("", "")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def questions(summary: ClassSummary) -> str:
    """A line for every question, and one for every misconception about it."""
    header = (
        "question", "title", "belief", "students", "of", "points", "mean_earned",
        "discrimination", "says",
    )  # fmt: skip
    rows: list[Sequence[str]] = []
    for each in summary.questions:
        who, of = (each.name, each.title), str(each.count)
        mean = "" if each.mean_earned is None else f"{each.mean_earned:.4f}"
        related = "" if each.discrimination is None else f"{each.discrimination:.4f}"
        rows.append((*who, "", str(each.right), of, f"{each.most:g}", mean, related, ""))
        for held in each.beliefs:
            rows.append((*who, held.belief, str(held.count), of, "", "", "", held.explanation))
    return as_csv(header, rows)


def statistics(summary: ClassSummary) -> str:
    """A line for every number about a question, with its interval: long, as plots and fits want it.

    Shares are fractions of students, and the mean at the hand-in, its spread and the gain of a
    second chance fractions of the points.
    """
    header = ("question", "title", "item", "measure", "group", "value", "low", "high", "students")
    rows: list[Sequence[str]] = []
    for each in summary.questions:
        who = (each.name, each.title, each.item or each.name)
        rows += [(*who, *line) for line in _numbers(each)]
    return as_csv(header, rows)


def _numbers(question: QuestionSummary) -> Iterator[tuple[str, ...]]:
    found = question.statistics
    named = (
        ("mean_at_hand_in", found.mean_at_hand_in),
        ("discrimination", found.discrimination),
        ("right_at_hand_in", right_share(question)),
        ("right_at_first", found.first),
        ("right_at_hand_in_with_ledger", found.last),
        ("right_at_second_chance", found.second),
        ("gain_of_second_chance", found.gain),
        ("minutes", found.minutes),
    )
    yield from (_line(measure, "", estimate) for measure, estimate in named if estimate)
    if found.spread is not None:
        yield ("spread_at_hand_in", "", f"{found.spread:.6g}", "", "", str(question.answered))
    for k, (right, count) in enumerate(found.fifths, 1):
        if estimate := share(right, count):
            yield _line("right_in_fifth", str(k), estimate)
    for part in found.regions:
        if part.share:
            group = f"{part.parameter} {part.low:g} to {part.high:g}"
            yield _line("right_with_number", group, part.share)
    for change in found.changes:
        for what in ("kept", "gained", "lost"):
            yield (f"belief_{what}", change.belief, str(getattr(change, what)), "", "",
                   str(question.answered))  # fmt: skip


def _line(measure: str, group: str, found: Estimate) -> tuple[str, ...]:
    numbers = (f"{each:.6g}" for each in (found.value, found.low, found.high))
    return (measure, group, *numbers, str(found.count))


def ideas(found: Mapping[str, Sequence[IdeaInLab]]) -> str:
    """A line for every idea, lab and state, with who is in it: for staff."""
    return as_csv(("idea", "lab", "state", "students", "asked", "who"), idea_rows(found))


def as_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write lines as CSV that every spreadsheet reads, and none computes."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow([harmless(each) for each in header])
    table.writerows([harmless(each) for each in row] for row in rows)
    return written.getvalue()


def harmless(words: str) -> str:
    """A cell that no spreadsheet takes for a formula and no terminal for a command.

    Names come from students and rosters. In front of what would be a formula, spreadsheets read an
    apostrophe as: this is text.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-7.5"), harmless("-"), harmless("Zoë")
    ("'=1+1", '-7.5', '-', 'Zoë')
    """
    spaced = (" " if c in "\t\r\n" else c for c in words if c not in _TURNING)
    plain = "".join(c for c in spaced if unicodedata.category(c) != "Cc")
    plain = plain.encode("utf-8", "replace").decode()
    if plain.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(plain):
        return f"'{plain}"
    return plain
