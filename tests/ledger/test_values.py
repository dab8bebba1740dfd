"""What a ledger can keep, and what it refuses by name."""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest

from mlsys_widgets.ledger import Ledger, LedgerError, ValueRefused
from mlsys_widgets.ledger.events import LONGEST_LINE
from tests.ledger.making import LAB, opened


class Options(enum.StrEnum):
    C = "C"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0, 0),
        (-1.5, -1.5),
        (True, True),
        ("", ""),
        ((1, (2,)), [1, [2]]),
        ({"a": None}, {"a": None}),
        (np.float64(0.5), 0.5),
        (Options.C, "C"),
        (10**300, 10**300),
        (5e-324, 5e-324),
        ('\x00\n"\\', '\x00\n"\\'),
    ],
)
def test_plain_values_come_back_as_they_were(path, value, kept):
    opened(path).record_reflection("r", value)
    (event,) = (event for event in Ledger.open(path).events() if event.kind == "reflection")
    assert event.value["value"] == kept
    assert type(event.value["value"]) is type(kept)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (math.nan, r"^q is nan; it must be a finite number$"),
        ([1, {"deep": math.inf}], r"^q\[1\]\.deep is inf; it must be a finite number$"),
        (np.int64(3), r"^q is .*3.*; it must be text, a number"),
        ({1, 2}, r"^q is \{1, 2\}; it must be text"),
        (b"C", r"^q is b'C'; it must be text"),
        ({1: 2}, r"^a key of q is 1; it must be text$"),
        ("\ud800", r"half characters"),
        ({"\udfff": 1}, r"half characters"),
        (10**301, r"q has over 300 digits"),
        (None, r"^q is None; it must be what was predicted$"),
        (
            "x" * LONGEST_LINE,
            r"^q takes 1,000,\d{3} bytes; one event of a ledger may take 1,000,000",
        ),
    ],
)
def test_what_a_ledger_cannot_keep_is_refused_by_name(path, value, sentence):
    led = opened(path)
    led.record_answer("a", 1)
    before = path.read_bytes()
    with pytest.raises(ValueRefused, match=sentence) as no:
        led.commit_prediction("q", value)
    assert isinstance(no.value, LedgerError)
    assert path.read_bytes() == before
    assert "q" not in led.state().predictions


def test_nesting_has_an_end(path):
    value: object = 1
    for _ in range(32):
        value = [value]
    opened(path).record_answer("deep", value)
    with pytest.raises(ValueRefused, match="nested too deeply; 32 levels"):
        opened(path).record_answer("deeper", [value])


@pytest.mark.parametrize("confidence", [0, 6, 3.0, "4", True, -1])
def test_confidence_goes_from_1_to_5(path, confidence):
    with pytest.raises(ValueRefused, match=r"confidence is .*; it must be a whole number from 1"):
        opened(path).commit_prediction("q", "A", confidence=confidence)
    assert not path.exists()


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, None, 7, "\ud800"])
def test_an_id_is_a_short_printable_text(path, name):
    led = opened(path)
    for method in (led.commit_prediction, led.record_reflection, led.record_answer):
        with pytest.raises(ValueRefused, match=r"_id is "):
            method(name, "A")
    with pytest.raises(ValueRefused, match="instrument_id is "):
        led.record_use(name)
    with pytest.raises(ValueRefused, match="student is " if name is not None else "not known"):
        Ledger.open(path, lab=LAB, student=name).record_answer("a", 1)
    assert not path.exists()
