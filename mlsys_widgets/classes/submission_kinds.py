"""The kinds of submissions that a simulated class hands in, whole and broken."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.classes.released_lab import Book


@dataclass(frozen=True)
class SubmissionKind:
    """A kind of submission, what percentage of a class hands it in, and how it is broken."""

    about: str
    share: float
    breaks: Callable[[Book, random.Random], bytes | None] | None = None


def _cut_off(book: Book, chance: random.Random) -> bytes:
    text = json.dumps(book)
    return text[: int(len(text) * chance.uniform(0.3, 0.9))].encode()


def _delete(book: Book, chance: random.Random) -> bytes:
    book["cells"].remove(chance.choice(_checks_of(book)))
    return as_bytes(book)


def _double(book: Book, chance: random.Random) -> bytes:
    cell = chance.choice(_checks_of(book))
    # JupyterLab gives a pasted cell a new id and keeps nbgrader's metadata.
    copy = {**cell, "id": f"{chance.getrandbits(32):08x}"}
    book["cells"].insert(book["cells"].index(cell), copy)
    return as_bytes(book)


def _turn(book: Book, chance: random.Random) -> bytes:
    answers = [c for c in book["cells"] if c.get("id", "").startswith("answer_")]
    cell = chance.choice([c for c in answers if c["cell_type"] == "code"])
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    return as_bytes(book)


def _other_kernel(book: Book, _chance: random.Random) -> bytes:
    book["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    book["metadata"]["language_info"] = {"name": "R"}
    return as_bytes(book)


def _checks_of(book: Book) -> list[dict[str, Any]]:
    return [c for c in book["cells"] if c.get("id", "").startswith("check_")]


def as_bytes(book: Book) -> bytes:
    """Write a notebook as JupyterLab does."""
    return (json.dumps(book, indent=1, ensure_ascii=False) + "\n").encode()


#: All kinds; their shares add up to 100.
KINDS: Final[Mapping[str, SubmissionKind]] = {
    "right": SubmissionKind("nearly everything right", 20),
    "mostly-right": SubmissionKind("most of it right", 34),
    "misconceived": SubmissionKind("answers that follow from known misconceptions", 16),
    "partly-done": SubmissionKind("stopped somewhere in the middle", 7),
    "late": SubmissionKind("mostly right, handed in late", 6),
    "blank": SubmissionKind("the release, untouched", 4),
    "restarted": SubmissionKind(
        "restarted halfway through, with the old ledger beside the new one", 4
    ),
    "copied": SubmissionKind("somebody else's notebook and ledger", 3),
    "nonsense": SubmissionKind("texts, lists, errors and typos", 2),
    "no-json": SubmissionKind("a notebook that is cut off", 0.6, _cut_off),
    "cell-deleted": SubmissionKind("a graded cell is missing", 0.6, _delete),
    "cell-doubled": SubmissionKind("a graded cell is there twice", 0.6, _double),
    "cell-turned": SubmissionKind("an answer cell was turned into text", 0.6, _turn),
    "other-kernel": SubmissionKind("saved with another kernel", 0.6, _other_kernel),
    "no-notebook": SubmissionKind("everything but the notebook", 0.5, lambda *_: None),
    "renamed": SubmissionKind("the notebook has another name", 0.5),
}


def allot(count: int, only: Sequence[str], seed: int) -> list[str]:
    """Draw the kinds of a number of submissions by their shares, in random order.

    A class that is large enough has at least one of each.
    """
    kinds = list(only) or list(KINDS)
    whole = sum(KINDS[kind].share for kind in kinds)
    least = 1 if count >= 2 * len(kinds) or (only and count >= len(kinds)) else 0
    free = count - least * len(kinds)
    exact = {kind: least + free * KINDS[kind].share / whole for kind in kinds}
    given = {kind: int(number) for kind, number in exact.items()}
    rest = sorted(kinds, key=lambda kind: given[kind] - exact[kind])[: count - sum(given.values())]
    found = [kind for kind in kinds for _ in range(given[kind] + (kind in rest))]
    random.Random(f"{seed}/kinds").shuffle(found)
    return found
