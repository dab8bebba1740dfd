"""The design entry of each lab: which decisions and findings it carries to the labs that follow.

A lab declares its entry as a `DesignForm`; `Ledger.save_design` checks every field against it. The
numbers in an entry are computed by the lab from what the student did, never typed here.

Examples
--------
>>> form = form_of("lab_11_roofline")
>>> form.chapter, form.fields["mfu_percent"].words
(11, 'a number from 0 to 100')
>>> form.check({"context": "cloudy"})
Traceback (most recent call last):
...
mlsys_widgets.ledger.errors.ValueRefused: context is 'cloudy'; it must be one of: cloud, edge
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.ledger.errors import ValueRefused
from mlsys_widgets.ledger.values import LONGEST_NAME, plain


@dataclass(frozen=True)
class Field:
    """One field of a design entry: its meaning and what it may hold.

    Parameters
    ----------
    about : str
        What it says.
    schema : mapping
        What it may hold, as JSON Schema.
    words : str
        The same in words.
    required : bool
        Whether an entry must have it.
    """

    about: str
    schema: Mapping[str, Any]
    words: str
    required: bool = True

    def accepts(self, value: Any) -> bool:
        """Whether plain data fits."""
        if "enum" in self.schema:
            return isinstance(value, str) and value in self.schema["enum"]
        return any(_is(kind, value, self.schema) for kind in self.schema["type"])


def _is(kind: str, value: Any, schema: Mapping[str, Any]) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)


def choice(about: str, *options: str, required: bool = True) -> Field:
    """A field that holds one of a few words."""
    return Field(about, {"enum": list(options)}, f"one of: {', '.join(options)}", required)


def flag(about: str, required: bool = True) -> Field:
    """A field that holds true or false."""
    return Field(about, {"type": ["boolean"]}, "true or false", required)


def judged(about: str, required: bool = True) -> Field:
    """Whether something was right, or none where the lab leaves that to the grader."""
    words = "true or false, or nothing where only the grader can tell"
    return Field(about, {"type": ["boolean", "null"]}, words, required)


def predicted(about: str, required: bool = True) -> Field:
    """What a prediction was: an option or a number, or none if it was never committed."""
    schema = {"type": ["string", "number", "null"], "minLength": 1, "maxLength": LONGEST_NAME}
    words = f"an option (1 to {LONGEST_NAME} characters), a number, or nothing"
    return Field(about, schema, words, required)


def number(
    about: str,
    low: float | None = None,
    high: float | None = None,
    *,
    none: str | None = None,
    required: bool = True,
) -> Field:
    """A field that holds a number; ``none`` says what it means if there is no number."""
    schema: dict[str, Any] = {"type": ["number"] if none is None else ["number", "null"]}
    words = "a number"
    if low is not None:
        schema["minimum"] = low
        words = f"a number of at least {low:g}"
    if low is not None and high is not None:
        schema["maximum"] = high
        words = f"a number from {low:g} to {high:g}"
    if none is not None:
        words += f", or nothing ({none})"
    return Field(about, schema, words, required)


@dataclass(frozen=True)
class DesignForm:
    """The fields of a lab's design entry."""

    lab: str
    chapter: int
    fields: Mapping[str, Field]

    def check(self, design: Mapping[str, Any]) -> dict[str, Any]:
        """Give an entry back as plain data, or refuse it by the field that does not fit.

        Examples
        --------
        >>> form_of("lab_01_magnitude").check({})
        Traceback (most recent call last):
        ...
        mlsys_widgets.ledger.errors.ValueRefused: context is missing; it must be one of: cloud, tiny
        """
        if not isinstance(design, Mapping):
            raise ValueRefused(f"design is {design!r}; it must be a mapping of fields to values")
        for name in design:
            if name not in self.fields:
                listed = ", ".join(self.fields)
                raise ValueRefused(
                    f"{name} is no field of {self.lab}'s design; it must be one of: {listed}"
                )
        entry = {}
        for name, field in self.fields.items():
            if name in design:
                entry[name] = plain(name, design[name])
                if not field.accepts(entry[name]):
                    raise ValueRefused(f"{name} is {design[name]!r}; it must be {field.words}")
            elif field.required:
                raise ValueRefused(f"{name} is missing; it must be {field.words}")
        return entry

    def schema(self) -> dict[str, Any]:
        """The same as JSON Schema, for readers in other languages."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [name for name, field in self.fields.items() if field.required],
            "properties": {
                name: {"description": field.about, **field.schema}
                for name, field in self.fields.items()
            },
        }


_ACT_1: Final = {
    "act1_prediction": predicted("what was predicted in the first act"),
    "act1_correct": judged("whether that was right"),
}

_FORMS: Final = {
    form.lab: form
    for form in (
        DesignForm(
            "lab_01_magnitude",
            chapter=1,
            fields={
                "context": choice("the device the second act ended on", "cloud", "tiny"),
                **_ACT_1,
                "act2_bottleneck": choice("the longest term of the iron law", "memory", "compute"),
                "act2_prediction": predicted("what was predicted in the second act"),
                "act2_correct": judged("whether that was right"),
                "constraint_hit": flag("whether the design ran into a limit of the device"),
                "oom_triggered": flag("whether that limit was the device's memory"),
            },
        ),
        DesignForm(
            "lab_07_kernel_fusion",
            chapter=7,
            fields={
                "context": choice("where the service runs", "cloud", "edge"),
                "execution_mode": choice("how the model is run", "eager", "compiled"),
                "fusion_enabled": flag("whether element-wise kernels are fused"),
                "compilation_roi_positive": flag("whether compiling pays off over the deployment"),
                "breakeven_inferences": number(
                    "inferences that pay for compiling", 0, none="compiling never pays"
                ),
                "kws_utilization_eager_pct": number(
                    "GPU utilization of keyword spotting, eager, in percent", 0, 100
                ),
                "kws_utilization_compiled_pct": number(
                    "GPU utilization of keyword spotting, compiled, in percent", 0, 100
                ),
                **_ACT_1,
                "act2_result": number(
                    "the break-even found in the second act", 0, none="there is none"
                ),
                "act2_decision": choice("what was decided on it", "eager", "compiled"),
                "constraint_hit": flag("whether the deployment ends before compiling has paid"),
                "act2_prediction": predicted(
                    "what was predicted in the second act", required=False
                ),
                "act2_correct": judged("whether that was right", required=False),
                "arithmetic_intensity": number(
                    "FLOP per byte after fusion, where Lab 11 starts", 0, required=False
                ),
            },
        ),
        DesignForm(
            "lab_11_roofline",
            chapter=11,
            fields={
                "context": choice("where the service runs", "cloud", "edge"),
                "operation": Field(
                    "the kernel the design is about",
                    {"type": ["string"], "minLength": 1, "maxLength": LONGEST_NAME},
                    f"the name of a kernel (1 to {LONGEST_NAME} characters)",
                ),
                "arithmetic_intensity": number("its FLOP per byte", 0),
                "bound_type": choice("what sets its pace", "memory", "compute"),
                **_ACT_1,
                "act2_result": number(
                    "model FLOP utilization reached in the second act, in percent", 0, 100
                ),
                "act2_decision": choice("the fusion strategy chosen", "none", "partial", "full"),
                "constraint_hit": flag("whether the design ran out of memory"),
                "mfu_percent": number("model FLOP utilization, in percent", 0, 100),
                "act2_prediction": predicted(
                    "what was predicted in the second act", required=False
                ),
                "act2_correct": judged("whether that was right", required=False),
                "tokens_per_second": number(
                    "what the service generates",
                    0,
                    none="it does not fit in memory",
                    required=False,
                ),
            },
        ),
    )
}


def form_of(lab: str) -> DesignForm:
    """The form of a lab's design entry, or a refusal that lists the labs that have one."""
    try:
        return _FORMS[lab]
    except KeyError:
        listed = ", ".join(_FORMS)
        raise ValueRefused(
            f"lab is {lab!r}, which declares no design entry; it must be one of: {listed}"
            " (a lab of your own declares one with ledger.declare)"
        ) from None


def forms() -> dict[str, DesignForm]:
    """All forms, by lab."""
    return dict(_FORMS)


def declare(form: DesignForm) -> DesignForm:
    """Make the form of a lab of your own known. Declaring the same form again changes nothing.

    Examples
    --------
    >>> declare(DesignForm("lab_02_cache", 2, {"tile": number("side of the tile", 1)})).lab
    'lab_02_cache'
    >>> form_of("lab_02_cache").check({"tile": 64})
    {'tile': 64}
    """
    if _FORMS.setdefault(form.lab, form) != form:
        raise ValueRefused(f"lab is {form.lab!r}, which has another design entry already")
    return form
