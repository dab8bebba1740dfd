"""The items that a record gives points for, and which of them the ledger holds now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.parts import Part, Rows, in_points
from mlsys_widgets.labs import Record
from mlsys_widgets.ledger import Ledger


class RecordCard(LabWidget):
    """The items that a record gives points for, and which of them the ledger holds now.

    Parameters
    ----------
    item
        The record.
    held
        Returns each line and whether it is done; called again whenever something is saved.
    ledger
        Where it is kept.
    """

    kind = "Record"
    tone = "blue"

    def __init__(
        self, item: Record, held: Callable[[], Mapping[str, bool]], *, ledger: Ledger
    ) -> None:
        super().__init__(f"{item.title} ({in_points(item.points)})")
        self._held = held
        announcements.listen(ledger, self)
        self.show()

    def parts(self) -> Sequence[Part]:
        lines = tuple(
            ("✓ Done" if there else "○ Missing", words) for words, there in self._held().items()
        )
        return [Rows("held", lines)]
