"""A report is made whatever the ledgers of a class hold, and in time that their size explains."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mlsys_widgets.classes import ClassSummary, class_summary, csv_tables, study_record
from mlsys_widgets.classes.class_charts import chart_groups
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.study_record import (
    LARGEST,
    MOST_EARLIER,
    _opened,
    read_study_record,
)
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import GENESIS, chained, to_line
from tests.effort import cpu_seconds
from tests.grading.classroom import LAB
from tests.grading.simulated import copy_of_class, of_kind, sql, work_of
from tests.sampling import takes_everything

pytestmark = pytest.mark.timeout(600)
AT = "2026-10-01T10:00:00.000Z"
NAMES = ("act1_bound", "act1_why", "intensity_flop_per_byte", "limit", "advice", "commitments")


def chain(student: str, entries: list[tuple[str, str, str, Any]]) -> bytes:
    """A ledger whose every link holds, whatever its entries say."""
    prev, lines = GENESIS, []
    opened = ("opened", "ledger", AT, {"schema": 1, "student": student})
    for seq, (kind, name, when, value) in enumerate([opened, *entries]):
        event = chained(prev, seq, when, LAB, kind, name, value)
        lines.append(to_line(event))
        prev = event.hash
    return b"".join(lines)


@pytest.fixture(scope="module")
def one(tmp_path_factory) -> tuple[Path, str]:
    """A class of few, and one of them."""
    root = copy_of_class(tmp_path_factory.mktemp("any") / "course")
    student = of_kind(root, "right")[0]
    others = [name for (name,) in sql(root, "select id from student") if name != student][3:]
    for name in others:
        sql(root, "delete from submitted_assignment where student_id = ?", name)
    return root, student


def report(root: Path) -> ClassSummary:
    """All that ``mlsys report`` makes."""
    summary = class_summary(LAB, root, names=True)
    assert page(summary)
    assert csv_tables.submissions(summary)
    assert csv_tables.questions(summary)
    for group in chart_groups(summary):
        assert group.charts
    return summary


def put(one: tuple[Path, str], content: bytes) -> Path:
    root, student = one
    file = work_of(root, student) / "ledger.jsonl"
    file.write_bytes(content)
    return root


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20) | st.sampled_from(["A", "B", 10**400, -(10**400), "memory", 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=6,
)  # fmt: skip
times = st.sampled_from(
    [AT, "2026-02-31T10:00:00.000Z", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
     "2026-10-01T10:05:00.000Z"]
)  # fmt: skip
parts = {
    "prediction": ("value", "confidence"), "reflection": ("value", "correct"),
    "answer": ("value", "unit", "confidence"), "use": ("needs", "inputs"), "design": (),
}  # fmt: skip


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, str, str, Any]:
    kind = draw(st.sampled_from([*parts, "opened", "other"]))
    fitting = st.fixed_dictionaries(
        {name: st.sampled_from([None, 1, 5, True]) | json_values for name in parts.get(kind, ())}
    )
    value = draw(fitting | json_values)
    return kind, draw(st.sampled_from(NAMES) | st.just("x")), draw(times), value


fuzzed = settings(
    max_examples=40 if takes_everything() else 12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@fuzzed
@given(st.binary(max_size=400))
@example(b"\x00" * 1000)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000 + b"\n")
@example(b"\n" * 3_900_000)
@example(b"\xff\xfe" + "{}".encode("utf-16-le"))
def test_any_bytes(one, content):
    assert len(report(put(one, content)).rows) == 4


@fuzzed
@given(st.lists(entries(), max_size=8))
@example([("prediction", "act1_bound", AT, {"value": {"a": []}, "confidence": 3})])
@example([("prediction", "act1_bound", AT, {"value": [{}], "confidence": 5})])
@example([("prediction", "act1_bound", AT, {"value": 10**400, "confidence": 5})])
@example([("prediction", "act1_bound", "2026-02-31T10:00:00.000Z", {"value": 1, "confidence": 1})])
@example([("opened", "ledger", AT, {"schema": 10**30, "student": "x"})])
@example([("use", "x", AT, {"needs": ["x"] * 5_000, "inputs": {}})] * 3)
def test_any_chain_of_entries(one, listed):
    """The links hold, so every entry is believed as far as it can be."""
    _, student = one
    assert len(report(put(one, chain(student, listed))).rows) == 4


def line(**changes: Any) -> bytes:
    event = chained(GENESIS, 0, AT, LAB, "opened", "ledger", {"schema": 1, "student": "x"})
    return json.dumps({**event._asdict(), **changes}).encode() + b"\n"


NASTY: dict[str, Callable[[str], bytes]] = {
    "seq of a quadrillion": lambda _: line(seq=0) + line(seq=10**15),
    "seq of 4,000 digits": lambda _: line(seq=10**4000),
    "needs that grow with the square": lambda student: chain(
        student,
        [("use", f"u{k}", AT, {"needs": [f"n{k % 50}-{j}" for j in range(60)], "inputs": {}})
         for k in range(2_000)],
    ),
    "predictions of twelve thousand names": lambda student: chain(
        student,
        [("prediction", f"p{k}", AT, {"value": "A", "confidence": None}) for k in range(12_000)],
    ),
    "nested to the limit": lambda student: chain(
        student, [("prediction", "act1_bound", AT, {"value": json.loads("[" * 90 + "]" * 90),
                                                    "confidence": 1})]
    ),
    "newlines": lambda _: b"\n" * 19_500_000,
    "more than is read": lambda student: chain(student, []) + b" " * LARGEST,
}  # fmt: skip


#: Functions called: four times what the longest ledger takes.
MOST_CALLS = 3_000_000


def counted(work: Callable[[], ClassSummary]) -> tuple[ClassSummary, int]:
    """Do something, and count the functions that are called for it."""
    calls = 0

    def count(_frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        return work(), calls
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("name", NASTY)
def test_named_cases(one, name):
    _, student = one
    root = put(one, NASTY[name](student))
    summary, calls = counted(lambda: report(root))
    # What took minutes or forever must not come back.
    assert calls < MOST_CALLS
    assert len(summary.rows) == 4
    mine = next(row for row in summary.rows if row.student == student)
    assert mine.predicted <= 1


def test_twice_as_much_takes_about_twice_as_long(tmp_path):
    """Whatever is in it: the time of reading grows with the size, not with its square."""
    for name in ("needs that grow with the square", "predictions of twelve thousand names"):
        whole = NASTY[name]("ann").splitlines(keepends=True)

        def spent(lines: list[bytes]) -> float:
            (tmp_path / "ledger.jsonl").write_bytes(b"".join(lines))
            return cpu_seconds(lambda: read_study_record(tmp_path, "ann"))

        # Four times the lines; a busy machine may spoil a comparison, but not all of them.
        quarter = whole[: len(whole) // 4]
        assert any(spent(whole) < 9 * spent(quarter) for _ in range(5)), name


def test_what_is_no_file(one):
    root, student = one
    file = work_of(root, student) / "ledger.jsonl"
    file.unlink()
    for make in (file.mkdir, lambda: os.mkfifo(file), lambda: file.symlink_to("/dev/zero")):
        make()
        assert len(report(root).rows) == 4
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()


def test_two_thousand_ledgers_that_were_set_aside(one, monkeypatch):
    """Only the last few are read, so that nobody keeps a report busy with copies."""
    root, student = one
    folder = work_of(root, student)
    Ledger.open(folder / "ledger.jsonl", student=student, lab=LAB)
    for number in range(2_000):
        (folder / f"ledger.jsonl.old-{number}").write_bytes(b"x\n")
    read: list[Path] = []

    def opened(path: Path) -> Ledger | None:
        read.append(path)
        return _opened(path)

    monkeypatch.setattr(study_record, "_opened", opened)
    assert len(report(root).rows) == 4
    assert sum(path.parent == folder for path in read) <= 1 + MOST_EARLIER
