"""Instruments with two forms: the textbook's, and the calibrated one of devices that were measured.

Every number of a rate or a time says which form it is from.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.controls import Select
from mlsys_widgets.instruments.instrument import Instrument, Opens
from mlsys_widgets.instruments.serving_curve import Form


def form_select() -> Select[Form]:
    """The choice between both forms, behind *More*."""
    return Select(
        "Form",
        default="textbook",
        options={"textbook": "Textbook", "calibrated": "Calibrated"},
        buttons=True,
        help="Textbook: the datasheet's bandwidth and peak. Calibrated: with fractions of both "
        "and floors from a measurement of the device.",
        rare=True,
    )


class TwoFormInstrument(Instrument):
    """An instrument that has controls ``device`` and ``form``.

    Parameters
    ----------
    measurements
        When what was measured may be asked for: when this gate is open. Until then, the form and
        the measured points stay as they were set. Without a gate, from the start.
    """

    device: Select[str]
    form: Select[Form]
    #: Controls that show what was measured.
    _measuring = frozenset({"form"})

    def __init__(self, *, measurements: Opens | None = None, **options: Any) -> None:
        self._measurements = measurements
        super().__init__(**options)
        if measurements is not None and not measurements.is_open:
            measurements.on_open(self._show)

    def hidden(self) -> AbstractSet[str]:
        """The form of a device with only one, and what a gate still holds back."""
        if self._measurements is not None and not self._measurements.is_open:
            return self._measuring
        return set() if self._measured_device else {"form"}

    @property
    def _measured_device(self) -> bool:
        return self.device in ph.calibrated_devices()

    @property
    def unmeasured(self) -> str:
        """The measurement that the calibrated form lacks now, as the end of a sentence."""
        if self._measured_device:
            return ""
        return f"no measurement of the {ph.devices[self.device].name} is on record"

    @property
    def shown_form(self) -> Form:
        """The form of rates and times: the one that is set, if there is a measurement for it."""
        return "textbook" if self.unmeasured else self.form
