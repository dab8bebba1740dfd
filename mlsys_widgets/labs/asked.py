"""The kinds of items that are answered, and those that a program judges."""

from __future__ import annotations

from typing import Any

from mlsys_widgets.labs.answers import UnusableAnswer
from mlsys_widgets.labs.code_item import Code
from mlsys_widgets.labs.items import Choice, Essay, Number, Record

#: What is answered with a value and judged by a check.
Checked = Number | Choice | Code
#: What earns points and is judged without a person.
AUTOGRADED = (Number, Choice, Code, Record)
#: What is answered in its own card.
Asked = Number | Choice | Code | Essay


def is_usable(item: Asked, value: Any) -> bool:
    """Whether a question could have this answer, as it is kept."""
    try:
        # As it is kept: a text that could be read as a number was never recorded as one.
        return bool(item.read(value) == value)
    except UnusableAnswer:
        return False
