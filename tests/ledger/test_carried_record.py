"""A notebook carries the lines of its ledger, and gives back exactly those."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger.carried_record import (
    LARGEST_RECORD,
    BadRecord,
    carried,
    owner_of,
    put_record,
    record_of,
    take_out,
    whole_lines,
    with_record,
)
from mlsys_widgets.ledger.events import GENESIS, chained, to_line
from mlsys_widgets.ledger.journal import MOST_LINES

LAB, STUDENT = "lab_02_demo", "ann"
AT = "2026-02-03T09:30:00.000Z"


def ledger_of(*values, student=STUDENT, lab=LAB, ident="6f38") -> bytes:
    """The file of a ledger with some answers."""
    events = [chained(GENESIS, 0, AT, lab, "opened", ident, {"schema": 1, "student": student})]
    for value in values:
        content = {"value": value, "unit": None, "confidence": None}
        last = events[-1]
        events.append(chained(last.hash, last.seq + 1, AT, lab, "answer", "a", content))
    return b"".join(map(to_line, events))


def notebook(lab=LAB, **about):
    return {"metadata": {"mlsys": {"lab": lab, **about}}, "cells": []}


def carrying(content: bytes, lab=LAB):
    return notebook(lab, record=record_of(content))


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(anything, max_size=8))
def test_file_to_record_to_file_is_the_identity_for_any_ledger(values):
    """Whatever a student has written: the notebook stays a notebook, and the lines come back."""
    content = ledger_of(*values)
    made = nbformat.from_dict({**carrying(content), "nbformat": 4, "nbformat_minor": 5})
    nbformat.validate(made)
    again = json.loads(nbformat.writes(made))
    assert carried(again) == content
    assert record_of(carried(again)) == again["metadata"]["mlsys"]["record"]


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_whatever_else_is_in_the_file_comes_back_line_by_line(text):
    content = "".join(f"{line}\n" for line in text.split("\n")).encode()
    assert carried(json.loads(json.dumps(carrying(content)))) == content


def test_an_essay_breaks_nothing():
    essay = '</script>"}]}\\", "cells": [] \u2028 \x00 \ud800 ```'
    content = ledger_of(essay)
    text = with_record(json.dumps(notebook(title="Ü \ud800")).encode(), content, LAB, STUDENT)
    book = json.loads(text)
    assert book["cells"] == []
    assert book["metadata"]["mlsys"]["title"] == "Ü \ud800"
    assert json.loads(whole_lines(carried(book))[1])["value"]["value"] == essay


def test_a_line_that_a_crash_cut_off_is_left_out_and_a_finished_one_without_its_end_stays():
    content = ledger_of(1, 2)
    assert carried(carrying(content[:-20])) == ledger_of(1)
    assert carried(carrying(content.rstrip(b"\n"))) == content


def test_a_ledger_that_is_too_large_is_left_out_with_a_sentence():
    content = ledger_of(*("x" * 900_000 for _ in range(5)))
    book = carrying(content)
    assert "Hand in both files" in book["metadata"]["mlsys"]["record"]["left_out"]
    assert len(json.dumps(book)) < 1_000
    with pytest.raises(BadRecord, match=r"ledger\.jsonl was too large"):
        carried(book)
    largest = b"\n" * (LARGEST_RECORD - 1)
    assert len(largest) > MOST_LINES
    assert "left_out" in record_of(largest)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (None, "not a list of lines"),
        ("{}", "not a list of lines"),
        ([], "not a list of lines"),
        ({"lines": {"0": "x"}}, "not a list of lines"),
        ({"lines": ["x", 3]}, "not a list of lines"),
        ({"lines": [["x"]]}, "not a list of lines"),
        ({"lines": ["a\nb"]}, "end of a line"),
        ({"lines": ["\ud800"]}, "half a character"),
        ({"lines": [""] * 1_000_000}, "1,000,000 lines"),
        ({"lines": ["x" * 1_000] * 5_000}, "5,000,000 characters"),
        ({"lines": ["é" * (LARGEST_RECORD - 10)]}, "bytes, and at most"),
    ],
)
def test_what_is_no_record_is_named(record, why):
    with pytest.raises(BadRecord, match=why):
        carried(notebook(record=record))


@pytest.mark.parametrize("book", [None, [], 3, {}, {"metadata": []}, {"metadata": {"mlsys": 1}}])
def test_what_is_no_notebook_carries_nothing(book):
    assert carried(book) is None
    assert not put_record(book, ledger_of(), LAB, STUDENT)
    assert not take_out(book)


def test_it_says_whose_it_is():
    assert owner_of(ledger_of()) == (LAB, STUDENT)
    for before in (b"\n\n", b"\xef\xbb\xbf"):  # as editors leave it
        assert owner_of(before + ledger_of()) == (LAB, STUDENT)
    for content in (b"", b"\n" * 500, b"[" * 50_000, b"{}\n", ledger_of(1).split(b"\n")[1]):
        assert owner_of(content) is None


def test_a_notebook_gets_only_the_ledger_of_its_lab_and_its_student():
    for content in (ledger_of(student="bob"), ledger_of(lab="lab_03"), b"", b"\xff\n"):
        book = notebook()
        assert not put_record(book, content, LAB, STUDENT)
        assert book == notebook()
    assert not put_record(notebook("lab_03"), ledger_of(), LAB, STUDENT)
    assert put_record(book, ledger_of(), LAB, STUDENT)
    assert carried(book) == ledger_of()


def test_the_longer_of_two_that_agree_is_carried():
    book = carrying(ledger_of(1))
    assert put_record(book, ledger_of(1, 2), LAB, STUDENT)
    assert carried(book) == ledger_of(1, 2)
    assert not put_record(book, ledger_of(1), LAB, STUDENT), "the file is an older copy"
    assert carried(book) == ledger_of(1, 2)


@pytest.mark.parametrize(
    "before",
    [ledger_of(1, student="bob"), ledger_of(7, 8), ledger_of(1, ident="old"), b"nonsense\n"],
)
def test_what_does_not_continue_the_ledger_is_replaced(before):
    book = carrying(before)
    assert put_record(book, ledger_of(1), LAB, STUDENT)
    assert carried(book) == ledger_of(1)


def test_what_cannot_be_read_as_a_notebook_stays_as_it_is():
    for content in (b"{", b"[" * 100_000, b"[]", b"\xff"):
        assert with_record(content, ledger_of(), LAB, STUDENT) == content
