"""The feedback page: the score and what it is made of, then question by question, without code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import takewhile
from typing import Any, Final

from mlsys_widgets.drawing import markup
from mlsys_widgets.drawing.whole_page import whole_page
from mlsys_widgets.grading.feedback.question_results import QuestionResult, results_of
from mlsys_widgets.wording.plurals import counted

#: How the cells begin that say what was found in a submission, or why there is no notebook.
_NOTES: Final = ("about-this-submission", "why")
_STYLE: Final = """
.score { font-size: var(--mlsys-lead); margin: 1rem 0 .25rem; }
.score b { font-size: var(--mlsys-number); line-height: 1.1; }
.note { border-left: 3px solid var(--mlsys-edge); padding: .1rem 0 .1rem 1rem; margin: 1.25rem 0; }
.result { border-top: 1px solid var(--mlsys-rule); padding: 1rem 0 .5rem; }
.result header { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.result h3 { margin: 0; }
.points { white-space: nowrap; font-variant-numeric: tabular-nums; }
.points::before { content: attr(data-sign); margin-right: .4em; }
.points[data-sign="✓"]::before { color: var(--mlsys-measured); }
.points[data-sign="○"]::before { color: var(--mlsys-failure); }
.answer { color: var(--mlsys-quiet); }
.answer b { color: var(--mlsys-ink); font-weight: var(--mlsys-strong); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--mlsys-tint);
  border-radius: var(--mlsys-radius); padding: .75rem 1rem; max-height: 24rem; overflow-y: auto; }
"""


def feedback_page(book: Any, about: dict[str, Any], second_looks: str = "") -> str:
    """Make the page of one submission.

    ``book`` has points and comments of the gradebook in its cells, ``about`` is what nbgrader's
    resources say, and ``second_looks`` the paragraph about them in HTML.
    """
    known = book.metadata.get("mlsys")
    known = known if isinstance(known, dict) else {}  # a student may have changed it
    lab = str(known.get("title") or about.get("assignment", "Feedback"))
    listed = known.get("acts")
    acts = [str(title) for title in listed] if isinstance(listed, list) else []
    body = [f"<h1>{escape(lab)}</h1>"]
    if about.get("student"):
        body.append(f'<p class="quiet">Feedback for {escape(str(about["student"]))}</p>')
    results = results_of(book)
    body += [*_score(results, about), *_notes(book)]
    if second_looks:
        body.append(f'<div class="note">{second_looks}</div>')
    by_act: dict[str, list[QuestionResult]] = {}
    for each in sorted(filter(lambda r: r.counts, results), key=lambda r: r.act or len(acts) + 1):
        named = 0 < each.act <= len(acts)
        title = f"Act {each.act}: {acts[each.act - 1]}" if named else "The whole lab"
        by_act.setdefault(title, []).append(each)
    for title, items in by_act.items():
        body += [f"<h2>{escape(title)}</h2>", *map(_result, items)]
    tried = [each for each in results if not each.counts and each.answer]
    if tried:
        shown = "".join(map(_result, tried))
        words = f"Deeper: {counted(len(tried), 'question')} that you answered, without points"
        body.append(f"<details><summary>{words}</summary>{shown}</details>")
    return whole_page(f"{lab}: feedback", "\n".join(body), _STYLE)


def _score(results: Sequence[QuestionResult], about: dict[str, Any]) -> Iterator[str]:
    waiting = [each for each in results if each.earned is None]
    left = sum(each.points for each in waiting)
    most = float(about.get("max_score") or sum(each.points for each in results)) - left
    earned = about.get("score")
    if earned is None:
        earned = sum(each.earned or 0 for each in results)
    if most:
        yield f'<p class="score"><b>{round(earned, 2):g}</b> of {most:g} points</p>'
    if waiting:
        titles = ", ".join(f"“{each.title}”" for each in waiting)
        verb = "is" if len(waiting) == 1 else "are"
        yield f"<p>{escape(titles)} {verb} with your TA: {left:g} more points to earn.</p>"
    if penalty := float(about.get("late_penalty") or 0):
        yield f"<p>{round(penalty, 2):g} points were taken off because it was handed in late.</p>"


def _notes(book: Any) -> Iterator[str]:
    """What was found in the submission. Only ``strong`` and ``code`` mean something in it."""
    for cell in takewhile(_is_note, book.cells):
        lines = (line.removeprefix("- ") for line in cell.source.splitlines() if line.strip())
        paragraphs = "".join(f"<p>{markup.inline(line)}</p>" for line in lines)
        yield f'<div class="note">{paragraphs}</div>'


def _is_note(cell: Any) -> bool:
    return cell.cell_type == "markdown" and str(cell.get("id", "")).startswith(_NOTES)


def _result(result: QuestionResult) -> str:
    parts = [f"<header><h3>{escape(result.title)}</h3>{_points(result)}</header>"]
    if result.is_text:
        parts.append(f'<div class="text">{escape(result.answer) or "Nothing was written."}</div>')
    elif result.answer:
        parts.append(f'<p class="answer">Your answer: <b>{escape(result.answer)}</b></p>')
    if result.why:
        parts.append(f"<p>{markup.inline(result.why)}</p>")
    if result.comment:
        lines = escape(result.comment).splitlines()
        space = "<br>" if len(lines) > 1 else " "  # what a rubric gives is a list
        said = "<br>".join(lines)
        parts.append(f'<div class="note"><b>From your TA:</b>{space}{said}</div>')
    return f'<article class="result">{"".join(parts)}</article>'


def _points(result: QuestionResult) -> str:
    if result.earned is None:
        return f'<span class="points" data-sign="…">with your TA, {result.points:g} points</span>'
    if not result.counts:
        return ""
    sign = "✓" if result.earned >= result.points else "◐" if result.earned > 0 else "○"
    words = f"{round(result.earned, 2):g} of {result.points:g}"
    return f'<span class="points" data-sign="{sign}">{words}</span>'
