"""One event: its fields, its line in the file, and the hash that chains it to the one before.

``hash = sha256(prev + canonical event)``, where the canonical event is the JSON of ``seq``,
``time``, ``lab``, ``kind``, ``id`` and ``value`` with sorted keys and no spaces. The hash is over
what an event says, not over how its line is typed, so an editor that changes line ends does no
harm. Lines are ASCII: no change of encoding can break them, and a torn line splits no character.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final, NamedTuple

from mlsys_widgets.ledger.errors import ValueRefused
from mlsys_widgets.ledger.values import DEEPEST, LARGEST_INTEGER, LONGEST_NAME, is_name

#: What the first event is chained to.
GENESIS: Final = "0" * 64
#: The longest line a ledger takes, in bytes.
LONGEST_LINE: Final = 1_000_000
#: The most lists and objects in a line: empty ones take thirty times the memory of their text.
MOST_PARTS: Final = 20_000
#: No ledger counts further, so that nobody ever counts up to a number that somebody typed.
LARGEST_SEQ: Final = 10**9
#: The levels of a line: the event, its value, the value in that, and what was saved.
_DEEPEST_LINE: Final = DEEPEST + 3

FIELDS: Final = ("seq", "time", "lab", "kind", "id", "value", "prev", "hash")
# The same patterns as in schema.json; a test holds the two together.
LAB: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
TIME: Final = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
HASH: Final = re.compile(r"[0-9a-f]{64}")


class Event(NamedTuple):
    """A line of a ledger.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> _ = ledger.record_answer("ridge", 295, unit="FLOP per byte")
    >>> opened, answer = ledger.events()
    >>> opened.kind, answer.kind, answer.id, answer.value
    ('opened', 'answer', 'ridge', {'value': 295, 'unit': 'FLOP per byte', 'confidence': None})
    >>> answer.prev == opened.hash
    True
    """

    seq: int  #: Its number, from 0.
    time: str  #: When it was written, in UTC to the millisecond.
    lab: str  #: The lab.
    kind: str  #: ``opened``, ``prediction``, ``reflection``, ``answer``, ``design`` or ``use``.
    id: str  #: What it is about: the id of an item or an instrument, or the name of the lab.
    value: Any  #: What was saved; its form depends on the kind.
    #: ``prev``, ``hash``: the hash of the event before, and its own.
    prev: str
    hash: str


class Malformed(ValueError):
    """A line that is not an event; the message completes "line 7 …"."""


def chained(prev: str, seq: int, time: str, lab: str, kind: str, id: str, value: Any) -> Event:
    """Make the event that follows the one whose hash is ``prev``."""
    event = Event(seq, time, lab, kind, id, value, prev, "")
    return event._replace(hash=digest(event))


def digest(event: Event) -> str:
    """Compute the hash that an event with this content and this ``prev`` must carry."""
    content = {
        "seq": event.seq,
        "time": event.time,
        "lab": event.lab,
        "kind": event.kind,
        "id": event.id,
        "value": event.value,
    }
    return hashlib.sha256((event.prev + _CANONICAL.encode(content)).encode("ascii")).hexdigest()


def to_line(event: Event) -> bytes:
    """Write the line of an event, with its end, or refuse one that is too long."""
    line = (_READABLE.encode(event._asdict()) + "\n").encode("ascii")
    if len(line) > LONGEST_LINE:
        raise ValueRefused(
            f"{event.id} takes {len(line):,} bytes; one event of a ledger may take"
            f" {LONGEST_LINE:,}, so save a summary instead"
        )
    if _parts(line) > MOST_PARTS:
        raise ValueRefused(
            f"{event.id} has {_parts(line):,} brackets; one event of a ledger may have"
            f" {MOST_PARTS:,}, so save a summary instead"
        )
    return line


def from_line(line: bytes) -> Event:
    """Read a line, or say why it is not an event.

    Only the envelope is checked; `kinds` checks whether the value fits its kind.
    """
    if len(line) > LONGEST_LINE:
        raise Malformed(f"has {len(line):,} bytes, and an event has at most {LONGEST_LINE:,}")
    parts = _parts(line)
    if parts > MOST_PARTS:
        raise Malformed(f"has {parts:,} brackets, and an event has at most {MOST_PARTS:,}")
    try:
        text = _text(line)
        # Half the time of decode(), for lines as this package writes them.
        loaded, end = _DECODER.raw_decode(text) if text.startswith("{") else (None, -1)
        if end != len(text):
            loaded = _DECODER.decode(text)
    except RecursionError:
        raise Malformed("is nested too deeply") from None
    except ValueError:
        raise Malformed("is not JSON") from None
    # JSON can spell halves of characters, which no file and no page can hold.
    if b"\\ud" in line.lower() and _has_halves(loaded):
        raise Malformed("has half a character")
    # Whoever reads an event may go through its value level by level.
    if parts > _DEEPEST_LINE and _is_deep(loaded):
        raise Malformed("is nested too deeply")
    return from_object(loaded)


def from_object(loaded: object) -> Event:
    """Make an event of parsed JSON, or say why it is not one."""
    if not isinstance(loaded, dict):
        raise Malformed("is not a JSON object")
    if loaded.keys() != _FIELD_SET:
        raise Malformed(f"must have the fields {', '.join(FIELDS)} and no others")
    event = Event._make(_IN_ORDER(loaded))
    if type(event.seq) is not int or not 0 <= event.seq <= LARGEST_SEQ:
        raise Malformed("has no whole number in its field seq")
    # A ledger has thousands of events and must open at once, so a good line passes a single test,
    # and only a bad one is checked field by field.
    try:
        in_order = _ENVELOPE.fullmatch("\n".join(event[1:5] + event[6:]))
    except TypeError:
        in_order = None
    if in_order:
        return event
    for field, allowed in _TEXTS:
        text = loaded[field]
        if not isinstance(text, str) or not allowed(text):
            raise Malformed(f"has {field} {str(text)[:80]!r}, which is not a valid {field}")
    return event


def _has_halves(loaded: object) -> bool:
    try:
        json.dumps(loaded, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def repeats_a_key(line: bytes) -> bool:
    """Whether an object of the line has the same key twice, so that readers could disagree."""
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        repeated = repeated or len({key for key, _ in pairs}) < len(pairs)
        return dict(pairs)

    json.loads(_text(line), object_pairs_hook=look)
    return repeated


def timestamp(moment: datetime) -> str:
    """Format a moment as events do. Such texts sort in the order of the moments."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def _text(line: bytes) -> str:
    # Some editors put a byte order mark before the first line; it has no meaning.
    return line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")


def _parts(line: bytes) -> int:
    """Count how many lists and objects a line can have at most, without reading it."""
    return line.count(b"[") + line.count(b"{")


def _is_deep(loaded: Any) -> bool:
    level = [loaded] if isinstance(loaded, dict | list) else []
    for _ in range(_DEEPEST_LINE):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [part for parts in inside for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) > LARGEST_INTEGER:
        raise ValueError(f"{text[:20]}… has too many digits")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number in JSON")


_CANONICAL: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
_READABLE: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER: Final = json.JSONDecoder(
    parse_float=_finite, parse_int=_whole, parse_constant=_no_constant
)
_IN_ORDER: Final = itemgetter(*FIELDS)
_FIELD_SET: Final = frozenset(FIELDS)
_NAME: Final = rf"[^\x00-\x1f\x7f]{{1,{LONGEST_NAME}}}"
_ENVELOPE: Final = re.compile(
    "\n".join([TIME.pattern, LAB.pattern, _NAME, _NAME, HASH.pattern, HASH.pattern])
)
_TEXTS: Final = (
    ("time", TIME.fullmatch),
    ("lab", LAB.fullmatch),
    ("kind", is_name),
    ("id", is_name),
    ("prev", HASH.fullmatch),
    ("hash", HASH.fullmatch),
)
