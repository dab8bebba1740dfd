"""Ledgers that no card has written, as bytes: each function makes one for a lab and a student.

What is checked is how such a ledger is graded, not how it is made: all of them are chained as well
as the package itself would do it, because whoever has Python can do that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from mlsys_widgets.labs import (
    Checklist,
    Item,
    Lab,
    Measurement,
    Myths,
    Prediction,
    Quiz,
    Record,
    Reflection,
)
from mlsys_widgets.ledger import DesignForm
from mlsys_widgets.ledger.events import GENESIS, Event, chained, timestamp, to_line
from tests.labs import rehearsal
from tests.ledger.making import rechained

#: When an honest student begins, in tests that release the lab a day before and collect it later.
BEGUN = datetime(2026, 10, 20, 9, 0, tzinfo=UTC)
RELEASED = BEGUN - timedelta(days=1)
HANDED_IN = BEGUN + timedelta(days=2)

#: Kind, name and value of an entry.
Entry = tuple[str, str, Any]


@dataclass(frozen=True)
class Forgery:
    """A ledger that somebody made up.

    Parameters
    ----------
    about
        What it tries.
    make
        Makes it, for a lab and a student.
    earns
        Which fraction of the points for the record it earns.
    flagged
        Part of the sentence that a person reads about it.
    """

    about: str
    make: Callable[[Lab, str], bytes]
    earns: float
    flagged: str


# How they are made.


def entries(lab: Lab, student: str = "") -> list[Entry]:
    """Everything that the records of a lab give points for, as the cards keep it, in order."""
    items = lab.items(lab.draw(student))
    wanted = {name for item in items.values() if isinstance(item, Record) for name in item.of}
    found = [e for name, item in items.items() for e in _entries_of(name, item) if name in wanted]
    if "design" in wanted:
        form = DesignForm(lab.name, lab.chapter, lab.design)
        found.append(("design", lab.name, rehearsal.some_design(form)))
    return found


def _entries_of(name: str, item: Item) -> list[Entry]:
    match item:
        case Prediction():
            value = rehearsal._prediction(item)
            return [("prediction", name, {"value": value, "confidence": 3})]
        case Reflection():
            value = rehearsal._reflection(item)
            content = {"value": value, "correct": item.form.judge(value)}
            return [("reflection", name, content)]
        case Quiz():
            names = zip(item.ledger_names(name), item.questions, strict=True)
            return [_answer(each, question.right, 4) for each, question in names]
        case Myths():
            return [_answer(each, "doubt") for each in item.ledger_names(name)]
        case Checklist():
            return [_answer(name, list(item.skills))]
        case Measurement():
            content = {"machine": "a laptop", "time": "2026-10-20", "digest": "0" * 64}
            return [_answer(name, content)]
    return []


def _answer(name: str, value: Any, confidence: int | None = None) -> Entry:
    return "answer", name, {"value": value, "unit": None, "confidence": confidence}


def ledger(
    lab: Lab,
    student: str,
    content: Iterable[Entry],
    *,
    begun: datetime = BEGUN,
    step: timedelta = timedelta(seconds=70),
    ledger_id: str = "f0" * 16,
) -> bytes:
    """Chain entries into a ledger."""
    opened = ("opened", ledger_id, {"schema": 1, "student": student})
    events: list[Event] = []
    for seq, entry in enumerate([opened, *content]):
        prev = events[-1].hash if events else GENESIS
        events.append(chained(prev, seq, timestamp(begun + seq * step), lab.name, *entry))
    return as_bytes(events)


def as_bytes(events: Iterable[Event]) -> bytes:
    return b"".join(map(to_line, events))


def events_of(content: bytes) -> list[Event]:
    return [Event(**json.loads(line)) for line in content.splitlines()]


# What somebody may try.


def in_one_second(lab: Lab, student: str) -> bytes:
    """All that earns points, written by a program in a moment."""
    return ledger(lab, student, entries(lab), step=timedelta(milliseconds=2))


def at_one_moment(lab: Lab, student: str) -> bytes:
    """The same, with one time for everything."""
    return ledger(lab, student, entries(lab), step=timedelta())


def plausible(lab: Lab, student: str) -> bytes:
    """All that earns points, by a program that takes its time: nothing in the file shows it."""
    return ledger(lab, student, entries(lab))


def of_nulls(lab: Lab, student: str) -> bytes:
    """Every name, and no value."""
    return ledger(lab, student, [(kind, name, _null(kind, v)) for kind, name, v in entries(lab)])


def _null(kind: str, value: Any) -> Any:
    return dict.fromkeys(value) if kind == "design" else {**value, "value": None}


def of_wrong_values(lab: Lab, student: str) -> bytes:
    """Every name, with a value of another type."""
    wrong = {"value": [True], "confidence": 3}
    changed = [
        (kind, name, {"nothing": 1} if kind == "design" else {**value, "value": wrong["value"]})
        for kind, name, value in entries(lab)
    ]
    return ledger(lab, student, changed)


def of_unknown_options(lab: Lab, student: str) -> bytes:
    """Every name, with an option that nobody offers, or a number beyond all limits."""
    changed = [
        (kind, name, {**value, "value": "Z9"} if "value" in value else {"zone": "Z9"})
        for kind, name, value in entries(lab)
    ]
    return ledger(lab, student, changed)


def of_answers_only(lab: Lab, student: str) -> bytes:
    """Predictions, reflections and the design as mere answers of the same name."""
    names = ["design" if kind == "design" else name for kind, name, _ in entries(lab)]
    return ledger(lab, student, [_answer(name, "A") for name in names])


def backwards(lab: Lab, student: str) -> bytes:
    """What opens a card comes after the card."""
    return ledger(lab, student, reversed(entries(lab)))


def looked_first(lab: Lab, student: str) -> bytes:
    """Instruments are used, and the predictions that open them come later."""
    content = entries(lab)
    needs = [name for kind, name, _ in content if kind == "prediction"]
    use = ("use", "RooflineWidget", {"needs": needs, "inputs": {}})
    return ledger(lab, student, [use, *content])


def moves_first(lab: Lab, student: str) -> bytes:
    """What was tried on the instruments, before they were open."""
    content = entries(lab)
    first = next(name for kind, name, _ in content if kind == "prediction")
    return ledger(lab, student, [_answer(f"moves.{first}", ["Raise the batch"]), *content])


def never_predicted(lab: Lab, student: str) -> bytes:
    """An instrument was used whose prediction was never committed."""
    use = ("use", "RooflineWidget", {"needs": ["no_such_prediction"], "inputs": {}})
    return ledger(lab, student, [*entries(lab), use])


def with_unknown_names(lab: Lab, student: str) -> bytes:
    """Entries about something that the lab does not ask."""
    return ledger(lab, student, [*entries(lab), _answer("extra_credit", 100)])


def of_another_lab(lab: Lab, student: str) -> bytes:
    """The ledger of another lab, in which the names are the same."""
    content = ledger(lab, student, entries(lab))
    return as_bytes(rechained(e._replace(lab="lab_99_other") for e in events_of(content)))


def before_the_release(lab: Lab, student: str) -> bytes:
    """Work that was done before anybody had the lab."""
    return ledger(lab, student, entries(lab), begun=RELEASED - timedelta(days=3))


def after_the_hand_in(lab: Lab, student: str) -> bytes:
    """Work that goes on after it was handed in."""
    return ledger(lab, student, entries(lab), begun=HANDED_IN + timedelta(minutes=10))


def in_the_future(lab: Lab, student: str) -> bytes:
    """Work of next year."""
    later = datetime.now(UTC) + timedelta(days=300)
    return ledger(lab, student, entries(lab), begun=later)


def back_in_time(lab: Lab, student: str) -> bytes:
    """Times that run backward."""
    return ledger(lab, student, entries(lab), step=timedelta(seconds=-70))


def friends(content: bytes, student: str) -> bytes:
    """The ledger of a friend, with another name in it and the chain computed again."""
    events = events_of(content)
    whose = {**events[0].value, "student": student}
    return as_bytes(rechained([events[0]._replace(value=whose), *events[1:]]))


def friends_with_another_id(content: bytes, student: str) -> bytes:
    """The same, and its id is changed, too."""
    events = events_of(friends(content, student))
    return as_bytes(rechained([events[0]._replace(id="ab" * 16), *events[1:]]))


# What is meant to stop a grader.


def counted_to_a_quadrillion(lab: Lab, student: str) -> bytes:
    """A number of an event that nobody should count up to."""
    first, second, *_ = events_of(plausible(lab, student))
    return as_bytes([first, chained(first.hash, 10**15, *second[1:6])])


def removed_to_a_billion(lab: Lab, student: str) -> bytes:
    """The largest number that an event can have."""
    first, second, *_ = events_of(plausible(lab, student))
    return as_bytes([first, chained(first.hash, 10**9, *second[1:6])])


def ever_more_needs(lab: Lab, student: str, count: int = 20_000) -> bytes:
    """One instrument that waits for yet another prediction with every use."""
    uses = [("use", "R", {"needs": [f"p{k}"], "inputs": {}}) for k in range(count)]
    return ledger(lab, student, uses, step=timedelta(milliseconds=1))


def one_answer(lab: Lab, student: str, count: int = 20_000) -> bytes:
    """One reflection that is answered again and again."""
    name, content = next((n, v) for kind, n, v in entries(lab) if kind == "reflection")
    return ledger(lab, student, [("reflection", name, content)] * count)


def rivals(lab: Lab, student: str, count: int = 20_000) -> bytes:
    """Thousands of events that all claim to be the second."""
    first, second, *_ = events_of(plausible(lab, student))
    content = ((*second[1:4], f"n{k}", *second[5:6]) for k in range(count))
    return as_bytes([first, *(chained(first.hash, 1, *each) for each in content)])


def newlines(lab: Lab, student: str) -> bytes:
    """Nineteen and a half million empty lines."""
    return b"\n" * 19_500_000


def deep(lab: Lab, student: str) -> bytes:
    """A value that is nested deeper than Python goes."""
    return _with_value(lab, student, "[" * 900 + "]" * 900)


def deeper(lab: Lab, student: str) -> bytes:
    """A value that is nested deeper than a parser goes."""
    return _with_value(lab, student, "[" * 9_000 + "]" * 9_000)


def wide(lab: Lab, student: str) -> bytes:
    """A line of empty lists, which take thirty times as much memory."""
    return _with_value(lab, student, "[" + "[]," * 300_000 + "[]]")


def huge_integers(lab: Lab, student: str) -> bytes:
    """A number of four thousand digits."""
    return _with_value(lab, student, "9" * 4_000)


def not_a_number(lab: Lab, student: str) -> bytes:
    """What is not a number in JSON."""
    return _with_value(lab, student, "NaN")


def _with_value(lab: Lab, student: str, value: str) -> bytes:
    first, *rest = plausible(lab, student).splitlines(keepends=True)
    content = f'"value":{{"value":{value},"unit":null,"confidence":null}}'
    line = rest[0].partition(b'"value":')[0] + content.encode()
    return first + line + f',"prev":"{"0" * 64}","hash":"{"0" * 64}"}}\n'.encode()


FORGED: dict[str, Forgery] = {
    "in one second": Forgery(
        "everything that earns points, written by a program", in_one_second, 1, "nobody reads"
    ),
    "at one moment": Forgery("the same with one time", at_one_moment, 1, "within 1 second"),
    "nulls": Forgery("names without values", of_nulls, 0, "would not have taken"),
    "wrong values": Forgery("values of another type", of_wrong_values, 0, "would not have"),
    "unknown options": Forgery("what nobody offers", of_unknown_options, 0, "would not have"),
    "answers only": Forgery("answers in place of predictions", of_answers_only, 0, "not ask"),
    "backwards": Forgery("cards before what opens them", backwards, 1, "which opens it"),
    "looked first": Forgery("instruments before predictions", looked_first, 1, "was used"),
    "moves first": Forgery("moves before predictions", moves_first, 1, "which it waits for"),
    "never predicted": Forgery("a use without its prediction", never_predicted, 1, "never"),
    "unknown names": Forgery("entries nobody asks for", with_unknown_names, 1, "not ask"),
    "another lab": Forgery("the ledger of another lab", of_another_lab, 0, "belongs to the lab"),
    "before the release": Forgery("before anybody had it", before_the_release, 1, "released"),
    "after the hand-in": Forgery("after it was handed in", after_the_hand_in, 1, "handed in"),
    "in the future": Forgery("work of next year", in_the_future, 1, "later than the moment"),
    "back in time": Forgery("times that run backward", back_in_time, 1, "earlier than the event"),
}  # fmt: skip

#: What a grader must survive; none of them earns anything.
HOSTILE: Sequence[Callable[[Lab, str], bytes]] = (
    counted_to_a_quadrillion, removed_to_a_billion, ever_more_needs, rivals, newlines, deep, deeper,
    wide, huge_integers, not_a_number,
)  # fmt: skip
