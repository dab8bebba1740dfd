"""Which input moves a result most: elasticities, and the answer to "what to improve first?".

An elasticity is the percentage by which an output changes when one input grows by one percent,
with everything else unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mlsys_widgets.physics.derivation import Quantity
from mlsys_widgets.physics.result import Result
from mlsys_widgets.wording.choices import one_of

_STEP = 1e-4


@dataclass(frozen=True)
class Sensitivity:
    """The elasticities of one output, largest effect first.

    ``sensitivity`` builds one.

    Examples
    --------
    What should be improved first to write text faster: the chip's peak, or its bandwidth?

    >>> from mlsys_widgets import physics as ph
    >>> step = ph.decode("llama31-8b", "h100-sxm", batch=1, sequence=2048)
    >>> found = ph.sensitivity(step, "tokens_per_second")
    >>> round(found.elasticities["bandwidth"], 2), round(found.elasticities["peak"], 2)
    (1.0, 0.0)
    >>> list(found.elasticities)[:3]
    ['batch', 'bandwidth', 'weights']
    >>> print(ph.sensitivity(step, "memory_time").sentence())
    Time to move the data depends most on memory bandwidth: if that grows by 1%, the result falls \
by 1%.
    """

    output: Quantity  #: The output that was asked about.
    #: Percent by which it changes if an input grows by one percent, by the name of the input.
    elasticities: Mapping[str, float]
    inputs: Mapping[str, Quantity]  #: What the inputs are called.

    @property
    def most(self) -> str:
        """The input with the largest effect."""
        return next(iter(self.elasticities))

    def sentence(self) -> str:
        """The finding in words."""
        name, size = self.most, self.elasticities[self.most]
        change = "grows" if size > 0 else "falls"
        about = self.output.about
        return (
            f"{about[:1].upper()}{about[1:]} depends most on {self.inputs[name].about}: "
            f"if that grows by 1%, the result {change} by {abs(size):.2g}%."
        )


def sensitivity(result: Result, output: str) -> Sensitivity:
    """Elasticities of one output of any result with respect to all its inputs.

    It is a result of single numbers, and ``output`` the name of one of its derived quantities.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> tiny = ph.forward_pass(kernels=1000, compute_per_kernel=5e-6, launch_overhead=10e-6)
    >>> found = sensitivity(tiny, "total")
    >>> found.most, round(found.elasticities["launch_overhead"], 3)
    ('kernels', 0.667)
    >>> print(sensitivity(tiny, "utilization").sentence())
    Fraction of the time spent computing depends most on compute time of a kernel: if that grows \
by 1%, the result grows by 0.67%.
    """
    outputs = result.outputs()
    one_of("output", output, outputs)
    base = getattr(result, output)
    names = result.inputs()
    if any(isinstance(getattr(result, name), np.ndarray) for name in names):
        raise ValueError("sensitivity looks at one case; this result holds arrays of them")
    if isinstance(base, bool):
        raise ValueError(f"{output} is a yes or no and has no elasticity; ask for a number")
    if base == 0 or math.isinf(base):
        raise ValueError(f"{output} is {base:g}; an elasticity needs a finite number other than 0")
    found = {name: _elasticity(result, name, output) for name in names}
    # Rounded, so that equal effects keep the order of the inputs.
    ordered = sorted(found.items(), key=lambda pair: -round(abs(pair[1]), 6))
    return Sensitivity(outputs[output], MappingProxyType(dict(ordered)), MappingProxyType(names))


def _elasticity(result: Result, name: str, output: str) -> float:
    """Central difference; one-sided where the domain ends (an efficiency of 100%)."""
    at = getattr(result, name)
    if at == 0:
        return 0.0
    points = []
    for factor in (1 - _STEP, 1 + _STEP):
        try:
            points.append((factor, getattr(result.varied(**{name: at * factor}), output)))
        except ValueError:
            points.append((1.0, getattr(result, output)))
    (low, before), (high, after) = points
    return float((after - before) / (high - low) / getattr(result, output))
