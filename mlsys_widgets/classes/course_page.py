"""The report on a whole course as one HTML page: every lab, what it counts, and the totals.

With names it is for staff. Without, everybody may see it: it shows no group of fewer than five, and
none that can be found by subtracting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from html import escape

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.course_totals import CourseTotals, LabGrades
from mlsys_widgets.classes.ideas import SMALLEST, IdeaInLab, idea_charts
from mlsys_widgets.classes.report_page import STYLE, figure
from mlsys_widgets.classes.report_people import as_table
from mlsys_widgets.course.due_words import in_words, long_time
from mlsys_widgets.drawing.whole_page import whole_page
from mlsys_widgets.wording.plurals import counted


def course_page(
    totals: CourseTotals,
    title: str,
    titles: Mapping[str, str],
    zone: tzinfo,
    *,
    names: bool,
    ideas: Mapping[str, Sequence[IdeaInLab]] | None = None,
) -> str:
    """Write the whole page, with the titles of its labs and the ideas that more than one asks."""
    parts = [*_body(totals, title, titles, zone, names=names), *_ideas(ideas or {}, names=names)]
    body = "\n".join(parts)
    return whole_page(f"{title}: the course", body, STYLE)


def _body(
    totals: CourseTotals, title: str, titles: Mapping[str, str], zone: tzinfo, *, names: bool
) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    least = 0 if names else SMALLEST
    if len(totals.people) < least:
        yield f"<p>Fewer than {least} students are in the course: too few to show.</p>"
        return
    many = counted(len(totals.people), "student")
    yield f'<p class="quiet">{many}, {counted(len(totals.labs), "graded lab")}</p>'
    if totals.ungraded:
        later = ", ".join(f"“{titles[lab]}”" for lab in totals.ungraded)
        yield f"<p>Not graded yet, and in no total: {escape(later)}.</p>"
    yield "<section><h2>Labs</h2>"
    header = ("lab", "due", "weight", "handed in", "late", "mean", "late penalties")
    everybody = len(totals.people)
    rows = [_lab_row(lab, titles, zone, everybody, least) for lab in totals.labs]
    yield as_table(header, rows) + "</section>"
    known = [share for p in totals.people if (share := totals.percent(p.id)) is not None]
    yield "<section><h2>Totals</h2>"
    yield (
        "<p>A lab counts with its weight once it is handed in or its due time has passed; what was"
        " not handed in by then counts as no points. Late penalties are taken off.</p>"
    )
    if not known:
        yield "<p>Nothing counts for anybody yet.</p>"
    elif len(known) < least:
        yield f"<p>Something counts for fewer than {least} students yet: too few to show.</p>"
    elif names:  # the least and the most are one student's each
        between = f"from {min(known):.1f}% to {max(known):.1f}%"
        yield f"<p>The median is {st.median(known):.1f}%; totals range {between}.</p>"
    else:
        yield f"<p>The median is {st.median(known):.1f}%.</p>"
    if names:
        yield from _students(totals, titles)
    yield "</section>"


def _ideas(ideas: Mapping[str, Sequence[IdeaInLab]], *, names: bool) -> Iterator[str]:
    """What came back. Without names it is for the lecture: no group of fewer than five is shown."""
    if not ideas:
        return
    yield "<section><h2>Misconceptions that come back</h2>"
    yield "<p>A later lab asks an earlier misconception again, in another dress.</p>"
    for chart in idea_charts(ideas, least=0 if names else SMALLEST):
        yield f"<h3>{escape(chart.title)}</h3><p>{escape(chart.finding)}</p>{figure(chart)}"
    if names:
        header = ("misconception", "lab", "left with it", "had it again", "gave it up")
        rows = [
            (idea, each.title, *(", ".join(of) for of in (each.kept, each.regained, each.lost)))
            for idea, labs in ideas.items()
            for each in labs
        ]
        yield as_table(header, rows)
    else:
        yield '<p class="quiet">Groups of fewer than five students are shown together.</p>'
    yield "</section>"


def _lab_row(
    lab: LabGrades, titles: Mapping[str, str], zone: tzinfo, everybody: int, least: int
) -> tuple[str, ...]:
    """What a lab counts and how it went, without groups of fewer than ``least`` students."""
    standings = list(lab.standings.values())
    late = sum(each.seconds_late > 0 for each in standings)
    shares = [each.total / lab.most for each in standings] if lab.most else []
    mean = st.mean(shares) if len(standings) >= least else None
    penalties = [each.penalty for each in standings if each.penalty]
    handed_in = _group(len(standings), everybody, least)
    # Where it is not shown how many that are, those in time and those missing are one group.
    known = len(standings) if handed_in == f"{len(standings):,}" else everybody - least
    return (
        titles[lab.name],
        long_time(lab.dates.due, zone) if lab.dates.due else "–",
        f"{lab.weight:g}",
        handed_in,
        _group(late, known, least),
        "–" if mean is None else f"{mean:.0%}",
        f"−{sum(penalties):g} points" if penalties and len(penalties) >= least else "",
    )


def _group(count: int, of: int, least: int) -> str:
    """Write how many there are, or words where they or the others are few.

    Examples
    --------
    >>> [_group(count, 80, 5) for count in (0, 3, 40, 78, 80)], _group(3, 80, 0)
    (['0', 'fewer than 5', '40', 'nearly all', '80'], '3')
    """
    if 0 < count < least:
        return f"fewer than {least}"
    few_others = count and count != of and of - count < least
    return "nearly all" if few_others else f"{count:,}"


def _students(totals: CourseTotals, titles: Mapping[str, str]) -> Iterator[str]:
    header = ("student", "section", *(titles[lab.name] for lab in totals.labs), "total")
    rows = []
    for each in totals.people:
        cells = []
        for lab in totals.labs:
            standing = lab.standings.get(each.id)
            if standing is None:
                cells.append("missing" if lab.name in totals.counts[each.id] else "")
                continue
            late = f", {in_words(standing.seconds_late)} late" if standing.seconds_late else ""
            cost = f" (−{standing.penalty:g})" if standing.penalty else ""
            cells.append(f"{standing.total:g} of {lab.most:g}{late}{cost}")
        share = totals.percent(each.id)
        total = "–" if share is None else f"{share:.1f}%"
        rows.append((each.id, totals.sections.get(each.id, ""), *cells, total))
    yield as_table(header, rows)
