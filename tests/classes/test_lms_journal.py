"""The journal of what was sent: whole lines, whatever happens between them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mlsys_widgets.classes.lms_journal import REFUSED, SENDING, SENT, PushJournal, SentScores
from mlsys_widgets.classes.lms_services import LmsScore

AT = datetime(2026, 11, 9, 12, tzinfo=UTC)
ITEM = "https://lms.edu/1"


def add(journal: PushJournal, state: str, given: float, seconds: int = 0) -> None:
    score = LmsScore("u", given, 10.0, AT + timedelta(seconds=seconds))
    journal.add(state, "lab", "ann", ITEM, score)


def known(root: Path) -> SentScores:
    return PushJournal(root).read().get((ITEM, "u"), SentScores())


def test_what_is_confirmed_and_what_may_have_arrived(tmp_path: Path) -> None:
    journal = PushJournal(tmp_path)
    assert journal.read() == {}
    add(journal, SENDING, 6)
    assert (known(tmp_path).confirmed, known(tmp_path).tried) == (None, [0.6])
    add(journal, SENT, 6)
    add(journal, SENDING, 7, 5)
    add(journal, REFUSED, 7, 5)
    found = known(tmp_path)
    assert (found.confirmed, found.tried, found.at) == (0.6, [0.7], AT + timedelta(seconds=5))
    assert found.is_ours(0.6)
    assert found.is_ours(0.7)
    assert not found.is_ours(0.65)


def test_columns_and_people_are_kept_apart(tmp_path: Path) -> None:
    journal = PushJournal(tmp_path)
    add(journal, SENT, 6)
    journal.add(SENT, "lab", "ben", ITEM, LmsScore("v", 1, 10, AT))
    journal.add(SENT, "lab", "ann", "https://lms.edu/2", LmsScore("u", 2, 10, AT))
    assert {key: each.confirmed for key, each in journal.read().items()} == {
        (ITEM, "u"): 0.6, (ITEM, "v"): 0.1, ("https://lms.edu/2", "u"): 0.2,
    }  # fmt: skip


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    journal = PushJournal(tmp_path)
    add(journal, SENT, 6)
    path = tmp_path / ".mlsys" / "lms" / "sent.jsonl"
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        add(journal, SENDING, 8, 9)
        found = known(tmp_path)
        # All but the line's end is a line as well.
        assert found.tried == [0.8]
        assert found.confirmed == 0.6


@pytest.mark.parametrize(
    "changed",
    [
        {"most": 0}, {"given": "6"}, {"given": None}, {"state": "lost"}, {"item": 3},
        {"user": None}, {"timestamp": "yesterday"}, {"timestamp": "2026-11-09T12:00:00"},
        {"timestamp": 5},
    ],
)  # fmt: skip
def test_a_line_that_makes_no_sense_is_not_read(tmp_path: Path, changed: dict[str, object]) -> None:
    journal = PushJournal(tmp_path)
    add(journal, SENT, 6)
    path = tmp_path / ".mlsys" / "lms" / "sent.jsonl"
    line = json.loads(path.read_text())
    path.write_text(json.dumps({**line, **changed}) + "\n[1]\n\n\xff\n" + path.read_text())
    assert known(tmp_path).confirmed == 0.6
    assert len(journal.read()) == 1


def test_it_says_who_sent_what_and_nobody_else_reads_it(tmp_path: Path) -> None:
    add(PushJournal(tmp_path), SENT, 6)
    path = tmp_path / ".mlsys" / "lms" / "sent.jsonl"
    line = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert (line["student"], line["lab"], line["given"], line["most"]) == ("ann", "lab", 6, 10)
    assert line["by"]


def test_two_pushes_at_once_are_refused(tmp_path: Path) -> None:
    with (
        PushJournal(tmp_path).alone(),
        pytest.raises(ValueError, match="another mlsys push"),
        PushJournal(tmp_path).alone(),
    ):
        raise AssertionError("both are in")
