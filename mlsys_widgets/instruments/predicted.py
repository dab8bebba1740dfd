"""A prediction, as instruments show it until the end of the lab, and the settings it is about."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlsys_widgets.physics.domain import FRACTION, POSITIVE
from mlsys_widgets.wording.units import format_quantity


@dataclass(frozen=True)
class Predicted:
    """A committed prediction."""

    words: str
    #: In SI units; `None` if an option stands for no number.
    value: float | None = None
    #: The name under which instruments draw it.
    quantity: str = ""
    #: The inputs of an instrument that the question names, with their values. With others, it is a
    #: prediction about something else.
    settings: Mapping[str, Any] = field(default_factory=dict)


def given(value: Any, quantity: str, unit: str) -> Predicted:
    """A prediction that was given to an instrument as a number."""
    checked = float((FRACTION if unit == "%" else POSITIVE).check("prediction", value))
    return Predicted(format_quantity(checked, unit), checked, quantity)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of an input are the same, but for the last digits of a number.

    Examples
    --------
    >>> is_same(0.1 + 0.2, 0.3), is_same("edge", "cloud")
    (True, False)
    """
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-6)
    return bool(one == other)
