"""The record of a browser goes into a file, and back in another browser, a laptop or a hub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsys_widgets.ledger import ExchangeError, Ledger, NotYours, import_ledgers
from mlsys_widgets.ledger.transfer import export_ledgers
from mlsys_widgets.lite.page.exporting import export_record, import_record, kept
from mlsys_widgets.lite.page.visitor import introduce, visitor

LAB, OTHER = "lab_02_demo", "lab_03_more"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The drive of a browser in which ann has done some of a lab."""
    return browser(tmp_path / "here", monkeypatch, "ann")


def browser(drive: Path, monkeypatch: pytest.MonkeyPatch, name: str = "") -> Path:
    """The drive of a browser that has two labs, in which somebody works."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(drive / ".mlsys"))
    for lab in (LAB, OTHER):
        (drive / lab).mkdir(parents=True)
    if name:
        introduce(name)
    return drive


def ledger(drive: Path, lab: str = LAB, student: str = "ann") -> Ledger:
    return Ledger.open(drive / lab / "ledger.jsonl", lab=lab, student=student)


def test_what_is_in_no_file_is_counted(here):
    led = ledger(here)
    assert (kept(led.path).newer, kept(led.path).since) == (0, None)
    led.record_answer("ridge", 1)
    assert kept(led.path).since == led.events()[0].time
    assert (kept(led.path).exported, kept(led.path).newer) == (None, 2)
    export_record(here)
    assert kept(led.path).newer == 0
    assert kept(led.path).exported
    led.record_answer("ridge", 2)
    assert (kept(led.path).newer, kept(led.path).since) == (1, led.events()[-1].time)


def test_a_file_goes_on_in_another_browser_on_a_laptop_and_back(here, tmp_path, monkeypatch):
    ledger(here).record_answer("ridge", 1)
    ledger(here, OTHER).record_answer("more", 1)
    made = export_record(here)
    assert made["name"].startswith("mlsys-record-")
    # On a laptop, with the command.
    (tmp_path / "record.json").write_text(made["content"], "utf-8")
    paths = import_ledgers(tmp_path / "record.json", tmp_path / "laptop", student="ann")
    led = Ledger.open(paths[LAB], lab=LAB, student="ann")
    led.record_answer("ridge", 2)
    back = export_ledgers(paths.values(), tmp_path / "back.json").read_text("utf-8")
    # In another browser, where nobody has said anything.
    there = browser(tmp_path / "there", monkeypatch)
    place = there / LAB / "ledger.jsonl"
    told = import_record(back, place, aside=False)
    assert told == {"done": "imported", "student": "ann", "others": [OTHER]}
    assert visitor().name == "ann"
    assert place.read_bytes() == paths[LAB].read_bytes()
    # And in the first one, which has the beginning of it.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / ".mlsys"))
    assert import_record(back, here / LAB / "ledger.jsonl", aside=False)["done"] == "imported"
    assert ledger(here).state().answers["ridge"].value == 2
    assert import_record(back, here / LAB / "ledger.jsonl", aside=False)["done"] == "ahead"


def test_a_record_that_went_another_way_is_kept_beside_and_only_if_asked(here, tmp_path):
    led = ledger(here)
    led.record_answer("ridge", 1)
    made = export_record(here)["content"]
    led.begin_again()
    ledger(here).record_answer("ridge", 7)
    before = led.path.read_bytes()
    assert import_record(made, led.path, aside=False)["done"] == "differs"
    assert led.path.read_bytes() == before
    assert import_record(made, led.path, aside=True)["done"] == "imported"
    again = ledger(here)
    assert again.state().answers["ridge"].value == 1
    assert [path.read_bytes() for path in again.earlier][-1] == before


def test_somebody_elses_file_and_one_that_was_changed_are_refused(here, tmp_path, monkeypatch):
    led = ledger(here)
    led.record_answer("ridge", 1)
    made = export_record(here)["content"]
    document = json.loads(made)
    document["ledgers"][0]["events"][1]["value"]["value"] = 2
    for content in (json.dumps(document), "no record", "{}", ""):
        with pytest.raises(ExchangeError):
            import_record(content, led.path, aside=True)
    browser(tmp_path / "there", monkeypatch, "bob")
    with pytest.raises(NotYours, match="the record of ann, and you are bob here"):
        import_record(made, tmp_path / "there" / LAB / "ledger.jsonl", aside=True)


def test_nothing_to_export_is_a_sentence(here):
    with pytest.raises(ExchangeError, match="There is no ledger to export"):
        export_record(here)
