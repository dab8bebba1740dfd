"""What a record promises: points where it gives some, and none elsewhere."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.record_card import RecordCard
from mlsys_widgets.labs import Record
from mlsys_widgets.labs.student_steps import StepProgress
from mlsys_widgets.ledger import Ledger


@pytest.mark.parametrize("deeper", [False, True])
def test_only_what_gives_points_speaks_of_them(tmp_path, deeper):
    ledger = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_01_demo", student="student-01")
    tried = StepProgress("tried", "tried, not right yet")
    record = Record(["why"], points=0 if deeper else 4, deeper=deeper)
    card = RecordCard(record, lambda: {"Reflection: Why?": tried}, ledger=ledger)
    assert "Tried, not right yet" in card.text()
    assert ("The points are for doing it" in card.text()) is not deeper
