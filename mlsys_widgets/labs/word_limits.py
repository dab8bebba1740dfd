"""How long a text should be, in words, and what to say about one that is not.

The page counts along while a student types, by the same rule (``countWords`` in the panel's
sources): what stands between spaces and has a letter or a digit in it is a word.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.wording.plurals import counted


def count_words(text: str) -> int:
    """Count the words of a text; dashes, arrows and dots on their own are none."""
    return sum(any(map(str.isalnum, piece)) for piece in text.split())


@dataclass(frozen=True)
class WordLimits:
    """The fewest and the most words that are asked for.

    Parameters
    ----------
    at_least
        A text with fewer opens nothing that waits for it.
    at_most
        A text with more is called too long; `None` if there is no such limit.
    """

    at_least: int = 1
    at_most: int | None = None

    def __post_init__(self) -> None:
        if self.at_least < 1:
            raise ValueError(f"at_least is {self.at_least}; it must be at least 1")
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError(
                f"a text of at least {self.at_least} and at most {self.at_most} words cannot be"
                " written"
            )

    @property
    def wanted(self) -> str:
        """The length that is asked for, in words; empty if any will do."""
        if self.at_most is None:
            return f"at least {counted(self.at_least, 'word')}" if self.at_least > 1 else ""
        if self.at_least > 1:
            return f"{self.at_least} to {counted(self.at_most, 'word')}"
        return f"at most {counted(self.at_most, 'word')}"

    def is_long_enough(self, text: str) -> bool:
        """Whether a text has the words that are asked for at least."""
        return count_words(text) >= self.at_least

    def problem(self, text: str) -> tuple[str, str] | None:
        """Return what is wrong with the length, as a label and a sentence; `None` if nothing is."""
        count = count_words(text)
        if count < self.at_least:
            return (
                "Too short.",
                f"That is {counted(count, 'word')}; write at least {self.at_least}.",
            )
        if self.at_most is not None and count > self.at_most:
            return "Too long.", f"That is {counted(count, 'word')}; write at most {self.at_most}."
        return None
