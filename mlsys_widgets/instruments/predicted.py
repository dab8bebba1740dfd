"""A prediction, as instruments show it until the end of the lab."""

from __future__ import annotations

from dataclasses import dataclass
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


def given(value: Any, quantity: str, unit: str) -> Predicted:
    """A prediction that was given to an instrument as a number."""
    checked = float((FRACTION if unit == "%" else POSITIVE).check("prediction", value))
    return Predicted(format_quantity(checked, unit), checked, quantity)
