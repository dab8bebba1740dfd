"""Measurement documents on disk: finding, reading, checking and saving them.

A document that is malformed, truncated, from something else or from a newer version is refused with
one sentence that names the file, the field and what is allowed there. Saving is atomic: an
interruption leaves the old file or no file.
"""

from __future__ import annotations

import functools
import json
import marshal
import os
from collections.abc import Collection
from importlib import resources
from pathlib import Path

from mlsys_widgets.files import write_whole

from .checks import MeasurementError, validate
from .recorder import Document, one_line

MOST_BYTES = 64 << 20


def available() -> list[str]:
    """Return the names of the documents that come with the package.

    Examples
    --------
    >>> "cpu-2core-server" in available()
    True
    """
    folder = resources.files(__package__).joinpath("data")
    return sorted(
        entry.name.removesuffix(".json")
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    )


def load(
    name_or_path: str | os.PathLike[str], *, allow: Collection[str] = ("complete",)
) -> Document:
    """Read a document by its path, or by the name under which it ships, and check it.

    ``allow`` lists the statuses to accept: ``complete``, ``partial`` (cut short), ``dry`` (a
    rehearsal). A `MeasurementError` says why there is no such document, or why it cannot be used.

    Examples
    --------
    >>> load("cpu-2core-server")["device"]["kind"]
    'cpu'
    >>> load("no-such-machine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mlsys_widgets.measured.checks.MeasurementError: no-such-machine: no such file, and no ...
    """
    name = os.fspath(name_or_path)
    try:
        if name in available():
            # Whoever loads it may change it, so everybody gets their own.
            shipped: Document = marshal.loads(_shipped_data(name))
            return shipped
        path = Path(name)
        if path.exists() and path.stat().st_size > MOST_BYTES:
            raise MeasurementError(
                f"{name}: larger than {MOST_BYTES >> 20} MiB, which no measurement is."
            )
        data = path.read_bytes()
    except FileNotFoundError:
        known = ", ".join(available()) or "none"
        raise MeasurementError(
            f"{name}: no such file, and no document of that name ships with this package"
            f" (available: {known})."
        ) from None
    except (OSError, ValueError) as error:
        if isinstance(error, MeasurementError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise MeasurementError(f"{name}: cannot be read ({reason}).") from None
    return parse(data, source=name, allow=allow)


@functools.cache
def _shipped_data(name: str) -> bytes:
    """Return a document that ships, read once and packed: unpacking takes a fifth of reading JSON.

    The tests have checked what ships; a student should not wait for that again.
    """
    text = resources.files(__package__).joinpath("data", f"{name}.json").read_text("utf-8")
    return marshal.dumps(json.loads(text))


def parse(
    data: bytes | str, *, source: str = "document", allow: Collection[str] = ("complete",)
) -> Document:
    """Check the text of a document and return it as plain data.

    ``source`` is what a `MeasurementError` calls the document. Statuses as in ``load``.

    Examples
    --------
    >>> parse(
    ...     '{"schema": "mlsys-measurement", "version": 1', source="torn.json"
    ... )  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mlsys_widgets.measured.checks.MeasurementError: torn.json: not a JSON document ...
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        document = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise MeasurementError(f"{source}: not a JSON document (nested too deeply).") from None
    except ValueError as error:
        raise MeasurementError(f"{source}: not a JSON document ({one_line(error)}).") from None
    validate(document, source=source, allow=allow)
    checked: Document = document
    return checked


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number in JSON")


def save(
    document: Document,
    path: str | os.PathLike[str],
    *,
    allow: Collection[str] = ("complete",),
) -> Path:
    """Check a document and write it in one step: the file is the old one or the whole new one.

    Nothing is written where it fails its checks. Statuses as in ``load``.

    Examples
    --------
    >>> path = save(load("cpu-2core-server"), folder / "mine.json")
    >>> load(path)["schema"]
    'mlsys-measurement'
    """
    validate(document, source=os.fspath(path), allow=allow)
    return write_whole(path, text(document))


def text(document: Document) -> str:
    """Write a document as JSON, one case per line, so that a diff compares two measurements.

    Examples
    --------
    >>> parse(text(load("cpu-2core-server"))) == load("cpu-2core-server")
    True
    """
    lines = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            rows = ",\n    ".join(_compact(row) for row in value)
            lines.append(f"  {json.dumps(name)}: [\n    {rows}\n  ]")
        elif isinstance(value, dict):
            inner = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
            lines.append(f"  {json.dumps(name)}: " + inner.replace("\n", "\n  "))
        else:
            lines.append(f"  {json.dumps(name)}: {_compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def merged(base: Document, update: Document) -> Document:
    """Return the update, together with the base's sections that the update did not measure again.

    Both must come from the same device, with the same software. Where something of the base is
    left, the date remains that of the base, and a note says what was measured later, and when. A
    `MeasurementError` says that they come from different devices or different software.

    Examples
    --------
    >>> whole = load("cpu-2core-server")
    >>> merged(whole, whole) == whole
    True
    """
    for name in ("key", "name", "units"):
        if base["device"][name] != update["device"][name]:
            raise MeasurementError(
                f"update: device.{name} must be {base['device'][name]!r} as in the document that is"
                f" updated, not {update['device'][name]!r}."
            )
    for name, version in update["software"].items():
        if base["software"].get(name, version) != version:
            raise MeasurementError(
                f"update: software.{name} must be {base['software'][name]!r} as in the document"
                f" that is updated, not {version!r}."
            )
    fresh = {part["name"] for part in update.get("sections", [])}
    fresh |= {case["section"] for case in update["cases"]}
    result = dict(update)
    something_is_left = False
    for name, part in (("cases", "section"), ("skipped", "section"), ("sections", "name")):
        kept = [entry for entry in base.get(name, []) if entry[part] not in fresh]
        something_is_left |= bool(kept)
        result[name] = kept + list(update.get(name, []))
    if something_is_left:
        later = ", ".join(part["name"] for part in update.get("sections", [])) or "some cases"
        notes = [f"Measured later, on {update['date'][:10]}: {later}."]
        notes = [*base["method"].get("notes", []), *notes, *update["method"].get("notes", [])]
        result["method"] = {**base["method"], **update["method"], "notes": notes}
        result["date"] = base["date"]
    return result
