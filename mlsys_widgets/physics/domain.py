"""Which numbers are allowed: the check that every input of the core passes through.

An input that makes no sense is refused here, with a sentence that names the argument, its value
and what is allowed, so no formula ever has to check. Magnitudes are bounded as well: the
product of any few inputs then stays far inside the range of a float, and no result overflows.

Examples
--------
Every formula takes a number or an array, which is what the type ``Numeric`` says:

>>> import numpy as np
>>> from mlsys_widgets import physics as ph
>>> ph.Numeric
'float | NDArray[np.float64]'
>>> sizes = np.array([256, 1024, 4096])
>>> ph.gemm(sizes, sizes, sizes).intensity.round()
array([  85.,  341., 1365.])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: One number, or an array of them: every formula of the core accepts and returns either.
Numeric: TypeAlias = "float | NDArray[np.float64]"

LARGEST: Final = 1e30
SMALLEST: Final = 1e-30

T = TypeVar("T")


@dataclass(frozen=True)
class Domain:
    """A closed interval of allowed values, with the words for it."""

    low: float
    high: float
    words: str

    def check(self, name: str, value: object) -> Numeric:
        """Return ``value`` as a float or a read-only float array, or refuse it.

        Examples
        --------
        >>> POSITIVE.check("bandwidth", 2_000)
        2000.0
        >>> POSITIVE.check("bandwidth", -1)
        Traceback (most recent call last):
        ...
        ValueError: bandwidth is -1; it must be a number greater than 0 (and at most 1e+30)
        """
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            if not self.low <= value <= self.high:
                self._refuse(name, value)
            # A float that carries its own explanation (see result.Explained) passes unchanged.
            plain = isinstance(value, float) and not isinstance(value, np.floating)
            return value if plain else float(value)
        try:
            array = np.asarray(value)
        except (ValueError, TypeError):
            self._refuse(name, value)
        if array.dtype.kind not in "iuf":
            self._refuse(name, value)
        if array.ndim == 0:
            return self.check(name, array.item())
        array = array.astype(np.float64, copy=False).view()
        array.flags.writeable = False
        if array.size and not (self.low <= array.min() and array.max() <= self.high):
            inside = (array >= self.low) & (array <= self.high)
            self._refuse(name, array[~inside].flat[0].item())
        return array

    def _refuse(self, name: str, value: object) -> NoReturn:
        raise ValueError(f"{name} is {value!r}; it must be {self.words}")


_BOUNDS = f"(and at most {LARGEST:g})"
POSITIVE: Final = Domain(SMALLEST, LARGEST, f"a number greater than 0 {_BOUNDS}")
NON_NEGATIVE: Final = Domain(0.0, LARGEST, f"0 or a number greater than 0 {_BOUNDS}")
AT_LEAST_ONE: Final = Domain(1.0, LARGEST, f"a number of at least 1 {_BOUNDS}")
FRACTION: Final = Domain(0.0, 1.0, "a fraction between 0 and 1")
SHARE: Final = Domain(1e-12, 1.0, "a fraction greater than 0 and at most 1")


def lesser(a: Numeric, b: Numeric) -> Numeric:
    """The smaller of two, for numbers and arrays alike."""
    if isinstance(a, float) and isinstance(b, float):
        return min(a, b)
    return np.minimum(a, b)


def greater(a: Numeric, b: Numeric) -> Numeric:
    """The larger of two, for numbers and arrays alike."""
    if isinstance(a, float) and isinstance(b, float):
        return max(a, b)
    return np.maximum(a, b)


def natural_log(a: Numeric) -> Numeric:
    """The natural logarithm, for numbers and arrays alike."""
    return math.log(a) if isinstance(a, float) else np.log(a)


def square_root(a: Numeric) -> Numeric:
    """The square root, for numbers and arrays alike."""
    return math.sqrt(a) if isinstance(a, float) else np.sqrt(a)


def round_up(a: Numeric) -> Numeric:
    """The next whole number, for numbers and arrays alike."""
    return float(math.ceil(a)) if isinstance(a, float) else np.ceil(a)


@dataclass(frozen=True)
class WholeDomain(Domain):
    """Whole numbers between two limits: servers, clients."""

    def check(self, name: str, value: object) -> Numeric:
        """Return ``value`` as `Domain` does, and refuse fractions as well.

        Examples
        --------
        >>> WholeDomain(1, 100, "a whole number between 1 and 100").check("servers", 2.5)
        Traceback (most recent call last):
        ...
        ValueError: servers is 2.5; it must be a whole number between 1 and 100
        """
        checked = super().check(name, value)
        broken = np.atleast_1d(np.asarray(checked) % 1 != 0)
        if broken.any():
            self._refuse(name, np.atleast_1d(checked)[broken][0].item())
        return checked


def over_spare(amount: Numeric, spare: Numeric) -> Numeric:
    """An amount over what is left of something, or infinity when nothing is left."""
    return recovered_after(amount, spare)


def recovered_after(cost: Numeric, gain: Numeric) -> Numeric:
    """How many gains recover a cost: ``cost / gain``, or infinity when there is no gain."""
    if isinstance(cost, float) and isinstance(gain, float):
        return cost / gain if gain > 0 else np.inf
    after = np.full(np.broadcast_shapes(np.shape(cost), np.shape(gain)), np.inf)
    np.divide(cost, gain, out=after, where=np.greater(gain, 0))
    return after
