"""Ledgers that no card has written, and those of honest students: what counts, what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.grading.judging.award import judge_record
from mlsys_widgets.grading.reading.hand_in_time import read_time
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.labs import Lab, Record, load
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import timestamp
from tests.effort import cpu_seconds, effort
from tests.grading import forged_ledgers
from tests.grading.forged_ledgers import BEGUN, FORGED, HANDED_IN, HOSTILE, RELEASED
from tests.labs.lab_walk import LabWalk
from tests.labs.rehearsal import ROOT, committed
from tests.ledger.making import Clock
from tests.sampling import sample, takes_everything

LABS = sorted(path.name for path in (ROOT / "assignments").glob("lab_*"))
OWNER = "student-07"


def lab_of(name: str) -> Lab:
    return load(ROOT / "assignments" / name)


def judged(lab: Lab, folder: Path, content: bytes | None = None, owner: str = OWNER) -> tuple:
    """What the records of a lab earn, as fractions, and what is said about the ledger."""
    if content is not None:
        (folder / "ledger.jsonl").write_bytes(content)
    items = lab.items(lab.draw(owner))
    record = LedgerRecord(lab, folder, owner, items=items)
    doubts = record.doubts(released=RELEASED, handed_in=HANDED_IN)
    earned = [
        judge_record(lab, name, folder, owner, ledger=record)[0].credit
        for name, item in items.items()
        if isinstance(item, Record)
    ]
    return earned, doubts


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("lab", LABS)
def test_a_forged_ledger_is_flagged_and_what_is_not_there_earns_nothing(lab, name, tmp_path):
    forgery, lab = FORGED[name], lab_of(lab)
    earned, doubts = judged(lab, tmp_path, forgery.make(lab, OWNER))
    assert any(forgery.flagged in words for words in doubts), doubts
    assert earned == [pytest.approx(forgery.earns)] * len(earned)


@pytest.mark.parametrize("lab", LABS)
def test_a_program_that_takes_its_time_cannot_be_told_from_a_person(lab, tmp_path):
    """As the docs say: only a note of the head that was made before would show it."""
    lab = lab_of(lab)
    earned, doubts = judged(lab, tmp_path, forged_ledgers.plausible(lab, OWNER))
    assert doubts == []
    assert set(earned) == {1.0}


@pytest.mark.parametrize("make", HOSTILE)
def test_a_hostile_ledger_earns_nothing_and_stops_nobody(make, tmp_path):
    lab = lab_of("lab_07_kernel_fusion")
    (tmp_path / "ledger.jsonl").write_bytes(make(lab, OWNER))
    judged = []
    # Without limits it would be thousands.
    assert (
        effort(lambda: judged.extend(judge_record(lab, "predictions_kept", tmp_path, OWNER))) < 200
    )
    verdict, flag = judged
    # Of three predictions, one comes before what is hostile.
    assert verdict.credit <= 0.34
    assert flag is not None


@pytest.mark.parametrize("make", [forged_ledgers.ever_more_needs, forged_ledgers.rivals])
def test_judging_takes_time_that_grows_with_the_size_alone(make, tmp_path):
    lab, path = lab_of("lab_07_kernel_fusion"), tmp_path / "ledger.jsonl"

    def seconds(count: int) -> float:
        path.write_bytes(make(lab, OWNER, count))
        return cpu_seconds(lambda: judge_record(lab, "predictions_kept", tmp_path, OWNER), times=3)

    assert seconds(4_000) < 9 * seconds(1_000)


# Honest students.


@pytest.fixture
def walked(tmp_path) -> Callable[[str, Clock], Iterator[Ledger]]:
    """Walks a lab to its end with a clock of its own, and stops after every commitment."""

    def walk(lab: str, clock: Callable[[], datetime]) -> Iterator[Ledger]:
        way = LabWalk.of(lab, OWNER, tmp_path)
        ledger = way.found.lab.ledger
        ledger._clock = clock
        for _ in way.commitments():
            yield ledger
        yield ledger

    return walk


class Minutes(Clock):
    """A clock of somebody who takes most of a minute for everything."""

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=47)
        return self.moment


@pytest.mark.parametrize("lab", LABS)
def test_a_walk_through_the_cards_raises_no_doubt(lab, walked, tmp_path):
    for ledger in walked(lab, Minutes(BEGUN)):
        if ledger.path.exists():
            assert judged(lab_of(lab), tmp_path)[1] == []


@pytest.mark.parametrize("lab", LABS)
def test_a_clock_that_is_set_back_by_minutes_raises_no_doubt(lab, walked, tmp_path):
    clock = Minutes(BEGUN)
    for k, _ in enumerate(walked(lab, clock)):
        if k == 4:
            clock.moment -= timedelta(minutes=5)
    assert judged(lab_of(lab), tmp_path)[1] == []


def test_line_ends_of_other_systems_raise_no_doubt(tmp_path):
    lab = lab_of(LABS[0])
    content = forged_ledgers.plausible(lab, OWNER)
    for changed in (content.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + content, content + b"\n\n"):
        earned, doubts = judged(lab, tmp_path, changed)
        assert (set(earned), doubts) == ({1.0}, [])


def test_answers_that_code_computes_may_come_all_at_once(tmp_path):
    lab = lab_of("lab_07_kernel_fusion")
    words = forged_ledgers.entries(lab)
    names = ["launch_budget_us", "faster_gpu_saves_pct", "stream_wall_ms", "kernels_left"]
    by_code = [
        ("answer", f"{kind}{name}", {"value": 7.0, "unit": None, "confidence": None})
        for name in names
        for kind in ("code.", "")
    ]
    content = forged_ledgers.ledger(lab, OWNER, by_code, step=timedelta(milliseconds=1))
    assert judged(lab, tmp_path, content)[1] == []
    assert judged(lab, tmp_path, forged_ledgers.ledger(lab, OWNER, [*by_code, *words]))[1] == []


def test_a_quiz_that_is_answered_with_one_press_is_one_decision(tmp_path):
    lab = lab_of("lab_review_foundations")
    slow = forged_ledgers.events_of(forged_ledgers.plausible(lab, OWNER))
    quiz = [e.time for e in slow if e.id.startswith("ten_questions.")]
    at_once = [e._replace(time=quiz[0]) if e.id.startswith("ten_questions.") else e for e in slow]
    content = forged_ledgers.as_bytes(forged_ledgers.rechained(at_once))
    assert len(quiz) == 10
    assert judged(lab, tmp_path, content)[1] == []


def test_a_wrong_verdict_on_a_reflection_is_seen(tmp_path):
    lab = lab_of("lab_07_kernel_fusion")
    words = [
        (kind, name, {**value, "value": "A"} if name == "act1_why" else value)
        for kind, name, value in forged_ledgers.entries(lab)
    ]
    earned, doubts = judged(lab, tmp_path, forged_ledgers.ledger(lab, OWNER, words))
    assert doubts == ["Event 2 (reflection act1_why) says that it is right, and it is not."]
    assert set(earned) == {1.0}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_values_are_entered_only_what_a_card_takes_counts(data, tmp_path):
    lab = lab_of(data.draw(st.sampled_from(LABS)))
    anything = st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(10**40), 10**40) | st.text(max_size=4) | st.just("A"),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=4,
    )  # fmt: skip
    words = [
        (kind, name, value if kind == "design" else {**value, "value": data.draw(anything)})
        for kind, name, value in forged_ledgers.entries(lab)
    ]
    (tmp_path / "ledger.jsonl").write_bytes(forged_ledgers.ledger(lab, OWNER, words))
    items = lab.items(lab.draw(OWNER))
    record = LedgerRecord(lab, tmp_path, OWNER, items=items)
    for name, kept in record.state.predictions.items():
        assert items[name].read(kept.value) == kept.value
    assert all(isinstance(words, str) for words in record.doubts())


def test_a_copy_keeps_its_origin(tmp_path):
    lab = lab_of(LABS[0])
    content = forged_ledgers.plausible(lab, "friend")
    origins = []
    for made, whose in (
        (content, "friend"),
        (forged_ledgers.friends(content, OWNER), OWNER),
        (forged_ledgers.friends_with_another_id(content, OWNER), OWNER),
    ):
        (tmp_path / "ledger.jsonl").write_bytes(made)
        origins.append(set(LedgerRecord(lab, tmp_path, whose).origin))
    first, renamed, new_id = origins
    assert first == renamed
    assert len(first & new_id) == len(first) - 1


def test_times_are_compared_in_utc(tmp_path):
    lab = lab_of(LABS[0])
    (tmp_path / "ledger.jsonl").write_bytes(forged_ledgers.plausible(lab, OWNER))
    record = LedgerRecord(lab, tmp_path, OWNER)
    last = datetime.fromisoformat(timestamp(BEGUN)) + timedelta(hours=2)
    assert record.doubts(handed_in=last.replace(tzinfo=None)) == []
    assert record.doubts(released=BEGUN.astimezone(UTC) + timedelta(minutes=4)) == []
    (late,) = record.doubts(released=BEGUN + timedelta(minutes=6))
    assert "Event 0 says 2026-10-20T09:00:00.000Z, and the lab was released" in late


@settings(max_examples=3 if takes_everything() else 1, deadline=None)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("lab", sample(LABS, 3))
def test_no_simulated_student_raises_a_doubt(lab, seed, tmp_path_factory):
    course = committed(tmp_path_factory.mktemp("course"), lab)
    made = simulate(course.root, lab, 12, seed=seed)
    asks = lab_of(lab)
    seen = 0
    for each in made:
        folder = course.work(each.student)
        if each.kind == "copied" or not (folder / "ledger.jsonl").exists():
            continue
        items = asks.items(asks.draw(each.student))
        record = LedgerRecord(asks, folder, each.student, items=items)
        assert record.somebody_else is None
        assert record.doubts(handed_in=read_time(each.handed_in)) == [], each.kind
        # Nothing that was saved is lost by being checked.
        full = record.ledger.state()
        assert record.state.predictions == full.predictions
        assert record.state.reflections == full.reflections
        assert record.state.answers == full.answers
        assert record.state.designs == full.designs
        seen += 1
    assert seen
