"""A card that a student works on: it saves to the ledger, and it is a gate for what follows.

The ledger has whatever was done in a task: after a restart, in autograding, in another kernel. A
task is done when the ledger says so, and never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import Gate, LabWidget
from mlsys_widgets.cards.handed_in_line import handed_in_words
from mlsys_widgets.cards.parts import Part, Prose
from mlsys_widgets.drawing import markup
from mlsys_widgets.instruments.predicted import Predicted
from mlsys_widgets.labs import Item
from mlsys_widgets.ledger import Ledger, LedgerError, NotSaved, State
from mlsys_widgets.ledger.drafts import DraftRefused, Drafts
from mlsys_widgets.wording.system_errors import error_sentence

T = TypeVar("T")


@dataclass(frozen=True)
class ShortForm:
    """How a card becomes short once it is recorded: what stays, and the link that opens it."""

    #: The keys of the parts that stay in sight.
    stays: tuple[str, ...]
    link: str = "Change"


class Task(LabWidget):
    """Base of the cards that save something, under the name ``task_id``."""

    #: The action that records every box of the card and can be repeated; empty where there is none,
    #: because something is sealed.
    record_action = ""

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
        announcements.listen(ledger, self)

    # What a task says about itself; subclasses answer.

    def done(self, state: State) -> bool:
        """Whether this was done, according to the ledger."""
        raise NotImplementedError

    @property
    def to_open(self) -> str:
        """How to finish this, as the end of "Opens after you …"."""
        return f"finish “{markup.plain(self.title)}”"

    @property
    def called(self) -> str:
        """A line for a list of tasks."""
        return f"{self.kind}: {markup.plain(self.title)}"

    # What instruments and other cards need of a lock.

    @property
    def question(self) -> str:
        """The task in words, for whatever waits for it."""
        return markup.plain(self.title)

    @property
    def predicted(self) -> Predicted | None:
        """The prediction, for instruments to draw; other tasks have none."""
        return None

    @property
    def is_open(self) -> bool:
        """Whether this was done, so that whatever waits for it may open."""
        return self._state is not None and self.done(self._state)

    def on_open(self, then: Callable[[], None]) -> None:
        """Call back when this is done, or right away if it is."""
        if self.is_open:
            then()
        else:
            self._then.append(then)

    def record_use(self, instrument: str) -> None:
        """Record in the ledger that an instrument behind this lock was used.

        A ledger that cannot be written must not stop an instrument: the card says so instead.
        """
        before = self._state.uses.get(instrument) if self._state else None
        try:
            use = self._ledger.record_use(instrument, needs=self._needs())
        except LedgerError as problem:
            self._refused(f"Your use of {instrument} was not recorded. {problem}")
            announcements.announce(self._ledger, str(problem))
        else:
            if before is None or use.count != before.count:
                announcements.announce(self._ledger)

    # Drafts: what is entered stays with the browser and beside the ledger until it is recorded.

    @property
    def ledger_names(self) -> tuple[str, ...]:
        """The names under which the ledger keeps what is done here."""
        return (self.task_id,)

    @property
    def recorded_at(self) -> str:
        """When something was last recorded here; empty before that."""
        if self._state is None:
            return ""
        times = [""]
        for name in self.ledger_names:
            for kept in (self._state.predictions, self._state.answers):
                if (found := kept.get(name)) is not None:
                    times.append(found.time)
            if (tried := self._state.reflections.get(name)) is not None:
                times.append(tried.attempts[-1].time)
        return max(times)

    def fold(self) -> ShortForm | None:
        """How short this is now; `None` while it is shown whole."""
        return None

    @property
    def unsettled(self) -> bool:
        """Whether what was entered waits to be confirmed, in boxes that are closed for now."""
        return False

    @property
    def is_outdated(self) -> bool:
        """Whether something was recorded that is not what stands here now, outside of all boxes."""
        return False

    def _record(self) -> dict[str, Any]:
        fold = None if self.blocked_by else self.fold()
        return {
            "fold": fold and {"stays": [*fold.stays, "handed-in"], "link": fold.link},
            "item": {
                "id": self.task_id,
                "names": list(self.ledger_names),
                "recorded": self.recorded_at,
                "record": self.record_action,
                "outdated": self.is_outdated,
                # Nobody knows while the ledger cannot be read.
                "ledger": None if self._state is None else self._state.ledger_id or "",
            },
            "unsettled": self.unsettled,
        }

    def _asked(self, card: Any, content: Any, buffers: Any) -> None:
        if "drafts" in content:
            self._card.send({"drafts": self._keep_drafts(content["drafts"])})
        else:
            super()._asked(card, content, buffers)

    def _keep_drafts(self, changes: Any) -> Any:
        """Read the drafts beside the ledger, or change them; a sentence if that cannot be done.

        For pages whose server is not ours; elsewhere the server keeps drafts.
        """
        drafts = Drafts(self._ledger.path)
        if changes is None:
            return {
                item: {box: [asdict(each) for each in kept] for box, kept in boxes.items()}
                for item, boxes in drafts.read().items()
            }
        try:
            drafts.change(changes if isinstance(changes, list) else ())
        except (DraftRefused, OSError) as problem:
            return error_sentence(problem)
        return True

    def _needs(self) -> tuple[str, ...]:
        """The predictions that an instrument behind this lock waits for."""
        return ()

    # Handing in.

    @property
    def handed_in(self) -> str:
        """Whether what is recorded here was handed in, and when; empty if nothing ever was."""
        if self._state is None or self.blocked_by:
            return ""
        return handed_in_words(self._ledger, self._state, self.ledger_names)

    def _shown(self) -> Sequence[Part]:
        words = self.handed_in
        line = [Prose("handed-in", words, quiet=True)] if words else []
        return [*super()._shown(), *line]

    # The ledger.

    def refresh(self) -> None:
        """Read the ledger again, and open what waits if this was done in the meantime."""
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
            announcements.announce(self._ledger, str(problem))
            raise
        self._settled()
        self._state = self._ledger.state()
        self._open_if_done()
        announcements.announce(self._ledger)
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
            except Exception as problem:  # what is saved stays saved, whatever another card does
                self._refused(f"This is saved, but something behind it did not open: {problem}")


class ItemTask(Task):
    """A task that an item of the lab describes: the item says when it is done."""

    def __init__(
        self,
        task_id: str,
        item: Item,
        title: str,
        *,
        ledger: Ledger,
        after: Gate | Iterable[Gate] = (),
    ) -> None:
        super().__init__(task_id, title, ledger=ledger, after=after)
        self._item = item

    def done(self, state: State) -> bool:
        return self._item.is_done(self.task_id, state)

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self._item.ledger_names(self.task_id)
