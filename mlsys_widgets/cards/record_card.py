"""The items that a record gives points for, and how far along each of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.parts import Part, Prose, Rows, worth
from mlsys_widgets.labs import Record
from mlsys_widgets.labs.student_steps import StepProgress
from mlsys_widgets.ledger import Ledger


class RecordCard(LabWidget):
    """The items that a record gives points for, and how far along each of them is.

    Parameters
    ----------
    item
        The record.
    held
        Returns each line and how far along it is; called again whenever something is saved.
    ledger
        Where it is kept.
    """

    kind = "Record"
    tone = "blue"
    drawn_as = "note"

    def __init__(
        self, item: Record, held: Callable[[], Mapping[str, StepProgress]], *, ledger: Ledger
    ) -> None:
        self.aside = worth(item)
        super().__init__(f"{item.title} ({self.aside})")
        self._held, self._counts = held, not item.deeper
        announcements.listen(ledger, self)
        self.show()

    def parts(self) -> Sequence[Part]:
        held = self._held()
        lines = tuple(
            (f"{how.sign} {how.words.capitalize()}", words) for words, how in held.items()
        )
        parts: list[Part] = [Rows("held", lines)]
        if self._counts and any(how.state == "tried" and how.whole for how in held.values()):
            words = "The points are for doing it: what you have tried counts, right or wrong."
            parts.append(Prose("tried", words, quiet=True))
        return parts
