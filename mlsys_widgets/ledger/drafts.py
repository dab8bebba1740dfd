"""Drafts: what a student has typed into a card and not recorded yet, kept beside the ledger.

The ledger keeps for good what was recorded. A draft is written again with every pause in typing,
and goes when its box is recorded. It lies in a file, because a kernel that is restarted, a page
that is closed or another browser must not take it along.

Each window of a browser has its own draft of a box, so no window can overwrite the text of
another. Everything in the file came from a browser: it is bounded, and read with suspicion.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import DRAFTS, open_regular, write_whole
from mlsys_widgets.ledger.values import is_name

#: The longest draft, in characters of JSON; an essay of 15,000 words.
LONGEST_DRAFT: Final = 100_000
#: The largest file of drafts, in bytes.
LARGEST_FILE: Final = 4 << 20
#: How many windows may each have a draft of one box; the oldest make room.
MOST_WINDOWS: Final = 4

_FIELDS: Final = {"window", "value", "over", "at"}
_OPTIONAL: Final = {"ledger", "meanwhile"}

# One server writes for all windows; its threads take turns.
_TURN: Final = threading.Lock()


@dataclass(frozen=True)
class Draft:
    """What one window of a browser has in a box."""

    window: str  # the window, by a name that it chose for itself
    value: Any  # what was typed or chosen
    #: What the box held when typing began: what was recorded, or what an empty box holds. Once
    #: something else is recorded, the draft is out of date.
    over: Any
    at: float  # when it was typed, by the browser's clock: the newest draft is shown first
    #: The ledger that lay beside it, by its id; empty if there was none yet. A lab that was deleted
    #: and fetched again has another one, and the drafts of the old copy go.
    ledger: str = ""
    #: Whether it was typed while something else from its box was on the way to be recorded, and
    #: nobody had said yet whether it was. Then it is newer than what is recorded, whatever it is.
    meanwhile: bool = False


#: Drafts by item and by box of that item's card.
Boxes = dict[str, dict[str, list[Draft]]]


class DraftRefused(ValueError):
    """A draft that cannot be kept; the sentence says why."""


class Drafts:
    """The drafts beside a ledger."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(DRAFTS)

    def read(self) -> Boxes:
        """Read all drafts, the newest of each box first; what is no draft is left out."""
        try:
            with open_regular(self.path) as stream:
                content = stream.read(LARGEST_FILE + 1)
            kept = json.loads(content) if len(content) <= LARGEST_FILE else {}
        except (OSError, ValueError, RecursionError):
            return {}
        found: Boxes = {}
        for item, boxes in _named(kept):
            for box, drafts in _named(boxes):
                for each in drafts if isinstance(drafts, list) else ():
                    try:
                        draft = _draft(each)
                    except DraftRefused:
                        continue
                    found.setdefault(item, {}).setdefault(box, []).append(draft)
        return found

    def change(self, changes: Iterable[Any]) -> None:
        """Write drafts, or remove those whose ``draft`` is `None`; all of them or none.

        ``changes`` are mappings with ``item``, ``box``, ``window`` and ``draft``. `DraftRefused`
        where one is no change, or there is no room for it.
        """
        with _TURN:
            kept = self.read()
            for change in changes:
                _apply(kept, change)
            plain = {
                item: {box: [asdict(each) for each in drafts] for box, drafts in boxes.items()}
                for item, boxes in kept.items()
            }
            content = json.dumps(plain, allow_nan=False)
            if len(content) > LARGEST_FILE:
                raise DraftRefused("There are too many drafts beside this notebook; record some.")
            self._keep(content if plain else "")

    def clear(self) -> None:
        """Forget all drafts."""
        with _TURN:
            self._keep("")

    def _keep(self, content: str) -> None:
        """Write the file; it stays when nothing is left to keep.

        A Jupyter server that is listing the folder when a file goes says that there is no folder.
        """
        if content or self.path.exists():
            write_whole(self.path, content or "{}")


def _named(mapping: Any) -> Iterable[tuple[str, Any]]:
    """Return the entries that have the name of an item or a box."""
    if not isinstance(mapping, Mapping):
        return ()
    return ((name, each) for name, each in mapping.items() if _is_name(name))


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and is_name(name)


def _draft(typed: Any) -> Draft:
    if not isinstance(typed, Mapping) or typed.keys() - _OPTIONAL != _FIELDS:
        raise DraftRefused("A draft has a window, a value, what it was typed over, and a time.")
    if not _is_name(typed["window"]):
        raise DraftRefused("The window of a draft has no name.")
    ledger = typed.get("ledger", "")
    if ledger != "" and not _is_name(ledger):
        raise DraftRefused("The ledger of a draft has no name.")
    meanwhile = typed.get("meanwhile", False)
    if not isinstance(meanwhile, bool):
        raise DraftRefused("A draft was typed meanwhile, or it was not: true or false.")
    at = typed["at"]
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        raise DraftRefused("The time of a draft is a number.")
    try:
        size = len(json.dumps([typed["value"], typed["over"]], allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise DraftRefused("A draft is text, or what is chosen in a box.") from None
    if size > LONGEST_DRAFT:
        raise DraftRefused(
            f"A draft of {size:,} characters is too long to keep; at most {LONGEST_DRAFT:,} fit."
        )
    return Draft(typed["window"], typed["value"], typed["over"], float(at), ledger, meanwhile)


def _apply(kept: Boxes, change: Any) -> None:
    """Make one change; a draft replaces the one that the same window had."""
    if not isinstance(change, Mapping) or change.keys() != {"item", "box", "window", "draft"}:
        raise DraftRefused("A change of drafts names an item, a box, a window and a draft.")
    item, box, window = change["item"], change["box"], change["window"]
    if not all(map(_is_name, (item, box, window))):
        raise DraftRefused("An item, a box or a window has no name.")
    others = [each for each in kept.get(item, {}).get(box, ()) if each.window != window]
    if change["draft"] is not None:
        others.append(_draft(change["draft"]))
    others.sort(key=lambda each: -each.at)
    kept.setdefault(item, {})[box] = others[:MOST_WINDOWS]
    if not others:
        del kept[item][box]
    if not kept[item]:
        del kept[item]
