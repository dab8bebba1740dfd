"""Saving is all or nothing, and an update replaces only what was measured again."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets import measured
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


def test_an_update_says_what_was_measured_later(document: dict[str, Any]) -> None:
    document["method"]["notes"] = ["The machine was quiet."]
    update = copy.deepcopy(document)
    update["date"] = "2031-02-03T04:05:06Z"
    update["method"]["notes"] = ["The machine was busy."]
    update["cases"] = [case for case in update["cases"] if case["section"] == "copy"]
    update["sections"] = [{"name": "copy", "seconds": 1.0}]
    both = merged(document, update)
    assert both["date"] == document["date"]
    assert both["method"]["notes"] == [
        "The machine was quiet.", "Measured later, on 2031-02-03: copy.", "The machine was busy.",
    ]  # fmt: skip
    # Nothing is left of a document whose sections were all measured again.
    whole = {**copy.deepcopy(document), "date": "2031-02-03T04:05:06Z"}
    assert merged(document, whole)["date"] == whole["date"]


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
