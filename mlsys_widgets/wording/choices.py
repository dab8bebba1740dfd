"""Names that must be one of a few: what is unknown is refused with the list of what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Keyed(Protocol):
    """Something that a catalog finds by its key."""

    @property
    def key(self) -> str:
        """The name that programs use."""


K = TypeVar("K", bound=Keyed)


class UnknownName(KeyError, ValueError):
    """A device, workload, precision or mode that does not exist.

    It is a ``KeyError`` so that mappings behave like mappings, and a ``ValueError`` because every
    refusal of the core is one. Its sentence lists what does exist.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> ph.devices["a10"]
    Traceback (most recent call last):
    ...
    mlsys_widgets.wording.choices.UnknownName: device is 'a10'; it must be one of: a100-sxm, \
h100-sxm, h200-sxm, orin-nx, mobile-npu, cortex-m7
    >>> ph.devices.get("a10") is None
    True
    """

    def __str__(self) -> str:
        return str(self.args[0])


def one_of(name: str, value: T, allowed: Iterable[T]) -> T:
    """Return ``value`` if it is one of ``allowed``, or refuse it."""
    choices = list(allowed)
    if value not in choices:
        listed = ", ".join(str(choice) for choice in choices)
        raise UnknownName(f"{name} is {value!r}; it must be one of: {listed}")
    return value


class Catalog(Mapping[str, K]):
    """A read-only mapping whose unknown keys are refused with the list of known ones."""

    def __init__(self, noun: str, *entries: K) -> None:
        self._noun = noun
        self._entries = {entry.key: entry for entry in entries}

    def __getitem__(self, key: Any) -> K:
        try:
            return self._entries[key]
        except (KeyError, TypeError):
            listed = ", ".join(self._entries)
            raise UnknownName(f"{self._noun} is {key!r}; it must be one of: {listed}") from None

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._noun} entries: {', '.join(self)}>"
