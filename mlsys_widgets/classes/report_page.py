"""The report on a class as one self-contained HTML page: charts first, then numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_charts import chart_groups, flag_chart
from mlsys_widgets.classes.summary import ClassSummary, SubmissionRow
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.drawing.charts import Chart, ChartGroup, scene
from mlsys_widgets.wording.plurals import counted

# Charts keep their tones in the dark, where they have contrast too; paper, grid and text change.
_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2428; --quiet: #5c656d;
  --line: #d8dde2; --card: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --ink: #e6e9ec;
  --quiet: #a3acb4; --line: #353b41; --card: #1e2226; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .25rem; }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .1rem; }
p { margin: .25rem 0 .75rem; max-width: 48rem; }
.quiet { color: var(--quiet); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; padding: 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .9rem; min-width: 8.5rem; }
.cards dt { color: var(--quiet); font-size: .85rem; }
.cards dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
figure { margin: .75rem 0 0; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; min-width: 34rem; max-width: 760px; }
figure svg .paper { fill: var(--paper); }
figure svg .grid { stroke: var(--line); }
figure svg text { fill: var(--ink); }
.explanations { max-width: 48rem; margin: .5rem 0 0; }
.explanations dt { margin-top: .5rem; }
.explanations dd { color: var(--quiet); font-size: .92rem; margin: 0; }
code { font-size: .92em; }
.scroll { overflow-x: auto; margin: .75rem 0 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; max-width: 48rem; }
details summary { cursor: pointer; font-weight: 600; }
details[open] { padding-bottom: 1.25rem; }
@media print { body { max-width: none; } details { display: block; } }
"""
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
    return whole_page(f"{summary.title}: the class", "\n".join(_body(summary)))


def whole_page(title: str, body: str) -> str:
    """A page in the style of all reports."""
    title = escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
        '\n<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


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
    for group in chart_groups(summary):
        yield from _group(group)
    if summary.flags:
        yield "<section><h2>To look at</h2>"
        yield '<p class="quiet">Flags, not verdicts: a person decides what they mean.</p>'
        yield f"{_figure(flag_chart(summary))}</section>"
    yield from _table(summary)
    if any(row.student for row in summary.rows):
        yield from _students(summary.rows, summary.most)


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


def _group(group: ChartGroup) -> Iterator[str]:
    single = len(group.charts) == 1 and group.key not in ("predictions", "question")
    yield f"<section><h2>{escape(group.charts[0].title if single else group.title)}</h2>"
    if words := _INTRODUCTIONS.get(group.key):
        yield f'<p class="quiet">{escape(words)}</p>'
    for chart in group.charts:
        title = markup.inline(chart.title)
        shown = f"<p>{markup.inline(chart.finding)}</p>{_figure(chart)}"
        if group.key == "question":
            yield f"<details><summary>{title}</summary>{shown}</details>"
        else:
            yield shown if single else f"<h3>{title}</h3>{shown}"
    yield "</section>"


def _figure(chart: Chart) -> str:
    drawn = picture.svg((scene(chart),), chart.description)
    explained = "".join(
        f"<dt>{markup.inline(bar.label)}</dt><dd>{markup.inline(bar.explanation)}</dd>"
        for bar in chart.bars
        if bar.explanation
    )
    shown = f'<dl class="explanations">{explained}</dl>' if explained else ""
    return f"<figure>{drawn}</figure>{shown}"


def _table(summary: ClassSummary) -> Iterator[str]:
    header = ("question", "points", "mean", "r", "all", "some", "none", "left blank", "not graded")
    rows = [
        (
            each.title,
            f"{each.most:g}",
            "–" if each.mean is None else f"{each.mean:.0%}",
            "–" if each.discrimination is None else f"{each.discrimination:+.2f}",
            *(f"{n:,}" for n in (each.right, each.partly, each.wrong, each.blank, each.waiting)),
        )
        for each in summary.questions
    ]
    yield "<section><h2>All questions in numbers</h2>"
    yield f"{as_table(header, rows)}</section>"


def _students(rows: Sequence[SubmissionRow], most: float) -> Iterator[str]:
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
    yield "<section><h2>Everybody</h2>"
    yield f"{as_table(header, shown)}</section>"


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
