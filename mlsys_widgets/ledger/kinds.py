"""The kinds of events, and what the value of each must look like.

This is the quick check of every event when a ledger is read. ``schema.json`` says the same for
readers in other languages, and a test keeps the two in agreement.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Final

from mlsys_widgets.ledger.errors import NewerSchema
from mlsys_widgets.ledger.events import Event
from mlsys_widgets.ledger.values import is_confidence, is_name

#: The version of the schema that this package writes. The first event of a ledger says its own.
VERSION: Final = 1


def refuse_newer(event: Event) -> None:
    """Raise `NewerSchema` if this is the first event of a ledger from a later version."""
    if event.kind == "opened" and isinstance(event.value, dict):
        schema = event.value.get("schema")
        if type(schema) is int and schema > VERSION:
            raise NewerSchema(
                f"This ledger was written by a newer mlsys_widgets (schema {schema}; this one reads"
                f" up to {VERSION}). Upgrade mlsys_widgets and open it again."
            )


def misfit(event: Event) -> str | None:
    """Say what is wrong with the value of an event, as the end of a sentence; `None` if it fits."""
    parts = KINDS.get(event.kind)
    if parts is None:
        return f"is of kind {event.kind!r}, which is not one of {', '.join(KINDS)}"
    value = event.value
    if not isinstance(value, dict):
        return f"must have an object as its value, as kind {event.kind!r} has"
    if parts is ANYTHING:
        return None
    extra = EXTRAS.get(event.kind, {})
    held = len(parts) + sum(map(value.__contains__, extra))
    if len(value) != held or not all(map(value.__contains__, parts)):
        wanted = " and ".join(parts)
        also = f" but {' and '.join(extra)}" if extra else ""
        return f"must have {wanted} in the value of kind {event.kind!r}, and nothing else{also}"
    for name, fits in (*parts.items(), *extra.items()):
        if fits is not _anything and name in value and not fits(value[name]):
            return f"has {name} {str(value[name])[:80]!r}, which does not fit kind {event.kind!r}"
    return None


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 1


def _name(value: Any) -> bool:
    return isinstance(value, str) and is_name(value)


def _optional_name(value: Any) -> bool:
    return value is None or _name(value)


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_name, value))


def _optional_confidence(value: Any) -> bool:
    return value is None or (type(value) is int and is_confidence(value))


def _optional_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _anything(value: Any) -> bool:
    return True


def _object(value: Any) -> bool:
    return isinstance(value, dict)


Parts = Mapping[str, Callable[[Any], bool]]

#: The fields of a design differ from lab to lab: see `designs`.
ANYTHING: Final[Parts] = {}

KINDS: Final[Mapping[str, Parts]] = {
    "opened": {"schema": _whole, "student": _name},
    "prediction": {"value": _anything, "confidence": _optional_confidence},
    "reflection": {"value": _anything, "correct": _optional_flag},
    "answer": {
        "value": _anything,
        "unit": _optional_name,
        "confidence": _optional_confidence,
    },
    "design": ANYTHING,
    "use": {"needs": _names, "inputs": _object},
}

#: What the value of a kind may hold beyond that.
EXTRAS: Final[Mapping[str, Parts]] = {"prediction": {"words": _name}}


@functools.cache
def schema() -> Mapping[str, Any]:
    """Return the JSON Schema of a line of a ledger; ``$defs/export`` is that of an export.

    Examples
    --------
    >>> schema()["$id"]
    'urn:mlsys-widgets:ledger:1'
    """
    text = resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
