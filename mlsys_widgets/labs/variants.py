"""Everyone has their own numbers: parameters of a lab, drawn from the student's name.

A draw depends on lab, edition, student and the parameter's own name, and on nothing else: a
parameter that is added later changes no other, and grading finds the same numbers again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

Value = int | float | str


@dataclass(frozen=True)
class Parameter:
    """A number of a question that may differ from student to student.

    Parameters
    ----------
    default
        Its value where a course turns variants off.
    values
        What it may be; the lesson must stay true for every one of them.
    unit
        Its unit, for people to read.
    about
        What it is, for people to read.

    Examples
    --------
    >>> kernels = Parameter(1000, steps(800, 1200, 50), "kernels", "kernels in a forward pass")
    >>> kernels.default, len(kernels.values), kernels.values[:3]
    (1000, 9, (800, 850, 900))
    >>> Parameter(1000, (), "kernels", "kernels in a forward pass")
    Traceback (most recent call last):
    ...
    ValueError: the parameter 'kernels in a forward pass' has no values; give at least one
    """

    default: Value
    values: Sequence[Value]
    unit: str
    about: str

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError(f"the parameter {self.about!r} has no values; give at least one")


class Parameters(Mapping[str, Value]):
    """The drawn parameters of one student in one lab; read as attributes or by name.

    Parameters
    ----------
    values
        Each parameter's value, by name.
    order_seed
        What the order of options is drawn from (`labs.option_order`); as written if empty.

    Examples
    --------
    >>> p = Parameters({"kernels": 850, "device": "a100-sxm"})
    >>> p.kernels, p["device"], dict(p)
    (850, 'a100-sxm', {'kernels': 850, 'device': 'a100-sxm'})
    >>> p.batch
    Traceback (most recent call last):
    ...
    AttributeError: the lab has no parameter 'batch'; it has: kernels, device
    """

    def __init__(self, values: Mapping[str, Value], *, order_seed: str = "") -> None:
        self._values, self.order_seed = MappingProxyType(dict(values)), order_seed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            listed = ", ".join(self._values) or "none"
            raise AttributeError(f"the lab has no parameter {name!r}; it has: {listed}") from None

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def asked(self, item: str) -> str:
        """The name of the question that an item asks of this student: one of its pool, or its own.

        Examples
        --------
        >>> p = Parameters({"kernels": 850, "budget_us": "shortest_kernel"})
        >>> p.asked("budget_us"), p.asked("total_ms")
        ('shortest_kernel', 'total_ms')
        """
        return str(self._values.get(item, item))

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Parameters({dict(self._values)!r})"


def draw(
    declared: Mapping[str, Parameter],
    *,
    lab: str,
    student: str,
    edition: str = "",
    variants: bool = True,
    again: int = 0,
) -> Parameters:
    """The parameters of a student.

    Parameters
    ----------
    again
        The number of a fresh draw, which everyone has of their own, with variants or without; 0 for
        the numbers that the lab begins with.
    """
    if not variants and not again:
        # Options are mixed all the same, alike for everybody: authors put the right one second.
        defaults = {name: each.default for name, each in declared.items()}
        return Parameters(defaults, order_seed=_digest(lab, edition).hex())
    whose = (lab, edition, student, *([f"again {again}"] if again else []))
    drawn = {
        name: each.values[_draw(len(each.values), *whose, name)] for name, each in declared.items()
    }
    return Parameters(drawn, order_seed=_digest(*whose).hex())


def _draw(count: int, *names: str) -> int:
    return int.from_bytes(_digest(*names)) % count


def _digest(*names: str) -> bytes:
    # JSON would do as well; what matters is that ("a", "bc") and ("ab", "c") differ.
    return hashlib.sha256("\x00".join(names).encode()).digest()


def steps(first: float, last: float, step: float) -> tuple[int | float, ...]:
    """Numbers from first to last, both included, without the rounding noise of binary fractions.

    Examples
    --------
    >>> steps(0.1, 0.4, 0.1), steps(800, 1000, 100)
    ((0.1, 0.2, 0.3, 0.4), (800, 900, 1000))
    """
    low, high, by = (Decimal(repr(number)) for number in (first, last, step))
    if by <= 0 or high < low:
        raise ValueError(f"steps go up from first to last; got {first}, {last}, {step}")
    found = [low + by * k for k in range(int((high - low) / by) + 1)]
    return tuple(int(each) if each == each.to_integral_value() else float(each) for each in found)
