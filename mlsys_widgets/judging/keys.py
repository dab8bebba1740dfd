"""What a check knows about one answer: the key, how close is close enough, and known beliefs.

A check is a function of what was given to the student. It computes the key and every wrong answer
with physics, so that none of them can disagree with what the instruments showed.

Examples
--------
What a check returns is a `Key`, of one kind or the other:

>>> isinstance(NumberKey(295, tolerance=0.02), Key), isinstance(ChoiceKey("memory"), Key)
(True, True)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from mlsys_widgets.labs import Game, Parameters

#: Cases of one function; each is an answer that comes back.
_MOST_CASES: Final = 100


@dataclass(frozen=True)
class Given:
    """What a student was given, and where the work lies.

    Parameters
    ----------
    folder
        The folder of the notebook, for answers about something that lies beside it.

    Examples
    --------
    A check computes its key from the student's own numbers:

    >>> from mlsys_widgets.physics import gemm
    >>> def intensity(given):
    ...     side = given.p.side
    ...     return NumberKey(gemm(side, side, side).intensity, tolerance=0.02)
    >>> ann = Given(Parameters({"side": 256}), Path("submitted/ann/lab_02_caches"))
    >>> ben = Given(Parameters({"side": 384}), Path("submitted/ben/lab_02_caches"))
    >>> round(intensity(ann).value, 1), round(intensity(ben).value, 1)
    (85.3, 128.0)
    """

    p: Parameters
    folder: Path


@dataclass(frozen=True)
class Belief:
    """A wrong answer that people give for a reason.

    Parameters
    ----------
    name
        The belief in a few words, for the report on a class: "launches left out".
    value
        The number it leads to, the option, or the source of the function.
    credit
        The fraction of the points that it still earns.
    says
        What to tell somebody who holds it.
    form
        Whether it is an error of form (a unit, a power of ten, a fraction in place of percent) that
        the question's card points out at once. Then the limits of the `labs.Number` must leave it
        outside, for every student; an error of thought must lie within them.
    idea
        What it gets wrong, in words that labs share: "launches cost nothing". A later lab asks the
        same idea again in another dress, and the report shows who still holds it.

    Examples
    --------
    >>> elements = Belief("elements for bytes", 170.7, credit=0.5, says="fp16 has two bytes.")
    >>> elements.credit, elements.form
    (0.5, False)
    >>> Belief("nothing wrong with it", 85.3, credit=1, says="")
    Traceback (most recent call last):
    ...
    ValueError: the belief 'nothing wrong with it' earns 1; it must be 0 to below 1
    """

    name: str
    value: float | str
    credit: float
    says: str
    form: bool = False
    idea: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.credit < 1:
            raise ValueError(
                f"the belief {self.name!r} earns {self.credit}; it must be 0 to below 1"
            )


def told_apart(key: float, tolerance: float, beliefs: Iterable[Belief]) -> list[Belief]:
    """Beliefs that can be told from the key and from those before them, with these very numbers.

    Examples
    --------
    >>> double, half = (Belief(f"{n:g}", n, credit=0.3, says="") for n in (2.0, 0.5))
    >>> close = Belief("1.03", 1.03, credit=0.3, says="")
    >>> [belief.name for belief in told_apart(1.0, 0.02, [double, close, half])]
    ['2', '0.5']
    """
    kept: list[Belief] = []
    for belief in beliefs:
        value = float(belief.value)
        others = [key, *(float(each.value) for each in kept)]
        if all(abs(value - x) > 2.1 * tolerance * max(abs(value), abs(x)) for x in others):
            kept.append(belief)
    return kept


@dataclass(frozen=True)
class NumberKey:
    """The key of a number.

    Parameters
    ----------
    value
        The right number, in the unit of the answer's name.
    tolerance
        How far off an answer may be, as a fraction of the number that it is compared with.
    beliefs
        Wrong answers that are recognized, within the same tolerance.
    says
        What to tell somebody who is right.
    absolute
        How far off it may be besides, in the answer's unit: for numbers near zero, and for whole
        numbers that may be rounded.

    Examples
    --------
    >>> intensity = NumberKey(85.3, tolerance=0.02)
    >>> intensity.reaches(intensity.value, 86.5), intensity.reaches(intensity.value, 87.5)
    (True, False)
    >>> kernels = NumberKey(4, tolerance=0, absolute=0.5)
    >>> kernels.reaches(kernels.value, 4.4)
    True
    """

    value: float
    tolerance: float
    beliefs: Sequence[Belief] = ()
    says: str = ""
    absolute: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"the key is {self.value}; it must be a finite number")

    def reaches(self, target: float, answer: float) -> bool:
        """Whether an answer is as good as the target."""
        allowed = max(self.tolerance * abs(target), self.absolute)
        # What lies exactly on the edge is within, whatever binary fractions make of it.
        return abs(answer - target) <= allowed * (1 + 1e-9)


@dataclass(frozen=True)
class ChoiceKey:
    """The key of a decision.

    Parameters
    ----------
    beliefs
        What each other option says about whoever chose it.
    says
        What to tell somebody who is right.

    Examples
    --------
    >>> from mlsys_widgets.judging import judge
    >>> faster = Belief("more TFLOPS help", "compute", credit=0, says="The units wait already.")
    >>> key = ChoiceKey("memory", [faster], says="Too few FLOP for each byte.")
    >>> judge(key, " Memory").says, judge(key, "compute").says
    ('Too few FLOP for each byte.', 'The units wait already.')
    """

    value: str
    beliefs: Sequence[Belief] = ()
    says: str = ""


@dataclass(frozen=True)
class CodeKey:
    """The key of a function.

    Parameters
    ----------
    value
        The source of a function that is right.
    cases
        The arguments of each hidden call: plain data, made from the student's parameters or with a
        seed, so that whoever asks again gets the same.
    beliefs
        Sources that are wrong for a reason. One is recognized if it explains more than half of the
        calls that are wrong.
    says
        What to tell somebody whose function is right.
    game
        What the function plays, if it is a policy. Then ``value`` is the best one that is known,
        each case has the arguments of a game, and a belief is recognized if it decides the same in
        more than half of the games. Let games begin alike and go on differently, so that a policy
        gains nothing from what comes later.

    Examples
    --------
    >>> from mlsys_widgets.judging.code_keys import judge_code
    >>> double = Belief("doubled", "def half(x): return 2 * x", credit=0, says="Divide by two.")
    >>> key = CodeKey("def half(x): return x / 2", [[4], [3], [0]], [double])
    >>> judge_code(key, ['{"value": 2}', '{"value": 1}', '{"value": 0}'])
    Verdict(credit=0.67, says='half(3) returns 1; it must be 1.5.', belief=None)
    >>> judge_code(key, ['{"value": 8}', '{"value": 6}', '{"value": 0}']).says
    'half(4) returns 8; it must be 2.0. Divide by two.'
    """

    value: str
    cases: Sequence[Sequence[Any]]
    beliefs: Sequence[Belief] = ()
    says: str = ""
    game: Game | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.cases) <= _MOST_CASES:
            raise ValueError(f"there are {len(self.cases)} cases; 1 to {_MOST_CASES} are possible")
        try:
            json.dumps(list(self.cases), allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"the cases must be plain data: {problem}") from None

    @property
    def driver(self) -> str:
        """What plays the function where it runs; empty if it is called once for each case."""
        return self.game.driver if self.game else ""


#: The key to an answer: of a number, of a choice, or of a function.
Key = NumberKey | ChoiceKey | CodeKey


class Check(Protocol):
    """A function of ``checks.py``; its name is that of the answer."""

    __name__: str

    def __call__(self, given: Given) -> Key:
        """Return the key for what was given."""


#: Check by the name of the answer.
Checks = Mapping[str, Check]


def pooled(first: Check, *others: Check) -> Check:
    """The check of an item with a pool of questions: that of the question which was drawn.

    Parameters
    ----------
    first, others
        A check for each question, with the question's name. The first has the item's.

    Examples
    --------
    >>> def launch_us(given):
    ...     return NumberKey(1.25, tolerance=0.01)
    >>> def kernel_us(given):
    ...     return NumberKey(40, tolerance=0.01)
    >>> check = pooled(launch_us, kernel_us)
    >>> check.__name__, check(Given(Parameters({"launch_us": "kernel_us"}), Path())).value
    ('launch_us', 40)
    """
    item = first.__name__
    of = {each.__name__: each for each in (first, *others)}

    def check(given: Given) -> Key:
        return of[given.p.asked(item)](given)

    check.__name__ = item
    return check
