"""The form of a design entry: which decisions and findings a lab carries to the labs that follow.

A lab declares the fields of its entry in its ``asks.py``; `Ledger.save_design` checks every field
against that form. The numbers in an entry are computed from what the student did, never typed.

Examples
--------
>>> fields = {"context": choice("where it runs", "cloud", "edge"), "tile": number("its side", 1)}
>>> form = DesignForm("lab_02_cache", 2, fields)
>>> form.fields["tile"].words, form.check({"context": "edge", "tile": 64})
('a number of at least 1', {'context': 'edge', 'tile': 64})
>>> form.check({"context": "cloudy"})
Traceback (most recent call last):
...
mlsys_widgets.ledger.errors.ValueRefused: context is 'cloudy'; it must be one of: cloud, edge
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.ledger.errors import ValueRefused
from mlsys_widgets.ledger.values import LONGEST_NAME, json_data


@dataclass(frozen=True)
class Field:
    """One field of a design entry: its meaning and what it may hold.

    Examples
    --------
    The functions of this module make the usual ones:

    >>> tile = number("side of the tile", 1, 128)
    >>> tile.words, tile.accepts(64), tile.accepts(256), tile.accepts("64")
    ('a number from 1 to 128', True, False, False)
    >>> tile.schema
    {'type': ['number'], 'minimum': 1, 'maximum': 128}
    """

    about: str  #: What it says.
    schema: Mapping[str, Any]  #: What it may hold, as JSON Schema.
    words: str  #: The same in words.
    required: bool = True  #: Whether an entry must have it.
    #: What people call its options, where the option itself is a code.
    called: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def in_words(self, value: Any) -> Any:
        """A value as people read it, if it is a code; otherwise as it is."""
        return self.called.get(value, value) if isinstance(value, str) else value

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


def choice(
    about: str, *options: str, called: Mapping[str, str] | None = None, required: bool = True
) -> Field:
    """A field that holds one of a few words; ``called`` says them where they are codes.

    Examples
    --------
    >>> level = choice("where the data live", "l2", "hbm", called={"hbm": "HBM"})
    >>> level.in_words("hbm"), level.in_words("l2")
    ('HBM', 'l2')
    """
    listed = ", ".join(options)
    return Field(about, {"enum": list(options)}, f"one of: {listed}", required, called or {})


def flag(about: str, required: bool = True) -> Field:
    """A field that holds true or false."""
    return Field(about, {"type": ["boolean"]}, "true or false", required)


def text(about: str, required: bool = True) -> Field:
    """A field that holds a name or a few words."""
    schema = {"type": ["string"], "minLength": 1, "maxLength": LONGEST_NAME}
    return Field(about, schema, f"a text of 1 to {LONGEST_NAME} characters", required)


def judged(about: str, required: bool = True) -> Field:
    """Whether something was right, or `None` where the lab leaves that to the grader."""
    words = "true or false, or nothing where only the grader can tell"
    return Field(about, {"type": ["boolean", "null"]}, words, required)


def predicted(about: str, required: bool = True) -> Field:
    """A field that holds a prediction: an option, a number, or `None` if it was never committed."""
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
    """A field that holds a number; ``none`` says what it means that there is no number."""
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
    """The fields of a lab's design entry.

    Examples
    --------
    >>> fields = {"fused": flag("whether kernels are fused"), "note": text("why", required=False)}
    >>> form = DesignForm("lab_07_kernel_fusion", 7, fields)
    >>> form.check({"fused": True})
    {'fused': True}
    >>> form.check({"fused": "yes"})
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ValueRefused: fused is 'yes'; it must be true or false
    >>> form.schema()["required"]
    ['fused']
    """

    lab: str  #: The lab that hands the entry on.
    chapter: int  #: Its chapter in the Design Ledger.
    fields: Mapping[str, Field]  #: What the entry holds, by name.

    def check(self, design: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry as plain data, or refuse it and name the field that does not fit.

        Examples
        --------
        >>> DesignForm("lab_02_cache", 2, {"fits": flag("whether it fits")}).check({})
        Traceback (most recent call last):
        ...
        mlsys_widgets.ledger.errors.ValueRefused: fits is missing; it must be true or false
        """
        if not isinstance(design, Mapping):
            raise ValueRefused(f"design is {design!r}; it must be a mapping of fields to values")
        for name in design:
            if name not in self.fields:
                listed = ", ".join(self.fields)
                raise ValueRefused(
                    f"{name} is not a field of {self.lab}'s design; it must be one of: {listed}"
                )
        entry = {}
        for name, field in self.fields.items():
            if name in design:
                entry[name] = json_data(name, design[name])
                if not field.accepts(entry[name]):
                    raise ValueRefused(f"{name} is {design[name]!r}; it must be {field.words}")
            elif field.required:
                raise ValueRefused(f"{name} is missing; it must be {field.words}")
        return entry

    def schema(self) -> dict[str, Any]:
        """Return the form as JSON Schema, for readers in other languages."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [name for name, field in self.fields.items() if field.required],
            "properties": {
                name: {"description": field.about, **field.schema}
                for name, field in self.fields.items()
            },
        }


#: Forms that labs have declared by themselves, instead of in ``Lab(design=…)``.
_DECLARED: Final[dict[str, DesignForm]] = {}


def form_of(lab: str) -> DesignForm:
    """Return the form that a lab has declared with `declare`.

    Examples
    --------
    >>> form_of("lab_99_nothing")
    Traceback (most recent call last):
    ...
    mlsys_widgets.ledger.errors.ValueRefused: lab is 'lab_99_nothing', which declares no design
    entry; give its fields in asks.py: Lab(…, design={…})
    """
    try:
        return _DECLARED[lab]
    except KeyError:
        raise ValueRefused(
            f"lab is {lab!r}, which declares no design entry; give its fields in asks.py:"
            " Lab(…, design={…})"
        ) from None


def declare(form: DesignForm) -> DesignForm:
    """Make the form of a lab known to this process. Declaring it again changes nothing.

    A lab whose file gives ``Lab(design=…)`` does not need it.

    Examples
    --------
    >>> declare(DesignForm("lab_02_cache", 2, {"tile": number("side of the tile", 1)})).lab
    'lab_02_cache'
    >>> form_of("lab_02_cache").check({"tile": 64})
    {'tile': 64}
    """
    if _DECLARED.setdefault(form.lab, form) != form:
        raise ValueRefused(f"lab is {form.lab!r}, which has another design entry already")
    return form
