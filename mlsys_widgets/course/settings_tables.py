"""Reading tables of ``course.toml``: what is no table, or names something unknown, is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def as_table(where: str, said: Any) -> Mapping[str, Any]:
    """A part of the settings as a table.

    Examples
    --------
    >>> as_table("labs", {"lab_01": {}})
    {'lab_01': {}}
    >>> as_table("labs", 3)
    Traceback (most recent call last):
    ...
    ValueError: labs is 3; it must be a table, under a line [labs]
    """
    if not isinstance(said, Mapping):
        raise ValueError(f"{where} is {said!r}; it must be a table, under a line [{where}]")
    return said


def with_only(where: str, said: Mapping[str, Any], allowed: Iterable[str]) -> Mapping[str, Any]:
    """A table that sets nothing but what is allowed."""
    for name in said:
        if name not in allowed:
            raise ValueError(f"{where} sets {name}; it can set: {', '.join(allowed)}")
    return said
