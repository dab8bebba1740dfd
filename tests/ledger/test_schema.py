"""The quick check and the schema say the same, and so do the design forms and theirs."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger import (
    DesignForm,
    Ledger,
    ValueRefused,
    declare,
    form_of,
    forms,
    schema,
)
from mlsys_widgets.ledger.designs import number
from mlsys_widgets.ledger.events import GENESIS, Malformed, from_object
from mlsys_widgets.ledger.kinds import KINDS, misfit
from mlsys_widgets.ledger.migrations import VERSION
from tests.ledger.making import DESIGN, LAB, as_dict, opened, read_events, worked_through

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema_of_the_version_that_is_written():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$id"].endswith(f":{VERSION}")
    assert schema()["$defs"]["event"]["properties"]["kind"]["enum"] == list(KINDS)


def test_every_line_that_is_written_fits_the_schema(tmp_path):
    worked_through(tmp_path / "ledger.jsonl")
    events = read_events(tmp_path / "ledger.jsonl")
    assert {event.kind for event in events} == KINDS.keys() - {"upgraded"}
    for event in events:
        VALIDATOR.validate(as_dict(event))


def quick(loaded: object) -> bool:
    try:
        return misfit(from_object(loaded)) is None
    except Malformed:
        return False


GOOD: dict[str, dict[str, Any]] = {
    "opened": {"schema": 1, "student": "ada"},
    "upgraded": {"schema": 2},
    "prediction": {"value": "C", "confidence": 4},
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


# Whole floats are left out: to JSON Schema 1.0 is an integer, to the quick check it is none.
odd_numbers = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer())
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 8)
    | odd_numbers
    | st.text(max_size=5)
    | st.sampled_from(["x" * 200, "x" * 201, "a\n", "\n", "\x7f", "2026-02-03T09:30:00.000Z\n"])
    | st.sampled_from(["2026-13-03T09:30:00.000Z", "2026-02-31T23:59:59.999Z", LAB + "\n", ".."])
    | st.sampled_from(["f" * 64, "F" * 64, "f" * 63, "f" * 64 + "\n", "٣" * 64])
)
anything = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=3), scalars)


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
            part[name] = data.draw(anything)
        else:
            part.pop(name, None)
    if "kind" in event and data.draw(st.booleans()):
        event["kind"] = data.draw(st.sampled_from(sorted(KINDS)))
    assert quick(event) == VALIDATOR.is_valid(event), event


# ---- designs

REFERENCE = {
    "lab_01_magnitude": (
        1,
        "context act1_prediction act1_correct act2_bottleneck act2_prediction act2_correct"
        " constraint_hit oom_triggered",
    ),
    "lab_07_kernel_fusion": (
        7,
        "context execution_mode fusion_enabled compilation_roi_positive breakeven_inferences"
        " kws_utilization_eager_pct kws_utilization_compiled_pct act1_prediction act1_correct"
        " act2_result act2_decision constraint_hit",
    ),
    "lab_11_roofline": (
        11,
        "context operation arithmetic_intensity bound_type act1_prediction act1_correct act2_result"
        " act2_decision constraint_hit mfu_percent",
    ),
}

DESIGNS: dict[str, dict[str, Any]] = {
    "lab_01_magnitude": {
        "context": "tiny",
        "act1_prediction": "C",
        "act1_correct": True,
        "act2_bottleneck": "memory",
        "act2_prediction": None,
        "act2_correct": None,
        "constraint_hit": True,
        "oom_triggered": True,
    },
    "lab_07_kernel_fusion": DESIGN,
    "lab_11_roofline": {
        "context": "cloud",
        "operation": "gemm",
        "arithmetic_intensity": 170.7,
        "bound_type": "memory",
        "act1_prediction": "C",
        "act1_correct": True,
        "act2_result": 57.9,
        "act2_decision": "full",
        "constraint_hit": False,
        "mfu_percent": 57.9,
    },
}

every_lab = pytest.mark.parametrize("lab", sorted(REFERENCE))


@every_lab
def test_an_entry_has_every_field_of_the_reference_labs(lab):
    chapter, names = REFERENCE[lab]
    form = forms()[lab]
    assert form.chapter == chapter
    assert {name for name, field in form.fields.items() if field.required} == set(names.split())


@every_lab
def test_an_entry_is_kept_as_it_is(tmp_path, lab):
    led = opened(tmp_path / "ledger.jsonl", lab=lab)
    assert dict(led.save_design(DESIGNS[lab])) == DESIGNS[lab]
    assert dict(Ledger.open(led.path).state().designs[lab]) == DESIGNS[lab]
    jsonschema.validate(DESIGNS[lab], form_of(lab).schema())


@every_lab
def test_a_wrong_field_is_named(tmp_path, lab):
    led = opened(tmp_path / "ledger.jsonl", lab=lab)
    for name in DESIGNS[lab]:
        less = {key: value for key, value in DESIGNS[lab].items() if key != name}
        with pytest.raises(ValueRefused, match=rf"^{name} is missing; it must be "):
            led.save_design(less)
        with pytest.raises(ValueRefused, match=rf"^{name} is \['odd'\]; it must be "):
            led.save_design({**less, name: ["odd"]})
        with pytest.raises(ValueRefused, match=rf"^{name} is (nan|''); it must be "):
            led.save_design({**less, name: math.nan if name.endswith("n") else ""})
    with pytest.raises(ValueRefused, match=r"^grade is no field of .*; it must be one of: context"):
        led.save_design({**DESIGNS[lab], "grade": 100})
    with pytest.raises(ValueRefused, match=r"^design is 7; it must be a mapping"):
        led.save_design(7)
    assert not led.path.exists()


@every_lab
@given(st.data())
def test_a_form_and_its_schema_agree(lab, data):
    form = form_of(lab)
    entry = dict(DESIGNS[lab])
    name = data.draw(st.sampled_from([*form.fields, "unknown"]))
    if data.draw(st.booleans()):
        extremes = st.sampled_from([-1, 0, 100, 101, 1e9, "cloud", "edge", "eager", "full"])
        entry[name] = data.draw(extremes | anything)
    else:
        entry.pop(name, None)
    try:
        form.check(entry)
        fits = True
    except ValueRefused:
        fits = False
    assert fits == jsonschema.Draft202012Validator(form.schema()).is_valid(entry), entry


def test_a_compile_that_never_pays_has_no_break_even(tmp_path):
    led = opened(tmp_path / "ledger.jsonl")
    never = {**DESIGN, "breakeven_inferences": None, "act2_result": None}
    assert led.save_design(never)["breakeven_inferences"] is None
    with pytest.raises(ValueRefused, match="breakeven_inferences is inf; it must be a finite"):
        led.save_design({**DESIGN, "breakeven_inferences": math.inf})


def test_a_lab_of_your_own_declares_its_entry(tmp_path):
    led = opened(tmp_path / "ledger.jsonl", lab="lab_99_mine")
    with pytest.raises(ValueRefused, match=r"lab is 'lab_99_mine', which declares no design entry"):
        led.save_design({"tile": 64})
    form = DesignForm("lab_99_mine", 99, {"tile": number("side of a tile", 1)})
    assert declare(form) is form
    assert declare(DesignForm("lab_99_mine", 99, {"tile": number("side of a tile", 1)})) == form
    assert led.save_design({"tile": 64})["tile"] == 64
    with pytest.raises(ValueRefused, match="has another design entry already"):
        declare(DesignForm("lab_99_mine", 98, {}))
