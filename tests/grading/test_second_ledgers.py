"""A second ledger gains nothing that a single one would not have given, and a person is told."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.merged_ledgers import events_in, merge
from mlsys_widgets.ledger.events import GENESIS, Event, chained, timestamp, to_line
from mlsys_widgets.ledger.fold import Fold
from tests.grading.classroom import LAB, classroom, grade, record
from tests.grading.forged_ledgers import (
    as_bytes,
    events_of,
    friends,
    friends_with_another_id,
)
from tests.ledger.making import rechained

pytestmark = pytest.mark.timeout(600)
ALL = 80


def ledger(*entries, ident="a1") -> bytes:
    """A ledger with entries at given seconds: (second, kind, name, value)."""
    opened = (0, "opened", ident, {"schema": 1, "student": "ann"})
    events: list[Event] = []
    for second, kind, name, value in [opened, *entries]:
        prev, at = events[-1].hash if events else GENESIS, f"2026-02-03T09:30:{second:02}.000Z"
        events.append(chained(prev, len(events), at, LAB, kind, name, value))
    return b"".join(map(to_line, events))


def predicted(second, value, name="p"):
    return second, "prediction", name, {"value": value, "confidence": 3}


def answered(second, value, name="a"):
    return second, "answer", name, {"value": value, "unit": None, "confidence": None}


def tried(second, correct, name="r"):
    return second, "reflection", name, {"value": "x", "correct": correct}


def used(second, *needs):
    return second, "use", "RooflineWidget", {"needs": list(needs), "inputs": {}}


def state_of(content):
    return Fold(events_in(content)).state()


ENTRIES = st.one_of(
    *(
        st.tuples(st.just(make), st.sampled_from("ABC"))
        for make in (predicted, answered, lambda at, value: tried(at, value == "A"))
    )
)


@given(st.lists(ENTRIES, max_size=20), st.data())
def test_one_ledger_in_two_parts_is_what_it_was(made, data):
    """However the entries of one ledger are dealt out to two machines, in whichever order."""
    entries = [make(second, value) for second, (make, value) in enumerate(made, 1)]
    side = [data.draw(st.booleans()) for _ in entries]
    parts = [
        ledger(*(e for e, own in zip(entries, side, strict=True) if own is which), ident=ident)
        for which, ident in ((True, "a1"), (False, "b2"))
    ]
    whole = state_of(ledger(*entries))
    for order in (parts, parts[::-1]):
        merged = state_of(merge(order).content)
        assert {n: p.value for n, p in merged.predictions.items()} == {
            n: p.value for n, p in whole.predictions.items()
        }
        assert {n: a.value for n, a in merged.answers.items()} == {
            n: a.value for n, a in whole.answers.items()
        }
        assert {n: [t.correct for t in r.attempts] for n, r in merged.reflections.items()} == {
            n: [t.correct for t in r.attempts] for n, r in whole.reflections.items()
        }


def test_of_two_predictions_the_first_commit_counts_whichever_is_better():
    before, after = ledger(predicted(1, "B"), used(2, "p")), ledger(predicted(9, "A"), ident="b2")
    for parts in ([before, after], [after, before]):
        merged = merge(parts)
        assert state_of(merged.content).predictions["p"].value == "B"
        assert merged.disputed == ("p",)


def test_attempts_are_not_hidden_in_a_second_ledger():
    first, second = ledger(tried(1, False), tried(2, False)), ledger(tried(3, True), ident="b2")
    attempts = state_of(merge([second, first]).content).reflections["r"].attempts
    assert [each.correct for each in attempts] == [False, False, True]


def test_a_copy_adds_no_entries():
    first = ledger(predicted(1, "A"), answered(2, "x"))
    longer = ledger(predicted(1, "A"), answered(2, "x"), answered(3, "y"))
    other = ledger(predicted(1, "A"), answered(2, "x"), answered(4, "z"))
    assert len(events_in(merge([longer, other]).content)) == len(events_in(first)) + 2


# A class.


def without_answers(content: bytes) -> bytes:
    return as_bytes(rechained(each for each in events_of(content) if each.kind != "answer"))


def with_answers(content: bytes, change) -> bytes:
    """The same ledger with other answers in it."""
    events = [
        each._replace(value={**each.value, "value": change(each.value["value"])})
        if each.kind == "answer" and isinstance(each.value["value"], int | float)
        else each
        for each in events_of(content)
    ]
    return as_bytes(rechained(events))


def at_a_readers_pace(content: bytes) -> bytes:
    """The same ledger, half a minute between decisions; a test makes two in a millisecond."""
    begun, *_ = events = events_of(content)
    start, step = datetime.fromisoformat(begun.time), timedelta(seconds=30)
    return as_bytes(
        rechained(each._replace(time=timestamp(start + k * step)) for k, each in enumerate(events))
    )


def earlier(content: bytes) -> bytes:
    """The same work in a ledger of its own, an hour before."""
    hour = timedelta(hours=1)
    opened, *rest = (
        each._replace(time=timestamp(datetime.fromisoformat(each.time) - hour))
        for each in events_of(content)
    )
    return as_bytes(rechained([opened._replace(id=opened.id[::-1]), *rest]))


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    course = classroom(tmp_path_factory.mktemp("second") / "course")
    right = {
        name: at_a_readers_pace((record(course, name) / LEDGER).read_bytes()) for name in NAMES
    }
    wrong = {name: with_answers(each, lambda v: v * 7 + 1) for name, each in right.items()}

    def put(name: str, **files: bytes) -> None:
        (course.work(name) / LEDGER).unlink()
        for path, content in files.items():
            (course.work(name) / path.replace("_", ".")).write_bytes(content)

    put("honest", ledger_jsonl=right["honest"])
    name = "right-then-wrong"
    put(name, ledger_jsonl=earlier(right[name]), x_jsonl=wrong[name])
    name = "wrong-then-right"
    put(name, ledger_jsonl=earlier(wrong[name]), x_jsonl=right[name])
    for name, beside in (
        ("edited", right["edited"].replace(b'"confidence":3', b'"confidence":4', 1)),
        ("beside-friend", right["honest"]),
        ("friend-renamed", friends_with_another_id(right["honest"], "friend-renamed")),
    ):
        put(name, ledger_jsonl=without_answers(right[name]), x_jsonl=beside)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(LEDGER, friends(right["honest"], "friend-zipped"))
    put("friend-zipped", w_zip=packed.getvalue())
    return grade(course)


NAMES = (
    "honest", "right-then-wrong", "wrong-then-right", "edited", "beside-friend", "friend-renamed",
    "friend-zipped",
)  # fmt: skip


def kinds(found) -> set[FlagKind]:
    return {flag.kind for flag in found.flags}


def test_the_latest_answer_counts_and_not_the_better_one(graded):
    assert graded["right-then-wrong"].earned == ALL - 40, "what the only number is worth"
    assert graded["wrong-then-right"].earned == ALL, "as in a single ledger"
    for name in ("right-then-wrong", "wrong-then-right"):
        assert kinds(graded[name]) == {FlagKind.LEDGERS_MERGED}
        assert "They differ about" in graded[name].flags[0].sentence


def test_an_edited_ledger_adds_nothing_to_an_intact_one(graded):
    assert graded["edited"].earned < ALL / 2
    assert kinds(graded["edited"]) == {FlagKind.LEDGER_NOT_USED}


def test_a_friends_ledger_beside_ones_own_is_not_used(graded):
    found = graded["beside-friend"]
    assert found.earned < ALL / 2
    assert kinds(found) == {FlagKind.LEDGER_NOT_USED}
    assert "somebody else's" in found.flags[0].sentence


def test_a_friends_ledger_under_ones_own_name_is_noticed(graded):
    """The answers are to the friend's numbers, and the times are the friend's."""
    assert graded["honest"].flags == () or kinds(graded["honest"]) == {FlagKind.SHARED_LEDGER}
    for name in ("friend-renamed", "friend-zipped"):
        assert FlagKind.SHARED_LEDGER in kinds(graded[name]) | kinds(graded["honest"])
        assert graded[name].earned < ALL
