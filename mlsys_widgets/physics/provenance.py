"""Where a number comes from. No number enters the core without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Kind = Literal["datasheet", "estimate", "measured", "course"]


@dataclass(frozen=True)
class Provenance:
    """The source of one number: who gives it, since when, and what kind of source that is.

    Examples
    --------
    Who says that an A100 moves 2 TB/s?

    >>> from mlsys_widgets import physics as ph
    >>> origin = ph.devices["a100-sxm"].provenance["bandwidth"]
    >>> origin.kind, origin.source
    ('course', 'ML Systems course, labs 01, 07 and 11')
    >>> origin.note
    'HBM2e; the datasheet says 2.039 TB/s'
    """

    source: str  #: Who gives the number.
    date: str  #: Since when: a year, or a year and a month.
    kind: Kind  #: What kind of source that is.
    note: str = ""  #: What else to know: a rounding, a condition.


@dataclass(frozen=True)
class Fact:
    """A number together with its provenance."""

    value: float
    provenance: Provenance


@dataclass(frozen=True)
class Source:
    """A document or a measurement that several numbers come from.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> guide = ph.Source("NVIDIA H100 SXM datasheet", "2023", "datasheet")
    >>> link = guide.fact(900e9, "NVLink, both directions together")
    >>> link.value, link.provenance.note
    (900000000000.0, 'NVLink, both directions together')
    """

    source: str  #: What it is called.
    date: str  #: Since when it says so.
    kind: Kind  #: What kind of source it is.

    def fact(self, value: float, note: str = "") -> Fact:
        """State a number that this source gives.

        The ``value`` is in SI units.
        """
        return Fact(value, Provenance(self.source, self.date, self.kind, note))


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """Something with a key, a name and numbers, each of which has its provenance.

    Subclasses add numeric fields. ``catalog_entry`` builds them from facts, and a number without
    provenance cannot be built.

    Examples
    --------
    What is on record about the Jetson, and what kind of source says so?

    >>> from mlsys_widgets import physics as ph
    >>> for what, value, unit, origin in ph.devices["orin-nx"].facts():
    ...     print(f"{what}: {ph.format_quantity(value, unit)} ({origin.kind})")
    peak fp16: 12 TFLOPS (estimate)
    peak int8 sparse: 100 TOPS (datasheet)
    bandwidth: 102 GB/s (datasheet)
    memory: 16 GB (datasheet)
    power: 25 W (datasheet)
    launch_overhead: 50 µs (course)
    vector_peak: 1.88 TFLOPS (datasheet)
    """

    #: ``key``, ``name``: how programs and people call it.
    key: str
    name: str
    #: Where each number comes from, by the name of its field.
    provenance: Mapping[str, Provenance] = field(repr=False)

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, Mapping):
                object.__setattr__(self, entry.name, MappingProxyType(dict(value)))
            if isinstance(value, (int, float)) and entry.name not in self.provenance:
                raise TypeError(f"{self.key}: {entry.name} has no provenance")

    def facts(self) -> Iterator[tuple[str, float, str, Provenance]]:
        """Every number: what it is, its value, its unit and its provenance."""
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, (int, float)):
                unit = entry.metadata.get("unit", "")
                yield entry.name, value, unit, self.provenance[entry.name]

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled; its content can.
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        content = {n: dict(v) if isinstance(v, Mapping) else v for n, v in state.items()}
        return _rebuild, (type(self), content)


def number(unit: str = "", **options: Any) -> Any:
    """A numeric field of a catalog entry, in some unit."""
    return field(metadata={"unit": unit}, **options)


R = TypeVar("R", bound=CatalogEntry)


def _rebuild(kind: type[R], state: dict[str, Any]) -> R:
    return kind(**state)


def catalog_entry(kind: type[R], key: str, name: str, /, **members: Any) -> R:
    """Build an entry from facts (numbers with provenance) and plain members (words).

    ``kind`` is a subclass of ``CatalogEntry``; a number among its ``members`` must be a fact, or
    `TypeError` says that it has no provenance.

    Examples
    --------
    A workload of your own, which the functions of the course accept like theirs:

    >>> from mlsys_widgets import physics as ph
    >>> count = ph.Source("counted from the model's layers", "2026-11", "estimate")
    >>> tiny = ph.catalog_entry(
    ...     ph.Inference,
    ...     "tiny",
    ...     "Tiny network",
    ...     operations=count.fact(2e6, "a million multiply-adds"),
    ...     data=count.fact(250e3, "weights in int8"),
    ... )
    >>> board = ph.iron_law(tiny.data, tiny.operations, "cortex-m7")
    >>> ph.format_quantity(board.total, "s"), board.binding
    ('7 ms', 'memory')
    >>> ph.catalog_entry(ph.Inference, "tiny", "Tiny network", operations=2e6, data=250e3)
    Traceback (most recent call last):
    ...
    TypeError: tiny: operations has no provenance
    """
    facts = {field: member for field, member in members.items() if isinstance(member, Fact)}
    values = {f: m.value if isinstance(m, Fact) else m for f, m in members.items()}
    sources = {field: member.provenance for field, member in facts.items()}
    return kind(key=key, name=name, provenance=sources, **values)
