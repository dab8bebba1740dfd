"""The shape of every result: inputs that are checked, quantities that are derived from them.

A result is a frozen dataclass. Its fields are the inputs, each with a symbol, a unit and a
domain; everything else is derived from them by formulas, computed once, on first use. Because a
result keeps its inputs it can explain itself (``derivation()``), be asked "what if"
(``dataclasses.replace``), and say which input matters most (``sensitivity``).

Examples
--------
>>> from dataclasses import replace
>>> from mlsys_widgets import physics as ph
>>> pass_ = ph.forward_pass(kernels=1000, compute_per_kernel=5e-6, launch_overhead=10e-6)
>>> pass_
SerialPass(kernels=1,000, compute_per_kernel=5 µs, launch_overhead=10 µs, memory_time=0 s -> \
compute=5 ms, total=15 ms, dispatch=10 ms, utilization=33.3%)
>>> replace(pass_, launch_overhead=0.0).utilization
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property, partial, wraps
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from mlsys_widgets.physics import notation
from mlsys_widgets.physics.derivation import Derivation, EveryNotation, Quantity, Step
from mlsys_widgets.physics.domain import Domain
from mlsys_widgets.physics.notation import Notation
from mlsys_widgets.wording.choices import one_of
from mlsys_widgets.wording.units import format_quantity

T = TypeVar("T")


def given(symbol: str, unit: str, about: str, domain: Domain, default: float | None = None) -> Any:
    """A field that the caller provides: its symbol, unit, meaning and allowed values."""
    metadata = {"symbol": symbol, "unit": unit, "about": about, "domain": domain}
    return field(default=MISSING if default is None else default, metadata=metadata)


class Explained(float):
    """A float that remembers the result it was read from, and so can explain itself.

    It is an ordinary number in every calculation. Handed to another formula, it brings its own
    derivation along: a roofline made from ``gemm(...).intensity`` also explains that intensity.

    Parameters
    ----------
    value : float
        The number.
    result : Result
        The result that it was read from.
    name : str
        Which of its derived quantities it is.

    Examples
    --------
    Where does the ridge point of an A100 come from?

    >>> from mlsys_widgets import physics as ph
    >>> ridge = ph.devices["a100-sxm"].ridge("fp16")
    >>> ridge + 1, isinstance(ridge, float)
    (157.0, True)
    >>> print(ridge.derivation())
    I* = P / B = 312 TFLOPS / 2 TB/s = 156 FLOP/B   (ridge point)
    >>> ridge.name, ridge.result
    ('ridge', Ridge(peak=312 TFLOPS, bandwidth=2 TB/s -> ridge=156 FLOP/B))
    """

    __slots__ = ("name", "result")

    result: Result
    name: str

    def __new__(cls, value: float, result: Result, name: str) -> Self:
        number = float.__new__(cls, value)
        number.result = result
        number.name = name
        return number

    def derivation(self) -> Derivation:
        """The steps that lead to this number."""
        return self.result.derivation(self.name)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (float(self), self.result, self.name)


class Derived(Generic[T]):
    """A quantity computed from the fields and other derived quantities of a result."""

    name: str

    def __init__(
        self, symbol: str, unit: str, formula: Callable[[Any], T], about: str = ""
    ) -> None:
        self.symbol = symbol
        self.unit = unit
        self.formula = formula
        self.about = about
        self.__doc__ = formula.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: Result, owner: type) -> T: ...
    def __get__(self, result: Result | None, owner: type) -> Self | T:
        if result is None:
            return self
        value: Any = self.formula(result)
        kind = type(value)
        # The larger or smaller of two explained numbers is one of them.
        if kind is float or kind is Explained:
            value = Explained(value, result, self.name)
        elif isinstance(value, (bool, np.bool_)):
            value = bool(value)
        elif np.ndim(value) == 0:
            value = Explained(float(value), result, self.name)
        # The descriptor has no __set__, so from now on the instance's own entry is found first.
        result.__dict__[self.name] = value
        return value  # type: ignore[no-any-return]

    @cached_property
    def quantity(self) -> Quantity:
        """The name of this quantity."""
        words = self.about or self.__doc__ or self.name.replace("_", " ")
        about = words.strip().splitlines()[0].rstrip(".")
        return Quantity(self.name, self.symbol, self.unit, about[:1].lower() + about[1:])


def derived(symbol: str, unit: str, about: str = "") -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Make a method with one ``return`` a derived quantity of its result.

    Parameters
    ----------
    symbol
        How a formula writes it: a base, and after the underscore its index, as in ``t_memory``.
    unit
        Its unit in SI, or ``"%"`` or ``"×"``.
    about
        What it is, in a few words; otherwise the first line of the docstring says so. Say it here
        in a module beside a lab: students get that module without docstrings.

    Examples
    --------
    >>> from mlsys_widgets.physics.domain import POSITIVE
    >>> @dataclass(frozen=True, repr=False)
    ... class Trip(Result):
    ...     data: float = given("D", "B", "what is sent", POSITIVE)
    ...     bandwidth: float = given("B", "B/s", "what the link carries", POSITIVE)
    ...
    ...     @derived("T", "s", "time on the link")
    ...     def total(self):
    ...         return self.data / self.bandwidth
    >>> print(Trip(data=1e9, bandwidth=50e9).derivation())
    T = D / B = 1 GB / 50 GB/s = 20 ms   (time on the link)
    """

    def wrap(formula: Callable[[Any], T]) -> Derived[T]:
        return Derived(symbol, unit, formula, about)

    return wrap


@dataclass(frozen=True, repr=False)
class Result:
    """Base of all results: checks its inputs, shows itself, explains itself.

    Its fields are the inputs and cannot be changed; what is derived from them is computed on first
    use. Inputs may be arrays, and then so are the outputs.

    Examples
    --------
    What goes into a roofline, and what comes out?

    >>> import numpy as np
    >>> from mlsys_widgets import physics as ph
    >>> list(ph.Roofline.inputs()), list(ph.Roofline.outputs())
    (['peak', 'bandwidth', 'intensity'], ['ridge', 'attainable', 'mfu', 'memory_bound'])
    >>> a100 = ph.devices["a100-sxm"]
    >>> many = ph.roofline(np.array([1.0, 10.0, 1000.0]), a100.peak("fp16"), a100.bandwidth)
    >>> isinstance(many, ph.Result), many.attainable / 1e12
    (True, array([  2.,  20., 312.]))

    A number that makes no sense is refused with a sentence:

    >>> ph.roofline(-1, a100.peak("fp16"), a100.bandwidth)
    Traceback (most recent call last):
    ...
    ValueError: intensity is -1; it must be a number greater than 0 (and at most 1e+30)
    """

    def __post_init__(self) -> None:
        held, shapes = self.__dict__, {}
        for name, low, high, domain in _domains(type(self)):
            value = held[name]
            kind = type(value)
            # Nearly all inputs are such numbers, and an instrument makes dozens of results a move.
            if (kind is float or kind is Explained) and low <= value <= high:
                continue
            if kind is int and low <= value <= high:
                held[name] = float(value)
                continue
            held[name] = value = domain.check(name, value)
            if isinstance(value, np.ndarray):
                shapes[name] = value.shape
        if not shapes:
            return
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            listed = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
            raise ValueError(f"these shapes do not fit together: {listed}") from None

    @classmethod
    def inputs(cls) -> dict[str, Quantity]:
        """The numeric inputs of this kind of result, by name."""
        return dict(_inputs(cls))

    @classmethod
    def outputs(cls) -> dict[str, Quantity]:
        """The derived quantities of this kind of result, by name, in the order of derivation."""
        return dict(_outputs(cls))

    def varied(self, **changed: float) -> Self:
        """The same with other numbers for some inputs, and without a second look at the others.

        What ``dataclasses.replace`` gives, for whoever varies a result many times.

        Examples
        --------
        >>> from mlsys_widgets import physics as ph
        >>> ph.gemm(512, 512, 512, bytes_per_element=2).varied(k=1024.0).flops
        536870912.0
        """
        kind, held = type(self), self.__dict__
        domains = _given_by_name(kind)
        checked = {name: domains[name].check(name, value) for name, value in changed.items()}
        other = object.__new__(kind)
        # Whatever was derived stays behind.
        other.__dict__.update({name: held[name] for name in _field_names(kind)})
        other.__dict__.update(checked)
        return other

    def derivation(self, *names: str) -> Derivation:
        """Formula, substitution and value of every derived quantity, or of those named.

        Without ``names``, keys of ``outputs()``, it has all of them. Its steps reach across results
        if an input was itself computed.

        Examples
        --------
        >>> from mlsys_widgets import physics as ph
        >>> print(ph.gemm(512, 512, 512, bytes_per_element=2).derivation("flops"))
        W = 2 × M × N × K = 2 × 512 × 512 × 512 = 268.4 MFLOP   (operations)
        """
        known = [member.name for member in derivable(type(self))]
        for name in names:
            one_of("quantity", name, known)
        seen: set[tuple[int, str]] = set()
        steps = (step for name in names or known for step in _steps_to(self, name, seen))
        return Derivation(tuple(steps))

    def _pairs(self, quantities: dict[str, Quantity]) -> Iterator[str]:
        for name, quantity in quantities.items():
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                yield f"{name}=<array {'×'.join(map(str, value.shape))}>"
            else:
                yield f"{name}={format_quantity(value, quantity.unit)}"

    def __repr__(self) -> str:
        inputs = ", ".join(self._pairs(self.inputs()))
        outputs = ", ".join(self._pairs(self.outputs()))
        return f"{type(self).__name__}({inputs} -> {outputs})"


def _once(look_up: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """Look up once what a class of results declares, and remember it."""
    known: dict[type[Any], T] = {}

    @wraps(look_up)
    def remembered(kind: type[Any]) -> T:
        if kind not in known:
            known[kind] = look_up(kind)
        return known[kind]

    return remembered


@_once
def _given(kind: type[Any]) -> tuple[Field[Any], ...]:
    return tuple(entry for entry in fields(kind) if "domain" in entry.metadata)


@_once
def _domains(kind: type[Any]) -> tuple[tuple[str, float, float, Domain], ...]:
    domains = ((entry.name, entry.metadata["domain"]) for entry in _given(kind))
    return tuple((name, domain.low, domain.high, domain) for name, domain in domains)


@_once
def _given_by_name(kind: type[Any]) -> dict[str, Domain]:
    return {name: domain for name, _, _, domain in _domains(kind)}


@_once
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind))


@_once
def derivable(kind: type[Any]) -> tuple[Derived[Any], ...]:
    """The derived quantities of a kind of result, base classes first, overrides in place."""
    members = [item for base in reversed(kind.__mro__) for item in vars(base).items()]
    found = {name: member for name, member in members if isinstance(member, Derived)}
    return tuple(found.values())


@_once
def _derivable_by_name(kind: type[Any]) -> dict[str, Derived[Any]]:
    return {member.name: member for member in derivable(kind)}


@_once
def _inputs(kind: type[Any]) -> dict[str, Quantity]:
    return {
        entry.name: Quantity(
            entry.name, entry.metadata["symbol"], entry.metadata["unit"], entry.metadata["about"]
        )
        for entry in _given(kind)
    }


@_once
def _outputs(kind: type[Any]) -> dict[str, Quantity]:
    return {step.name: step.quantity for step in derivable(kind)}


def _steps_to(result: Result, name: str, seen: set[tuple[int, str]]) -> Iterator[Step]:
    """The steps to one quantity, after those it depends on, across results if necessary.

    Steps that are already in ``seen`` are left out.
    """
    if (id(result), name) in seen:
        return
    seen.add((id(result), name))
    value = getattr(result, name)
    member = _derivable_by_name(type(result)).get(name)
    if member is None:
        # An input. If it was itself computed, its own derivation comes first.
        if isinstance(value, Explained):
            yield from _steps_to(value.result, value.name, seen)
        return
    for needed in notation.names_in(member.formula):
        yield from _steps_to(result, needed, seen)
    yield _step(result, member)


def _step(result: Result, member: Derived[float]) -> Step:
    kind = type(result)
    if any(isinstance(result.__dict__[name], np.ndarray) for name in _inputs(kind)):
        raise ValueError(
            "a derivation explains one case, and this result holds arrays of them; "
            "to explain one of them, compute it from single numbers"
        )

    def substituted(how: Notation) -> str:
        def number(name: str) -> str:
            value = getattr(result, name)
            text = how.quantity(format_quantity(value, _called(kind)[name].unit))
            return how.parenthesized(text) if value < 0 else text

        return notation.write(member.formula, how, number)

    value = getattr(result, member.name)
    return Step(member.quantity, _symbolic(kind)[member.name], EveryNotation(substituted), value)


@_once
def _called(kind: type[Any]) -> dict[str, Quantity]:
    """Every number of a kind of result, by name."""
    return _inputs(kind) | _outputs(kind)


@_once
def _symbolic(kind: type[Any]) -> dict[str, EveryNotation]:
    """The formulas in symbols, by name; they are the same for every result of a kind."""

    def formula(member: Derived[Any]) -> EveryNotation:
        def symbol(how: Notation, name: str) -> str:
            return how.symbol(_called(kind)[name].symbol)

        return EveryNotation(lambda how: notation.write(member.formula, how, partial(symbol, how)))

    return {member.name: formula(member) for member in derivable(kind)}
