"""The quick check of an event and the schema agree."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger import schema
from mlsys_widgets.ledger.events import GENESIS, Malformed, from_object
from mlsys_widgets.ledger.kinds import KINDS, VERSION, misfit
from tests.ledger.making import ANYTHING, LAB, as_dict, read_events, worked_through

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema_of_the_version_that_is_written():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$id"].endswith(f":{VERSION}")
    assert schema()["$defs"]["event"]["properties"]["kind"]["enum"] == list(KINDS)


def test_every_line_that_is_written_fits_the_schema(tmp_path):
    worked_through(tmp_path / "ledger.jsonl")
    events = read_events(tmp_path / "ledger.jsonl")
    assert {event.kind for event in events} == KINDS.keys()
    for event in events:
        VALIDATOR.validate(as_dict(event))


def quick(loaded: object) -> bool:
    try:
        return misfit(from_object(loaded)) is None
    except Malformed:
        return False


GOOD: dict[str, dict[str, Any]] = {
    "opened": {"schema": 1, "student": "ada"},
    "prediction": {"value": "C", "confidence": 4, "words": "about 33%"},
    "reflection": {"value": ["a", 1], "correct": None},
    "answer": {"value": 1.5, "unit": "percent", "confidence": None},
    "design": {"anything": True},
    "use": {"needs": ["act1"], "inputs": {"n": 1}},
}


def sound(kind: str) -> dict[str, Any]:
    event = {
        "seq": 3,
        "time": "2026-02-03T09:30:00.000Z",
        "lab": LAB,
        "kind": kind,
        "id": "x",
        "value": GOOD[kind],
        "prev": GENESIS,
        "hash": "a" * 64,
    }
    copied: dict[str, Any] = json.loads(json.dumps(event))
    return copied


@given(st.data())
def test_the_quick_check_and_the_schema_agree(data):
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    event = sound(kind)
    assert quick(event)
    VALIDATOR.validate(event)
    for _ in range(data.draw(st.integers(1, 2))):
        inner = data.draw(st.booleans()) and isinstance(event.get("value"), dict)
        part = event["value"] if inner else event
        names = sorted(part) or ["value"]
        name = data.draw(st.sampled_from(names) | st.text(max_size=3))
        if data.draw(st.booleans()):
            part[name] = data.draw(ANYTHING)
        else:
            part.pop(name, None)
    if "kind" in event and data.draw(st.booleans()):
        event["kind"] = data.draw(st.sampled_from(sorted(KINDS)))
    assert quick(event) == VALIDATOR.is_valid(event), event
