"""What a lab's author should know before students do: keys and beliefs, tried on made-up names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Check, ChoiceKey, Given, Key, NumberKey
from mlsys_widgets.labs import Choice, Item, Lab, Number, Prediction, load

#: How many names are tried.
NAMES: Final = 40
_FULL, _FEWEST_BELIEFS = 100, 3


def advise(folder: Path, *, variants: bool = True, edition: str = "") -> list[str]:
    """List what is odd about a lab, one sentence each; it can be built and graded anyway."""
    lab, checks = load(folder), load_checks(folder)
    p = lab.draw("", variants=False)
    advice = []
    if (total := sum(lab.points(p).values())) != _FULL:
        advice.append(f"The points add up to {total:g}, not to {_FULL}.")
    with TemporaryDirectory() as aside:
        beside = Path(aside)
        for name, example in lab.examples.items():
            (beside / name).write_bytes(example())
        for name, item in lab.items(p).items():
            if not isinstance(item, Number | Choice | Prediction):
                continue
            if name not in checks:
                advice.append(f"{name} has no check: no report can tell who predicted rightly.")
                continue
            advice += dict.fromkeys(
                _on(name, lab, checks[name], beside, variants=variants, edition=edition)
            )
    return advice


def _on(
    name: str, lab: Lab, check: Check, beside: Path, *, variants: bool, edition: str
) -> Iterator[str]:
    """List what is odd about one question for many students; sentences may repeat."""
    right: dict[str, str] = {}
    for student in (f"somebody-{k}" for k in range(NAMES if variants else 1)):
        p = lab.draw(student, variants=variants, edition=edition)
        try:
            key = check(Given(p, beside))
        except Exception as problem:
            yield f"{name}: the check fails for some students: {type(problem).__name__}: {problem}"
            return
        yield from _of_key(name, lab.items(p)[name], key)
        # A decision should depend on the student's numbers; a prediction is about the text's.
        if isinstance(key, ChoiceKey) and isinstance(lab.items(p)[name], Prediction):
            right.setdefault(key.value, student)
    if len(right) > 1:
        examples = ", ".join(f'"{value}" for {student}' for value, student in right.items())
        yield f"{name}: what is right differs from student to student: {examples}."


def _of_key(name: str, item: Item, key: Key) -> Iterator[str]:
    if not isinstance(key, NumberKey) or not isinstance(item, Number):
        return
    if len(key.beliefs) < _FEWEST_BELIEFS:
        yield f"{name} knows {len(key.beliefs)} wrong beliefs; three or more make good feedback."
    if not item.low <= key.value <= item.high:
        yield f"{name}: a right answer can lie outside of low to high, and would be refused."
    values = [(each.name, float(each.value)) for each in key.beliefs]
    for belief, value in values:
        if key.reaches(key.value, value):
            yield f"{name}: the belief “{belief}” can be as good as right; it is never recognized."
    for (one, first), (other, second) in combinations(values, 2):
        if key.reaches(first, second) or key.reaches(second, first):
            yield f"{name}: the beliefs “{one}” and “{other}” can lead to the same answer."
