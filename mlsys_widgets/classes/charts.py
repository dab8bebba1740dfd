"""The pictures of a class, described once as bars: the page and the widget both follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mlsys_widgets.classes import statistics as st

if TYPE_CHECKING:
    from mlsys_widgets.classes.summary import (
        Calibration,
        ClassSummary,
        Guess,
        Held,
        Question,
    )

#: Right, partly right, wrong, left out, waiting for a person.
_TONES: Final = {
    "right": "green",
    "partly": "orange",
    "wrong": "red",
    "blank": "grey",
    "waiting": "purple",
}
_LEGEND: Final = tuple(
    (tone, words)
    for tone, words in zip(
        _TONES.values(),
        ("all points", "some", "none", "left out", "waits for a person"),
        strict=True,
    )
)
_BINS: Final = 10
#: How many beliefs are shown together.
_MOST_HELD: Final = 12


@dataclass(frozen=True)
class Bar:
    """One bar.

    Parameters
    ----------
    words
        What it stands for.
    parts
        Length and tone of each of its pieces.
    note
        What is written at its end.
    says
        A sentence about it.
    """

    words: str
    parts: tuple[tuple[float, str], ...]
    note: str = ""
    says: str = ""

    @property
    def length(self) -> float:
        """Of all pieces together."""
        return sum(length for length, _ in self.parts)


@dataclass(frozen=True)
class Chart:
    """A picture.

    Parameters
    ----------
    key, title
        Its name among others, for machines and for people.
    says
        What is to be seen, in words.
    bars
        The bars, in order.
    columns
        Whether they stand side by side, as in a histogram; otherwise they lie below each other.
    across, measure
        What the bars stand for, and what their length is.
    most
        The length of the longest bar there could be.
    legend
        Tone and meaning.
    """

    key: str
    title: str
    says: str
    bars: tuple[Bar, ...]
    columns: bool = False
    across: str = ""
    measure: str = "students"
    most: float = 1.0
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Group:
    """Pictures of one kind, of which one is looked at at a time."""

    key: str
    words: str
    charts: tuple[Chart, ...]


def pictures(summary: ClassSummary) -> tuple[Group, ...]:
    """Everything there is to see of a class; what there is nothing of is left out."""
    groups = (
        Group("scores", "Scores", tuple(_scores(summary))),
        Group("questions", "Questions", tuple(_overview(summary))),
        Group("beliefs", "Misconceptions", tuple(_beliefs(summary))),
        Group("predictions", "Predictions", tuple(_guesses(summary))),
        Group("confidence", "Confidence", tuple(_confidence(summary))),
        Group("time", "Time", tuple(_time(summary))),
        Group("question", "Each question", tuple(_each_question(summary))),
    )
    return tuple(group for group in groups if group.charts)


def people(count: int) -> str:
    """So many students, in words."""
    return "1 student" if count == 1 else f"{count:,} students"


def percent(part: float, whole: float) -> str:
    """A share in words; of nothing there is none."""
    return f"{part / whole:.0%}" if whole else "–"


def _scores(summary: ClassSummary) -> Iterator[Chart]:
    scores = summary.scores
    if not scores:
        return
    most = summary.most or 1.0
    edges = [most * k / _BINS for k in range(_BINS + 1)]
    counts = st.histogram(scores, edges)
    middle, average = st.median(scores), st.mean(scores)
    waiting = summary.waiting
    said = f"{people(len(scores))}, median {middle:.3g} and mean {average:.3g} of {most:g} points."
    if waiting:
        said += f" {waiting:,} wait for a person; what is not graded yet counts as nothing here."
    words = [f"{low:g}–{high:g}" for low, high in pairwise(edges)]
    yield _columns("scores", "How many points", said, words, counts, "points", "blue")


def _overview(summary: ClassSummary) -> Iterator[Chart]:
    asked = [each for each in summary.questions if each.count]
    if not asked:
        return
    known = [each for each in asked if each.mean is not None]
    hardest = min(known, key=lambda each: each.mean or 0.0, default=None)
    said = "No question is graded yet."
    if hardest is not None:
        easiest = max(known, key=lambda each: each.mean or 0.0)
        said = (
            f"Hardest: {hardest.title} ({hardest.mean or 0:.0%} of its points). Easiest:"
            f" {easiest.title} ({easiest.mean or 0:.0%})."
        )
    low = [e.title for e in asked if e.discrimination is not None and e.discrimination < 0.1]
    if low:
        said += f" Hardly goes with the rest of the lab: {', '.join(low)}."
    bars = tuple(
        Bar(
            each.title,
            tuple(
                (getattr(each, part), tone) for part, tone in _TONES.items() if getattr(each, part)
            ),
            _standing(each),
        )
        for each in asked
    )
    used = {tone for bar in bars for _, tone in bar.parts}
    legend = tuple(entry for entry in _LEGEND if entry[0] in used)
    most = float(max(each.count for each in asked))
    yield Chart("questions", "Question by question", said, bars, most=most, legend=legend)


def _standing(question: Question) -> str:
    said = "–" if question.mean is None else f"{question.mean:.0%}"
    if question.waiting:
        said = f"{question.waiting:,} wait"
    if question.discrimination is not None:
        # A true minus sign, as wide as a plus.
        said += f", r {question.discrimination:+.2f}".replace("-", "−")
    return said


def _beliefs(summary: ClassSummary) -> Iterator[Chart]:
    held = [(each, question) for question in summary.questions for each in question.held]
    if not held:
        return
    held.sort(key=lambda pair: -pair[0].count)
    first, question = held[0]
    whole = len(summary.rows)
    said = (
        f"Most often: “{first.belief}”, held by {people(first.count)}"
        f" ({percent(first.count, whole)}) in “{question.title}”."
    )
    bars = tuple(
        _held(each, whole, f"{each.belief} ({asked.title})") for each, asked in held[:_MOST_HELD]
    )
    yield Chart("beliefs", "What the class believes", said, bars, most=float(max(first.count, 1)))


def _held(held: Held, whole: int, words: str) -> Bar:
    note = f"{held.count:,} ({percent(held.count, whole)})"
    return Bar(words, ((float(held.count), "red"),), note, held.says)


def _each_question(summary: ClassSummary) -> Iterator[Chart]:
    for each in summary.questions:
        if each.kind not in ("number", "choice") or not each.count:
            continue
        known = sum(held.count for held in each.held)
        off = max(each.partly + each.wrong - known, 0)
        whole = each.count
        bars = [Bar("Right", ((float(each.right), "green"),), _of(each.right, whole))]
        bars += [_held(held, whole, held.belief) for held in each.held]
        others = "; ".join(f"{count} times about {times}" for times, count in each.unexplained)
        if off:
            says = f"Of these, {others} the key: perhaps a belief that is not known yet."
            note = _of(off, whole)
            bars.append(
                Bar("Something else", ((float(off), "orange"),), note, says if others else "")
            )
        if each.blank:
            bars.append(Bar("Left out", ((float(each.blank), "grey"),), _of(each.blank, whole)))
        said = f"{each.right:,} of {whole:,} have it right."
        if each.held:
            said += f" The most frequent mistake: “{each.held[0].belief}”."
        yield Chart(f"question:{each.name}", each.title, said, tuple(bars), most=float(whole))


def _of(count: int, whole: int) -> str:
    return f"{count:,} ({percent(count, whole)})"


def _guesses(summary: ClassSummary) -> Iterator[Chart]:
    return (_guess(each) for each in summary.guesses if each.count)


def _guess(guess: Guess) -> Chart:
    count = guess.count
    bars = tuple(
        Bar(
            each.words,
            tuple(
                part
                for part in (
                    (float(each.right), "green"),
                    (float(each.count - each.right), "purple" if guess.judged else "blue"),
                )
                if part[0]
            ),
            _of(each.count, count),
        )
        for each in guess.said
    )
    said = f"{people(count)} predicted."
    if guess.judged:
        said = (
            f"{guess.right:,} of {count:,} predicted what is true ({percent(guess.right, count)})."
        )
    legend = (("green", "true"), ("purple", "not true")) if guess.judged else ()
    most = float(count)
    return Chart(
        f"prediction:{guess.name}", guess.title, f"{guess.question} {said}", bars, most=most,
        legend=legend,
    )  # fmt: skip


def _confidence(summary: ClassSummary) -> Iterator[Chart]:
    for key, title, found in (
        ("predictions", "How sure, and how right: predictions", summary.predictions),
        ("quizzes", "How sure, and how right: quizzes", summary.quizzes),
    ):
        if found.count:
            yield _calibration(f"confidence:{key}", title, found)


def _calibration(key: str, title: str, found: Calibration) -> Chart:
    sure, of_sure = found.among(4, 5)
    unsure, of_unsure = found.among(1, 2)
    said = (
        f"Of those with a confidence of 4 or 5, {percent(of_sure, sure)} were right; of those with"
        f" 1 or 2, {percent(of_unsure, unsure)}. Sure and wrong: {sure - of_sure:,} of"
        f" {found.count:,}."
    )
    bars = tuple(
        Bar(
            str(each),
            ((right / count, "purple"),) if count else (),
            f"{right} of {count}" if count else "",
        )
        for each, (count, right) in found.counts.items()
    )
    return Chart(
        key, title, said, bars, columns=True, across="confidence, from a guess to certain",
        measure="right",
    )  # fmt: skip


def _time(summary: ClassSummary) -> Iterator[Chart]:
    minutes = summary.minutes
    if not minutes:
        return
    width = next(w for w in (5, 10, 20, 30, 60, 120) if max(minutes) / w <= 14 or w == 120)
    bins = max(1, min(int(max(minutes) // width) + 1, 14))
    counts = st.histogram(minutes, [width * k for k in range(bins + 1)])
    words = [f"{width * k}–{width * (k + 1)}" for k in range(bins)]
    without = len(summary.rows) - len(minutes)
    said = f"Median {st.median(minutes):.0f} minutes, by the events of the ledgers."
    if without:
        said += f" {people(without)} left no ledger that could be read."
    yield _columns("time", "Time on task", said, words, counts, "minutes", "blue")


def _columns(
    key: str,
    title: str,
    said: str,
    words: Sequence[str],
    counts: Sequence[int],
    across: str,
    tone: str,
) -> Chart:
    bars = tuple(
        Bar(word, ((float(count), tone),) if count else (), f"{count:,}" if count else "")
        for word, count in zip(words, counts, strict=True)
    )
    most = float(max(counts, default=0)) or 1.0
    return Chart(key, title, said, bars, columns=True, across=across, most=most)
