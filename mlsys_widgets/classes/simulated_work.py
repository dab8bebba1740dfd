"""What a made-up student does in a lab: what is typed, committed and recorded, and when.

The steps are those of the release notebook, from its top to its end. Right answers come from the
lab's checks with that student's numbers, wrong ones mostly from the beliefs that the checks know.
"""

from __future__ import annotations

import ast
import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.judging import judge
from mlsys_widgets.grading.keys import Checks, ChoiceKey, Given, Key, NumberKey
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Essay,
    Item,
    Lab,
    Myths,
    Number,
    Prediction,
    Question,
    Quiz,
    ReflectionPrompt,
    UnusableAnswer,
)
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import Field

#: A notebook as JSON.
Book = dict[str, Any]

_SOLUTION: Final = re.compile(r"### BEGIN SOLUTION\n(.*)\n### END SOLUTION", re.S)
_LOCKED: Final = re.compile(r"\b([A-Z]\w+)\([^()]*lock=lab\.card\(\"(\w+)\"\)")
#: What people type who have not understood what is asked for.
NONSENSE: Final = (
    "'33%'", "'no idea'", "33 percent", "utilisation", "[1, 2, 3]", "1 / 0", "True", "None",
    "float('nan')", "10**400", "'C'", "print('?')",
)  # fmt: skip
_WORDS: Final = (
    "I would measure before buying anything. What limits it is not what the message supposes, and"
    " the numbers above show by how much.",
    "It depends on what the hardware waits for. In my case that was clear from the first act, so I"
    " would change that first and leave the rest as it is.",
    "No. The time goes elsewhere, as the plot shows, and a faster part would only wait longer.",
    "i think both would help but the second one more because it is cheaper",
)
#: Minutes that a step takes somebody, in the middle.
_MINUTES: Final = {
    "prediction": 1.1, "use": 0.8, "reflection": 0.8, "answer": 1.4, "again": 1.0, "quiz": 0.5,
    "list": 0.8, "design": 2.0,
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """Something to do in a lab: what kind, and the name of the item."""

    kind: str
    name: str
    needs: str = ""


@dataclass(frozen=True)
class Assignment:
    """A lab as it was released, with all that is needed to work on it.

    Parameters
    ----------
    lab, checks
        What it asks, and its keys.
    notebook
        The release notebook, as text.
    solutions
        How the instructor computes an answer, by its name.
    beside
        Files that lie beside the notebook.
    steps
        What there is to do, in the order of the notebook.
    variants, edition
        As the course builds its labs.
    """

    lab: Lab
    checks: Checks
    notebook: str
    solutions: Mapping[str, str]
    beside: Mapping[str, bytes]
    steps: tuple[Step, ...]
    variants: bool
    edition: str


def steps_of(book: Book, items: Mapping[str, Item]) -> tuple[Step, ...]:
    """What there is to do in a notebook, in order."""
    found: list[Step] = []
    for cell in book["cells"]:
        kind, _, name = cell.get("id", "").partition("_")
        source, item = text_of(cell), items.get(name)
        if kind == "card" and isinstance(
            item, Prediction | ReflectionPrompt | Quiz | Myths | Checklist
        ):
            found.append(Step(item.kind.lower(), name))
        elif kind == "answer" and isinstance(item, Number | Choice):
            found.append(Step("answer", name))
        elif kind == "answer" and isinstance(item, Essay):
            found.append(Step("essay", name))
        elif kind == "instrument" and (locked := _LOCKED.search(source)):
            found.append(Step("use", locked[1], locked[2]))
        elif kind == DESIGN:
            found.append(Step("design", DESIGN))
    return tuple(found)


def solutions_of(book: Book) -> dict[str, str]:
    """Solutions in an instructor's notebook, by the name of the answer.

    One that takes up what another has computed is left out: who is right there may have been wrong
    or have typed a number before.
    """
    found = {
        cell["id"].removeprefix("answer_"): code[1]
        for cell in book["cells"]
        if cell["cell_type"] == "code" and (code := _SOLUTION.search(text_of(cell)))
    }
    read, made = (
        {name: _names(code, kind) for name, code in found.items()} for kind in (ast.Load, ast.Store)
    )
    return {
        name: code
        for name, code in found.items()
        if not any((read[name] - made[name]) & made[other] for other in made if other != name)
    }


def _names(code: str, kind: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(ast.parse(code))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def text_of(cell: Mapping[str, Any]) -> str:
    """What stands in a cell, which may be kept as lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


@dataclass(frozen=True)
class Person:
    """Somebody who works on a lab.

    Parameters
    ----------
    name
        As nbgrader files the submission.
    seed
        From which all chance comes.
    skill
        From about -2 to 3; with 0 every second answer of middling difficulty is right.
    believes
        The share of wrong answers that come from a known belief.
    does
        The share of the lab that is done, from its top.
    again
        Whether the lab was begun again half way.
    nonsense
        Whether answers are typed without a thought.
    """

    name: str
    seed: str
    skill: float = 0.0
    believes: float = 0.65
    does: float = 1.0
    again: bool = False
    nonsense: bool = False


@dataclass(frozen=True)
class Typed:
    """What was typed as an answer, and what it is worth.

    Parameters
    ----------
    source
        As it stands in the cell, behind the name.
    credit
        The share of the points that it earns.
    belief
        The belief that it stands for.
    """

    source: str
    credit: float
    belief: str | None = None


@dataclass
class Work:
    """What came of it.

    Parameters
    ----------
    book
        The notebook.
    answers
        What was typed, by the name of the answer.
    files
        The ledger, and one from before it was begun again.
    """

    book: Book
    answers: dict[str, Typed] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


#: What is written into the ledger, so many minutes after what was written before.
_Event = tuple[float, Callable[[Ledger], object]]


def work(of: Assignment, person: Person, end: datetime, scratch: Path) -> Work:
    """Have somebody work on a lab.

    Parameters
    ----------
    of
        The lab.
    person
        Who.
    end
        When the last thing was done.
    scratch
        An empty folder; it holds the ledger afterwards.
    """
    return _Worker(of, person, scratch).work(end)


class _Worker:
    """One person in one lab."""

    def __init__(self, of: Assignment, person: Person, scratch: Path) -> None:
        self._of, self._person, self._folder = of, person, scratch
        self._chance = random.Random(f"{person.seed}/{person.name}")
        self._pace = self._chance.lognormvariate(0, 0.25)
        # Whether somebody computes in the cell or types what came out elsewhere.
        self._computes = self._chance.random() < 0.5
        p = of.lab.draw(person.name, variants=of.variants, edition=of.edition)
        self._items = of.lab.items(p)
        self._given = Given(p, scratch)
        self._predicted: dict[str, Any] = {}

    def work(self, end: datetime) -> Work:
        for name, content in self._of.beside.items():
            (self._folder / name).write_bytes(content)
        done = Work(json.loads(self._of.notebook))
        steps = self._of.steps[: math.ceil(len(self._of.steps) * self._person.does)]
        first = (
            self._events(steps[: len(steps) // 2], Work(done.book)) if self._person.again else []
        )
        events = self._events(steps, done)
        _type_in(done, self._of, steps, self._chance, computes=self._computes)
        self._write(first, events, end)
        for path in sorted(self._folder.glob(f"{LEDGER}*")):
            done.files[path.name] = path.read_bytes()
        return done

    def _write(self, first: list[_Event], events: list[_Event], end: datetime) -> None:
        """Write the ledger, so that the last event is at the end."""
        clock = _Clock(end - timedelta(minutes=sum(m for m, _ in [*first, *events])))
        led = Ledger.open(
            self._folder / LEDGER,
            lab=self._of.lab.name,
            student=self._person.name,
            clock=clock,
            new_id=lambda: f"{self._chance.getrandbits(128):032x}",
        )
        for minutes, write in first:
            clock.moment += timedelta(minutes=minutes)
            write(led)
        if first:
            led.begin_again()
        for minutes, write in events:
            clock.moment += timedelta(minutes=minutes)
            write(led)

    # What is done.

    def _events(self, steps: Sequence[Step], done: Work) -> list[_Event]:
        events: list[_Event] = []
        for step in steps:
            # Now and then somebody goes away and comes back, an hour or a night later.
            pause = self._chance.expovariate(1 / 240) if self._chance.random() < 0.05 else 0.0
            new = list(self._do(step, done))
            if new and pause:
                new[0] = (new[0][0] + pause, new[0][1])
            events += new
        return events

    def _do(self, step: Step, done: Work) -> Sequence[_Event]:
        name, item = step.name, self._items.get(step.name)
        match item:
            case Prediction():
                return [self._predict(name, item)]
            case Number() | Choice():
                return self._answer(name, item, done)
            case ReflectionPrompt():
                return self._reflect(name, item)
            case Quiz():
                kept = item.ledger_names(name)
                return [self._quiz(*each) for each in zip(kept, item.questions, strict=True)]
            case Myths():
                return [self._myth(kept) for kept in item.ledger_names(name)]
            case Checklist():
                can = [key for key in item.skills if self._chance.random() < self._knows(key)]
                return [(self._minutes("list"), lambda led: led.record_answer(name, can))]
        if step.kind == "use":
            often = self._chance.randint(1, 4)
            return [
                (
                    self._minutes("use"),
                    lambda led: led.record_use(name, needs=step.needs, every=0),
                )
                for _ in range(often)
            ]
        if step.kind == "design" and (fields := self._of.lab.design):
            form = DesignForm(self._of.lab.name, self._of.lab.chapter, fields)
            entry = {n: self._design(n, f) for n, f in fields.items() if f.required}
            return [(self._minutes("design"), lambda led: led.save_design(entry, form))]
        return []

    def _predict(self, name: str, item: Prediction) -> _Event:
        key, right = self._key(name), self._chance.random() < 0.7 * self._knows(name)
        value: Any
        if item.options:
            value = key.value if right and key else self._wrong_option(name, item.options, key)
        else:
            truth = float(key.value) if isinstance(key, NumberKey) else 1.0
            spread = 0.02 if right else 0.7
            value = float(f"{truth * self._chance.lognormvariate(0, spread):.2g}")
            value = min(max(value, item.low), item.high)
        # Told once: a lab that is begun again gets the same prediction.
        value = self._predicted.setdefault(name, value)
        sure = self._confidence(right=right)
        return (
            self._minutes("prediction"),
            lambda led: led.commit_prediction(name, value, confidence=sure),
        )

    def _answer(self, name: str, item: Number | Choice, done: Work) -> list[_Event]:
        typed = self._typed(name, item)
        done.answers[name] = typed
        events = []
        # Some type a first answer, look at the plot again, and change it.
        if typed.credit == 1 and self._chance.random() < 0.2:
            first = self._wrong(name, item)
            events += self._recorded(name, item, first, "answer")
        return events + self._recorded(name, item, typed, "again" if events else "answer")

    def _recorded(self, name: str, item: Number | Choice, typed: Typed, takes: str) -> list[_Event]:
        """What the check below an answer writes down: only what can be graded."""
        try:
            value, _ = item.read(name, _value(typed.source))
        except UnusableAnswer:
            return []
        return [(self._minutes(takes), lambda led: led.record_answer(name, value, unit=item.unit))]

    def _reflect(self, name: str, item: ReflectionPrompt) -> list[_Event]:
        right = self._chance.random() < self._knows(name)
        tries: list[tuple[Any, bool | None]] = []
        if item.options:
            wrong = [key for key in item.options if key != item.right]
            if not (right or item.right is None) and wrong:
                tries.append((self._chance.choice(wrong), False))
            known = item.right is not None
            said = item.right if known else self._chance.choice(list(item.options))
            tries.append((said, True if known else None))
        elif item.blanks:
            rights = item.right if isinstance(item.right, Mapping) else {}
            words = {gap: list(options) for gap, options in item.blanks.items()}
            if not right and rights:
                guess = {gap: self._chance.choice(options) for gap, options in words.items()}
                tries.append((guess, all(rights.get(g, w) == w for g, w in guess.items())))
            tries.append(
                ({g: rights.get(g, o[0]) for g, o in words.items()}, True if rights else None)
            )
        else:
            tries.append((self._chance.choice(_WORDS), None))
        return [self._reflected(name, *each) for each in tries]

    def _reflected(self, name: str, value: Any, correct: bool | None) -> _Event:
        return (
            self._minutes("reflection"),
            lambda led: led.record_reflection(name, value, correct=correct),
        )

    def _quiz(self, kept: str, question: Question) -> _Event:
        right = self._chance.random() < self._knows(kept)
        others = [key for key in question.options if key != question.right]
        chosen = question.right if right or not others else self._chance.choice(others)
        sure = self._confidence(right=right)
        return (
            self._minutes("quiz"),
            lambda led: led.record_answer(kept, chosen, confidence=sure),
        )

    def _myth(self, kept: str) -> _Event:
        stance = "doubt" if self._chance.random() < self._knows(kept) else "believe"
        return self._minutes("quiz"), lambda led: led.record_answer(kept, stance)

    def _design(self, name: str, wanted: Field) -> Any:
        """Something that a field of the design takes."""
        if name.endswith("_prediction") and self._predicted:
            value = next((v for k, v in self._predicted.items() if k[:4] == name[:4]), None)
            if wanted.accepts(value):
                return value
        low = wanted.schema.get("minimum", 0.0)
        number = self._chance.uniform(low, wanted.schema.get("maximum", low + 1000))
        tried = (
            self._chance.choice(wanted.schema.get("enum", [None])),
            self._chance.random() < 0.5,
            float(f"{number:.3g}"),
            "attention",
            None,
        )
        return next(value for value in tried if wanted.accepts(value))

    # How well.

    def _knows(self, name: str) -> float:
        """How likely it is that somebody gets something right."""
        hard = random.Random(f"{self._person.seed}/{name}").gauss(0, 0.8)
        return 1 / (1 + math.exp(1.4 * (hard - self._person.skill)))

    def _confidence(self, *, right: bool) -> int:
        """From 1 to 5. Those who are right are a little surer; most are surer than they should."""
        return min(max(round(self._chance.gauss(3.7 if right else 3.1, 1.0)), 1), 5)

    def _minutes(self, step: str) -> float:
        return self._pace * self._chance.lognormvariate(math.log(_MINUTES[step]), 0.5)

    def _key(self, name: str) -> Key | None:
        """What is right, for whoever this is; none where nothing beside the notebook says so."""
        try:
            return self._of.checks[name](self._given)
        except (KeyError, ValueError):
            return None

    def _typed(self, name: str, item: Number | Choice) -> Typed:
        if self._person.nonsense:
            source, key = self._chance.choice(NONSENSE), self._key(name)
            return _judged(key, source) if key else Typed(source, 0.0)
        if self._chance.random() < self._knows(name):
            return self._right(name)
        return self._wrong(name, item)

    def _right(self, name: str) -> Typed:
        key = self._key(name)
        if key is None:
            return Typed("...", 0.0)
        if isinstance(key, ChoiceKey):
            return Typed(repr(key.value), 1.0)
        rounded = _rounded(float(key.value), self._chance.choice((3, 4)))
        close = abs(float(rounded) - key.value) <= key.tolerance * abs(key.value) / 4
        return Typed(rounded if close else repr(float(key.value)), 1.0)

    def _wrong(self, name: str, item: Number | Choice) -> Typed:
        key = self._key(name)
        if key is None or self._chance.random() < 0.06:
            return Typed("...", 0.0)
        if key.beliefs and (
            isinstance(item, Choice) or self._chance.random() < self._person.believes
        ):
            held = self._weighed(name, key.beliefs)
            return _typed_belief(key, held.value)
        if isinstance(key, ChoiceKey) or isinstance(item, Choice):
            options = item.options if isinstance(item, Choice) else {}
            return _judged(key, repr(self._wrong_option(name, options, key)))
        for _ in range(20):
            guess = key.value * self._chance.lognormvariate(0, 1.2)
            typed = _judged(key, _rounded(float(guess), 2))
            if typed.credit == 0 and typed.belief is None and item.low <= guess <= item.high:
                return typed
        return Typed("...", 0.0)

    def _wrong_option(self, name: str, options: Mapping[str, str], key: Key | None) -> str:
        wrong = [each for each in options if key is None or each != key.value]
        return self._weighed(name, wrong or list(options))

    def _weighed(self, name: str, choices: Sequence[Any]) -> Any:
        """One of several; the whole class agrees on which of them tempts most."""
        order = list(range(len(choices)))
        random.Random(f"{self._person.seed}/{name}/tempts").shuffle(order)
        weights = [1 / (1 + order[k]) ** 1.3 for k in range(len(choices))]
        return self._chance.choices(list(choices), weights)[0]


class _Clock:
    """Gives the moment that it is set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment.astimezone(UTC)


def _type_in(
    done: Work,
    of: Assignment,
    steps: Sequence[Step],
    chance: random.Random,
    *,
    computes: bool,
) -> None:
    """Put answers and essays into the notebook."""
    essays = {step.name for step in steps if step.kind == "essay"}
    for cell in done.book["cells"]:
        kind, _, name = cell.get("id", "").partition("_")
        if kind != "answer":
            continue
        if name in essays and chance.random() < 0.9:
            cell["source"] = chance.choice(_WORDS)
        elif typed := done.answers.get(name):
            if typed.credit == 1 and computes and name in of.solutions:
                cell["source"] = of.solutions[name]
            else:
                first, *rest = text_of(cell).split("\n")
                cell["source"] = "\n".join([first.replace("...", typed.source, 1), *rest])


def _typed_belief(key: Key, value: float | str) -> Typed:
    """What somebody types who holds a belief: rounded, if it is still known for what it is."""
    if isinstance(value, str):
        return _judged(key, repr(value))
    exact = _judged(key, repr(float(value)))
    rounded = _judged(key, _rounded(float(value), 4))
    return rounded if rounded.belief == exact.belief else exact


def _judged(key: Key, source: str) -> Typed:
    verdict = judge(key, _value(source))
    return Typed(source, verdict.credit, verdict.belief)


def _value(source: str) -> Any:
    """What a literal stands for; nothing usable for anything else that was typed."""
    try:
        return json.loads(source.replace("'", '"'), parse_constant=lambda _: ...)
    except ValueError:
        return ...


def _rounded(value: float, digits: int) -> str:
    """A number as people type it.

    Examples
    --------
    >>> _rounded(133607.1, 4), _rounded(32.258, 3), _rounded(2.5e-7, 3)
    ('133600', '32.3', '2.5e-07')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e9 else text
