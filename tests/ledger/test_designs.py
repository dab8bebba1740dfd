"""Design entries: each field is checked by the form that the lab declares, and by its schema."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger import DesignForm, Field, Ledger, ValueRefused, declare, form_of
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted, text
from tests.ledger.making import ANYTHING, DESIGN, LAB, form_of_lab, opened

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
    form = form_of_lab(lab)
    assert form.chapter == chapter
    assert {name for name, field in form.fields.items() if field.required} == set(names.split())


@every_lab
def test_an_entry_is_kept_as_it_is(tmp_path, lab):
    led = opened(tmp_path / "ledger.jsonl", lab=lab)
    assert dict(led.save_design(DESIGNS[lab], form_of_lab(lab))) == DESIGNS[lab]
    assert dict(Ledger.open(led.path).state().designs[lab]) == DESIGNS[lab]
    jsonschema.validate(DESIGNS[lab], form_of_lab(lab).schema())


@every_lab
def test_a_wrong_field_is_named(tmp_path, lab):
    led = opened(tmp_path / "ledger.jsonl", lab=lab)
    for name in DESIGNS[lab]:
        less = {key: value for key, value in DESIGNS[lab].items() if key != name}
        with pytest.raises(ValueRefused, match=rf"^{name} is missing; it must be "):
            led.save_design(less, form_of_lab(lab))
        with pytest.raises(ValueRefused, match=rf"^{name} is \['odd'\]; it must be "):
            led.save_design({**less, name: ["odd"]}, form_of_lab(lab))
        with pytest.raises(ValueRefused, match=rf"^{name} is (nan|''); it must be "):
            led.save_design(
                {**less, name: math.nan if name.endswith("n") else ""}, form_of_lab(lab)
            )
    with pytest.raises(
        ValueRefused, match=r"^grade is not a field of .*; it must be one of: context"
    ):
        led.save_design({**DESIGNS[lab], "grade": 100}, form_of_lab(lab))
    with pytest.raises(ValueRefused, match=r"^design is 7; it must be a mapping"):
        led.save_design(7, form_of_lab(lab))
    assert not led.path.exists()


@every_lab
@given(st.data())
def test_a_form_and_its_schema_agree(lab, data):
    form = form_of_lab(lab)
    entry = dict(DESIGNS[lab])
    name = data.draw(st.sampled_from([*form.fields, "unknown"]))
    if data.draw(st.booleans()):
        extremes = st.sampled_from([-1, 0, 100, 101, 1e9, "cloud", "edge", "eager", "full"])
        entry[name] = data.draw(extremes | ANYTHING)
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
    assert led.save_design(never, form_of_lab())["breakeven_inferences"] is None
    with pytest.raises(ValueRefused, match="breakeven_inferences is inf; it must be a finite"):
        led.save_design({**DESIGN, "breakeven_inferences": math.inf}, form_of_lab())


def test_a_lab_of_your_own_declares_its_entry(tmp_path):
    led = opened(tmp_path / "ledger.jsonl", lab="lab_99_mine")
    with pytest.raises(ValueRefused, match=r"lab is 'lab_99_mine', which declares no design entry"):
        form_of("lab_99_mine")
    form = DesignForm("lab_99_mine", 99, {"tile": number("side of a tile", 1)})
    assert declare(form) is form
    assert declare(DesignForm("lab_99_mine", 99, {"tile": number("side of a tile", 1)})) == form
    assert led.save_design({"tile": 64}, form_of("lab_99_mine"))["tile"] == 64
    with pytest.raises(ValueRefused, match="has another design entry already"):
        declare(DesignForm("lab_99_mine", 98, {}))


def test_the_form_of_another_lab_is_refused(tmp_path):
    led = opened(tmp_path / "ledger.jsonl", lab="lab_99_mine")
    with pytest.raises(
        ValueRefused, match=f"form is that of {LAB}; it must be that of lab_99_mine"
    ):
        led.save_design(DESIGN, form_of_lab())
    assert not led.path.exists()


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        (choice("where", "cloud", "edge"), ["cloud"], ["Cloud", "", None, 1]),
        (flag("fits"), [True, False], [None, 1, "yes"]),
        (judged("right"), [True, None], ["yes", 0]),
        (predicted("guess"), ["C", 1.5, None], ["", True, [1]]),
        (text("kernel"), ["gemm"], ["", None, 7]),
        (number("bytes"), [-1, 0.5], [None, True, "1"]),
        (number("bytes", 0), [0, 1e9], [-1]),
        (number("percent", 0, 100), [0, 100], [101]),
        (number("break-even", 0, none="never"), [None, 3], [-1, "never"]),
    ],
    ids=lambda each: each.words if isinstance(each, Field) else "",
)
def test_what_each_kind_of_field_holds(field, good, bad):
    assert all(field.accepts(value) for value in good)
    assert not any(field.accepts(value) for value in bad)
    assert field.required
