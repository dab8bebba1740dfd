"""Saving is all or nothing, and an update replaces only what was measured again."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets import measured
from mlsys_widgets.files import write_whole
from mlsys_widgets.measured import MeasurementError, load, merged, save


def test_saved_and_loaded_is_the_same(document: dict[str, Any], tmp_path: Path) -> None:
    path = save(document, tmp_path / "mine.json")
    assert load(path) == document
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.json"]


def test_a_bad_document_leaves_the_old_file(document: dict[str, Any], tmp_path: Path) -> None:
    path = save(document, tmp_path / "mine.json")
    before = path.read_bytes()
    document["cases"][0]["seconds"]["median"] = float("nan")
    with pytest.raises(MeasurementError, match=r"cases\[0\].seconds.median"):
        save(document, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_failure_while_writing_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "mine.json"
    path.write_text("old", encoding="utf-8")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises((KeyboardInterrupt, OSError)):
        write_whole(path, "new")
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.json"]


def test_the_mode_is_that_of_an_ordinary_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    assert write_whole(tmp_path / "ours", "x").stat().st_mode == plain.stat().st_mode


def test_an_update_keeps_the_sections_not_measured_again(document: dict[str, Any]) -> None:
    update = copy.deepcopy(document)
    update["cases"] = [case for case in update["cases"] if case["section"] == "copy"]
    update["sections"] = [{"name": "copy", "seconds": 1.0}]
    for case in update["cases"]:
        case["flops"] = 7
    both = merged(document, update)
    assert {c["section"] for c in both["cases"]} == {c["section"] for c in document["cases"]}
    assert all((case["flops"] == 7) == (case["section"] == "copy") for case in both["cases"])
    assert len(both["cases"]) == len(document["cases"])


@pytest.mark.parametrize(("part", "name"), [("device", "key"), ("software", "numpy")])
def test_an_update_from_elsewhere_is_refused(
    document: dict[str, Any], part: str, name: str
) -> None:
    update = copy.deepcopy(document)
    update[part][name] = "other"
    with pytest.raises(MeasurementError, match=rf"{part}\.{name} must be"):
        merged(document, update)


@pytest.mark.parametrize("name", measured.available())
def test_what_ships_is_valid(name):
    """`load` trusts what ships, so it is judged here."""
    measured.validate(measured.load(name), source=name)
