"""The report on a class as one self-contained HTML page.

Its first screen is for the minutes before a lecture: what the class believes, and what to say about
it. Then come those who need somebody, and everything else behind folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_charts import (
    chart_groups,
    essay_words,
    flag_chart,
    percent,
)
from mlsys_widgets.classes.lecture_points import LecturePoint, also, lecture_points
from mlsys_widgets.classes.question_charts import signed
from mlsys_widgets.classes.question_statistics import QuestionStatistics
from mlsys_widgets.classes.report_people import (
    as_table,
    by_group,
    everybody,
    neighbors,
    who_needs_you,
)
from mlsys_widgets.classes.summary import ClassSummary
from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.drawing.charts import Chart, ChartGroup, scene
from mlsys_widgets.drawing.theme import color
from mlsys_widgets.drawing.whole_page import whole_page
from mlsys_widgets.grading.gradebook.late_penalty import penalty_words
from mlsys_widgets.wording.plurals import counted

# Charts keep their tones in the dark, where they have contrast too; paper, grid and text change.
STYLE: Final = """
body { max-width: 68rem; }
main > p, section > p, figure, .explanations, details p { max-width: var(--mlsys-column); }
.cards { display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: .75rem 0; padding: 0; }
.cards dt { color: var(--mlsys-quiet); font-size: var(--mlsys-note); }
.cards dd { margin: 0; font-size: var(--mlsys-lead); font-variant-numeric: tabular-nums; }
.first .quiet { max-width: none; font-size: var(--mlsys-note); margin: 0; }
.first > h2 { margin-top: 1.5rem; }
.lecture { margin: .5rem 0; padding: 0; list-style: none; }
.lecture li { display: grid; grid-template-columns: 2fr 3fr; gap: 0 2.5rem;
  border-top: 1px solid var(--mlsys-rule); padding: .75rem 0; }
.lecture li p { margin: 0; }
.lecture .share { font-size: var(--mlsys-title); line-height: 1.2; }
.lecture meter { width: 100%; height: .5rem; margin: .2rem 0 .35rem; display: block; border: 0;
  background: var(--mlsys-tint); }
.lecture meter::-webkit-meter-bar { height: .5rem; border: 0; border-radius: 0;
  background: var(--mlsys-tint); }
.lecture meter::-webkit-meter-optimum-value { background: var(--mlsys-failure); }
.lecture meter::-moz-meter-bar { background: var(--mlsys-failure); }
@media (max-width: 48rem) { .lecture li { display: block; } .lecture li > p { margin-top: .5rem; } }
@media print { .first { break-after: page; } }
figure { margin: .75rem 0 0; }
figure svg { display: block; width: 100%; height: auto; }
/* A picture of columns shrinks with the screen, and its words must not. */
@media (max-width: 40rem) { figure svg text { font-size: 1.2rem; } }
.bars { margin: .75rem 0 0; padding: 0; list-style: none; max-width: var(--mlsys-column);
  font-size: var(--mlsys-note); }
.bars li { margin-bottom: .5rem; }
.bars div { display: flex; height: .75rem; position: relative; }
.bars i { position: absolute; top: calc(50% - 1px); border-top: 2px solid var(--mlsys-ink); }
.legend span::before { content: ""; display: inline-block; width: 1em; height: .75em;
  margin-right: .5em; background: var(--tone); }
.legend span { margin-right: 1.5em; }
figure svg .paper { fill: var(--mlsys-paper); }
figure svg .grid { stroke: var(--mlsys-rule); }
figure svg text { fill: var(--mlsys-ink); }
.explanations { margin: .5rem 0 0; }
.explanations dt { margin-top: .5rem; }
.explanations dd { color: var(--mlsys-quiet); margin: 0; }
.scroll { overflow-x: auto; margin: .75rem 0 0; }
table { border-collapse: collapse; font-size: var(--mlsys-note);
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem 1.2rem .3rem 0; vertical-align: top;
  border-bottom: 1px solid var(--mlsys-rule); }
td:nth-child(-n+4) { white-space: nowrap; }
"""
_INTRODUCTIONS: Final = {
    "questions": "How many students earned all, some or none of the points. Beside each title: the"
    " fraction of its points that those earned who answered it, and r, which says how the question"
    " relates to the rest of the lab (near 1, students who do well elsewhere get it right; near 0,"
    " there is no connection). What was left blank is in neither number.",
    "difficulty": "The line at the end of a bar is its 95% interval: what would fit, were this"
    " class drawn from a larger one. Questions of a pool and numbers were drawn for each student."
    " Where anything is said to be harder, all comparisons together err in 5% of classes.",
    "fifths": "The class in fifths by what students earned of everything else: a question that"
    " separates well rises from left to right. Lines are 95% intervals.",
    "beliefs": "Wrong answers that the lab's checks recognize, from all questions.",
    "question": "How each typed answer turned out. Open a question to see its misconceptions.",
    "predictions": "What students committed to before the instruments opened.",
    "time": "Time between the events of a ledger; pauses of more than ten minutes do not count.",
}


def page(summary: ClassSummary) -> str:
    """Write the whole page."""
    return whole_page(f"{summary.title}: the class", "\n".join(_body(summary)), STYLE)


def _body(summary: ClassSummary) -> Iterator[str]:
    if not summary.rows:
        yield f"<h1>{escape(summary.title)}</h1>"
        yield "<p>Nobody has handed in this lab yet, or nothing is graded.</p>"
        return
    yield f'<section class="first">{"".join(_first(summary))}</section>'
    yield f"<section>{''.join(who_needs_you(summary))}</section>"
    yield "<section><h2>Details</h2>"
    for title, shown in _details(summary):
        if shown:
            yield f"<details><summary>{escape(title)}</summary>{shown}</details>"
    yield "</section>"


def _first(summary: ClassSummary) -> Iterator[str]:
    """What to know before the lecture, on one screen."""
    yield f"<h1>{escape(summary.title)}</h1>{_cards(summary)}"
    notes = [essay_words(summary), penalty_words(summary.late, summary.penalty, included=True)]
    if unjudged := summary.unjudged:
        notes.append(
            f"{counted(unjudged, 'submission')} {'was' if unjudged == 1 else 'were'} not graded by"
            " mlsys grade, so misconceptions and flags are unknown there."
        )
    yield f'<p class="quiet">{escape(" ".join(filter(None, notes)))}</p>'
    points = lecture_points(summary)
    if points:
        yield "<h2>What the class believes, and what to say</h2>"
        yield f'<ol class="lecture">{"".join(map(point, points))}</ol>'
    own = ["Numbers are those of the lab's text; each student had others."] if points else []
    if more := " ".join([*own, *also(summary)]):
        yield f'<p class="quiet">{markup.inline(more)}</p>'


def point(point: LecturePoint) -> str:
    """A misconception with its share, and what to say about it."""
    share = percent(point.count, point.of)
    return (
        f'<li><div><p class="share">{share}</p>'
        f'<meter max="{point.of}" value="{point.count}">{share}</meter>'
        f"<p><strong>{markup.inline(point.belief)}</strong></p>"
        f'<p class="quiet">{point.count:,} of {point.of:,}, {markup.inline(point.where)}</p></div>'
        f"<p>{markup.inline(point.says)}</p></li>"
    )


def _cards(summary: ClassSummary) -> str:
    middle, minutes = st.median(summary.scores), st.median(summary.minutes)
    graded = st.median(summary.graded_percents)
    of = f" of {len(summary.members):,}" if summary.members else ""
    cards = [
        ("handed in", f"{len(summary.rows):,}{of}"),
        ("median", "–" if middle is None else f"{middle:.3g} of {summary.most:g}"),
    ]
    if summary.waiting:
        cards += [
            ("without ungraded essays", "–" if graded is None else f"{graded:.0f}%"),
            ("essays to grade", f"{summary.waiting:,}"),
        ]
    cards.append(("time on task", "–" if minutes is None else f"{minutes:.0f} min"))
    cards += [("at risk", f"{len(summary.at_risk):,}"), ("flagged", f"{summary.flagged:,}")]
    shown = "".join(f"<div><dt>{escape(w)}</dt><dd>{escape(v)}</dd></div>" for w, v in cards)
    return f'<dl class="cards">{shown}</dl>'


def _details(summary: ClassSummary) -> Iterator[tuple[str, str]]:
    """All folds: their titles, and what is behind them."""
    yield "By section", by_group(summary, "section")
    yield "By TA", by_group(summary, "ta")
    words = _own_words(summary)
    for group in chart_groups(summary):
        yield group.title, _group(group, words)
    yield "All questions in numbers", _table(summary)
    if summary.flags:
        about = '<p class="quiet">Flags, not verdicts: a person decides what they mean.</p>'
        yield "To look at", about + figure(flag_chart(summary))
    if summary.neighbors:
        yield "Answers that are right for a classmate", neighbors(summary.neighbors)
    if any(row.student for row in summary.rows):
        yield "Everybody", everybody(summary.rows, summary.most)


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


def _group(group: ChartGroup, below: Mapping[str, str]) -> str:
    """Write the charts of a group, each with what stands ``below`` it, by its key."""
    words = _INTRODUCTIONS.get(group.key)
    shown = [f'<p class="quiet">{escape(words)}</p>'] if words else []
    for chart in group.charts:
        title = markup.inline(chart.title)
        body = f"<p>{markup.inline(chart.finding)}</p>{figure(chart)}{below.get(chart.key, '')}"
        if group.key in ("question", "fifths"):
            shown.append(f"<details><summary>{title}</summary>{body}</details>")
        else:
            shown.append(f"<h3>{title}</h3>{body}")
    return "".join(shown)


def figure(chart: Chart) -> str:
    """The picture of a chart, and what its bars explain."""
    drawn = picture.svg((scene(chart),), chart.description) if chart.columns else _bars(chart)
    explained = "".join(
        f"<dt>{markup.inline(bar.label)}</dt><dd>{markup.inline(bar.explanation)}</dd>"
        for bar in chart.bars
        if bar.explanation
    )
    shown = f'<dl class="explanations">{explained}</dl>' if explained else ""
    return f"<figure>{drawn}</figure>{shown}"


def _bars(chart: Chart) -> str:
    """Bars below each other as text and boxes, which fit a screen of any width."""
    legend = "".join(
        f'<span style="--tone: {color(tone)}">{escape(words)}</span>'
        for tone, words in chart.legend
    )
    rows = "".join(
        f"<li>{markup.inline(bar.label)}{f' · {escape(bar.note)}' if bar.note else ''}<div>"
        + "".join(
            f'<span style="width: {length / chart.most:.2%}; background: {color(tone)}"></span>'
            for length, tone in bar.parts
        )
        + (_reach(bar.reach[0] / chart.most, bar.reach[1] / chart.most) if bar.reach else "")
        + "</div></li>"
        for bar in chart.bars
    )
    return f'<ul class="bars">{f"<li class=legend>{legend}</li>" if legend else ""}{rows}</ul>'


def _reach(low: float, high: float) -> str:
    return f'<i style="left: {low:.2%}; width: {high - low:.2%}"></i>'


def _table(summary: ClassSummary) -> str:
    header = (
        "question", "points", "mean earned", "mean at hand-in", "spread", "r", "right at first",
        "right at hand-in", "second chance", "gain", "minutes", "all", "some", "none",
        "left blank", "not graded",
    )  # fmt: skip
    rows = [
        (
            each.title,
            f"{each.most:g}" if each.most else "deeper",
            "–" if each.mean_earned is None else f"{each.mean_earned:.0%}",
            "–" if (at := each.statistics.mean_at_hand_in) is None else f"{at.value:.0%}",
            "–" if each.statistics.spread is None else f"{each.statistics.spread:.2f}",
            "–" if each.discrimination is None else signed(each.discrimination),
            *_attempts(each.statistics),
            *(f"{n:,}" for n in (each.right, each.partly, each.wrong, each.blank, each.waiting)),
        )
        for each in summary.questions
    ]
    return as_table(header, rows)


def _attempts(found: QuestionStatistics) -> Iterator[str]:
    for each in (found.first, found.last, found.second, found.gain):
        yield "–" if each is None else f"{each.value:.0%}"
    yield "–" if found.minutes is None else f"{found.minutes.value:.1f}"
