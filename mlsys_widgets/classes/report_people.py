"""The people of a class on its page: who needs somebody, how groups compare, and everybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_members import RULE
from mlsys_widgets.classes.neighbor_keys import NeighborKeys
from mlsys_widgets.classes.summary import ClassMember, ClassSummary, SubmissionRow, graded_percents
from mlsys_widgets.course.due_words import in_words


def who_needs_you(summary: ClassSummary) -> Iterator[str]:
    """Name who handed in nothing and who is at risk, or count them where nobody is named."""
    missing, at_risk = summary.missing, summary.at_risk
    if not summary.members:
        return
    named = any(each.student for each in summary.members)
    nothing = f"{len(missing):,} of {len(summary.members):,} handed in nothing{_listed(missing)}"
    yield f"<h2>Who needs you</h2><p>{nothing if missing else 'Everybody who was due handed in'};"
    yield f" {len(at_risk):,} {'is' if len(at_risk) == 1 else 'are'} at risk."
    for state, words in (("not graded", "Handed in, not graded yet"), ("has time", "Not due yet")):
        if found := [each for each in summary.members if each.state == state]:
            yield f" {words}: {len(found):,}{_listed(found)}."
    yield f'</p><p class="quiet">{RULE}'
    if not named:
        yield " <code>mlsys report LAB --names</code> names them. This page is for staff all the"
        yield " same: small groups are on it. <code>--for-lecture</code> makes one to show."
    yield "</p>"
    if named and at_risk:
        rows = [(_called(each), each.section, each.ta, "; ".join(each.signs)) for each in at_risk]
        yield as_table(("at risk", "section", "TA", "because"), rows)


def by_group(summary: ClassSummary, kind: Literal["section", "ta"]) -> str:
    """Compare sections, or the work that each TA grades; empty where there is one group."""
    groups: dict[str, list[ClassMember]] = {}
    for each in summary.members:
        groups.setdefault(getattr(each, kind), []).append(each)
    if len(groups) < 2:
        return ""
    what = "TA" if kind == "ta" else "section"
    header = (
        what, "students", "handed in", "late", "median",
        "without ungraded essays", "essays to grade", "at risk",
    )  # fmt: skip
    rows = [
        (name or f"no {what}", *_group_row(members, summary.most))
        for name, members in sorted(groups.items())
    ]
    return as_table(header, rows)


def _group_row(members: Sequence[ClassMember], most: float) -> tuple[str, ...]:
    rows = [each.row for each in members if each.row]
    middle, graded = st.median([row.total for row in rows]), st.median(graded_percents(rows, most))
    counts = (len(members), len(rows), sum(row.seconds_late > 0 for row in rows))
    return (
        *(f"{each:,}" for each in counts),
        "–" if middle is None else f"{middle:.3g} of {most:g}",
        "–" if graded is None else f"{graded:.0f}%",
        f"{sum(row.waiting for row in rows):,}",
        f"{sum(bool(each.signs) for each in members):,}",
    )


def everybody(rows: Sequence[SubmissionRow], most: float) -> str:
    """List all submissions with the names of their students."""
    header = ("student", "points", "of what is graded", "late", "minutes", "predictions right",
              "to look at")  # fmt: skip
    waits = any(row.open_points for row in rows)
    shown = [
        (
            row.student,
            f"{row.total:g} of {most:g}",
            f"{row.total:g} of {most - row.open_points:g}" if waits else "",
            _late(row),
            "–" if row.minutes is None else f"{row.minutes:.0f}",
            f"{row.predicted_right} of {row.predicted}",
            "; ".join(row.flags),
        )
        for row in rows
    ]
    return as_table(header, shown)


def neighbors(found: Sequence[NeighborKeys]) -> str:
    """Wrong answers that are right for somebody else, with what chance would do."""
    words = (
        "Everybody has other numbers. These students have wrong answers that no known mistake leads"
        " to, and that are exactly right for one classmate. Beside it: how many classmates would"
        " match as well by chance, from the numbers that this class was given. It says nothing"
        " about who helped whom, or how: ask."
    )
    header = ("student", "right for", "questions", "of wrong answers", "by chance")
    rows = [
        (
            each.student or "somebody",
            each.neighbor or "a classmate",
            ", ".join(each.questions),
            f"{len(each.questions)} of {each.wrong}",
            f"{each.by_chance:.2g}",
        )
        for each in found
    ]
    return f'<p class="quiet">{escape(words)}</p>{as_table(header, rows)}'


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls, with whatever its cells say as text; without columns that are empty."""
    known = [k for k in range(len(header)) if any(row[k] for row in rows)]
    head = "".join(f'<th scope="col">{escape(header[k])}</th>' for k in known)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(row[k])}</td>" for k in known) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(header[0])}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _listed(members: Sequence[ClassMember]) -> str:
    names = ", ".join(escape(_called(each)) for each in members if each.student)
    return f" ({names})" if names else ""


def _called(member: ClassMember) -> str:
    return f"{member.name} ({member.student})" if member.name else member.student


def _late(row: SubmissionRow) -> str:
    parts = [in_words(row.seconds_late)] if row.seconds_late else []
    return ", ".join([*parts, *([f"−{row.penalty:g}"] if row.penalty else [])])
