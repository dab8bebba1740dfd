"""Whether the cards of a lab point out errors of form, and errors of form alone.

A card knows no key. It knows the limits of its question, which are the same for everybody. So an
error of form must lie outside these limits for every student, and the key and every error of
thought within them: otherwise the card stays silent, or tells more than it should.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mlsys_widgets.judging.keys import Checks, Given, NumberKey
from mlsys_widgets.labs import Lab, Number

#: The key times and divided by this still passes without a hint: the limits give nothing away.
ROOM = 2.0


def early_hint_problems(
    lab: Lab, checks: Checks, folder: Path, students: Iterable[str]
) -> Iterator[str]:
    """Yield what is wrong with the limits of a lab's numbers, as sentences."""
    for student in students:
        p = lab.draw(student)
        for name, item in lab.items(p).items():
            if not isinstance(item, Number):
                continue
            try:
                key = checks[name](Given(p, folder))
            except ValueError:  # of an answer about a file that is missing here
                continue
            assert isinstance(key, NumberKey)
            yield from _problems(name, student, item, key)


def _problems(name: str, student: str, item: Number, key: NumberKey) -> Iterator[str]:
    whose = f"{name}, with the numbers of {student}"
    near = [key.value] if item.whole else [key.value, key.value / ROOM, key.value * ROOM]
    if item.unit == "percent" and item.high == 100:
        near = [min(value, 100.0) for value in near]
    for value in near:
        if told := item.form_error(value):
            yield f"{whose}: the card refuses {value:g}, and the key is {key.value:g}: {told}"
    for belief in key.beliefs:
        value = float(belief.value)
        # Where only whole numbers make sense, people round what they believe.
        told = item.form_error(round(value) if item.whole and not belief.form else value)
        if belief.form and not told:
            yield (
                f"{whose}: “{belief.name}” is an error of form, and the card stays silent at"
                f" {belief.value:g}; narrow low and high in asks.py"
            )
        if told and not belief.form:
            yield (
                f"{whose}: “{belief.name}” is an error of thought, and the card points it out at"
                f" {belief.value:g}; widen low and high in asks.py, or declare it form=True"
            )
