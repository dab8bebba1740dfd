"""A ledger however it was saved: in another encoding, pretty-printed, as a list, as an export.

Its events carry their own hashes, so nothing is taken on trust here: what was lost or changed on
the way breaks the chain, whatever the file looks like.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from mlsys_widgets.ledger.carried_record import LARGEST_RECORD, whole_lines
from mlsys_widgets.ledger.events import GENESIS, Malformed, from_line, to_line
from mlsys_widgets.ledger.journal import LARGEST_FILE, MOST_LINES
from mlsys_widgets.ledger.transfer import FORMAT

#: How a file that holds the beginning of a ledger looks, in all encodings that editors write.
_BEGINNINGS: Final = tuple((b"0" + b"\0" * gap) * (len(GENESIS) - 1) for gap in (0, 1, 3))
#: Lists and objects of a file that is not read line by line; each takes far more than its text.
_MOST_PARTS: Final = 100_000
_BETWEEN: Final = " \t\r\n,"


class SavedLedger(NamedTuple):
    """The ledger in a file."""

    #: As the file of a ledger has it.
    content: bytes
    #: How it was saved instead, as the end of "it was saved …"; empty if just so.
    how: str = ""


def may_hold_a_ledger(content: bytes) -> bool:
    """Whether the beginning of a ledger is somewhere in a file; nothing of it is parsed."""
    return any(each in content for each in _BEGINNINGS)


def read_saved(content: bytes, lab: str) -> SavedLedger | None:
    """Read a file as the ledger of a lab, however it was saved; `None` if nothing in it is one."""
    if _has_events(content):
        return SavedLedger(content)
    if len(content) > 4 * LARGEST_RECORD or not may_hold_a_ledger(content):
        return None
    encoding = json.detect_encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    if len(text) > LARGEST_RECORD:
        return None
    how = "" if encoding.startswith("utf-8") else f"as {encoding.upper()[:6]}"
    if how and _has_events(plain := text.encode("utf-8", "replace")):
        return SavedLedger(plain, how)
    found = list(_values(text))
    exports = [each for each in found if isinstance(each, dict) and each.get("format") == FORMAT]
    events = _of_lab(exports[0], lab) if exports else found
    lines = b"".join(map(to_line, _events(events)))
    how = " and ".join(filter(None, (how, "as an export" if exports else "in other lines")))
    return SavedLedger(lines, how) if lines else None


def _has_events(content: bytes) -> bool:
    """Whether anything in a file is an event in a line of its own."""
    if len(content) > LARGEST_FILE or content.count(b"\n") > MOST_LINES:
        return False
    return any(map(_is_event, whole_lines(content)))


def _is_event(line: bytes) -> bool:
    try:
        from_line(line)
    except Malformed:
        return False
    return True


def _values(text: str) -> Iterator[Any]:
    """Yield the values of a text that has one JSON value after the other, lists taken apart."""
    if text.count("{") + text.count("[") > _MOST_PARTS:
        return
    decoder, at = json.JSONDecoder(), 0
    while (at := _next(text, at)) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield from value if isinstance(value, list) else (value,)


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _of_lab(export: dict[str, Any], lab: str) -> Iterable[Any]:
    """Return the events of one lab in an export; see `mlsys_widgets.ledger.transfer`."""
    match export.get("ledgers"):
        case [*parts]:
            found = (each for each in parts if isinstance(each, dict) and each.get("lab") == lab)
            events = next(found, {}).get("events")
            return events if isinstance(events, list) else ()
    return ()


def _events(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        try:
            # As a line, so that it must pass everything that a line must.
            yield from_line(json.dumps(value).encode())
        except (Malformed, ValueError, RecursionError):
            continue  # whatever is missing breaks the chain
