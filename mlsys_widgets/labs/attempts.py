"""Asking again with new numbers: what the second attempt at a question is, and the third.

An attempt has a number; the first is 0 and has the numbers that the lab begins with. Each one after
it is a fresh draw of that question alone, which reads differently from all before it. Where an item
has a pool, its questions take turns. Whoever knows lab, edition and student finds the same attempts
again, so a ledger keeps only the number and the answer.

The attempt that counts as the present one is the last that the ledger says was begun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Final, NamedTuple

from mlsys_widgets.labs.items import Item
from mlsys_widgets.labs.lab import Lab
from mlsys_widgets.labs.variants import Parameters

#: So many draws are tried until a question reads differently; then it has no other numbers.
_PATIENCE: Final = 60
_AGAIN: Final = re.compile(r"again\.([1-9][0-9]{0,5})\.(.+)", re.DOTALL)


def answer_name(item: str, attempt: int) -> str:
    """Return the name under which a ledger keeps the answer of an attempt.

    Examples
    --------
    >>> answer_name("ridge", 0), answer_name("ridge", 2)
    ('ridge', 'again.2.ridge')
    """
    return f"again.{attempt}.{item}" if attempt else item


def begun_name(item: str) -> str:
    """Return the name under which a ledger keeps the number of the last attempt that was begun.

    Examples
    --------
    >>> begun_name("ridge")
    'attempt.ridge'
    """
    return f"attempt.{item}"


def attempt_in(name: str) -> tuple[str, int]:
    """Return the item and the attempt that the name of an answer stands for.

    Examples
    --------
    >>> attempt_in("again.2.ridge"), attempt_in("ridge"), attempt_in("again.0.ridge")
    (('ridge', 2), ('ridge', 0), ('again.0.ridge', 0))
    """
    found = _AGAIN.fullmatch(name)
    return (found[2], int(found[1])) if found else (name, 0)


class AskedAgain(NamedTuple):
    """What an attempt asks: the item with the numbers of that attempt; 0 is the first time."""

    number: int
    p: Parameters
    item: Item


@dataclass(frozen=True)
class Attempts:
    """The attempts of one student at the questions of a lab."""

    lab: Lab
    student: str
    edition: str = ""
    variants: bool = True

    def at(self, name: str, number: int) -> AskedAgain | None:
        """Return an attempt at an item; `None` if the lab has no numbers left for it."""
        return next(islice(self._of(name), number, None), None)

    def _of(self, name: str) -> Iterator[AskedAgain]:
        seen: set[str] = set()
        pool = self.lab.pools.get(name, (name,))
        first = pool.index(self._draw(0).asked(name))
        number = 0
        tried = 0
        for again in count():
            drawn = self._draw(again)
            if again and len(pool) > 1:
                turn = {name: pool[(first + number) % len(pool)]}
                drawn = Parameters({**drawn, **turn}, order_seed=drawn.order_seed)
            item = self.lab.item(name, drawn)
            words = repr(_as_read(item))
            if words in seen:
                tried += 1
                if tried > _PATIENCE:
                    return
                continue
            seen.add(words)
            tried = 0
            yield AskedAgain(number, drawn, item)
            number += 1

    def _draw(self, again: int) -> Parameters:
        return self.lab.draw(
            self.student, edition=self.edition, variants=self.variants, again=again
        )


def _as_read(item: Item) -> tuple[Any, ...]:
    """Return what makes one question read differently from another, in whatever order."""
    options: Mapping[str, str] = getattr(item, "options", {})
    return getattr(item, "ask", ""), sorted(options.items())
