"""Several ledgers in one file, there and back, and everything that must not pass."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from mlsys_widgets.ledger import (
    ExchangeError,
    Ledger,
    NotSaved,
    export_ledgers,
    import_ledgers,
)
from mlsys_widgets.ledger.transfer import _digest
from tests.ledger.making import (
    LAB,
    START,
    STUDENT,
    Clock,
    opened,
    read_events,
    rechained,
    worked_through,
    write_events,
)

OTHER = "lab_01_magnitude"
NOW = START + timedelta(hours=1)


@pytest.fixture
def ledgers(tmp_path: Path) -> list[Path]:
    first, second = tmp_path / LAB / "ledger.jsonl", tmp_path / OTHER / "ledger.jsonl"
    for path in (first, second):
        path.parent.mkdir()
    worked_through(first)
    opened(second, Clock(), lab=OTHER).commit_prediction("gap", "C – 백만")
    return [first, second]


@pytest.fixture
def export(ledgers, tmp_path) -> Path:
    return export_ledgers(ledgers, tmp_path / "mine.json", now=NOW)


def test_there_and_back(ledgers, export, tmp_path):
    there = tmp_path / "another machine"
    made = import_ledgers(export, there, student=STUDENT, now=NOW)
    assert set(made) == {LAB, OTHER}
    for path in ledgers:
        copy = made[path.parent.name]
        assert copy == there / path.parent.name / "ledger.jsonl"
        assert copy.read_bytes() == path.read_bytes()
        assert Ledger.open(copy).verify(now=NOW).ok
    led = opened(made[LAB], Clock(NOW))
    led.record_answer("more", 1)
    assert led.verify().ok


def test_the_same_once_more_changes_nothing(export, tmp_path):
    import_ledgers(export, tmp_path, now=NOW)
    before = (tmp_path / LAB / "ledger.jsonl").stat().st_mtime_ns
    import_ledgers(export, tmp_path, now=NOW)
    assert (tmp_path / LAB / "ledger.jsonl").stat().st_mtime_ns == before


def test_nothing_is_overwritten_and_nothing_done_by_half(export, tmp_path):
    there = tmp_path / "there"
    opened(there_ledger := there / OTHER / "ledger.jsonl", lab=OTHER)
    there_ledger.parent.mkdir(parents=True)
    opened(there_ledger, lab=OTHER).commit_prediction("gap", "A")
    before = there_ledger.read_bytes()
    with pytest.raises(ExchangeError, match=r"has gone another way .*rename it"):
        import_ledgers(export, there, now=NOW)
    assert there_ledger.read_bytes() == before
    assert not (there / LAB).exists()
    with pytest.raises(ExchangeError, match="exists already; choose another name"):
        export_ledgers([tmp_path / LAB / "ledger.jsonl"], export, now=NOW)


def test_an_export_is_of_one_student_and_each_lab_once(ledgers, tmp_path):
    theirs = tmp_path / "theirs.jsonl"
    opened(theirs, student="student-02", lab="lab_11_roofline").record_answer("a", 1)
    to = tmp_path / "out.json"
    with pytest.raises(ExchangeError, match=r"of one student, but .*'student-01'.*'student-02'"):
        export_ledgers([*ledgers, theirs], to)
    with pytest.raises(ExchangeError, match=f"another ledger of {LAB} was named"):
        export_ledgers([ledgers[0], ledgers[0]], to)
    with pytest.raises(ExchangeError, match="no ledger to export"):
        export_ledgers([], to)
    with pytest.raises(ExchangeError, match="There is no ledger "):
        export_ledgers([tmp_path / "none.jsonl"], to)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(ExchangeError, match=r"empty\.jsonl is empty"):
        export_ledgers([tmp_path / "empty.jsonl"], to)
    assert not to.exists()
    with pytest.raises(NotSaved, match=r"is gone\. Put the folder back"):
        export_ledgers(ledgers, tmp_path / "nowhere" / "out.json", now=NOW)


def test_a_file_goes_on_where_it_came_from(tmp_path):
    """Work goes from one machine to another and back: what is there already grows."""
    path = tmp_path / "laptop" / LAB / "ledger.jsonl"
    path.parent.mkdir(parents=True)
    opened(path, Clock()).commit_prediction("act1", "C")
    short = path.read_bytes()
    out = export_ledgers([path], tmp_path / "out.json", now=NOW)
    there = import_ledgers(out, tmp_path / "there", now=NOW)[LAB]
    opened(there, Clock()).record_answer("more", 1)
    back = export_ledgers([there], tmp_path / "back.json", now=NOW)
    import_ledgers(back, tmp_path / "laptop", now=NOW)
    assert path.read_bytes() == there.read_bytes() != short
    # The older file changes nothing any more.
    import_ledgers(out, tmp_path / "laptop", now=NOW)
    assert path.read_bytes() == there.read_bytes()


def test_what_does_not_verify_does_not_go_out(ledgers, tmp_path):
    path = ledgers[0]
    path.write_bytes(path.read_bytes().replace(b'"value":"C"', b'"value":"A"'))
    with pytest.raises(ExchangeError, match=r"does not verify\. .* not intact from event 1 "):
        export_ledgers(ledgers, tmp_path / "out.json", now=NOW)


def test_a_crash_or_an_early_look_is_no_reason_to_stay(tmp_path):
    path = tmp_path / "ledger.jsonl"
    led = opened(path, Clock())
    led.record_use("audit", needs=["act1"])
    led.commit_prediction("act1", "C")
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":3,')
    made = import_ledgers(
        export_ledgers([path], tmp_path / "out.json", now=NOW), tmp_path / "there", now=NOW
    )
    assert made[LAB].read_bytes() == whole


def tampered(export: Path, change, *, honest_digest: bool = True) -> Path:
    document = json.loads(export.read_text())
    change(document)
    if honest_digest:
        document["digest"] = _digest(document["ledgers"])
    export.write_text(json.dumps(document))
    return export


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d.update(format="notebook"), "not an export of ledgers"),
        (
            lambda d: d.update(version=2),
            "has version 2, and this mlsys_widgets reads up to version 1",
        ),
        (lambda d: d.update(version="1"), r"\$\.version does not fit"),
        (lambda d: d.pop("student"), "'student' is a required property"),
        (lambda d: d.update(more=1), "does not fit"),
        (lambda d: d["ledgers"].clear(), r"\$\.ledgers does not fit"),
        (lambda d: d["ledgers"][0].update(lab="../../up"), r"\$\.ledgers\[0\]\.lab does not fit"),
        (lambda d: d["ledgers"][0].update(lab="lab\n"), r"\$\.ledgers\[0\]\.lab does not fit"),
        (lambda d: d["ledgers"][0]["events"][1].pop("prev"), "does not fit"),
        (lambda d: d["ledgers"][0]["events"][1].update(more=1), "must have the fields"),
        (lambda d: d["ledgers"][0]["events"][1].update(seq="1"), "no whole number"),
        (lambda d: d["ledgers"][0]["events"][1].update(id="x"), "not intact from event 1 "),
        (lambda d: d["ledgers"][0]["events"].pop(0), "not intact from event 0 on: line 1"),
        (lambda d: d.update(student="student-02"), "ledger of 'student-01', not of 'student-02'"),
        (lambda d: d["ledgers"][0].update(lab="lab_11_roofline"), "belongs to the lab"),
        (lambda d: d["ledgers"].append(d["ledgers"][0]), f"holds {OTHER} twice"),
    ],
)
def test_what_does_not_fit_does_not_come_in(export, tmp_path, change, sentence):
    with pytest.raises(ExchangeError, match=sentence):
        import_ledgers(tampered(export, change), tmp_path / "there", now=NOW)
    assert not (tmp_path / "there").exists()


def test_a_damaged_file_is_told_from_a_whole_one(export, tmp_path):
    there = tmp_path / "there"
    with pytest.raises(ExchangeError, match=r"of 'student-01', not of 'student-02'"):
        import_ledgers(export, there, student="student-02", now=NOW)
    with pytest.raises(ExchangeError, match="which is later than the moment"):
        import_ledgers(export, there, now=START - timedelta(days=1))
    whole = export.read_text()
    export.write_text(whole[:-100])
    with pytest.raises(ExchangeError, match="not a JSON document"):
        import_ledgers(export, there, now=NOW)
    export.write_text(whole)
    change = tampered(export, lambda d: d["ledgers"].pop(), honest_digest=False)
    with pytest.raises(ExchangeError, match="its digest does not match"):
        import_ledgers(change, there, now=NOW)
    with pytest.raises(ExchangeError, match="cannot be read"):
        import_ledgers(tmp_path / "none.json", there, now=NOW)
    export.write_text("[" * 100_000)
    with pytest.raises(ExchangeError, match="not a JSON document"):
        import_ledgers(export, there, now=NOW)
    assert not there.exists()


def test_a_rewritten_ledger_passes_as_everywhere(ledgers, tmp_path):
    """Export adds no proof: a chain that was recomputed before it is as good as any."""
    first, *rest = read_events(ledgers[0])
    write_events(ledgers[0], rechained([first, *rest[1:]]))
    export_ledgers(ledgers, tmp_path / "out.json", now=NOW)
