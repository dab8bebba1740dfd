"""Each kind of entry, as its card writes it and as it does not."""

from __future__ import annotations

from typing import Any

import pytest

from mlsys_widgets.grading.reading.entry_rules import EntryRules
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Essay,
    Item,
    Lab,
    Measurement,
    Message,
    Myth,
    Myths,
    Number,
    Parameter,
    Parameters,
    Prediction,
    Question,
    Quiz,
    Record,
    Reflection,
    steps,
)
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.ledger.designs import flag, number
from mlsys_widgets.ledger.events import GENESIS, Event, chained
from mlsys_widgets.ledger.fold import Fold
from mlsys_widgets.ledger.verification import MOST_PROBLEMS

AT = "2026-02-03T09:30:00.000Z"
ITEMS = {
    "message": Message("Noor", "Head", "Slow", "It is slow."),
    "bound": Prediction("Which?", {"A": "memory", "B": "compute"}),
    "share": Prediction("How much?", unit="%", low=0, high=1, after=["bound"]),
    "why": Reflection(
        "Why?", {"x": "this", "y": "that"}, right="x", opens="right", after=["bound"]
    ),
    "gaps": Reflection("It saves {what}.", blanks={"what": {"f": "FLOP", "b": "bytes"}}),
    "words": Reflection("Say it.", at_least=3),
    "busy": Number("How busy?", "percent", points=5, low=1, high=100, after=["why"]),
    "limit": Choice("What limits?", {"memory": "m", "compute": "c"}, points=5),
    "reply": Essay("Reply.", [(4, "for all")], at_least=3),
    "coda": Choice("And?", {"yes": "y", "no": "n"}, points=1, after=["reply"]),
    "quiz": Quiz([Question("q", "What?", {"m": "memory", "c": "compute"}, right="m")]),
    "myths": Myths([Myth("fp16", "It halves.", "It does.", true=True)]),
    "list": Checklist({"a": "say a", "b": "say b"}, [(0, "low", "again")]),
    "machine": Measurement("time it"),
    "kept": Record(["bound", "why", "own_cell", "design"], points=4),
}
DESIGN = {"side": number("the side", 1), "ok": flag("whether it fits")}
LAB = Lab("lab_02", title="Two", chapter=2, acts=(), design=DESIGN)


def declare(name: str, item: Item) -> None:
    def asks(_p: Parameters) -> Item:
        return item

    asks.__name__ = name
    LAB.asks(asks)


for _name, _item in ITEMS.items():
    declare(_name, _item)


def event(
    kind: str, name: str, value: Any, seq: int = 1, lab: str = "lab_02", **more: Any
) -> Event:
    shapes: dict[str, dict[str, Any]] = {
        "prediction": {"value": value, "confidence": 3},
        "reflection": {"value": value, "correct": None},
        "answer": {"value": value, "unit": None, "confidence": None},
        "use": {"needs": value, "inputs": {}},
    }
    content = {**shapes[kind], **more} if kind in shapes else value
    return chained(GENESIS, seq, AT, lab, kind, name, content)


@pytest.fixture(scope="module")
def rules() -> EntryRules:
    return EntryRules(LAB, ITEMS)


GOOD = [
    ("prediction", "bound", "A", {}),
    ("prediction", "share", 0.5, {}),
    ("prediction", "share", 1, {}),
    ("reflection", "why", "y", {}),
    ("reflection", "gaps", {"what": "f"}, {}),
    ("reflection", "words", "bytes set the pace", {}),
    ("answer", "busy", 33.3, {}),
    ("answer", "busy", 0.333, {}),  # an error of form is recorded, and pointed out
    ("answer", "code.busy", 33, {}),
    ("answer", "early.busy", 0.333, {}),
    ("answer", "limit", "memory", {}),
    ("answer", "reply", "A few words.", {}),
    ("answer", "quiz.q", "m", {"confidence": 2}),
    ("answer", "myths.fp16", "doubt", {}),
    ("answer", "list", [], {}),
    ("answer", "list", ["a", "b"], {}),
    ("answer", "machine", {"machine": "a laptop", "time": "2026", "digest": "0"}, {}),
    ("answer", "moves.bound", ["Raise it"], {}),
    ("answer", "words.bound", "I forgot the bytes.", {}),
    ("answer", "context", "edge", {}),
    ("answer", "design_misses", [], {}),
    ("answer", "design_instruments.roof", {"n": 1}, {}),
    ("answer", "own_cell", 3, {}),
    ("design", "lab_02", {"side": 3, "ok": True}, {}),
    ("use", "RooflineWidget", ["bound"], {}),
    ("opened", "0" * 32, {"schema": 1, "student": "ann"}, {}),
]

BAD = [
    ("prediction", "bound", None, {}),
    ("prediction", "bound", "C", {}),
    ("prediction", "bound", ["A"], {}),
    ("prediction", "bound", 1, {}),
    ("prediction", "share", None, {}),
    ("prediction", "share", "50%", {}),
    ("prediction", "share", True, {}),
    ("prediction", "share", 1.5, {}),
    ("prediction", "share", 10**299, {}),
    ("prediction", "why", "x", {}),
    ("prediction", "nothing", "A", {}),
    ("prediction", "message", "A", {}),
    ("prediction", "bound", "A", {"confidence": 6}),
    ("reflection", "why", None, {}),
    ("reflection", "why", "z", {}),
    ("reflection", "gaps", {}, {}),
    ("reflection", "gaps", {"what": "z"}, {}),
    ("reflection", "gaps", {"what": "f", "more": "b"}, {}),
    ("reflection", "gaps", {"what": ["f"]}, {}),
    ("reflection", "gaps", "f", {}),
    ("reflection", "words", "too few", {}),
    ("reflection", "words", 3, {}),
    ("reflection", "bound", "A", {}),
    ("answer", "busy", None, {}),
    ("answer", "busy", "33%", {}),
    ("answer", "busy", [33], {}),
    ("answer", "busy", True, {}),
    ("answer", "limit", "nothing", {}),
    ("answer", "limit", None, {}),
    ("answer", "reply", "", {}),
    ("answer", "reply", "x" * 20_001, {}),
    ("answer", "reply", None, {}),
    ("answer", "bound", "A", {}),
    ("answer", "why", "x", {}),
    ("answer", "design", {"side": 3, "ok": True}, {}),
    ("answer", "quiz", "m", {}),
    ("answer", "quiz.q", "m", {}),
    ("answer", "quiz.q", "z", {"confidence": 2}),
    ("answer", "quiz.q", None, {"confidence": 2}),
    ("answer", "myths.fp16", "true", {}),
    ("answer", "list", None, {}),
    ("answer", "list", ["b", "a"], {}),
    ("answer", "list", ["a", "a"], {}),
    ("answer", "list", ["c"], {}),
    ("answer", "machine", {}, {}),
    ("answer", "machine", {"machine": 1, "time": "2026", "digest": "0"}, {}),
    ("answer", "moves.bound", "Raise it", {}),
    ("answer", "moves.why", ["Raise it"], {}),
    ("answer", "words.bound", " ", {}),
    ("answer", "words.bound", 3, {}),
    ("answer", "words.bound", "word " * 81, {}),
    ("answer", "words.why", "That is no prediction.", {}),
    ("answer", "context", 3, {}),
    ("answer", "own_cell", None, {}),
    ("answer", "grade", 100, {}),
    ("design", "lab_02", {"side": None, "ok": None}, {}),
    ("design", "lab_02", {"side": 0, "ok": True}, {}),
    ("design", "lab_02", {}, {}),
    ("design", "lab_07", {"side": 3, "ok": True}, {}),
    ("message", "message", {}, {}),
]


@pytest.mark.parametrize(("kind", "name", "value", "more"), GOOD)
def test_what_a_card_writes_counts(rules, kind, name, value, more):
    assert rules.refusal(event(kind, name, value, **more)) == ""
    assert "lab_03" in rules.refusal(event(kind, name, value, lab="lab_03", **more))


@pytest.mark.parametrize(("kind", "name", "value", "more"), BAD)
def test_what_no_card_writes_does_not(rules, kind, name, value, more):
    assert rules.refusal(event(kind, name, value, **more))
    sifted = rules.sift([event(kind, name, value, **more)])
    assert sifted.kept == []
    assert sifted.refused[0].startswith(f"Event 1 ({kind} {name}) ")


def odd(rules: EntryRules, *content: tuple) -> list[str]:
    events = [event(kind, name, value, k, **dict(*more)) for k, (kind, name, value, *more) in
              enumerate(content, 1)]  # fmt: skip
    sifted = rules.sift(events)
    assert sifted.kept == events
    return sifted.odd


RIGHT = {"correct": True}
WRONG = {"correct": False}


def test_what_opens_a_card_comes_before_it(rules):
    early = odd(rules, ("prediction", "share", 0.5), ("prediction", "bound", "A"))
    assert early == ["Event 1 (prediction share) came before bound, which opens it."]
    assert odd(rules, ("prediction", "bound", "A"), ("prediction", "share", 0.5)) == []


def test_a_reflection_opens_when_it_is_right_if_it_says_so(rules):
    first = ("prediction", "bound", "A")
    tried, right = ("reflection", "why", "y", WRONG), ("reflection", "why", "x", RIGHT)
    answer = ("answer", "busy", 33.0)
    assert odd(rules, first, tried, right, tried, answer) == []
    assert odd(rules, first, tried, answer) == [
        "Event 3 (answer busy) came before why, which opens it."
    ]
    # Whoever writes code has read the question.
    assert odd(rules, ("answer", "code.busy", 33.0), answer) == []


def test_only_the_first_entry_of_a_card_is_held_against_its_gates(rules):
    answers = [("answer", "busy", float(k)) for k in range(50)]
    assert len(odd(rules, *answers)) == 1


def test_an_essay_opens_when_it_is_long_enough(rules):
    short, long = ("answer", "reply", "Buy memory."), ("answer", "reply", "Buy more memory.")
    coda = ("answer", "coda", "yes")
    assert odd(rules, short, long, coda) == []
    assert odd(rules, short, coda) == ["Event 2 (answer coda) came before reply, which opens it."]


def test_verdicts_are_compared_where_the_students_numbers_are_known(rules):
    first = ("prediction", "bound", "A")
    forged = odd(rules, first, ("reflection", "why", "y", RIGHT))
    assert forged == ["Event 2 (reflection why) says that it is right, and it is not."]
    assert odd(EntryRules(LAB), first, ("reflection", "why", "y", RIGHT)) == []


def test_instruments_and_moves_wait_for_predictions(rules):
    first = ("prediction", "bound", "A")
    assert odd(rules, first, ("use", "Roofline", ["bound"])) == []
    for name, value in (("explored", True), ("compared", True)):
        early = ("answer", f"{name}.bound", value)
        assert odd(rules, first, early) == []
        assert len(odd(rules, early, first)) == 1
    assert odd(rules, ("answer", "moves.bound", ["Raise it"]), first) == [
        "Event 1 (answer moves.bound) came before the prediction bound, which it waits for."
    ]
    (never,) = odd(rules, ("use", "Roofline", ["bound"]))
    assert never.startswith("The instrument Roofline was used (event 1), and the prediction bound")


def test_a_prediction_without_a_confidence_counts_and_is_mentioned(rules):
    (content,) = odd(rules, ("prediction", "bound", "A", {"confidence": None}))
    assert "has no confidence" in content


def test_no_more_is_said_than_somebody_could_read(rules):
    many = [event("answer", f"n{k}", 1, k) for k in range(2 * MOST_PROBLEMS)]
    assert len(rules.sift(many).refused) == MOST_PROBLEMS
    uses = [event("use", "R", [f"p{k}"], k) for k in range(2 * MOST_PROBLEMS)]
    assert len(rules.sift(uses).odd) == MOST_PROBLEMS


def test_what_takes_a_person_who_reads(rules):
    made = {
        kind_name: rules.decision(event(*kind_name, value, 7, **more), {"busy": 33.3})
        for *kind_name, value, more in GOOD
        for kind_name in [tuple(kind_name)]
    }
    decided = {name for (_, name), content in made.items() if content}
    assert decided == {"bound", "share", "why", "gaps", "words", "busy", "limit", "reply", "quiz.q",
                       "myths.fp16", "list", "machine", "lab_02"}  # fmt: skip
    assert made["answer", "quiz.q"] == "quiz"
    assert rules.decision(event("answer", "busy", 33.3), {"busy": 33.3}) is None


# Questions that are asked again.

AGAIN = Lab(
    "lab_02", title="", chapter=2, acts=(),
    parameters={"side": Parameter(256, steps(128, 384, 8), "elements", "side of a tile")},
)  # fmt: skip


@AGAIN.asks
def limit(p):
    options = {"l1": "in L1", "hbm": "in HBM"} if p.side < 256 else {"l2": "in L2", "hbm": "in HBM"}
    return Choice(f"Where are {p.side}?", options, points=2)


@AGAIN.asks
def bound(p):
    return Prediction("Which?", {"A": "memory", "B": "compute"})


def test_an_answer_is_held_against_the_question_of_its_attempt():
    attempts = Attempts(AGAIN, "ann")
    rules = EntryRules(AGAIN, AGAIN.items(AGAIN.draw("ann")), attempts)
    for k in range(1, 5):
        name, asked = f"again.{k}.limit", attempts.at("limit", k).item
        allowed = {each for each in ("l1", "l2", "hbm") if each in asked.options}
        fits = {v for v in ("l1", "l2", "hbm") if not rules.refusal(event("answer", name, v))}
        assert fits == allowed
        assert not rules.refusal(event("answer", f"early.{name}", "hbm"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("again.0.limit", "hbm"),
        ("again.21.limit", "hbm"),  # and nobody counts up to it
        ("again.999999.limit", "hbm"),
        ("again.1.bound", "A"),
        ("again.1.nothing", "hbm"),
        ("again.1.again.1.limit", "hbm"),
        ("code.again.1.limit", "hbm"),
        ("attempt.limit", 0),
        ("attempt.limit", True),
        ("attempt.limit", "1"),
        ("attempt.limit", 21),
        ("attempt.bound", 1),
    ],
)
def test_what_nobody_is_asked_again_is_refused(name, value):
    for rules in (EntryRules(AGAIN), EntryRules(AGAIN, None, Attempts(AGAIN, "ann"))):
        assert rules.refusal(event("answer", name, value))


def test_attempts_follow_each_other_and_never_answer_the_first_question():
    rules = EntryRules(AGAIN, AGAIN.items(AGAIN.draw("ann")), Attempts(AGAIN, "ann"))

    def sifted(*content):
        return rules.sift([event("answer", *each, seq=k) for k, each in enumerate(content, 1)])

    honest = sifted(
        ("limit", "hbm"), ("attempt.limit", 1), ("again.1.limit", "hbm"), ("attempt.limit", 2)
    )
    assert (len(honest.kept), honest.refused, honest.odd) == (4, [], [])
    assert Fold(honest.kept[2:]).state().answers.get("limit") is None
    (words,) = sifted(("limit", "hbm"), ("again.1.limit", "hbm")).odd
    assert "was not begun" in words
    for early in (("attempt.limit", 1),), (("limit", "hbm"), ("attempt.limit", 2)):
        assert "before the one before it is answered" in sifted(*early).odd[0]
