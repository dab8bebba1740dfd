"""Whether what lies beyond the core of a lab counts: a setting of the course, or of one lab."""

from __future__ import annotations

from typing import Final, Literal, get_args

from mlsys_widgets.course.settings_tables import must_be

DeeperParts = Literal["optional", "required"]

DEEPER: Final = must_be(
    "a text",
    " or ".join(f'"{each}"' for each in get_args(DeeperParts)),
    lambda value: value in get_args(DeeperParts),
)
