"""What tests of the laws share: the measured device, and kernels with one input a little larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mlsys_widgets import physics as ph

MEASURED: Final = ph.calibration_of("h200-sxm")
#: A sum in another order may differ in its last digits.
LESS: Final = 1 - 1e-9


def seconds(kernel: ph.Kernel, family: str, precision: str = "fp16") -> float:
    """How long a kernel takes on the measured device."""
    return float(MEASURED.time(kernel, family, precision).time)


def takes_no_less(
    make: Callable[..., ph.Kernel],
    sizes: dict[str, int],
    larger: dict[str, int],
    family: str,
    precision: str = "fp16",
) -> bool:
    """Whether a kernel with some sizes larger takes at least as long."""
    before = seconds(make(**sizes), family, precision)
    return seconds(make(**sizes | larger), family, precision) >= LESS * before
