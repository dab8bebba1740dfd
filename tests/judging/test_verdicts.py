"""What was typed, as plain data, and what it earns."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.judging import Belief, ChoiceKey, NumberKey, judge
from mlsys_widgets.labs import UnusableAnswer, plain
from mlsys_widgets.physics import devices


class Liar(float):
    """Is 1, and says that it is whatever is wanted."""

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__

    def __float__(self):
        return 42.0

    def __add__(self, other):
        return 42.0

    __radd__ = __sub__ = __rsub__ = __add__

    def __abs__(self):
        return 0.0

    def __le__(self, other):
        return True

    __lt__ = __ge__ = __gt__ = __le__

    def __repr__(self):
        return "42.0"


class LyingInt(int):
    def __add__(self, other):
        return 42

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__
    __index__ = __int__ = __radd__ = lambda self, *_: 42


class Word(str):
    def strip(self, *_):
        return "memory"

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Pretender:
    """No number at all, with everything that a number has."""

    __class__ = float

    def __float__(self):
        return 42.0

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


KEY = NumberKey(
    42.0,
    tolerance=0.02,
    beliefs=[
        Belief("half", 21.0, credit=0.5, says="Half of it."),
        Belief("near half", 21.5, credit=0.25, says="Nearly half of it."),
        Belief("negative", -42.0, credit=0.1, says="The sign."),
    ],
    says="Well done.",
)
CHOICE = ChoiceKey(
    "memory", beliefs=[Belief("arithmetic", "compute", credit=0.1, says="Look at the ridge.")]
)


@given(st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans() | st.none())
def test_plain_values_stay_what_they_are(value):
    assert plain(value) is value


@given(st.floats(allow_nan=False, width=32))
def test_numpy_numbers_become_pythons(value):
    for kind in (np.float32, np.float64):
        assert type(plain(kind(value))) is float
        assert plain(kind(value)) == value
    assert type(plain(np.int64(7))) is int


def test_numbers_of_physics_become_plain():
    ridge = devices["a100-sxm"].ridge()
    assert type(plain(ridge)) is float
    assert plain(ridge) == 156


def test_no_value_can_say_that_it_is_another():
    assert plain(Liar(1.0)).hex() == (1.0).hex()
    assert type(plain(LyingInt(1))) is int
    assert plain(LyingInt(1)) + 0 == 1
    assert judge(KEY, Liar(1.0)).credit == 0
    assert judge(KEY, LyingInt(1)).credit == 0


@pytest.mark.parametrize(
    "value",
    [[42], (42,), {"a": 1}, Decimal(42), Fraction(42), 42j, np.array([42.0]), object(), Pretender(),
     b"42", lambda: 42, Word("compute"), np.bool_(True), np.str_("memory"), np.longdouble(42)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_plain_value_is_never_right(value):
    """Refused with its kind, or judged by what it is and not by what it says."""
    if isinstance(value, np.longdouble):
        assert type(plain(value)) is float
        return
    with pytest.raises(UnusableAnswer, match=type(value).__name__) as told:
        plain(value)
    assert judge(KEY, value).says == f"Not usable: {told.value}."
    assert judge(CHOICE, value).credit == 0


def test_a_word_cannot_strip_itself_into_another():
    assert judge(CHOICE, Word("compute")).credit < 1
    with pytest.raises(UnusableAnswer, match="Word"):
        plain(Word("compute"))


@pytest.mark.parametrize("typed", ["memory", " Memory ", "MEMORY\n"])
def test_a_choice_may_have_capitals_and_spaces(typed):
    assert judge(CHOICE, typed).right


@pytest.mark.parametrize("typed", ["mem", "", 1, "the memory", True, "memory."])
def test_other_words_are_no_choice(typed):
    assert judge(CHOICE, typed).says == "That is not one of the options."


@pytest.mark.parametrize(
    ("answer", "credit", "belief"),
    [
        (42, 1, None), (42.84, 1, None), (41.16, 1, None), (42.85, 0, None), (41.15, 0, None),
        (21, 0.5, "half"), (21.2, 0.5, "half"), (21.3, 0.25, "near half"), (20.58, 0.5, "half"),
        (20.5, 0, None), (21.93, 0.25, "near half"), (-42, 0.1, "negative"), (0, 0, None),
        (..., 0, None), ("42", 0, None), (True, 0, None), (math.nan, 0, None), (10**400, 0, None),
    ],
)  # fmt: skip
def test_numbers_are_judged_by_key_then_nearest_belief(answer, credit, belief):
    verdict = judge(KEY, answer)
    assert (verdict.credit, verdict.belief) == (credit, belief)
    assert verdict.right == (credit == 1)
    assert verdict.says.endswith(".")


def test_the_key_comes_first_where_a_belief_reaches_as_far():
    near = NumberKey(100, 0.05, [Belief("near", 104, credit=0.2, says="No.")], says="Yes.")
    assert judge(near, 104).says == "Yes."
    assert judge(near, 106).says == "No."


def test_unknown_mistakes_say_on_which_side():
    assert judge(KEY, 1000).says == (
        "Not right: it is too high, and no mistake that we know leads there."
    )
    assert "too low" in judge(KEY, 1).says
