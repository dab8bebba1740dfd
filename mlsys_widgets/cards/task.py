"""A lab widget that a student does something in: it saves to the ledger, and it is a gate.

Whatever is done in a task is found again in the ledger: after a restart, in autograding, in another
kernel. It is done when the ledger says so, and never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mlsys_widgets.cards import bulletin
from mlsys_widgets.cards.card import Gate, LabWidget
from mlsys_widgets.drawing import markup
from mlsys_widgets.ledger import Ledger, LedgerError, NotSaved, State

T = TypeVar("T")


class Task(LabWidget):
    """Base of the lab widgets that save something.

    Parameters
    ----------
    task_id
        The name under which the ledger keeps it.
    title, after
        As of every lab widget.
    ledger
        Where it is kept.
    """

    def __init__(
        self, task_id: str, title: str, *, ledger: Ledger, after: Gate | Iterable[Gate] = ()
    ) -> None:
        super().__init__(title, after=after)
        self.task_id = task_id
        self._ledger = ledger
        self._state: State | None = None
        self._then: list[Callable[[], None]] = []
        self._unread = False
        self._was_open = False
        bulletin.listen(ledger, self)

    # What a task says about itself; subclasses answer.

    def done(self, state: State) -> bool:
        """Whether the ledger says that this was done."""
        raise NotImplementedError

    @property
    def to_open(self) -> str:
        """What to do to finish this, as the end of "Opens after you …"."""
        return f"finish “{markup.plain(self.title)}”"

    @property
    def called(self) -> str:
        """A line for a list of tasks."""
        return f"{self.kind}: {markup.plain(self.title)}"

    # What an instrument and other widgets need of a lock.

    @property
    def question(self) -> str:
        """What must be done first."""
        return markup.plain(self.title)

    @property
    def is_open(self) -> bool:
        """Whether this was done, so that what waits for it may open."""
        return self._state is not None and self.done(self._state)

    def on_open(self, then: Callable[[], None]) -> None:
        """Call back when this is done, or now if it was."""
        if self.is_open:
            then()
        else:
            self._then.append(then)

    def record_use(self, instrument: str) -> None:
        """Note in the ledger that an instrument which waits for this was used.

        A ledger that cannot be written must not stop an instrument: the card says so instead.
        """
        before = self._state.uses.get(instrument) if self._state else None
        try:
            use = self._ledger.record_use(instrument, needs=self._needs())
        except LedgerError as problem:
            self._refused(f"The use of {instrument} was not written down. {problem}")
            bulletin.announce(self._ledger, str(problem))
        else:
            if before is None or use.count != before.count:
                bulletin.announce(self._ledger)

    def _needs(self) -> tuple[str, ...]:
        """The predictions an instrument behind this waits for."""
        return ()

    # The ledger.

    def refresh(self) -> None:
        """Read the ledger again; open what waits, if this was done meanwhile."""
        try:
            self._state = self._ledger.state()
        except LedgerError as problem:
            self._unread = True
            self._refused(str(problem), self.refresh)
        else:
            if self._unread:
                self._unread = False
                self._settled()
            self._open_if_done()
        self.show()

    def _save(self, write: Callable[[], T]) -> T:
        """Write to the ledger; what is announced as saved is saved."""
        try:
            saved = write()
        except NotSaved as problem:
            self._refused(str(problem), lambda: self._once_more(write))
            bulletin.announce(self._ledger, str(problem))
            raise
        self._settled()
        self._card.drafts = {}
        self._state = self._ledger.state()
        self._open_if_done()
        bulletin.announce(self._ledger)
        return saved

    def _once_more(self, write: Callable[[], Any]) -> None:
        self._save(write)

    def _open_if_done(self) -> None:
        if self._was_open or not self.is_open:
            return
        self._was_open = True
        waiting, self._then = self._then, []
        for then in waiting:
            try:
                then()
            except Exception as problem:  # what is saved is saved, whatever another widget does
                self._refused(f"This is saved, but something behind it did not open: {problem}")
