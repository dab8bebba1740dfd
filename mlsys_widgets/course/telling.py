"""When a course tells students how they did, and whether they may try again: settings of a lab."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args

from mlsys_widgets.course.settings_tables import Kind, must_be, number, read_table, setting

#: Practice: each answer is judged when it is recorded, as often as wanted, and nothing is graded.
Way = Literal["assignment", "practice"]
Feedback = Literal["at hand-in", "after due", "by hand"]

_AFTER_DUE: Final = re.compile(r"(\d{1,3}) (hour|day|week)s? after due")


def _one_of(choices: tuple[str, ...]) -> Kind:
    return must_be("a text", " or ".join(f'"{each}"' for each in choices), choices.__contains__)


WAY: Final = _one_of(get_args(Way))
FEEDBACK: Final = _one_of(get_args(Feedback))


def _read_until(where: str, value: Any) -> timedelta:
    found = _AFTER_DUE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            f'{where} is {value!r}; it must be a text such as "2 days after due", in hours, days or'
            " weeks"
        )
    return timedelta(**{f"{found[2]}s": int(found[1])})


@dataclass(frozen=True)
class SecondChance:
    """Taking missed questions again on new numbers, after the explanation was read."""

    share: float = setting(
        ..., number(high=1), "0.9", "What the second answer counts, if it is the better one."
    )
    until: timedelta = setting(
        ..., Kind("a text", _read_until), '"2 days after due"',
        "Until when it can be handed in; counted from each student's own due time.")  # fmt: skip

    def is_open(self, due: datetime | None, at: datetime) -> bool:
        """Whether it can be taken at that time; a lab that is never due leaves it open."""
        return due is None or at <= due + self.until


CHANCE: Final = Kind(
    "a table", lambda where, value: SecondChance(**read_table(SecondChance, where, value))
)
