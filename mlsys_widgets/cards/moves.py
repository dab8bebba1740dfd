"""Moves to try on an instrument before a comparison opens, and which of them were made.

A move is a state of an instrument that a student brings about: a menu chosen, a slider beyond a
value. A reveal lists its moves and opens when all of them were made. What was made is kept in the
ledger, as the answer ``moves.`` followed by the name of the prediction; once all of them were, so
is that, as ``explored.`` followed by it, for the Lab panel to go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from mlsys_widgets.cards import announcements
from mlsys_widgets.drawing import markup
from mlsys_widgets.ledger import Ledger, LedgerError

#: Two numbers closer than this are the same to whoever sets a slider by hand.
_BY_HAND: Final = 5e-3


class Explorable(Protocol):
    """An instrument as a move needs it; the context of a lab is one, too."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The current value of every input."""

    def accepted(self, **inputs: Any) -> Mapping[str, Any]:
        """Inputs as they would be kept, or a refusal; nothing changes."""

    def on_move(self, then: Callable[[], None]) -> None:
        """Call back once it is open, and with every change of its inputs from then on."""


class Move:
    """Something to try before a comparison opens.

    Parameters
    ----------
    text
        What to do, as a student reads it: "Choose the GPT-2-like model".
    instrument
        The instrument on which it is done, or the lab's context.
    predicate
        Returns whether the instrument, which it is given, is in the state that is asked for.
    **values
        Inputs that the state must have, by name. Give these, a predicate, or both.

    Examples
    --------
    >>> from mlsys_widgets import RooflineWidget
    >>> roof = RooflineWidget()
    >>> large = Move("Raise N above 4,096", roof, lambda r: r.n > 4096)
    >>> edge = Move("Choose the Jetson Orin NX", roof, device="orin-nx")
    >>> roof.set(n=8192)
    >>> large.is_made, edge.is_made
    (True, False)
    >>> Move("Choose a toaster", roof, device="toaster")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: “Choose a toaster” cannot be made: Device is 'toaster'; it must be one of: ...
    """

    def __init__(
        self,
        text: str,
        instrument: Any,
        predicate: Callable[[Any], Any] | None = None,
        **values: Any,
    ) -> None:
        self.text = text
        self.instrument: Explorable = instrument
        self._predicate = predicate
        if predicate is None and not values:
            raise ValueError(
                f"“{text}” names no state; give inputs of the instrument, such as n=4096, or a"
                " function that returns whether the move was made"
            )
        # A move that nobody can make would keep its comparison closed for good.
        try:
            self._values = instrument.accepted(**values)
        except ValueError as reason:
            raise ValueError(f"“{text}” cannot be made: {reason}") from None

    @property
    def is_made(self) -> bool:
        """Whether the instrument is in the state that is asked for."""
        now = self.instrument.inputs
        if not all(_same(now[name], value) for name, value in self._values.items()):
            return False
        return self._predicate is None or bool(self._predicate(self.instrument))

    def __repr__(self) -> str:
        return f"<Move: {self.text}>"


class Exploration:
    """The moves before a comparison, and which of them were made, in this kernel or before it.

    Parameters
    ----------
    name
        The prediction that they belong to.
    moves
        What to try.
    ledger
        Where it is kept.
    counts
        Returns whether moves count yet: not before the prediction is committed.
    then
        Called with the texts of moves that were made just now.
    """

    def __init__(
        self,
        name: str,
        moves: Iterable[Move],
        *,
        ledger: Ledger,
        counts: Callable[[], bool],
        then: Callable[[list[str]], None],
    ) -> None:
        self._id, self._all = f"moves.{name}", f"explored.{name}"
        # Known by its words, which the ledger keeps for whoever reads it.
        self._moves = {markup.plain(move.text): move for move in moves}
        self._ledger, self._counts, self._then = ledger, counts, then
        self._made: set[str] = set()
        self._broken: set[str] = set()
        #: Why the last move was not saved; empty if it was.
        self.problem = ""
        self.recall()

    def begin(self) -> None:
        """Watch the instruments from now on; the state that they are in counts, too."""
        for instrument in {id(m.instrument): m.instrument for m in self._moves.values()}.values():
            instrument.on_move(self.look)

    @property
    def lines(self) -> tuple[tuple[str, bool], ...]:
        """Each move, and whether it was made."""
        missing = self.missing
        return tuple((move.text, text not in missing) for text, move in self._moves.items())

    @property
    def missing(self) -> list[str]:
        """The moves that were not made yet."""
        return [text for text in self._moves if text not in self._made | self._broken]

    @property
    def still(self) -> str:
        """The missing moves, as a sentence; empty if there are none."""
        listed = "; ".join(text.rstrip(".") for text in self.missing)
        return f"Still to try: {listed}." if listed else ""

    def recall(self) -> None:
        """Take over what the ledger holds, from an earlier kernel or from another one."""
        try:
            kept = self._ledger.state().answers.get(self._id)
        except LedgerError:
            return  # the card of the prediction says so
        if kept is not None and isinstance(kept.value, list | tuple):
            # A ledger that somebody edited may hold anything in the list.
            self._made |= {text for text in self._moves if text in kept.value}

    def look(self) -> None:
        """See whether a move was made just now, and keep it."""
        if not self._counts():
            return
        new = [text for text in self.missing if self._is_made(text)]
        if new:
            self._made |= set(new)
            self.keep()
            self._then(new)

    def _is_made(self, text: str) -> bool:
        try:
            return self._moves[text].is_made
        except Exception:  # a function of the author: it must not keep a student out for good
            self._broken.add(text)
            return False

    def keep(self) -> None:
        """Write down what was made. A ledger that cannot be written stops nobody from going on."""
        self.recall()
        made = [text for text in self._moves if text in self._made]
        try:
            kept = self._ledger.state().answers
            if self._id not in kept or kept[self._id].value != tuple(made):
                self._ledger.record_answer(self._id, made)
            if not self.missing and self._all not in kept:
                self._ledger.record_answer(self._all, True)
        except LedgerError as problem:
            self.problem = f"What you tried counts, but it is not saved. {problem}"
            announcements.announce(self._ledger, str(problem))
        else:
            self.problem = ""
            announcements.announce(self._ledger)


def _same(now: Any, wanted: Any) -> bool:
    if isinstance(now, float) and isinstance(wanted, int | float):
        return math.isclose(now, wanted, rel_tol=_BY_HAND)
    return bool(now == wanted)
