"""A file of what was told: what it says in words, and what is refused."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.files import LEDGER, TOLD
from mlsys_widgets.labs.told import ToldRefused, read_told, told_beside

ANSWER = {
    "name": "busy", "kind": "answer", "answer": "33.0", "credit": 0.5, "earned": 3, "points": 6,
    "says": "Launches cost time, too.", "again": True, "second": None,
}  # fmt: skip
REPORT = {
    "format": 1, "lab": "lab_02", "student": "ann", "share": 0.9, "later": "",
    "until": "2026-11-03T00:00:00+00:00",
    "questions": [
        ANSWER, {"name": "a", "kind": "record", "earned": 2, "points": 4},
        {"name": "b", "kind": "person", "points": 8}, {"name": "c", "kind": "later", "points": 1},
    ],
}  # fmt: skip


def as_bytes(**changes):
    return json.dumps({**REPORT, **changes}).encode()


def test_points_and_what_is_still_to_come_are_said():
    told = read_told(as_bytes(), "lab_02", "ann")
    said = " ".join(told.sentences)
    for words in ("5 of 10 points", "Functions", "Essays are with your TA"):
        assert words in said
    assert told.questions["busy"].again


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (as_bytes(student="ben"), "for ben"),
        (as_bytes(lab="lab_01"), "about lab_01"),
        (as_bytes(format=9), "no feedback file"),
        (as_bytes(questions=[{**ANSWER, "credit": "much"}]), "no feedback file"),
        (as_bytes(until="soon"), "no feedback file"),
        (b"[" * 100_000, "no feedback file"),
        (b"\xff", "no feedback file"),
        (b"[]", "no feedback file"),
    ],
)
def test_what_is_not_this_students_is_refused_with_a_sentence(content, why, tmp_path):
    with pytest.raises(ToldRefused, match=why):
        read_told(content, "lab_02", "ann")
    (tmp_path / TOLD).write_bytes(content)
    assert told_beside(tmp_path / LEDGER, "lab_02", "ann") is None
