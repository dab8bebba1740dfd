"""The kernels of a roofline: what the roof allows them, and what they reach when calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.wording.choices import UnknownName

#: What can be shown, in words.
WORKLOADS: Final = {
    "gemm": "One matrix product",
    "relu": "ReLU of N × N elements",
    "llm": "A language-model layer",
    "attention": "Attention over a prompt",
    "decode": "Attention of a new token",
}
#: The kinds of measured cases that belong to each, and what one of them is called.
MEASURED: Final[Mapping[str, tuple[str, str]]] = {
    "gemm": ("gemm", "product"),
    "llm": ("gemm", "product"),
    "attention": ("attention", "attention over prompts"),
    "decode": ("decode_attention", "attention of new tokens"),
    "relu": ("elementwise", "ReLU"),
}
#: Precisions in which attention was measured.
_ATTENDED: Final = ("fp16", "bf16")


@dataclass(frozen=True)
class Operation:
    """A kernel, what the roof allows it, and its calibrated time where that form is asked for."""

    name: str
    kernel: ph.Kernel
    roof: ph.Roofline
    timed: ph.CalibratedTime | None = None

    @property
    def rate(self) -> float:
        """Where it lies on the chart: what it can attain, or what it reaches when calibrated."""
        if self.timed is None:
            return float(self.roof.attainable)
        return float(self.kernel.flops / self.timed.time)

    @property
    def shown_name(self) -> str:
        """Its name, with the form if that is the calibrated one."""
        return self.name if self.timed is None else f"{self.name}, calibrated"


def calibrated_time(kernel: ph.Kernel, device: str, precision: str) -> ph.CalibratedTime | None:
    """How long a measured device takes for a product or an attention; `None` if nobody measured.

    Examples
    --------
    >>> product = ph.gemm(4096, 4096, 4096)
    >>> timed = calibrated_time(product, "h200-sxm", "fp16")
    >>> timed.time > timed.textbook
    True
    >>> calibrated_time(product, "h100-sxm", "fp16") is None
    True
    """
    if device not in ph.calibrated_devices():
        return None
    calibration = ph.calibration_of(device)
    if isinstance(kernel, ph.Attention) and precision in _ATTENDED:
        family = "cache attention" if kernel.queries == 1 else "prompt attention"
        return calibration.time(kernel, family, precision)
    if not isinstance(kernel, ph.Gemm) or precision not in calibration.precisions:
        return None
    family = ph.product_family(float(kernel.n), float(kernel.k), precision)
    try:
        return calibration.time(
            ph.product(kernel.m, kernel.n, kernel.k, precision), family, precision
        )
    except UnknownName:  # sizes that were not measured in this precision
        return None
