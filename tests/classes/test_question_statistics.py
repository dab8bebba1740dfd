"""The statistics of a question, against a class whose truth is known.

An interval of 95% must hold the truth in 95 of 100 classes. With 300 classes, chance alone gives
less than 92% in one of 200 cases, and the seeds are fixed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.question_statistics import (
    BeliefChange,
    Judged,
    QuestionStatistics,
    Response,
    SecondTry,
    differing,
)
from mlsys_widgets.classes.statistics import Estimate
from tests.classes.known_class import BELIEF, SHARE, KnownClass, KnownQuestion, truth

CLASSES = 300
#: The least and the most that may hold the truth; Wilson's and the ranks' are cautious.
LEAST, MOST = 0.92, 0.995
MEASURES = ("mean_at_hand_in", "discrimination", "first", "last", "second", "gain", "minutes")


@pytest.fixture(scope="module")
def known() -> KnownQuestion:
    return KnownQuestion(0.3)


@pytest.fixture(scope="module")
def endless(known: KnownQuestion) -> QuestionStatistics:
    return truth(known)


@pytest.fixture(scope="module")
def classes(known: KnownQuestion) -> Sequence[QuestionStatistics]:
    return [KnownClass(known, 60, seed).statistics() for seed in range(CLASSES)]


@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_hold_the_truth_as_often_as_they_say(
    measure: str, endless: QuestionStatistics, classes: Sequence[QuestionStatistics]
) -> None:
    true: Estimate = getattr(endless, measure)
    found: list[Estimate] = [e for each in classes if (e := getattr(each, measure))]
    assert len(found) > 0.95 * CLASSES
    held = sum(each.low <= true.value <= each.high for each in found) / len(found)
    assert LEAST <= held <= MOST
    # An interval that is always wide holds everything: twice its width must miss nothing more.
    average = sum(each.value for each in found) / len(found)
    assert average == pytest.approx(true.value, abs=0.15 * (found[0].high - found[0].low))


def test_what_was_put_in_comes_out(known: KnownQuestion, endless: QuestionStatistics) -> None:
    """The truth itself is what the simulation was told, not only what the statistics repeat."""
    assert endless.second is not None
    assert endless.second.value == pytest.approx(known.learns, abs=0.01)
    assert endless.gain is not None
    assert endless.gain.value == pytest.approx(SHARE * known.learns, abs=0.01)
    assert endless.minutes is not None
    assert endless.minutes.value == pytest.approx(math.exp(known.minutes), rel=0.02)
    assert endless.first is not None
    assert endless.last is not None
    wrong = 1 - endless.first.value
    assert endless.last.value - endless.first.value == pytest.approx(
        wrong * known.gives_up, abs=0.01
    )
    (change,) = endless.changes
    held = change.kept + change.lost
    given_up = known.gives_up + (1 - known.gives_up) * known.takes * known.learns
    assert change.belief == BELIEF
    assert change.gained == 0
    assert change.lost / held == pytest.approx(given_up, abs=0.015)


def test_fifths_rise_with_ability_and_hold_the_truth(
    endless: QuestionStatistics, classes: Sequence[QuestionStatistics]
) -> None:
    true = [right / count for right, count in endless.fifths]
    assert true == sorted(true)
    assert true[-1] > true[0] + 0.3
    for k, value in enumerate(true):
        found = [e for each in classes if (e := st.share(*each.fifths[k]))]
        held = sum(each.low <= value <= each.high for each in found) / len(found)
        # Ranks in a small class blur the fifths, so a few more miss.
        assert held >= 0.9


def test_a_number_that_makes_it_harder_is_found_and_others_are_not() -> None:
    seeds = range(200)
    same = KnownQuestion(0.0)
    hard = replace(same, harder=3.5)
    false = sum(_differs([KnownClass(same, 90, seed) for seed in _of(seed)]) for seed in seeds)
    assert false / len(seeds) <= 0.08
    for seed in range(10):
        several = [KnownClass(q, 240, s) for q, s in zip((hard, same), _of(seed)[:2], strict=True)]
        found, comparisons = differing(
            (str(k), each.statistics().regions) for k, each in enumerate(several)
        )
        assert comparisons == 6
        assert [(name, worst.name) for name, worst, _ in found] == [("0", "high")]


def test_the_difficulty_of_drawn_numbers_is_held_as_often_as_the_intervals_say() -> None:
    hard = KnownQuestion(0.0, harder=1.5)
    parts = [r.right / r.count for r in truth(hard, 20_000).regions]
    assert parts[2] < parts[0] - 0.2
    classes = [KnownClass(hard, 90, seed).statistics().regions for seed in range(150)]
    for k, true in enumerate(parts):
        found = [e for regions in classes if (e := regions[k].share)]
        held = sum(each.low <= true <= each.high for each in found) / len(found)
        # Where a class is cut into thirds varies, so a few more miss.
        assert 0.9 <= held <= MOST, (k, held)


def _of(seed: int) -> list[int]:
    return [10 * seed + k for k in range(3)]


def _differs(several: Sequence[KnownClass]) -> bool:
    found, _ = differing((str(k), each.statistics().regions) for k, each in enumerate(several))
    return bool(found)


def test_equal_numbers_stay_in_one_part() -> None:
    def drawn(number: float) -> Response:
        return Response(Judged(1.0), numbers={"side": number})

    assert QuestionStatistics.of([drawn(8)] * 9).regions == ()
    found = QuestionStatistics.of([drawn(n) for n in (1, 1, 1, 2, 3, 3)]).regions
    assert [(e.low, e.high, e.count) for e in found] == [(1, 1, 3), (2, 2, 1), (3, 3, 2)]


def test_blanks_are_in_no_number_and_few_students_have_none() -> None:
    nobody = QuestionStatistics.of([])
    assert nobody == QuestionStatistics()
    few = QuestionStatistics.of([Response(Judged(1.0), rest=0.5, minutes=3.0)] * 4)
    assert (few.mean_at_hand_in, few.spread, few.discrimination, few.fifths, few.minutes) == (
        None, None, None, (), None,
    )  # fmt: skip
    assert few.first is None
    assert few.at_first == 4


def test_a_second_chance_counts_with_its_share_and_never_harms() -> None:
    missed = Judged(0.4, "half")
    better = Response(missed, missed, SecondTry(Judged(1.0), 0.9))
    worse = Response(missed, missed, SecondTry(Judged(0.3, "half"), 0.9))
    assert better.gain == pytest.approx(0.5)
    assert worse.gain == 0
    found = QuestionStatistics.of([better, worse])
    assert (found.at_first, found.in_the_end, found.by_second, found.never) == (0, 0, 1, 1)
    assert found.changes == (BeliefChange("half", kept=1, lost=1, gained=0),)


def test_statistics_agree_with_textbooks() -> None:
    wilson = st.share(15, 20)
    assert wilson is not None
    assert (wilson.low, wilson.high) == pytest.approx((0.5313, 0.8881), abs=1e-4)
    # Nine values with those added, of which five are 1: 5/9 ± 2.306 · 0.527 / 3.
    mean = st.average([1.0, 1.0, 1.0, 0.0, 0.0])
    assert mean is not None
    assert (mean.value, mean.low, mean.high) == pytest.approx((0.6, 0.1505, 0.9606), abs=1e-3)
    assert st.average([1.0] * 5) != Estimate(1.0, 1.0, 1.0, 5)
    # The exact ranks for ten values: the second and the ninth hold 97.9 %.
    ranks = st.middle([float(k) for k in range(1, 11)])
    assert ranks == Estimate(5.5, 2.0, 9.0, 10)
    assert st.middle([1.0] * 5) is None
    assert st.at_level(1) == pytest.approx(1.96, abs=1e-3)
    assert st.at_level(10) == pytest.approx(2.807, abs=1e-3)


def test_equal_scores_share_a_fifth() -> None:
    chance = random.Random(4)
    values = [float(chance.randint(0, 6)) for _ in range(100)]
    placed = dict(zip(values, st.fifths(values), strict=True))
    assert all(placed[v] == k for v, k in zip(values, st.fifths(values), strict=True))
    ranked = [placed[v] for v in sorted(placed)]
    assert ranked == sorted(ranked)
