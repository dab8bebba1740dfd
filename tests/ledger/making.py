"""Ledgers to test with: a clock that ticks, a lab that was worked through, lines and values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from mlsys_widgets.labs import load
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.events import GENESIS, Event, chained, from_line, to_line

LAB = "lab_07_kernel_fusion"
STUDENT = "student-01"
START = datetime(2026, 2, 3, 9, 30, tzinfo=UTC)

DESIGN: dict[str, Any] = {
    "context": "cloud",
    "execution_mode": "compiled",
    "fusion_enabled": True,
    "compilation_roi_positive": True,
    "breakeven_inferences": 134_000,
    "kws_utilization_eager_pct": 33.3,
    "kws_utilization_compiled_pct": 66.7,
    "act1_prediction": "C",
    "act1_correct": True,
    "act2_result": 134_000.0,
    "act2_decision": "compiled",
    "constraint_hit": False,
}

# Whole floats are left out: to JSON Schema 1.0 is an integer, to the quick check it is none.
_ODD_NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer())
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 8)
    | _ODD_NUMBERS
    | st.text(max_size=5)
    | st.sampled_from(["x" * 200, "x" * 201, "a\n", "\n", "\x7f", "2026-02-03T09:30:00.000Z\n"])
    | st.sampled_from(["2026-13-03T09:30:00.000Z", "2026-02-31T23:59:59.999Z", LAB + "\n", ".."])
    | st.sampled_from(["f" * 64, "F" * 64, "f" * 63, "f" * 64 + "\n", "٣" * 64])
)
#: What JSON can hold, and what is almost an id, a time or a hash.
ANYTHING = (
    _SCALARS | st.lists(_SCALARS, max_size=3) | st.dictionaries(st.text(max_size=3), _SCALARS)
)


@cache
def form_of_lab(lab: str = LAB) -> DesignForm:
    """The form of the design entry that one of our labs declares in its files."""
    found = load(Path(__file__).parents[2] / "assignments" / lab)
    return DesignForm(found.name, found.chapter, found.design)


class Clock:
    """Gives a moment one second later each time, or whatever it is set to."""

    def __init__(self, moment: datetime = START) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def opened(path: Path, clock: Callable[[], datetime] | None = None, **others: Any) -> Ledger:
    return Ledger.open(path, **{"lab": LAB, "student": STUDENT, "clock": clock, **others})


def worked_through(
    path: Path, clock: Callable[[], datetime] | None = None, **others: Any
) -> Ledger:
    """Twelve events, as a student leaves them."""
    led = opened(path, clock or Clock(), **others)
    led.commit_prediction("act1", "C", confidence=4)
    led.record_use("audit", needs=["act1"], inputs={"kernels": 1000})
    led.record_answer("kws_utilization_pct", 30.0, unit="percent")
    led.record_answer("kws_utilization_pct", 33.3, unit="percent")
    led.record_reflection("act1_why", "A", correct=False)
    led.record_reflection("act1_why", "B", correct=True)
    led.commit_prediction("act2", 130_000, confidence=2)
    led.record_use("break_even", needs=["act2"])
    led.record_answer("break_even_images", 134_000)
    led.record_reflection("act2_text", "Größe zählt – 크기 \u2028 🚀")
    led.save_design(DESIGN, form_of_lab())
    return led


def read_events(path: Path) -> list[Event]:
    return [from_line(line) for line in path.read_bytes().split(b"\n") if line]


def write_events(path: Path, events: Iterable[Event]) -> None:
    path.write_bytes(b"".join(map(to_line, events)))


def rechained(events: Iterable[Event]) -> list[Event]:
    """What a student with Python can do: number and chain everything again."""
    made: list[Event] = []
    for seq, event in enumerate(events):
        prev = made[-1].hash if made else GENESIS
        made.append(chained(prev, seq, event.time, event.lab, event.kind, event.id, event.value))
    return made


def as_dict(event: Event) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(to_line(event))
    return loaded
