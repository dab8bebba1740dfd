"""What a card's power depends on: the parameters of a device whose energy was measured."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.provenance import CatalogEntry, number


@dataclass(frozen=True, kw_only=True)
class PowerLaw(CatalogEntry):
    """Power of a card: what it draws at rest, and what moving and computing cost beside that.

    The one of a measured device is the ``power`` of its ``DeviceCalibration``.

    Examples
    --------
    What takes more energy on an H200: to move a byte, or to compute with it?

    >>> from mlsys_widgets import physics as ph
    >>> law = ph.calibration_of("h200-sxm").power_law()
    >>> law.byte_energy > 50 * law.flop_energy
    True
    >>> law.idle < law.limit / 4
    True
    """

    idle: float = number("W")  #: Power of a card that waits for work, its clocks up (W).
    byte_energy: float = number("J/B")  #: Energy of moving a byte (J/B).
    flop_energy: float = number("J/FLOP")  #: Energy of an operation (J/FLOP).
    limit: float = number("W")  #: Power that the card allows itself (W).
