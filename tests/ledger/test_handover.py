"""A lab starts from the one before, or says why it does not."""

from __future__ import annotations

import pytest

from mlsys_widgets.ledger import earlier_design
from tests.ledger.making import DESIGN, LAB, STUDENT, opened, worked_through

DEFAULT = {"fusion_enabled": False, "execution_mode": "eager"}
THE_DEFAULT = "so it starts from the default: fusion_enabled = False, execution_mode = 'eager'."


@pytest.fixture
def labs(tmp_path):
    for lab in (LAB, "lab_11_roofline"):
        (tmp_path / lab).mkdir()
    return tmp_path


def handover(labs):
    return earlier_design(
        LAB,
        beside=labs / "lab_11_roofline" / "ledger.jsonl",
        default=DEFAULT,
        student=STUDENT,
    )


def test_the_design_of_the_lab_before(labs):
    worked_through(labs / LAB / "ledger.jsonl")
    start = handover(labs)
    assert start.found
    assert dict(start.fields) == DESIGN
    assert start.sentence.startswith(f"Starts from your design of {LAB}, saved at 2026-02-03T")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, f"There is no ledger of {LAB} beside this lab"),
        (lambda path: opened(path).record_answer("a", 1), "has no design entry yet"),
        (lambda path: worked_through(path, student="student-02"), "belongs to 'student-02'"),
        (lambda path: path.mkdir(), "cannot be used"),
        (lambda path: path.write_bytes(b"nonsense"), "has no design entry yet"),
    ],
)
def test_without_it_the_default_and_a_sentence(labs, make, sentence):
    make(labs / LAB / "ledger.jsonl")
    start = handover(labs)
    assert not start.found
    assert dict(start.fields) == DEFAULT
    assert sentence in start.sentence
    assert start.sentence.endswith(THE_DEFAULT)


def test_a_design_from_an_edited_ledger_is_taken_and_told(labs):
    path = labs / LAB / "ledger.jsonl"
    worked_through(path)
    path.write_bytes(path.read_bytes().replace(b'"fusion_enabled":true', b'"fusion_enabled":false'))
    start = handover(labs)
    assert start.found
    assert start.fields["fusion_enabled"] is False
    assert "not intact from event 11" in start.doubt
    assert start.sentence.endswith(start.doubt)
