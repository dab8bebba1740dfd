"""Which entries of a ledger the cards of a lab could have written, and in which order.

The chain of a ledger shows that nobody changed it afterward. It cannot show that a card wrote it:
whoever has Python can chain anything. So every entry is held against what the lab asks. One that no
card would have written (another kind, a value that is not allowed, a name that nobody asks for)
does not count. One that came too early, or with a wrong verdict, counts and is mentioned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Code,
    Essay,
    Item,
    Lab,
    Measurement,
    Myths,
    Number,
    Parameters,
    Prediction,
    Quiz,
    Record,
    ReflectionPrompt,
)
from mlsys_widgets.labs.asked import Asked, is_usable
from mlsys_widgets.labs.attempts import Attempts, answer_name, attempt_in, begun_name
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.own_words import OWN_WORDS, WORDS, own_words_name
from mlsys_widgets.labs.quiz import Question
from mlsys_widgets.labs.student_steps import DESIGN_MISSES, kind_of
from mlsys_widgets.ledger import DesignForm, Event, LedgerError
from mlsys_widgets.ledger.kinds import misfit
from mlsys_widgets.ledger.verification import MOST_PROBLEMS

#: How a value is refused: as the end of "Event 7 (prediction gap) …"; nothing where it fits.
_Rule = Callable[[Event], str]

_STANCES: Final = ("believe", "doubt")
#: What a card says about a measurement that lies beside the notebook.
_MEASURED: Final = {"machine", "time", "digest"}
#: Where the settings of instruments are kept that belong to a design.
_SETTINGS: Final = "design_instruments."
#: Where the system of a lab runs.
_CONTEXT: Final = "context"
#: What is tried, compared and said after a prediction, each with its name behind a dot.
_AFTER_PREDICTING: Final = ("moves", "explored", "compared", WORDS)
#: No course offers as many attempts; a ledger that claims more would keep its reader busy.
_MOST_ATTEMPTS: Final = 20
_EARLY: Final = "early."
_NO_VALUE: Final = "has a value that its card would not have taken"
_NO_NAME: Final = "is about something that this lab does not ask"


@dataclass
class SiftedEntries:
    """The entries of a ledger, held against a lab."""

    #: The entries that count, in order.
    kept: list[Event] = field(default_factory=list)
    #: What does not count, a sentence each.
    refused: list[str] = field(default_factory=list)
    #: What counts although no card does it like that, a sentence each.
    odd: list[str] = field(default_factory=list)

    def refuse(self, sentence: str) -> None:
        """Say what does not count, unless enough is said."""
        if len(self.refused) < MOST_PROBLEMS:
            self.refused.append(sentence)

    def mention(self, sentence: str) -> None:
        """Say what is odd, unless enough is said."""
        if len(self.odd) < MOST_PROBLEMS:
            self.odd.append(sentence)


class _Attempt(NamedTuple):
    """As much of an attempt as a gate asks for."""

    correct: bool | None


class _Attempts(NamedTuple):
    """The best attempt at a reflection: more are not needed, and there may be many."""

    attempts: tuple[_Attempt]


class _Given(NamedTuple):
    """As much of an answer as a gate asks for."""

    value: Any


class EntryRules:
    """What the cards of a lab write.

    Without ``items`` and ``attempts`` it is held against the usual questions and numbers. Then it
    is not known which reflection is right for this student, and no verdict is compared.
    """

    def __init__(
        self,
        lab: Lab,
        items: Mapping[str, Item] | None = None,
        attempts: Attempts | None = None,
    ) -> None:
        self._lab, self._verdicts, self._attempts = lab, items is not None, attempts
        #: What the lab asks.
        self.items: Mapping[str, Item] = lab.items(_usual(lab)) if items is None else items
        #: Each question of a pool, as long as it is not known which one the student was asked.
        self._pools: Mapping[str, Collection[Item]] = (
            {name: lab.questions(name, _usual(lab)).values() for name in lab.pools}
            if items is None
            else {}
        )
        self._form = DesignForm(lab.name, lab.chapter, lab.design)
        records = (item for item in self.items.values() if isinstance(item, Record))
        #: What records give points for although the lab does not ask it: its own cells write that.
        self._free = {name for each in records for name in each.of} - {*self.items, DESIGN}
        self._answers = dict(self._rules_of_answers())
        self._of_attempts: dict[str, _Rule | None] = {}
        #: The item that each name of the ledger belongs to.
        self._owner = {
            each: name for name, item in self.items.items() for each in item.ledger_names(name)
        }

    # Whether an entry can be.

    def refusal(self, event: Event) -> str:
        """Say why an entry does not count, as the end of a sentence; empty if it does."""
        if event.lab != self._lab.name:
            return f"belongs to the lab {event.lab}"
        if wrong := misfit(event):
            return wrong
        match event.kind:
            case "prediction":
                return self._typed(event, Prediction)
            case "reflection":
                return self._typed(event, ReflectionPrompt)
            case "answer":
                rule = self._answers.get(event.id)
                if rule is None and event.id.startswith(_SETTINGS):
                    rule = _of_type(dict)
                if rule is None:
                    rule = self._rule_of_attempt(event.id)
                return _NO_NAME if rule is None else rule(event)
            case "design":
                return self._design(event)
        return ""

    def _rule_of_attempt(self, name: str) -> _Rule | None:
        """The rule of what is answered when an item is asked again: its numbers are others."""
        if name not in self._of_attempts:
            item, number = attempt_in(name.removeprefix(_EARLY))
            asked: Collection[Any] = ()
            if number and number <= _MOST_ATTEMPTS and isinstance(self.items.get(item), Asked):
                asked = self._questions(item)
                if self._attempts is not None:
                    again = self._attempts.at(item, number)
                    asked = (again.item,) if again else ()
            self._of_attempts[name] = _usable(asked) if asked else None
        return self._of_attempts[name]

    def _typed(self, event: Event, wanted: type[Prediction | ReflectionPrompt]) -> str:
        item = self.items.get(event.id)
        if event.id in self._free:
            return "" if event.value["value"] is not None else _NO_VALUE
        if not isinstance(item, wanted):
            return _NO_NAME if item is None else f"is no {event.kind}: this lab asks it otherwise"
        value = event.value["value"]
        reads = any(_reads_as_it_is(_reader(each), value) for each in self._questions(event.id))
        return "" if reads else _NO_VALUE

    def _questions(self, name: str) -> Collection[Any]:
        """List the questions that may have been asked under a name."""
        return self._pools.get(name) or (self.items[name],)

    def _design(self, event: Event) -> str:
        if event.id != self._lab.name:
            return _NO_NAME
        if not self._lab.design:  # a lab that declares its form elsewhere
            return ""
        try:
            return "" if self._form.check(event.value) == event.value else _NO_VALUE
        except LedgerError as refusal:
            return f"does not fit the lab's form: {refusal}"

    def _rules_of_answers(self) -> Iterator[tuple[str, _Rule]]:
        yield _CONTEXT, _of_type(str)
        yield DESIGN_MISSES, _texts
        for name in self._free:
            yield name, _not_nothing
        for name, item in self.items.items():
            match item:
                case Number() | Choice() | Code() | Essay():
                    usable = _usable(self._questions(name))
                    yield name, usable
                    yield f"code.{name}", usable
                    yield f"{_EARLY}{name}", usable
                    yield begun_name(name), _is_attempt
                case Prediction():
                    yield f"moves.{name}", _texts
                    yield f"explored.{name}", _true
                    yield f"compared.{name}", _true
                    yield own_words_name(name), _own_words
                case Quiz():
                    names = item.ledger_names(name)
                    for each, question in zip(names, item.questions, strict=True):
                        yield each, _chosen(question)
                case Myths():
                    for each in item.ledger_names(name):
                        yield each, _one_of(_STANCES)
                case Checklist():
                    yield name, _some_of(tuple(item.skills))
                case Measurement():
                    yield name, _measured

    # Whether entries can follow each other.

    def sift(self, events: Iterable[Event], also: Sequence[EntryRules] = ()) -> SiftedEntries:
        """Hold the entries of a ledger against the lab, one after the other.

        What a card of one of the ``also`` released versions could have written does not count, and
        there is nothing to say about it.
        """
        found = SiftedEntries()
        order = _Order(self.items)
        for event in events:
            what = f"Event {event.seq} ({event.kind} {event.id})"
            if refusal := self.refusal(event):
                if any(not other.refusal(event) for other in also):
                    continue
                found.refuse(f"{what} {refusal}.")
                continue
            found.kept.append(event)
            for words in (*self._odd(event), *order.follow(event, self._owner.get(event.id))):
                found.mention(f"{what} {words}.")
        for sentence in order.never_committed():
            found.mention(sentence)
        return found

    def _odd(self, event: Event) -> Iterator[str]:
        """Yield what a card does otherwise, although it would have taken the value."""
        item = self.items.get(event.id)
        if event.kind == "prediction" and event.value["confidence"] is None:
            yield "has no confidence, which its card asks for"
        if event.kind == "reflection" and self._verdicts and isinstance(item, ReflectionPrompt):
            right = item.form.judge(event.value["value"])
            if right is not event.value["correct"]:
                yield f"says that it is {_verdict(event.value['correct'])}, and it is not"

    def decision(self, event: Event, by_code: Mapping[str, Any]) -> str | None:
        """Return what somebody decided with an entry, after reading; `None` if a program wrote it.

        Entries that one press of a button writes are one decision: they have the same name here.
        """
        if event.kind in ("prediction", "reflection", "design"):
            return f"{event.seq}"
        asked, _ = attempt_in(event.id)
        owner = self._owner.get(asked) if event.kind == "answer" else None
        item = self.items.get(owner or "")
        if isinstance(item, Quiz) and not item.each:
            return owner
        if item is None or by_code.get(event.id) == event.value["value"]:
            return None
        return f"{event.seq}"


@functools.lru_cache(maxsize=16)
def usual_rules(lab: Lab) -> EntryRules:
    """Make the rules with the usual numbers: names, limits and options are always the same."""
    return EntryRules(lab)


def _usual(lab: Lab) -> Parameters:
    return lab.draw("", variants=False)


class _Order:
    """What is done so far, and what must have been done before."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items
        self.predictions: dict[str, bool] = {}
        self.reflections: dict[str, _Attempts] = {}
        self.answers: dict[str, _Given] = {}
        self._begun: set[str] = set()
        self._used: dict[str, Event] = {}

    def follow(self, event: Event, owner: str | None) -> Iterator[str]:
        name = event.id
        if owner is not None and owner not in self._begun and event.kind != "use":
            self._begun.add(owner)
            # Code may answer a question at any time; the gates are for reading it.
            if f"code.{name}" not in self.answers:
                yield from self._closed(self._items[owner])
        match event.kind:
            case "prediction":
                self.predictions[name] = True
            case "reflection":
                tried = self.reflections.get(name)
                better = tried is None or not tried.attempts[0].correct
                if better:
                    attempt = _Attempt(event.value["correct"])
                    self.reflections[name] = _Attempts((attempt,))
            case "answer":
                before, _, predicted = name.partition(".")
                if before in _AFTER_PREDICTING and predicted not in self.predictions:
                    yield f"came before the prediction {predicted}, which it waits for"
                yield from self._out_of_turn(name, event.value["value"])
                self.answers[name] = _Given(event.value["value"])
            case "use":
                for need in event.value["needs"]:
                    if need not in self.predictions:
                        self._used.setdefault(need, event)

    def _out_of_turn(self, name: str, value: Any) -> Iterator[str]:
        item, number = attempt_in(name)
        begun = self.answers.get(begun_name(item))
        if number > (begun.value if begun else 0):
            yield "answers an attempt that was not begun"
        asked = name.removeprefix(begun_name(""))
        if asked != name:
            before = self.answers.get(name)
            last = before.value if before else 0
            if value != last + 1 or answer_name(asked, last) not in self.answers:
                yield "begins an attempt before the one before it is answered"

    def _closed(self, item: Item) -> Iterator[str]:
        for gate in item.after:
            before = self._items.get(gate)
            if before is not None and kind_of(before) and not before.is_done(gate, self):
                yield f"came before {gate}, which opens it"

    def never_committed(self) -> Iterator[str]:
        """Uses of instruments whose prediction is not there at all."""
        for need, event in self._used.items():
            if need not in self.predictions:  # a late one is named where the ledger is verified
                yield (
                    f"The instrument {event.id} was used (event {event.seq}), and the prediction"
                    f" {need}, which opens it, was never committed."
                )


def _verdict(correct: bool | None) -> str:
    return {True: "right", False: "wrong", None: "not judged"}[correct]


def _reader(item: Prediction | ReflectionPrompt) -> Callable[[Any], Any]:
    return item.form.read if isinstance(item, ReflectionPrompt) else item.read


def _reads_as_it_is(read: Callable[[Any], Any], value: Any) -> bool:
    """Whether a card that was given this value would have kept just this."""
    try:
        kept = read(value)
    except (ValueError, OverflowError, TypeError):
        return False
    return bool(kept == value) and isinstance(kept, bool) == isinstance(value, bool)


def _of_type(wanted: type) -> _Rule:
    return lambda event: "" if isinstance(event.value["value"], wanted) else _NO_VALUE


def _usable(items: Collection[Asked]) -> _Rule:
    """Refuse what none of these could have."""

    def rule(event: Event) -> str:
        try:
            value = event.value["value"]
            return "" if any(is_usable(item, value) for item in items) else _NO_VALUE
        except (ValueError, OverflowError, TypeError):
            return _NO_VALUE

    return rule


def _chosen(question: Question) -> _Rule:
    def rule(event: Event) -> str:
        chosen, sure = event.value["value"], event.value["confidence"]
        fits = isinstance(chosen, str) and chosen in question.options and sure is not None
        return "" if fits else _NO_VALUE

    return rule


def _own_words(event: Event) -> str:
    return "" if _reads_as_it_is(OWN_WORDS.read, event.value["value"]) else _NO_VALUE


def _is_attempt(event: Event) -> str:
    value = event.value["value"]
    fits = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_ATTEMPTS
    return "" if fits else _NO_VALUE


def _true(event: Event) -> str:
    return "" if event.value["value"] is True else _NO_VALUE


def _one_of(allowed: tuple[str, ...]) -> _Rule:
    return lambda event: "" if event.value["value"] in allowed else _NO_VALUE


def _some_of(allowed: tuple[str, ...]) -> _Rule:
    def rule(event: Event) -> str:
        value = event.value["value"]
        fits = isinstance(value, list) and value == [key for key in allowed if key in value]
        return "" if fits else _NO_VALUE

    return rule


def _measured(event: Event) -> str:
    value = event.value["value"]
    fits = isinstance(value, dict) and value.keys() == _MEASURED
    return "" if fits and all(isinstance(each, str) for each in value.values()) else _NO_VALUE


def _texts(event: Event) -> str:
    value = event.value["value"]
    fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return "" if fits else _NO_VALUE


def _not_nothing(event: Event) -> str:
    return _NO_VALUE if event.value["value"] is None else ""
