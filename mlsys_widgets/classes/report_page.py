"""The report on a class as one self-contained HTML page.

It begins with what to say in the next lecture; then come questions, people and details.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_charts import chart_groups, flag_chart
from mlsys_widgets.classes.lecture_points import lecture_points
from mlsys_widgets.classes.neighbor_keys import NeighborKeys
from mlsys_widgets.classes.summary import ClassSummary, SubmissionRow
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.drawing.charts import Chart, ChartGroup, scene
from mlsys_widgets.drawing.whole_page import whole_page
from mlsys_widgets.wording.plurals import counted

# Charts keep their tones in the dark, where they have contrast too; paper, grid and text change.
STYLE: Final = """
.cards { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1.25rem 0 0; padding: 0; }
.cards dt { color: var(--mlsys-quiet); font-size: var(--mlsys-note); }
.cards dd { margin: 0; font-size: var(--mlsys-lead); font-variant-numeric: tabular-nums; }
.lecture { margin: 0; padding: 0; list-style: none; }
.lecture li { border-top: 1px solid var(--mlsys-rule); padding: 1.25rem 0 1.5rem; }
.lecture li > p { font-size: var(--mlsys-lead); line-height: 1.4; }
figure { margin: .75rem 0 0; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; min-width: 34rem; }
figure svg .paper { fill: var(--mlsys-paper); }
figure svg .grid { stroke: var(--mlsys-rule); }
figure svg text { fill: var(--mlsys-ink); }
.explanations { margin: .5rem 0 0; }
.explanations dt { margin-top: .5rem; }
.explanations dd { color: var(--mlsys-quiet); margin: 0; }
.scroll { overflow-x: auto; margin: .75rem 0 0; }
table { border-collapse: collapse; font-size: var(--mlsys-note);
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top;
  border-bottom: 1px solid var(--mlsys-rule); }
td:nth-child(-n+4):not(:first-child) { white-space: nowrap; }
"""
#: Groups of charts that are folded until somebody asks.
_DETAILS: Final = ("beliefs", "predictions", "confidence", "question")
_INTRODUCTIONS: Final = {
    "questions": "How many students earned all, some or none of the points. Beside each title: the"
    " fraction of its points that the class earned, and r, which says how the question relates to"
    " the rest of the lab (near 1, students who do well elsewhere get it right; near 0, there is no"
    " connection).",
    "beliefs": "Wrong answers that the lab's checks recognize, from all questions. Numbers in the"
    " explanations are the lab's own, not one student's.",
    "question": "How each typed answer turned out. Open a question to see its misconceptions.",
    "predictions": "What students committed to before the instruments opened.",
    "time": "Time between the events of a ledger; pauses of more than ten minutes do not count.",
}


def page(summary: ClassSummary) -> str:
    """Write the whole page."""
    return whole_page(f"{summary.title}: the class", "\n".join(_body(summary)), STYLE)


def _body(summary: ClassSummary) -> Iterator[str]:
    yield f"<h1>{escape(summary.title)}</h1>"
    yield f'<p class="quiet">The class in {escape(summary.lab)}</p>'
    if not summary.rows:
        yield "<p>Nobody has handed in this lab yet, or nothing is graded.</p>"
        return
    yield _cards(summary)
    if unjudged := summary.unjudged:
        yield (
            f"<p>{counted(unjudged, 'submission')} {'was' if unjudged == 1 else 'were'} not graded"
            " by <code>mlsys grade</code>, so misconceptions and flags are unknown there.</p>"
        )
    yield from _lecture(summary)
    groups = {group.key: group for group in chart_groups(summary)}
    if asked := groups.get("questions"):
        yield f"<section><h2>Questions</h2>{_group(asked)}</section>"
    yield f"<section><h2>People</h2>{''.join(_people(summary, groups))}</section>"
    yield "<section><h2>Details</h2>"
    for key in _DETAILS:
        if group := groups.get(key):
            shown = _group(group, _own_words(summary))
            yield f"<details><summary>{escape(group.title)}</summary>{shown}</details>"
    yield f"<details><summary>All questions in numbers</summary>{_table(summary)}</details>"
    yield "</section>"


def _lecture(summary: ClassSummary) -> Iterator[str]:
    """The first page: what to say in the next lecture, and what shows it."""
    if points := lecture_points(summary):
        yield "<section><h2>For the lecture</h2>"
        shown = (f"<li><p>{markup.inline(p.sentence)}</p>{_figure(p.chart)}</li>" for p in points)
        yield f'<ol class="lecture">{"".join(shown)}</ol></section>'


def _people(summary: ClassSummary, groups: Mapping[str, ChartGroup]) -> Iterator[str]:
    yield from (_group(groups[key]) for key in ("scores", "time") if key in groups)
    if summary.flags:
        yield "<h3>To look at</h3>"
        yield '<p class="quiet">Flags, not verdicts: a person decides what they mean.</p>'
        yield _figure(flag_chart(summary))
    if summary.neighbors:
        yield _neighbors(summary.neighbors)
    if any(row.student for row in summary.rows):
        yield f"<h3>Everybody</h3>{_students(summary.rows, summary.most)}"


def _neighbors(found: Sequence[NeighborKeys]) -> str:
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
    about = f'<p class="quiet">{escape(words)}</p>'
    return f"<h3>Answers that are right for a classmate</h3>{about}{as_table(header, rows)}"


def _cards(summary: ClassSummary) -> str:
    middle, minutes = st.median(summary.scores), st.median(summary.minutes)
    cards = [
        ("submissions", f"{len(summary.rows):,}"),
        ("median", "–" if middle is None else f"{middle:.3g} of {summary.most:g}"),
        ("time on task", "–" if minutes is None else f"{minutes:.0f} min"),
        ("late", f"{summary.late:,}"),
        ("not fully graded", f"{summary.waiting:,}"),
        ("to look at", f"{summary.flagged:,}"),
    ]
    shown = "".join(f"<div><dt>{escape(w)}</dt><dd>{escape(v)}</dd></div>" for w, v in cards)
    return f'<dl class="cards">{shown}</dl>'


def _own_words(summary: ClassSummary) -> dict[str, str]:
    """What students said about their predictions, to skim below the chart of each."""
    return {
        f"prediction:{each.name}": (
            f"<details><summary>In their own words ({len(each.words):,})</summary><ul>"
            + "".join(
                f'<li>{escape(line.words)} <span class="quiet">({escape(line.predicted)},'
                f" {'right' if line.right else 'off'})</span></li>"
                for line in each.words
            )
            + "</ul></details>"
        )
        for each in summary.predictions
        if each.words
    }


def _group(group: ChartGroup, below: Mapping[str, str] | None = None) -> str:
    """Write the charts of a group, each with what stands ``below`` it, by its key."""
    shown = []
    words = _INTRODUCTIONS.get(group.key)
    about = f'<p class="quiet">{escape(words)}</p>' if words else ""
    level = 4 if group.key in _DETAILS else 3
    for k, chart in enumerate(group.charts):
        title = markup.inline(chart.title)
        body = f"<p>{markup.inline(chart.finding)}</p>{_figure(chart)}"
        body += (below or {}).get(chart.key, "")
        if group.key == "question":
            shown.append(f"<details><summary>{title}</summary>{body}</details>")
        else:
            shown.append(f"<h{level}>{title}</h{level}>{'' if k else about}{body}")
    return "".join([about, *shown] if group.key == "question" else shown)


def _figure(chart: Chart) -> str:
    drawn = picture.svg((scene(chart),), chart.description)
    explained = "".join(
        f"<dt>{markup.inline(bar.label)}</dt><dd>{markup.inline(bar.explanation)}</dd>"
        for bar in chart.bars
        if bar.explanation
    )
    shown = f'<dl class="explanations">{explained}</dl>' if explained else ""
    return f"<figure>{drawn}</figure>{shown}"


def _table(summary: ClassSummary) -> str:
    header = ("question", "points", "mean", "r", "all", "some", "none", "left blank", "not graded")
    rows = [
        (
            each.title,
            f"{each.most:g}" if each.most else "deeper",
            "–" if each.mean is None else f"{each.mean:.0%}",
            "–" if each.discrimination is None else f"{each.discrimination:+.2f}",
            *(f"{n:,}" for n in (each.right, each.partly, each.wrong, each.blank, each.waiting)),
        )
        for each in summary.questions
    ]
    return as_table(header, rows)


def _students(rows: Sequence[SubmissionRow], most: float) -> str:
    header = ("student", "points", "late", "minutes", "predictions right", "to look at")
    shown = [
        (
            row.student,
            f"{row.total:g} of {most:g}",
            _late(row),
            "–" if row.minutes is None else f"{row.minutes:.0f}",
            f"{row.predicted_right} of {row.predicted}",
            "; ".join(row.flags),
        )
        for row in rows
    ]
    return as_table(header, shown)


def _late(row: SubmissionRow) -> str:
    parts = [in_words(row.seconds_late)] if row.seconds_late else []
    return ", ".join([*parts, *([f"−{row.penalty:g}"] if row.penalty else [])])


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls, with whatever its cells say as text."""
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(header[0])}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
