"""What a card's power depends on: the parameters of a device whose energy was measured."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.provenance import CatalogEntry, number


@dataclass(frozen=True, kw_only=True)
class PowerLaw(CatalogEntry):
    """Power of a card: what it draws at rest, and what moving and computing cost beside that.

    The one of a measured device is the ``power`` of its ``DeviceCalibration``.

    Parameters
    ----------
    key, name : str
        How programs and people call it.
    provenance : mapping of str to Provenance
        The measurement that each parameter comes from.
    idle : float, W
        Power of a card that waits for work, its clocks up.
    byte_energy : float, J/B
        Energy of moving a byte.
    flop_energy : float, J/FLOP
        Energy of an operation.
    limit : float, W
        Power that the card allows itself.

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

    idle: float = number("W")
    byte_energy: float = number("J/B")
    flop_energy: float = number("J/FLOP")
    limit: float = number("W")
