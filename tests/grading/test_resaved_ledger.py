"""A ledger is read however it was saved, and what was lost on the way stays lost."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.grading.reading.resaved_ledger import may_hold_a_ledger, read_saved
from mlsys_widgets.ledger.transfer import export_ledgers
from tests.ledger.test_carried_record import LAB, ledger_of

MINE = ledger_of(1, "é", 2.5)
EVENTS = [json.loads(line) for line in MINE.splitlines()]


@pytest.mark.parametrize(
    ("content", "how"),
    [
        (MINE, ""),
        (MINE.decode().encode("utf-16"), "as UTF-16"),
        (MINE.decode().encode("utf-32-be"), "as UTF-32"),
        (json.dumps(EVENTS, indent=1).encode(), "in other lines"),
        (" , ".join(map(json.dumps, EVENTS)).encode(), "in other lines"),
        (json.dumps(EVENTS).encode("utf-16-le"), "as UTF-16 and in other lines"),
    ],
)
def test_it_comes_back_as_it_was_written(content, how):
    assert may_hold_a_ledger(content)
    assert read_saved(content, LAB) == (MINE, how)


def test_an_export_holds_a_ledger_of_each_lab(tmp_path):
    for lab in (LAB, "lab_03"):
        (tmp_path / lab).write_bytes(ledger_of(1, lab=lab))
    export = export_ledgers([tmp_path / LAB, tmp_path / "lab_03"], tmp_path / "ledgers.json")
    assert read_saved(export.read_bytes(), LAB) == (ledger_of(1), "as an export")
    assert read_saved(export.read_bytes(), "lab_99") is None


def test_what_is_no_event_is_left_out_and_nothing_is_made_up():
    damaged = json.dumps([EVENTS[0], {**EVENTS[1], "seq": "1"}, EVENTS[2]]).encode()
    first, _, third, _ = MINE.splitlines(keepends=True)
    assert read_saved(damaged, LAB) == (first + third, "in other lines")
    assert read_saved(b"nothing", LAB) is None
