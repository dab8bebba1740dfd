"""How each student answered a question: first, last, again, in what time and with which numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mlsys_widgets.classes.question_statistics import Judged, Response, SecondTry
from mlsys_widgets.classes.study_record import StudyRecord
from mlsys_widgets.judging.keys import Check, CodeKey, Given, Key
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.labs import Lab, Parameters
from mlsys_widgets.labs.attempts import attempt_in

#: What a log that is damaged, or of another edition, may hold in place of a second chance.
_UNREADABLE: Final = (AttributeError, KeyError, TypeError, ValueError)


def response(
    name: str,
    check: Check | None,
    given: Given,
    score: Mapping[str, Any],
    study: StudyRecord | None,
    *,
    fraction: float,
    rest: float | None,
    numbers: Mapping[str, float],
) -> Response:
    """Return how a student answered a question.

    Parameters
    ----------
    check
        What judges the first answer; `None` where a person does.
    score
        The entry of the log of graded submissions; empty without one.
    fraction
        What the gradebook gives, for answers that the log does not judge.
    """
    key = key_of(check, given)
    second = second_chance(score, check, given)
    last = _judged(key, _handed_in(key, score, second, fraction), score.get("belief"))
    minutes = None
    if study:
        parts = [m for answer, m in study.minutes_of.items() if attempt_in(answer) == (name, 0)]
        minutes = sum(parts) if parts else None
    first = _first(name, key, study, last)
    return Response(last, first, second, rest, minutes, numbers, _ideas(key))


def second_chance(
    score: Mapping[str, Any], check: Check | None = None, given: Given | None = None
) -> SecondTry | None:
    """Return what the log says about a second chance; `None` if there was none."""
    kept = score.get("second")
    if not kept:
        return None
    try:
        key = _key_again(check, given, kept.get("parameters")) if given else None
        judged = _judged(key, float(kept["credit"]), kept.get("belief"))
        return SecondTry(judged, float(kept.get("share", 1.0)), _ideas(key))
    except _UNREADABLE:
        return None


def _key_again(check: Check | None, given: Given, numbers: Any) -> Key | None:
    """Return the key of the second numbers, which may be that of another question of a pool."""
    try:
        found = key_of(check, Given(Parameters(numbers), given.folder)) if numbers else None
    except AttributeError:  # numbers of a version of the lab that had others
        found = None
    return found or key_of(check, given)


def _judged(key: Key | None, credit: float, belief: str | None) -> Judged:
    """Return an answer with the idea that its belief is a case of."""
    beliefs = key.beliefs if key else ()
    ideas = (each.idea for each in beliefs if each.name == belief and each.idea)
    return Judged(credit, belief, next(ideas, ""))


def _ideas(key: Key | None) -> frozenset[str]:
    return frozenset(each.idea for each in key.beliefs if each.idea) if key else frozenset()


def _handed_in(
    key: Key | None, score: Mapping[str, Any], second: SecondTry | None, fraction: float
) -> float:
    """Return what the answer earned that was handed in; the log has the better one of two."""
    best: float = fraction if score.get("credit") is None else score["credit"]
    if second is None or best > second.share * second.judged.credit + 1e-9:
        return best
    # A second chance is for what was wrong, and only a belief earns a part of the points then.
    beliefs = key.beliefs if key else ()
    return next((each.credit for each in beliefs if each.name == score.get("belief")), 0.0)


def key_of(check: Check | None, given: Given) -> Key | None:
    """Return the key of what a student was given; `None` if there is none that can be computed."""
    try:
        return check(given) if check else None
    except (KeyError, ValueError):
        return None


def _first(name: str, key: Key | None, study: StudyRecord | None, last: Judged) -> Judged | None:
    """Judge the first answer of the ledger; `None` if there is none, or nothing can judge it."""
    if study is None or name not in study.first:
        return None
    stands, value = study.state.answers.get(name), study.first[name]
    if stands is not None and stands.value == value:
        return last
    if key is None or isinstance(key, CodeKey):  # no function of a student runs in this process
        return None
    verdict = judge(key, value)
    return _judged(key, verdict.credit, verdict.belief)


class _Watched(Parameters):
    """Parameters that note which of them are read."""

    def __init__(self, drawn: Parameters) -> None:
        super().__init__(drawn, order_seed=drawn.order_seed)
        self._read: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name in super().__getattribute__("_values"):
            self._read.add(name)
        return super().__getattribute__(name)

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return super().__getitem__(name)

    @property
    def _numbers(self) -> frozenset[str]:
        values = {name: self._values[name] for name in self._read}
        return frozenset(n for n, v in values.items() if isinstance(v, int | float))


def numbers_used(lab: Lab, name: str, check: Check | None, given: Given) -> frozenset[str]:
    """Return which drawn numbers a question or its key reads.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mlsys_widgets.judging import NumberKey
    >>> from mlsys_widgets.labs import Number, Parameter
    >>> drawn = {n: Parameter(8, (4, 8), "", n) for n in ("side", "rows", "depth")}
    >>> lab = Lab("lab_02", title="Caches", chapter=2, acts=(), parameters=drawn)
    >>> @lab.asks
    ... def tile_bytes(p):
    ...     return Number(f"How many bytes has a tile of {p.side}?", "bytes", 6)
    >>> def key(given):
    ...     return NumberKey(given.p.side * given.p.rows, tolerance=0)
    >>> sorted(numbers_used(lab, "tile_bytes", key, Given(lab.draw("ann"), Path())))
    ['rows', 'side']
    """
    watched = _Watched(given.p)
    lab.item(name, watched)
    key_of(check, Given(watched, given.folder))
    return watched._numbers
