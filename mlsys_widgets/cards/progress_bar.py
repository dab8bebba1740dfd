"""The part of a card that shows how far along something is that takes a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlsys_widgets.cards.parts import Part


@dataclass(frozen=True)
class ProgressBar(Part):
    """A bar that fills, with what is being done above it.

    Parameters
    ----------
    label
        What makes progress, for those who do not see the bar.
    words
        What is being done now.
    share
        How much of it is done, from 0 to 1.

    Examples
    --------
    >>> ProgressBar("bar", "Progress of the measurement", "copy: 1 MB", 0.25).text()
    'copy: 1 MB (25%)'
    """

    label: str
    words: str
    share: float

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "label": self.label, "words": self.words, "share": self.share}

    def text(self) -> str:
        return f"{self.words} ({100 * self.share:.0f}%)"
