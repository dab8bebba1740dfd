"""Whatever a ledger holds, reading and verifying it takes time that grows with its size alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlsys_widgets.ledger import Ledger, LedgerError, Unreadable
from mlsys_widgets.ledger.events import GENESIS, MOST_PARTS, Event, chained, to_line
from mlsys_widgets.ledger.journal import LARGEST_FILE, MOST_LINES
from mlsys_widgets.ledger.verification import MOST_PROBLEMS
from tests.effort import cpu_seconds
from tests.ledger.making import LAB, STUDENT, opened

AT = "2026-02-03T09:30:00.000Z"
BEGIN = chained(GENESIS, 0, AT, LAB, "opened", "0" * 32, {"schema": 1, "student": STUDENT})


def answer(prev: str, seq: int, number: int) -> Event:
    said = {"value": number, "unit": None, "confidence": None}
    return chained(prev, seq, AT, LAB, "answer", f"a{number}", said)


def far_numbers(n: int) -> list[bytes]:
    """Every event claims a place far behind the last one."""
    made, prev = [to_line(BEGIN)], BEGIN.hash
    for k in range(n):
        event = answer(prev, 10**8 + k * 10**4, k)
        made.append(to_line(event))
        prev = event.hash
    return made


def rivals(n: int) -> list[bytes]:
    """All events claim the same place after the first."""
    return [to_line(BEGIN), *(to_line(answer(BEGIN.hash, 1, k)) for k in range(n))]


def copies(n: int) -> list[bytes]:
    """The same event again and again, chained to one that comes last."""
    last = answer(BEGIN.hash, 1, 0)
    again = [to_line(answer(last.hash, 2, k % 2)) for k in range(n)]
    return [to_line(BEGIN), *again, to_line(last)]


def unhashed(n: int) -> list[bytes]:
    """Events whose hash is one that all others are chained to."""
    forged = (answer("f" * 64, 1, k)._replace(hash="f" * 64) for k in range(n))
    return [to_line(BEGIN), *map(to_line, forged)]


def renumbered(n: int) -> list[bytes]:
    """Each event looks as if those before it had been taken out."""
    wrong = (answer(f"{k:064x}", k + 1, k)._replace(hash="e" * 64) for k in range(n))
    return [to_line(BEGIN), *map(to_line, wrong)]


def ever_more_needs(n: int) -> list[bytes]:
    """One instrument that waits for another prediction with every use."""
    made, prev = [to_line(BEGIN)], BEGIN.hash
    for k in range(n):
        said = {"needs": [f"p{k}"], "inputs": {}}
        event = chained(prev, k + 1, AT, LAB, "use", "Roofline", said)
        made.append(to_line(event))
        prev = event.hash
    return made


def one_answer(n: int) -> list[bytes]:
    """One question, answered again and again."""
    made, prev = [to_line(BEGIN)], BEGIN.hash
    for k in range(n):
        said = {"value": k, "unit": None, "confidence": None}
        event = chained(prev, k + 1, AT, LAB, "answer", "same", said)
        made.append(to_line(event))
        prev = event.hash
    return made


KINDS = [far_numbers, rivals, copies, unhashed, renumbered, ever_more_needs, one_answer]


def seconds(path: Path, lines: list[bytes]) -> float:
    """The least time that this process needs to read and verify a ledger."""
    path.write_bytes(b"".join(lines))

    def read() -> None:
        ledger = Ledger.open(path, lab=LAB, student=STUDENT)
        ledger.state()
        ledger.verify()

    return cpu_seconds(read, times=3)


@pytest.mark.parametrize("make", KINDS)
def test_the_time_grows_with_the_size_alone(tmp_path, make: Callable[[int], list[bytes]]):
    path, few, many = tmp_path / "ledger.jsonl", make(700), make(2800)
    # Four times the lines take four times as long, and sixteen times if it were quadratic. A busy
    # machine may spoil a comparison, and no comparison makes what is quadratic look linear.
    assert any(seconds(path, many) < 9 * seconds(path, few) for _ in range(5))


@pytest.mark.parametrize("make", KINDS)
def test_however_much_is_wrong_some_of_it_is_named(tmp_path, make):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"".join(make(2 * MOST_PROBLEMS)))
    assert len(Ledger.open(path).verify(student=STUDENT, lab=LAB).problems) <= MOST_PROBLEMS


def test_a_number_beyond_all_ledgers_is_not_counted_up_to(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(to_line(BEGIN) + to_line(answer(BEGIN.hash, 10**15, 1)))
    (problem,) = opened(path).verify().problems
    assert problem.kind == "broken"
    assert "no whole number in its field seq" in problem.sentence
    path.write_bytes(to_line(BEGIN) + to_line(answer(BEGIN.hash, 10**9, 1)))
    (problem,) = opened(path).verify().problems
    assert (problem.kind, problem.seq) == ("broken", 1)


def test_a_file_of_empty_lines_is_refused_before_it_is_split(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"\n" * (MOST_LINES + 1))
    with pytest.raises(Unreadable, match="lines, more than any lab writes"):
        opened(path)
    path.write_bytes(to_line(BEGIN) + b"\n" * 1000)
    assert opened(path).verify().ok


def test_a_file_larger_than_any_ledger_is_refused_unread(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(Unreadable, match="more than any lab writes"):
        opened(path)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 40 + "]" * 40,
        "[" * 900 + "]" * 900,
        "[" + "[]," * (MOST_PARTS + 1) + "1]",
        "9" * 302,
        "9" * 5000,
        "NaN",
        "-Infinity",
        "1e999",
        '"\\ud800"',
    ],
)
def test_a_value_that_no_ledger_keeps_is_a_problem_and_no_more(tmp_path, value):
    path = tmp_path / "ledger.jsonl"
    line = to_line(answer(BEGIN.hash, 1, 1)).replace(b'"value":1,', f'"value":{value},'.encode())
    path.write_bytes(to_line(BEGIN) + line)
    ledger = opened(path)
    assert not ledger.verify().ok
    assert ledger.state().answers.keys() <= {"a1"}


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    ledger = opened(tmp_path / "ledger.jsonl")
    with pytest.raises(LedgerError, match="brackets; one event of a ledger may have"):
        ledger.record_answer("many", [[]] * (MOST_PARTS + 1))
    ledger.record_answer("essay", "[" * (MOST_PARTS - 10))
    assert ledger.verify().ok
