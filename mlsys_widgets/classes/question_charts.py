"""The charts of what `QuestionStatistics` says: difficulty, fifths, attempts, beliefs, time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.question_statistics import Region, differing
from mlsys_widgets.classes.statistics import Estimate
from mlsys_widgets.classes.summary import ClassSummary, QuestionSummary
from mlsys_widgets.drawing.charts import Bar, Chart
from mlsys_widgets.wording.plurals import counted

#: How many changes of beliefs one chart shows.
_MOST_CHANGES: Final = 12
_FIFTHS: Final = ("weakest fifth", "second", "middle", "fourth", "strongest fifth")
#: Hours before the due time, and what each span is called.
_SPANS: Final = ((72.0, "3 days or more"), (24.0, "1 to 3 days"), (6.0, "6 to 24 hours"),
                 (0.0, "under 6 hours"))  # fmt: skip


def difficulty(summary: ClassSummary) -> Iterator[Chart]:
    """How hard each question is, each member of a pool, and each part of a drawn number."""
    asked = [(each, found) for each in judged(summary) if (found := right_share(each))]
    if not asked:
        return
    asked.sort(key=lambda pair: pair[1].value)
    bars = tuple(_share_bar(each.title, found) for each, found in asked)
    finding = f"How many of those who answered have it right. {_members(asked)}".strip()
    yield Chart("difficulty", "From hard to easy", finding, bars, percent=True)
    apart, comparisons = differing((each.title, each.statistics.regions) for each, _ in asked)
    if comparisons:
        bars = tuple(_region_bar(title, each) for title, *two in apart for each in two)
        finding = (
            "Harder with some numbers than with others:"
            f" {', '.join(dict.fromkeys(title for title, *_ in apart))}. All"
            f" {counted(comparisons, 'comparison')} together err in 5% of classes."
            if apart
            else "No question is harder with some numbers than with others, as far as this class"
            f" can tell ({counted(comparisons, 'comparison')})."
        )
        yield Chart("numbers", "Drawn numbers", finding, bars, percent=True)


def fifths(summary: ClassSummary) -> Iterator[Chart]:
    """How many of each fifth of the class have a question right, a chart per question."""
    for each in judged(summary):
        if not each.statistics.fifths:
            continue
        shares = [st.share(*pair) for pair in each.statistics.fifths]
        bars = tuple(
            Bar(words, ((f.value, "blue"),), f"{f.value:.0%}", reach=(f.low, f.high))
            if f
            else Bar(words, ())
            for words, f in zip(_FIFTHS, shares, strict=True)
        )
        r = each.statistics.discrimination
        finding = "Students are ranked by what they earned of everything else."
        if r:
            finding += f" r {signed(r.value)}, between {signed(r.low)} and {signed(r.high)}."
        yield Chart(
            f"fifths:{each.name}", each.title, finding, bars, columns=True, measure="right",
            percent=True,
        )  # fmt: skip


def attempts(summary: ClassSummary) -> Iterator[Chart]:
    """Who was right at once, after a change, and only at the second chance."""
    asked = [each for each in judged(summary) if each.answered and not each.waiting]
    if not asked or not any(each.statistics.first for each in asked):
        return
    rows = []
    for each in asked:
        found = each.statistics
        shown = parts((found.at_first, "green"), (found.in_the_end, "blue"),
                      (found.by_second, "purple"), (found.never, "gray"))  # fmt: skip
        words = f"{found.at_first:,} at once, {found.in_the_end:,} after a change"
        if found.second:
            words += f", {found.by_second:,} of {found.second.count:,} at the second chance"
        rows.append(Bar(each.title, shown, words))
    gains = [(e.title, e.statistics.gain) for e in asked if e.statistics.gain]
    finding = "When students had it right, as far as their ledgers tell."
    if gains:
        title, best = max(gains, key=lambda pair: pair[1].value)
        finding += f" The second chance added most in “{title}”: {best.value:.0%} of its points"
        finding += f" for those who took it (between {max(best.low, 0):.0%} and {best.high:.0%})."
    legend = used(rows, (("green", "at once"), ("blue", "after a change"),
                         ("purple", "at the second chance"), ("gray", "not")))  # fmt: skip
    most = float(max(each.answered for each in asked))
    yield Chart("attempts", "First, last and second answers", finding, tuple(rows), most=most,
                legend=legend)  # fmt: skip


def belief_changes(summary: ClassSummary) -> Iterator[Chart]:
    """Which beliefs were given up between the first answer and the last, and which taken up."""
    found = [(each, of) for of in summary.questions for each in of.statistics.changes]
    if not any(each.lost or each.gained for each, _ in found):
        return
    found.sort(key=lambda pair: -(pair[0].kept + pair[0].lost + pair[0].gained))
    shown = found[:_MOST_CHANGES]
    bars = tuple(
        Bar(
            f"{each.belief} ({of.title})",
            parts((each.kept, "red"), (each.gained, "orange"), (each.lost, "green")),
            f"{each.kept:,} kept, {each.gained:,} took it up, {each.lost:,} gave it up",
        )
        for each, of in shown
    )  # fmt: skip
    most = max(each.kept + each.gained + each.lost for each, _ in shown)
    lost, gained = (sum(getattr(e, what) for e, _ in found) for what in ("lost", "gained"))
    finding = (
        f"Between their first answer and their last, students gave a belief up {lost:,} times, and"
        f" took one up {gained:,} times."
    )
    legend = (("red", "kept"), ("orange", "took it up"), ("green", "gave it up"))
    yield Chart("changes", "Beliefs before and after", finding, bars, most=float(most),
                legend=legend)  # fmt: skip


def question_minutes(summary: ClassSummary) -> Iterator[Chart]:
    """How long the answers of each question took."""
    found = [(e.title, m) for e in judged(summary) if (m := e.statistics.minutes)]
    if not found:
        return
    bars = tuple(
        Bar(title, ((m.value, "blue"),), f"{m.value:.1f} min ({m.low:.1f}–{m.high:.1f})",
            reach=(m.low, m.high))
        for title, m in found
    )  # fmt: skip
    finding = (
        "The median of the minutes between an answer and whatever was recorded before it. Reading"
        " ahead counts for the question that is answered next, and pauses of more than ten minutes"
        " for none."
    )
    most = max(m.high for _, m in found) or 1.0
    yield Chart("minutes", "Minutes per question", finding, bars, most=most)


def pace(summary: ClassSummary) -> Iterator[Chart]:
    """When students had half of their answers, before the due time."""
    left = [row.half_done for row in summary.rows if row.half_done is not None]
    if not left:
        return
    names = [*(words for _, words in _SPANS), "after it"]
    spans = [next((w for low, w in _SPANS if hours >= low), names[-1]) for hours in left]
    bars = tuple(
        Bar(name, parts((n := spans.count(name), "blue")), f"{n:,}" if n else "") for name in names
    )
    last = sum(hours < 24 for hours in left)
    finding = (
        f"{last:,} of {counted(len(left), 'student')} had half of their answers less than a day"
        " before the lab was due, or later."
    )
    yield Chart("pace", "When the work was done", finding, bars, columns=True,
                across="before the due time", measure="students",
                most=float(max(map(spans.count, names))))  # fmt: skip


def parts(*counts: tuple[int, str]) -> tuple[tuple[float, str], ...]:
    """The parts of a bar, each with its tone; those without anybody are left out."""
    return tuple((float(count), tone) for count, tone in counts if count)


def used(bars: Iterable[Bar], legend: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The lines of a legend whose tones the bars have."""
    tones = {tone for bar in bars for _, tone in bar.parts}
    return tuple((tone, words) for tone, words in legend if tone in tones)


def judged(summary: ClassSummary) -> Sequence[QuestionSummary]:
    """The questions that are right or wrong."""
    return [each for each in summary.questions if each.kind in ("number", "choice", "code")]


def right_share(question: QuestionSummary) -> Estimate | None:
    """How many of those who answered were right when they handed in."""
    return _at(question, st.NORMAL)


def _members(asked: Sequence[tuple[QuestionSummary, Estimate]]) -> str:
    """Say which questions of a pool differ in difficulty, all pairs of all pools together."""
    pairs = [
        (one, other)
        for one, other in combinations([each for each, _ in asked], 2)
        if one.item and one.item == other.item
    ]
    if not pairs:
        return ""
    z, said = st.at_level(len(pairs)), []
    for one, other in pairs:
        hard, easy = (_at(each, z) for each in (one, other))
        if hard and easy and st.shares_differ(hard, easy):
            said.append(f"“{one.title}” is harder than “{other.title}”")
    return (
        f"Not the same in a pool: {'; '.join(said)}."
        if said
        else "Questions of a pool are equally hard, as far as this class can tell."
    )


def _at(question: QuestionSummary, z: float) -> Estimate | None:
    found = question.statistics
    right = found.at_first + found.in_the_end
    return st.share(right, right + found.by_second + found.never, z)


def _region_bar(title: str, region: Region) -> Bar:
    span = f"{region.low:g}" if region.low == region.high else f"{region.low:g}–{region.high:g}"
    found = region.share
    assert found is not None
    return _share_bar(f"{title}: {region.parameter} {span}", found)


def _share_bar(label: str, found: Estimate) -> Bar:
    note = f"{found.value:.0%} of {found.count:,} ({found.low:.0%}–{found.high:.0%})"
    return Bar(label, ((found.value, "blue"),), note, reach=(found.low, found.high))


def signed(value: float) -> str:
    """A correlation with a true minus sign, as wide as a plus."""
    return f"{value:+.2f}".replace("-", "−")
