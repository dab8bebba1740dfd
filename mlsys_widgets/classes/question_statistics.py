"""What the answers of a class tell about one question, with the uncertainty of each number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.statistics import Estimate

_RIGHT: Final = 1 - 1e-9
#: Parts that drawn numbers are compared in, and what they are called.
_REGIONS: Final = ("low", "middle", "high")


@dataclass(frozen=True)
class Judged:
    """An answer that was judged: the fraction that it earns, and the belief that it stands for."""

    credit: float
    belief: str | None = None
    #: The idea that this belief is a case of, by the key that judged the answer. Another question
    #: of a pool may call its own belief otherwise.
    idea: str = ""

    @property
    def right(self) -> bool:
        """Whether it earns everything."""
        return self.credit >= _RIGHT


@dataclass(frozen=True)
class SecondTry:
    """A missed question that was answered again on new numbers, and the share that counts."""

    judged: Judged
    share: float
    #: The ideas that it asked about.
    ideas: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Response:
    """How one student answered a question, who did not leave it blank."""

    #: The answer that was handed in, and the first one; `None` where no ledger has it.
    last: Judged
    first: Judged | None = None
    second: SecondTry | None = None
    #: What the student earned of everything else, as a fraction; `None` if nothing else.
    rest: float | None = None
    minutes: float | None = None
    #: The drawn numbers that the question uses.
    numbers: Mapping[str, float] = field(default_factory=dict)
    #: The ideas that the question asked about, the first time.
    asked: frozenset[str] = frozenset()

    @property
    def before(self) -> Judged:
        """What the student answered first, as far as it is known."""
        return self.first or self.last

    @property
    def after(self) -> Judged:
        """What the student answered in the end."""
        return self.second.judged if self.second else self.last

    @property
    def ideas(self) -> dict[str, tuple[bool, bool]]:
        """Whether the student held each idea that was asked about, before and after."""
        second = self.second.ideas if self.second else frozenset()
        found = {}
        for idea in self.asked | second:
            # A second question that did not ask about it says nothing of it.
            after = self.after if idea in second else self.last
            found[idea] = (self.before.idea == idea, after.idea == idea)
        return found

    @property
    def gain(self) -> float:
        """What the second chance adds to the result, as a fraction of the points."""
        if self.second is None:
            return 0.0
        return max(self.second.share * self.second.judged.credit - self.last.credit, 0.0)


@dataclass(frozen=True)
class Region:
    """Those whose drawn number lies in one part of its range, and how many were right."""

    parameter: str
    name: str
    low: float
    high: float
    right: int
    count: int

    @property
    def share(self) -> Estimate | None:
        """How many were right."""
        return st.share(self.right, self.count)


@dataclass(frozen=True)
class BeliefChange:
    """How many held a belief in their first answer, in their last one, or in both."""

    belief: str
    kept: int
    lost: int
    gained: int


@dataclass(frozen=True)
class QuestionStatistics:
    """The numbers about a question. Whoever left it blank is in none of them.

    Shares are of students who are right, `mean_at_hand_in` and `gain` of the points.
    """

    #: The mean credit of the first hand-in that was judged, before any second chance, and its
    #: standard deviation.
    mean_at_hand_in: Estimate | None = None
    spread: float | None = None
    discrimination: Estimate | None = None
    #: How many of each fifth of the class were right, the weakest elsewhere first.
    fifths: tuple[tuple[int, int], ...] = ()
    first: Estimate | None = None
    last: Estimate | None = None
    #: Who took a second chance: how many, how many of them were right, and what it added.
    second: Estimate | None = None
    gain: Estimate | None = None
    minutes: Estimate | None = None
    regions: tuple[Region, ...] = ()
    changes: tuple[BeliefChange, ...] = ()
    #: How many were right at first, in the end, by the second chance only, and never.
    at_first: int = 0
    in_the_end: int = 0
    by_second: int = 0
    never: int = 0

    @classmethod
    def of(cls, responses: Sequence[Response]) -> QuestionStatistics:
        """Compute them all."""
        told = [each for each in responses if each.first is not None]
        again = [each for each in responses if each.second is not None]
        related = [(each.last.credit, each.rest) for each in responses if each.rest is not None]
        r = st.correlation([x for x, _ in related], [y for _, y in related])
        at_first = sum(each.last.right and each.before.right for each in responses)
        last = sum(each.last.right for each in responses)
        ever = sum(each.last.right or each.after.right for each in responses)
        earned = [each.last.credit for each in responses]
        return cls(
            st.average(earned),
            st.deviation(earned),
            None if r is None else st.related(r, len(related)),
            _fifths(responses),
            st.share(sum(each.before.right for each in told), len(told)),
            st.share(sum(each.last.right for each in told), len(told)),
            st.share(sum(each.after.right for each in again), len(again)),
            st.average([each.gain for each in again]),
            st.middle([each.minutes for each in responses if each.minutes is not None]),
            tuple(_regions(responses)),
            tuple(_changes(responses)),
            at_first,
            last - at_first,
            ever - last,
            len(responses) - ever,
        )


def differing(
    found: Iterable[tuple[str, Sequence[Region]]],
) -> tuple[list[tuple[str, Region, Region]], int]:
    """Return which questions are harder in one part of a drawn number than in another.

    All pairs of parts of all numbers are compared, and together they err in 5 % of classes.

    Returns
    -------
    differing, comparisons
        The question, its hardest part and its easiest; and how many pairs were compared.
    """
    groups: dict[tuple[str, str], list[Region]] = {}
    for name, regions in found:
        for each in regions:
            groups.setdefault((name, each.parameter), []).append(each)
    comparisons = sum(len(of) * (len(of) - 1) // 2 for of in groups.values())
    z, different = st.at_level(comparisons), []
    for (name, _), of in groups.items():
        ranked = sorted(of, key=lambda each: each.right / each.count)
        hard, easy = (st.share(each.right, each.count, z) for each in (ranked[0], ranked[-1]))
        if len(of) > 1 and hard and easy and st.shares_differ(hard, easy):
            different.append((name, ranked[0], ranked[-1]))
    return different, comparisons


def _fifths(responses: Sequence[Response]) -> tuple[tuple[int, int], ...]:
    """Count the right answers in each fifth of the class, by what was earned elsewhere."""
    known = [(each.rest, each.last.right) for each in responses if each.rest is not None]
    if len(known) < 5 * st.FEWEST:
        return ()
    right, count = Counter[int](), Counter[int]()
    for place, (_, good) in zip(st.fifths([rest for rest, _ in known]), known, strict=True):
        count[place] += 1
        right[place] += good
    return tuple((right[k], count[k]) for k in range(5))


def _regions(responses: Sequence[Response]) -> Iterator[Region]:
    """Split the class into thirds by each drawn number; equal numbers stay together."""
    for name in sorted({name for each in responses for name in each.numbers}):
        having = [each for each in responses if name in each.numbers]
        drawn = [(each.numbers[name], each.last.right) for each in having]
        values = sorted(value for value, _ in drawn)
        place = {v: min(int(3 * (values.index(v) + values.count(v) / 2) / len(values)), 2)
                 for v in set(values)}  # fmt: skip
        if len(set(place.values())) < 2:
            continue
        for k, words in enumerate(_REGIONS):
            of = [(value, good) for value, good in drawn if place[value] == k]
            if of:
                numbers = [value for value, _ in of]
                right = sum(good for _, good in of)
                yield Region(name, words, min(numbers), max(numbers), right, len(of))


def _changes(responses: Sequence[Response]) -> Iterator[BeliefChange]:
    """Count who kept, lost or gained each belief, the most frequent first."""
    kept, lost, gained = Counter[str](), Counter[str](), Counter[str]()
    for each in responses:
        before, after = each.before.belief, each.after.belief
        idea = each.before.idea
        if before and (before == after or (idea and idea == each.after.idea)):
            kept[before] += 1
            continue
        if before:
            lost[before] += 1
        if after:
            gained[after] += 1
    everything = kept + lost + gained
    for belief, _ in everything.most_common():
        yield BeliefChange(belief, kept[belief], lost[belief], gained[belief])
