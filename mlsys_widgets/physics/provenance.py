"""Where a number comes from. No number enters the core without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Kind = Literal["datasheet", "estimate", "measured", "course"]


@dataclass(frozen=True)
class Provenance:
    """The source of one number: who gives it, since when, and what kind of source that is."""

    source: str
    date: str
    kind: Kind
    note: str = ""


@dataclass(frozen=True)
class Fact:
    """A number together with its provenance."""

    value: float
    provenance: Provenance


@dataclass(frozen=True)
class Source:
    """A document or a measurement that several numbers come from."""

    source: str
    date: str
    kind: Kind

    def fact(self, value: float, note: str = "") -> Fact:
        """State a number that this source gives."""
        return Fact(value, Provenance(self.source, self.date, self.kind, note))


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """Something with a key, a name and numbers, each of which has its provenance.

    Subclasses add numeric fields. ``catalog_entry`` builds them from facts, and a number without
    provenance cannot be built.
    """

    key: str
    name: str
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
    """Build an entry from facts (numbers with provenance) and plain members (words)."""
    facts = {field: member for field, member in members.items() if isinstance(member, Fact)}
    values = {f: m.value if isinstance(m, Fact) else m for f, m in members.items()}
    sources = {field: member.provenance for field, member in facts.items()}
    return kind(key=key, name=name, provenance=sources, **values)
