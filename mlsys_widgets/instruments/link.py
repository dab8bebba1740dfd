"""Instruments of one act in one world: an input that is moved on one moves on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from mlsys_widgets.instruments.instrument import Instrument


def link(*instruments: Instrument, on: str | Iterable[str]) -> Callable[[], None]:
    """Give instruments common inputs; what is set on one of them is set on all.

    The first instrument has its say: the others take its values, and a reset of any of them returns
    all to those to which a reset returns the first. Where an instrument cannot follow, because its
    own range ends earlier, it stays where it is.

    Parameters
    ----------
    *instruments
        Two or more, each with all of the inputs.
    on
        The common inputs, by name.

    Returns
    -------
    Callable
        Call it to part them again.

    Examples
    --------
    >>> from mlsys_widgets import MemoryBudget, RooflineWidget
    >>> roofline, budget = RooflineWidget(workload="llm"), MemoryBudget()
    >>> part = link(roofline, budget, on=("batch", "sequence"))
    >>> roofline.set(batch=32)
    >>> budget.batch
    32.0
    """
    names = (on,) if isinstance(on, str) else tuple(on)
    if len(instruments) < 2 or not names:
        raise ValueError("link needs two instruments or more, and the inputs they share")
    for instrument in instruments:
        if missing := [name for name in names if name not in instrument.inputs]:
            known = ", ".join(instrument.inputs)
            raise ValueError(
                f"{type(instrument).__name__} has no input {', '.join(missing)}; it has: {known}"
            )
    moving = False

    def follow(change: Any) -> None:
        nonlocal moving
        if moving:
            return
        moving = True
        try:
            _bring_along(change["owner"], instruments, (change["name"],))
        finally:
            moving = False

    for instrument in instruments:
        instrument.observe(follow, names=list(names))
    usual, now = instruments[0].usual, instruments[0].inputs
    for each in instruments[1:]:
        _try(each.start_from, {name: usual[name] for name in names})
        _try(each.set, {name: now[name] for name in names})

    def part() -> None:
        for instrument in instruments:
            instrument.unobserve(follow, names=list(names))

    return part


def _bring_along(
    leader: Instrument, instruments: Iterable[Instrument], names: tuple[str, ...]
) -> None:
    wanted = {name: getattr(leader, name) for name in names}
    for each in instruments:
        if each is not leader and any(getattr(each, n) != v for n, v in wanted.items()):
            each.forget_reset()  # undoing it would pull the leader along
            _try(each.set, wanted)


def _try(change: Callable[..., None], wanted: Mapping[str, Any]) -> None:
    with suppress(ValueError):  # its range ends here; the leader goes on alone
        change(**wanted)
