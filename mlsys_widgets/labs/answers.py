"""Answers that a student typed into a cell, as plain data."""

from __future__ import annotations

from textwrap import fill
from typing import Any, Final

import numpy as np

Plain = int | float | str | bool | None

#: Printed sentences are broken at this width: feedback pages do not wrap them, and JupyterLab
#: shows little more between its side bars.
_WIDTH: Final = 72

_NUMPY_NUMBERS = (np.floating, np.integer)


class UnusableAnswer(ValueError):
    """An answer that cannot be graded as it is. A notebook shows the sentence and no traceback.

    Examples
    --------
    >>> from mlsys_widgets.labs import Number
    >>> Number("How long does it take?", "µs", points=5).read("soon")
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: 'soon' is not a time; write it like 12.5 µs.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def sentence_in_lines(sentence: str) -> str:
    """A sentence broken into lines that every page shows whole."""
    return fill(sentence, _WIDTH, break_long_words=False, break_on_hyphens=False)


def print_sentence(sentence: str) -> None:
    """Print a sentence below a cell."""
    print(sentence_in_lines(sentence))


def plain(value: Any) -> Plain:
    """A typed value as exactly int, float, str, bool or None, whatever it pretends to be.

    No method of the value itself is called, so a subclass cannot claim to be another number than
    it is. Anything that is not a plain value is refused.

    Raises
    ------
    UnusableAnswer
        When it is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.float32(0.5)), plain(True), plain(" eager ")
    (0.5, True, ' eager ')
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value  # type: ignore[no-any-return]
    # Physics returns floats that know where they come from; numpy's float64 is one as well.
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, int):
        return int.__add__(value, 0)
    if issubclass(kind, _NUMPY_NUMBERS) and kind.__module__ == "numpy":
        # item() of an extended float would be an extended float again.
        return float(value) if issubclass(kind, np.floating) else kind.item(value)
    raise UnusableAnswer(f"it is a {kind.__name__}, not a number or a text")


def choice_key(answer: Plain) -> str | None:
    """A chosen word without the spaces and capitals that people add to it."""
    return answer.strip().casefold() if isinstance(answer, str) else None
