"""Misconceptions that come back: which ideas students held, lost and regained over the labs.

A belief of ``checks.py`` may name an idea that labs share. Whoever answers a question with such a
belief either holds the idea or does not; a later lab asks it again in another dress.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.classes.question_charts import parts, used
from mlsys_widgets.classes.summary import ClassSummary
from mlsys_widgets.drawing.charts import Bar, Chart
from mlsys_widgets.wording.plurals import counted

#: No smaller group of students is shown outside the staff.
SMALLEST: Final = 5
#: How somebody leaves a lab, its tone, and what the legend calls it.
_STATES: Final = (
    ("kept", "red", "hold it"),
    ("regained", "orange", "have it again"),
    ("lost", "green", "gave it up"),
    ("free", "gray", "never held it here"),
)
#: For each idea that somebody was asked about in a lab: whether they held it before and after.
Held = Mapping[str, tuple[bool, bool]]


@dataclass(frozen=True)
class IdeaInLab:
    """An idea in one lab: who of those that it asked came in and left with it.

    Parameters
    ----------
    free
        Who did not hold it, in this lab or as the last one left them.
    lost
        Who held it, in their first answer here or when they left an earlier lab, and left without.
    kept
        Who held it, and left with it.
    regained
        Who had left an earlier lab without it after holding it, and left this one with it.
    """

    lab: str
    title: str
    free: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    regained: tuple[str, ...] = ()

    @property
    def asked(self) -> int:
        """How many were asked."""
        return len(self.free) + len(self.lost) + len(self.kept) + len(self.regained)


def ideas_over_labs(
    labs: Sequence[tuple[str, str, Mapping[str, Held]]],
) -> dict[str, tuple[IdeaInLab, ...]]:
    """Follow each idea that more than one lab asks.

    Parameters
    ----------
    labs
        In order: the name and title of a lab, and what each student held in it.

    Examples
    --------
    Ann gives an idea up in the first lab and has it again in the second:

    >>> one = ("lab_01", "One", {"ann": {"sparse": (True, False)}, "ben": {"sparse": (True, True)}})
    >>> held = {"ann": {"sparse": (True, True)}, "ben": {"sparse": (False, False)}}
    >>> two = ("lab_02", "Two", held)
    >>> first, second = ideas_over_labs([one, two])["sparse"]
    >>> first.lost, first.kept, second.regained, second.lost
    (('ann',), ('ben',), ('ann',), ('ben',))
    """
    found: dict[str, list[IdeaInLab]] = {}
    # Whether somebody left the last lab that asked an idea with it, and whether they ever held it.
    left: dict[tuple[str, str], bool] = {}
    ever: set[tuple[str, str]] = set()
    for lab, title, students in labs:
        groups: dict[str, dict[str, list[str]]] = {}
        for student, held in sorted(students.items()):
            for idea, (before, after) in held.items():
                who = student, idea
                had = before or after or left.get(who, False)
                back = after and who in ever and not left.get(who, False)
                state = "regained" if back else "kept" if after else "lost" if had else "free"
                groups.setdefault(idea, {}).setdefault(state, []).append(student)
                left[who] = after
                if had:
                    ever.add(who)
        for idea, states in groups.items():
            these = {state: tuple(names) for state, names in states.items()}
            found.setdefault(idea, []).append(IdeaInLab(lab, title, **these))
    return {idea: tuple(of) for idea, of in sorted(found.items()) if len(of) > 1}


def idea_charts(found: Mapping[str, Sequence[IdeaInLab]], least: int = 0) -> list[Chart]:
    """One picture per idea, a bar per lab; groups of fewer than ``least`` students are merged."""
    return [_chart(idea, of, least) for idea, of in found.items()]


def merged(counts: Sequence[int], least: int) -> tuple[list[int], int]:
    """Return the counts without small ones, which are 0 then, and how many were merged.

    If those that are merged are few still, the next smallest group joins them: nobody can subtract
    what is shown from the whole.

    Examples
    --------
    >>> merged([20, 3, 0, 9], 5), merged([20, 3, 2, 9], 5), merged([20, 9, 0, 6], 5)
    (([20, 0, 0, 0], 12), ([20, 0, 0, 9], 5), ([20, 9, 0, 6], 0))
    """
    shown, together = list(counts), 0
    for place in sorted(range(len(shown)), key=lambda k: shown[k]):
        if 0 < shown[place] < least or 0 < together < least:
            together, shown[place] = together + shown[place], 0
    return shown, together


def _chart(idea: str, of: Sequence[IdeaInLab], least: int) -> Chart:
    bars, back = [], 0
    for each in of:
        counts = [len(getattr(each, state)) for state, *_ in _STATES]
        shown, together = merged(counts, least)
        if 0 < together < least:  # everybody
            bars.append(Bar(each.title, (), f"fewer than {least} students"))
            continue
        counted_in = zip(shown, (tone for _, tone, _ in _STATES), strict=True)
        notes = [f"{n:,} {words}" for n, (*_, words) in zip(shown, _STATES, strict=True) if n]
        if together:
            notes.append(f"{together:,} in smaller groups")
        back += shown[1]
        bars.append(Bar(each.title, parts(*counted_in, (together, "blue")), ", ".join(notes)))
    finding = f"{counted(back, 'student')} had it again after giving it up."
    if least and not back:
        finding = f"Fewer than {least} had it again after giving it up, in each lab."
    tones = (*((tone, words) for _, tone, words in _STATES), ("blue", "smaller groups"))
    most = float(max(each.asked for each in of))
    return Chart(f"idea:{idea}", f"“{idea}”", finding, tuple(bars), most=most,
                 legend=used(bars, tones))  # fmt: skip


def idea_rows(found: Mapping[str, Sequence[IdeaInLab]]) -> Iterable[Sequence[str]]:
    """A line per idea, lab and state, for a table."""
    for idea, of in found.items():
        for each in of:
            for state in ("kept", "regained", "lost", "free"):
                names = getattr(each, state)
                yield idea, each.lab, state, str(len(names)), str(each.asked), "; ".join(names)


def held_in(summary: ClassSummary) -> Mapping[str, Held]:
    """What each student held in a lab; the summary must name them."""
    return {row.student: row.ideas for row in summary.rows if row.student and row.ideas}
