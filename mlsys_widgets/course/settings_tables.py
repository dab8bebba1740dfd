"""Settings declared once: a field of a dataclass says what may stand in ``course.toml``.

The same declaration reads the file, names what is wrong with what is allowed, and makes the page of
settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final

_LONGEST: Final = 128


@dataclass(frozen=True)
class Kind:
    """What a setting must be."""

    words: str
    #: Returns a value, given where it stands; refuses with what is allowed.
    read: Callable[[str, Any], Any]
    #: Between which numbers it must be, both included; `None` for what is no number.
    low: float | None = None
    high: float = math.inf


@dataclass(frozen=True)
class Setting:
    """One setting, for whoever reads the file or makes its page; see `setting`."""

    name: str
    kind: Kind
    example: str
    about: str
    default: str
    refused: str

    @property
    def required(self) -> bool:
        """Whether it must be given; what has no example is a table of its own."""
        return bool(self.example) and not self.default


def setting(
    default: Any, kind: Kind, example: str, about: str, *, without: str = "", refused: str = ""
) -> Any:
    """Declare a field of a dataclass as a setting.

    The ``default`` is `...` where a value must be given, and ``without`` says it in words, unless
    it is a number. ``example`` is as it stands in the file; empty where a table of its own follows.
    ``refused`` says what is refused beyond another type.
    """
    words = without or (f"{default:g}" if isinstance(default, float) else "")
    declared = Setting("", kind, example, about, words, refused)
    if default is ...:
        return field(metadata={"setting": declared})
    return field(default_factory=lambda: default, metadata={"setting": declared})


def settings_of(declared: type) -> dict[str, Setting]:
    """Return the settings that a dataclass declares, by name."""
    return {
        each.name: replace(each.metadata["setting"], name=each.name)
        for each in fields(declared)
        if "setting" in each.metadata
    }


def read_table(declared: type, where: str, value: Any) -> dict[str, Any]:
    """Read a table of the file: what it sets, each value checked.

    ``where`` is the name of the table; empty for the whole file.
    """
    known, table = settings_of(declared), as_table(where, value)
    for name in table:
        if name not in known:
            raise ValueError(f"{where or 'it'} sets {name}; it can set: {', '.join(known)}")
    return {
        name: each.kind.read(f"{where}.{name}".lstrip("."), table.get(name))
        for name, each in known.items()
        if name in table or each.required
    }


def as_table(where: str, value: Any) -> Mapping[str, Any]:
    """Return a part of the settings as a table."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is {value!r}; it must be a table, under a line [{where}]")
    return value


# What a setting can be.


def must_be(words: str, allowed: str, fits: Callable[[Any], bool]) -> Kind:
    """Declare a kind by its words on the page, its words in a sentence, and a check."""

    def read(where: str, value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"{where} is {value!r}; it must be {allowed}")
        return value

    return Kind(words, read)


def number(unit: str = "", *, high: float = math.inf) -> Kind:
    """Declare a number from 0 on."""
    words = f"a number, {unit}" if unit else "a number"
    allowed = f"a number, between 0 and {high:g}" if math.isfinite(high) else "a number, 0 or more"
    check = must_be("", allowed, lambda value: type(value) in (int, float) and 0 <= value <= high)
    return Kind(words, lambda where, value: float(check.read(where, value)), 0.0, high)


def one_of(*values: str) -> Kind:
    """Declare a text that is one of a few."""
    quoted = [f'"{each}"' for each in values]
    words = " or ".join(f"`{each}`" for each in quoted)
    return must_be(words, " or ".join(quoted), lambda value: value in values)


def read_login(where: str, value: Any) -> str:
    """Return a login; refuse what could not be the name of a folder."""
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable()
    if not fits or not value.strip() or set(value) & set("/\\") or value.startswith("."):
        raise ValueError(
            f"{where} names {value!r}; a login has 1 to {_LONGEST} printable characters without"
            " slashes, and does not begin with a dot"
        )
    return str(value)


def _read_logins(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f'{where} is {value!r}; it must be a list of names: ["ada", "ben"]')
    return tuple(read_login(where, each) for each in value)


SWITCH: Final = must_be("true or false", "true or false", lambda value: isinstance(value, bool))
TEXT: Final = must_be(
    "a text", "a text in quotes", lambda value: isinstance(value, str) and bool(value.strip())
)
TIME: Final = must_be(
    "a time without quotes; in the course's time zone unless it names one",
    "a time without quotes, such as 2026-11-09T23:59:00",
    lambda value: isinstance(value, datetime),
)
LOGIN: Final = Kind("a text", read_login)
LOGINS: Final = Kind("a list of logins", _read_logins)
TABLE: Final = Kind("a table", as_table)
#: What no login can be, for the page.
NO_LOGIN: Final = "logins with slashes, with a leading dot, or of more than 128 characters"
