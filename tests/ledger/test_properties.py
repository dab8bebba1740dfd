"""Whatever students do, in whatever order, an untouched ledger verifies and says what they did."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from mlsys_widgets.ledger import AlreadyCommitted, Ledger
from mlsys_widgets.ledger.values import frozen
from tests.ledger.making import (
    DESIGN,
    LAB,
    START,
    STUDENT,
    Clock,
    form_of_lab,
    opened,
    read_events,
    worked_through,
    write_events,
)

ids = st.sampled_from(["a", "b", "c", "act1", "größe"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
printable = st.characters(categories=["L", "M", "N", "P", "S"], include_characters=" ")
students = st.text(printable, min_size=1, max_size=30)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
confidences = st.none() | st.integers(1, 5)
pieces = st.binary(min_size=1, max_size=60).filter(lambda b: b"\n" not in b and b.strip())


class Kernels(RuleBasedStateMachine):
    """Several kernels on one ledger, with clocks of their own, and a crash now and then."""

    kernels = Bundle("kernels")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "ledger.jsonl"
        self.predictions: dict[str, tuple[object, int | None]] = {}
        self.reflections: dict[str, list[object]] = {}
        self.answers: dict[str, list[object]] = {}
        self.design: dict[str, object] | None = None
        self.uses: dict[str, int] = {}
        self.torn = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @rule(target=kernels, minutes=st.integers(-60, 60))
    def start(self, minutes: int) -> Ledger:
        return opened(self.path, Clock(START + timedelta(minutes=minutes)))

    @rule(led=kernels, name=ids, value=values.filter(lambda v: v is not None), sure=confidences)
    def commit(self, led: Ledger, name: str, value: object, sure: int | None) -> None:
        if name in self.predictions:
            with pytest.raises(AlreadyCommitted) as no:
                led.commit_prediction(name, value, sure)
            assert no.value.prediction.value == frozen(self.predictions[name][0])
        else:
            assert led.commit_prediction(name, value, sure).confidence == sure
            self.predictions[name] = (value, sure)

    @rule(led=kernels, name=ids, value=values, right=st.none() | st.booleans())
    def reflect(self, led: Ledger, name: str, value: object, right: bool | None) -> None:
        assert led.record_reflection(name, value, correct=right).correct == right
        self.reflections.setdefault(name, []).append(value)

    @rule(led=kernels, name=ids, value=values)
    def answer(self, led: Ledger, name: str, value: object) -> None:
        assert led.record_answer(name, value).value == frozen(value)
        said = self.answers.setdefault(name, [])
        if not said or repr(frozen(said[-1])) != repr(frozen(value)):
            said.append(value)

    @rule(led=kernels, fused=st.booleans())
    def decide(self, led: Ledger, fused: bool) -> None:
        self.design = {**DESIGN, "fusion_enabled": fused}
        assert dict(led.save_design(self.design, form_of_lab())) == self.design

    @rule(led=kernels, name=ids)
    def use(self, led: Ledger, name: str) -> None:
        led.record_use(name, every=0)
        self.uses[name] = self.uses.get(name, 0) + 1

    @rule(led=kernels, name=ids, piece=pieces)
    def crash(self, led: Ledger, name: str, piece: bytes) -> None:
        if self.path.exists():
            with self.path.open("ab") as stream:
                stream.write(piece)
            self.use(led, name)
            self.torn += 1

    @rule(led=kernels)
    def look(self, led: Ledger) -> None:
        self.compare(led)

    @invariant()
    def whole(self) -> None:
        led = opened(self.path, Clock(START + timedelta(hours=3)))
        assert led.verify().first_problem is None
        assert len(led.torn) == self.torn
        self.compare(led)

    def compare(self, led: Ledger) -> None:
        state = led.state()
        said = {name: (p.value, p.confidence) for name, p in state.predictions.items()}
        assert said == {n: (frozen(v), c) for n, (v, c) in self.predictions.items()}
        attempts = {n: [a.value for a in r.attempts] for n, r in state.reflections.items()}
        assert attempts == {n: list(map(frozen, vs)) for n, vs in self.reflections.items()}
        answers = {n: [*(e.value for e in a.earlier), a.value] for n, a in state.answers.items()}
        assert answers == {n: list(map(frozen, vs)) for n, vs in self.answers.items()}
        assert {n: dict(d) for n, d in state.designs.items()} == (
            {} if self.design is None else {LAB: self.design}
        )
        assert {n: use.count for n, use in state.uses.items()} == self.uses


def test_kernels_that_come_and_go():
    steps = settings(max_examples=40, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(Kernels, settings=steps)


@given(st.lists(st.tuples(ids, values), max_size=10), students)
def test_an_untouched_ledger_always_verifies(said, student):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        led = Ledger.open(path, lab=LAB, student=student)
        for name, value in said:
            led.record_reflection(name, value)
        assert led.verify().ok
        again = Ledger.open(path, lab=LAB, student=student)
        assert again.verify().ok
        assert again.state() == led.state()
        assert again.student == student
        assert [e.value["value"] for e in again.events() if e.kind == "reflection"] == [
            value for _, value in said
        ]


@pytest.fixture(scope="module")
def lab_done(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("done") / "ledger.jsonl"
    worked_through(path)
    return path


@given(st.data())
def test_no_shuffle_of_lines_goes_unseen(lab_done, data):
    """Any lines, in any order and number, other than the first few as they were."""
    events = read_events(lab_done)
    places = data.draw(st.lists(st.integers(0, len(events) - 1), max_size=15))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        write_events(path, (events[place] for place in places))
        verdict = Ledger.open(path, lab=LAB, student=STUDENT).verify()
        assert verdict.ok == (places == list(range(len(places))))


@given(st.data())
def test_no_changed_byte_goes_unseen_or_stops_the_reader(lab_done, data):
    whole = lab_done.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        led = Ledger.open(path, lab=LAB, student=STUDENT)
        led.state()
        # A blank for a line end, or one kind of blank for another, changes no meaning.
        if not (chr(byte).isspace() or byte == 0xA0):
            assert not led.verify().ok


@given(st.binary(max_size=400))
def test_no_bytes_stop_the_reader(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        path.write_bytes(data)
        led = Ledger.open(path, lab=LAB, student=STUDENT)
        led.state()
        assert led.verify().ok == (not data.strip())
