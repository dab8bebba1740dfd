"""Checks measurement documents against the schema, and against rules that no schema can express.

A bad document gets one sentence that names the source, the field and what is allowed.
"""

from __future__ import annotations

import datetime
import functools
import importlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from typing import Any

from .recorder import SCHEMA, VERSION, Document, one_line

STATUSES = ("complete", "partial", "dry")


class MeasurementError(ValueError):
    """A measurement document that cannot be used. A notebook shows the sentence alone.

    It is a ``ValueError``. Its sentence names the file, the field and what is allowed there.

    Examples
    --------
    >>> from mlsys_widgets import measured
    >>> try:
    ...     measured.parse('{"schema": "mlsys-measurement", "version": 99}', source="mine.json")
    ... except measured.MeasurementError as error:
    ...     print(error)
    mine.json: version is 99 and this package reads up to 1: upgrade mlsys_widgets.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@functools.cache
def schema() -> Mapping[str, Any]:
    """Return the JSON Schema (draft 2020-12) that every document satisfies: ``schema.json``.

    Examples
    --------
    >>> schema()["properties"]["schema"]["const"]
    'mlsys-measurement'
    >>> schema()["properties"]["status"]["enum"]
    ['complete', 'partial', 'dry']
    """
    text = resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def validate(
    document: object, *, source: str = "document", allow: Collection[str] = ("complete",)
) -> None:
    """Refuse a document that breaks the schema or contradicts itself.

    ``allow`` lists the statuses to accept, as in ``load``. A `MeasurementError` names the source,
    the field and what is allowed.

    Examples
    --------
    >>> validate({"schema": "something-else"}, source="mine.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mlsys_widgets.measured.checks.MeasurementError: mine.json: schema must be ...
    """
    for field, problem in _problems(document, allow):
        raise MeasurementError(f"{source}: {field} {problem}.")


def _problems(document: object, allow: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, worst first, as a field and the rest of a sentence."""
    if not isinstance(document, dict):
        yield "the whole file", f"must be a JSON object, not {_kind(document)}"
        return
    if document.get("schema") != SCHEMA:
        yield "schema", f"must be {SCHEMA!r}, not {_short(document.get('schema'))}: a foreign file"
    version = document.get("version")
    if type(version) is int and version > VERSION:
        yield (
            "version",
            f"is {_short(version)} and this package reads up to {VERSION}: upgrade mlsys_widgets",
        )
    try:
        yield from _not_finite(document, "")
        yield from _schema_problems(document)
    except RecursionError:
        yield "the whole file", "is nested too deeply for a measurement"
        return
    yield from _contradictions(document)
    if document["status"] not in allow:
        meaning = {
            "partial": "a measurement that was cut short",
            "dry": "a rehearsal with toy sizes, not a measurement",
            "complete": "a finished measurement",
        }[document["status"]]
        wanted = " or ".join(repr(word) for word in allow)
        yield "status", f"must be {wanted}, not {document['status']!r} ({meaning})"


def _schema_problems(document: Document) -> Iterator[tuple[str, str]]:
    if not can_check_schema():
        return
    jsonschema: Any = importlib.import_module("jsonschema")
    validator = jsonschema.Draft202012Validator(schema())
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is not None:
        yield _sentence(error)


def can_check_schema() -> bool:
    """Whether the `jsonschema` library is installed; without it only our own checks run."""
    try:
        importlib.import_module("jsonschema")
    except ImportError:
        return False
    return True


def _sentence(error: Any) -> tuple[str, str]:
    """Turn a schema error into a field and the rest of a sentence."""
    field = _field(error.absolute_path)
    value, allowed, given = error.validator, error.validator_value, _short(error.instance)
    if value == "required":
        missing = next(name for name in allowed if name not in error.instance)
        return _join(field, missing), "is missing and required"
    if value == "additionalProperties":
        known = error.schema.get("properties", {})
        extra = next((name for name in error.instance if name not in known), "?")
        return _join(field, extra), f"is unknown; allowed are {', '.join(known)}"
    if value == "type":
        names = allowed if isinstance(allowed, list) else [allowed]
        return field, f"must be {' or '.join(names)}, not {given}"
    if value in ("enum", "const"):
        words = allowed if isinstance(allowed, list) else [allowed]
        return field, f"must be {' or '.join(map(_short, words))}, not {given}"
    if value == "not":
        return field, f"must hold no path, and is {given}"
    limits = {
        "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than",
        "minLength": "of a length of at least", "maxLength": "of a length of at most",
        "minProperties": "an object whose entries number at least",
        "pattern": "a text that matches",
    }  # fmt: skip
    if value in limits:
        return field, f"must be {limits[value]} {allowed}, not {given}"
    return field, f"breaks the schema: {one_line(error.message)}"


def _field(path: Any) -> str:
    text = ""
    for step in path:
        text = f"{text}[{step}]" if isinstance(step, int) else _join(text, str(step))
    return text or "the whole file"


def _join(field: str, name: str) -> str:
    top = field in ("", "the whole file")
    if not name.isidentifier():
        return f"{'' if top else field}[{_short(name)}]"
    name = _short(name)[1:-1]
    return name if top else f"{field}.{name}"


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, int) else repr(value)
        text = str(text)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deep nest
        text = f"a huge {_kind(value)}"
    return text if len(text) <= 80 else text[:79] + "…"


def _kind(value: object) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number"}
    names |= {float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _not_finite(value: object, field: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _not_finite(inner, _join(field, str(name)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _not_finite(inner, f"{field}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield field, f"must be a finite number, not {value}"


def _contradictions(document: Document) -> Iterator[tuple[str, str]]:
    """Contradictions that no schema can express."""
    for field in ("device", "software", "method"):
        if not isinstance(document.get(field), dict):
            yield field, f"must be object, not {_kind(document.get(field))}"
    if document.get("status") not in STATUSES:
        yield "status", f"must be {' or '.join(map(repr, STATUSES))}"
    try:
        datetime.datetime.strptime(document["date"], "%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, TypeError):
        yield "date", f"must be a UTC time that exists, not {_short(document['date'])}"
    seen: dict[str, int] = {}
    for number, case in enumerate(document["cases"]):
        field = f"cases[{number}]"
        for name in ("seconds", "enqueue", "latency"):
            times = case.get(name)
            if times is not None and not times["q25"] <= times["median"] <= times["q75"]:
                yield (
                    f"{field}.{name}.median",
                    f"must lie between q25 and q75, and {times['median']} does not lie between"
                    f" {times['q25']} and {times['q75']}",
                )
        memory = case.get("memory")
        if memory is not None:
            parts = sum(value for name, value in memory.items() if name != "peak")
            if not math.isclose(parts, memory["peak"], rel_tol=1e-9, abs_tol=1.0):
                yield (
                    f"{field}.memory.peak",
                    f"must be the sum of its parts, and {memory['peak']} is not {parts}",
                )
        identity = json.dumps(
            [case["kind"], case["variant"], case["precision"], case["shape"]], sort_keys=True
        )
        if identity in seen:
            yield field, f"repeats cases[{seen[identity]}]"
        seen[identity] = number
    if document["status"] == "complete" and not document["cases"]:
        yield "cases", "must hold at least one case"
