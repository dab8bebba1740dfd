"""The report on a class as one HTML page that needs nothing else: pictures first, then numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.charts import Bar, Chart, Group, people, percent
from mlsys_widgets.classes.summary import ClassSummary, Row

#: Pixels of a picture of columns: its size, the room for words around it.
_WIDTH, _HEIGHT, _SIDE, _TOP, _FOOT = 720, 260, 12, 26, 48
_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2428; --quiet: #5c656d;
  --line: #d8dde2; --card: #f5f7f9; --blue: #2a7fc4; --orange: #c77700; --green: #12855f;
  --red: #c9481f; --purple: #a0508f; --grey: #8a939b; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --ink: #e6e9ec;
  --quiet: #a3acb4; --line: #353b41; --card: #1e2226; --blue: #4d9fe0; --orange: #e0952b;
  --green: #2fb38a; --red: #e8704a; --purple: #cf85bf; --grey: #7d868e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .25rem; }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .1rem; }
p { margin: .25rem 0 .75rem; max-width: 48rem; }
.quiet, .note { color: var(--quiet); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; padding: 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .9rem; min-width: 8.5rem; }
.cards dt { color: var(--quiet); font-size: .85rem; }
.cards dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
figure { margin: .75rem 0 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 720px; }
svg text { fill: var(--ink); font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
svg .axis { stroke: var(--line); } svg .quiet { fill: var(--quiet); }
.rows { display: grid; gap: .7rem; max-width: 48rem; margin: .75rem 0 0; padding: 0;
  list-style: none; }
.rows .head { display: flex; justify-content: space-between; gap: 1rem; }
.rows .note { white-space: nowrap; font-variant-numeric: tabular-nums; font-size: .92rem; }
.bar { display: flex; height: .85rem; border-radius: .2rem; overflow: hidden;
  background: var(--card); }
.bar i { display: block; height: 100%; min-width: 1px; border-right: 1px solid var(--paper); }
code { font-size: .92em; }
.rows .says { color: var(--quiet); font-size: .92rem; margin: .15rem 0 0; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .6rem 0 0; padding: 0;
  list-style: none; color: var(--quiet); font-size: .92rem; }
.legend i { display: inline-block; width: .85rem; height: .85rem; border-radius: .2rem;
  margin-right: .4rem; vertical-align: -.08rem; }
.blue { background: var(--blue); fill: var(--blue); }
.orange { background: var(--orange); fill: var(--orange); }
.green { background: var(--green); fill: var(--green); }
.red { background: var(--red); fill: var(--red); }
.purple { background: var(--purple); fill: var(--purple); }
.grey { background: var(--grey); fill: var(--grey); }
.scroll { overflow-x: auto; margin: .75rem 0 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.n, th.n { text-align: right; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; max-width: 48rem; }
details summary { cursor: pointer; font-weight: 600; }
details[open] { padding-bottom: 1.25rem; }
@media print { body { max-width: none; } details { display: block; } }
"""
_INTRODUCED: Final = {
    "questions": "How many earned all, some or none of the points. Behind each bar: the share of"
    " its points that the class earned, and r, how the question goes with the rest of the lab"
    " (1: those who are good at the rest have it, 0: no connection).",
    "beliefs": "From wrong answers that the lab's checks recognise, in all questions.",
    "question": "What became of each answer that is typed. Open one to see its misconceptions.",
    "predictions": "What was committed before the instruments opened.",
    "time": "Time between the events of a ledger; pauses of more than ten minutes are left out.",
}


def page(summary: ClassSummary) -> str:
    """The whole page."""
    body = "\n".join(_body(summary))
    title = escape(f"{summary.title}: the class")
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
    if summary.unjudged:
        yield (
            f"<p>{people(summary.unjudged)} were not graded by <code>mlsys grade</code>, so their"
            " misconceptions and flags are not known.</p>"
        )
    for group in summary.pictures:
        yield from _group(group)
    yield from _flags(summary)
    yield from _table(summary)
    if any(row.student for row in summary.rows):
        yield from _names(summary.rows, summary.most)


def _cards(summary: ClassSummary) -> str:
    middle, minutes = st.median(summary.scores), st.median(summary.minutes)
    cards = [
        ("submissions", f"{len(summary.rows):,}"),
        ("median", "–" if middle is None else f"{middle:.3g} of {summary.most:g}"),
        ("time on task", "–" if minutes is None else f"{minutes:.0f} min"),
        ("late", f"{summary.late:,}"),
        ("wait for a person", f"{summary.waiting:,}"),
        ("to look at", f"{summary.flagged:,}"),
    ]
    shown = "".join(f"<div><dt>{escape(w)}</dt><dd>{escape(v)}</dd></div>" for w, v in cards)
    return f'<dl class="cards">{shown}</dl>'


def _group(group: Group) -> Iterator[str]:
    single = len(group.charts) == 1 and group.key not in ("predictions", "question")
    heading = group.charts[0].title if single else group.words
    yield f"<section><h2>{escape(heading)}</h2>"
    if words := _INTRODUCED.get(group.key):
        yield f'<p class="quiet">{escape(words)}</p>'
    for chart in group.charts:
        drawn = _columns(chart) if chart.columns else _rows(chart)
        shown = f"<p>{_marked(chart.says)}</p>{drawn}"
        if group.key == "question":
            yield f"<details><summary>{escape(chart.title)}</summary>{shown}</details>"
        else:
            yield shown if single else f"<h3>{escape(chart.title)}</h3>{shown}"
    yield "</section>"


def _rows(chart: Chart) -> str:
    rows = "".join(_row(bar, chart.most) for bar in chart.bars)
    legend = "".join(
        f'<li><i class="{tone}"></i>{escape(words)}</li>' for tone, words in chart.legend
    )
    shown = f'<ul class="legend">{legend}</ul>' if legend else ""
    return f'{shown}<ul class="rows">{rows}</ul>'


def _row(bar: Bar, most: float) -> str:
    pieces = "".join(
        f'<i class="{tone}" style="width:{100 * length / most:.2f}%"></i>'
        for length, tone in bar.parts
    )
    says = f'<p class="says">{_marked(bar.says)}</p>' if bar.says else ""
    return (
        f'<li><div class="head"><span>{_marked(bar.words)}</span>'
        f'<span class="note">{escape(bar.note)}</span></div>'
        f'<div class="bar" aria-hidden="true">{pieces}</div>{says}</li>'
    )


def _marked(words: str) -> str:
    """Words of a lab, which may carry code and strong words, as safe HTML."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", coded)


def _columns(chart: Chart) -> str:
    """A histogram as SVG."""
    step = (_WIDTH - 2 * _SIDE) / max(len(chart.bars), 1)
    room = _HEIGHT - _TOP - _FOOT
    foot = _HEIGHT - _FOOT
    drawn = []
    for k, bar in enumerate(chart.bars):
        left, height = _SIDE + k * step, room * bar.length / chart.most
        middle = left + step / 2
        for length, tone in bar.parts:
            tall = room * length / chart.most
            drawn.append(
                f'<rect class="{tone}" x="{left + step * 0.08:.1f}" y="{foot - tall:.1f}"'
                f' width="{step * 0.84:.1f}" height="{tall:.1f}" rx="2"/>'
            )
        drawn.append(_word(middle, foot - height - 7, bar.note))
        drawn.append(_word(middle, foot + 18, bar.words))
    drawn.append(f'<path class="axis" d="M{_SIDE},{foot}H{_WIDTH - _SIDE}"/>')
    drawn.append(_word(_WIDTH / 2, _HEIGHT - 8, f"{chart.across} (bars: {chart.measure})", "quiet"))
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(f"{chart.title}. {chart.says}")}">{"".join(drawn)}</svg></figure>'
    )


def _word(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(words)}</text>'


def _flags(summary: ClassSummary) -> Iterator[str]:
    if not summary.flags:
        return
    count = len(summary.rows)
    yield "<section><h2>To look at</h2>"
    yield '<p class="quiet">Flags, not verdicts: a person decides what they mean.</p>'
    rows = "".join(
        _row(Bar(words, ((float(n), "orange"),), f"{n:,} ({percent(n, count)})"), float(count))
        for words, n in summary.flags
    )
    yield f'<ul class="rows">{rows}</ul></section>'


def _table(summary: ClassSummary) -> Iterator[str]:
    header = ("question", "points", "mean", "r", "all", "some", "none", "left out", "waiting")
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
    yield f"{_as_table(header, rows)}</section>"


def _names(rows: Sequence[Row], most: float) -> Iterator[str]:
    header = ("student", "points", "late", "minutes", "predictions right", "what")
    shown = [
        (
            row.student,
            f"{row.total:g} of {most:g}",
            f"−{row.penalty:g}" if row.penalty else "",
            "–" if row.minutes is None else f"{row.minutes:.0f}",
            f"{row.foreseen} of {row.predicted}",
            "; ".join(row.flags),
        )
        for row in rows
    ]
    yield "<section><h2>Everybody</h2>"
    yield f"{_as_table(header, shown)}</section>"


def _as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(header[0])}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
