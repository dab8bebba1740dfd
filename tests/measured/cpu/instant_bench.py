"""A bench without a clock, so that what a section records does not depend on the machine."""

from __future__ import annotations

from typing import Any

from mlsys_widgets.measured.cpu.timing import Call, CpuBench
from mlsys_widgets.measured.recorder import Recorder, Spread, spread

SECONDS = 1e-3


class InstantBench(CpuBench):
    """Calls everything twice, as a rotation does, and reads no clock."""

    def time(self, call: Call, loop: float = 0.002) -> Spread:
        """A millisecond, whatever is called."""
        call(0)
        call(1)
        return spread([SECONDS])


def instant_bench(*, quick: bool = True, arena: int = 32 << 20) -> InstantBench:
    """A bench of two cores with a recorder of its own."""
    recorder = Recorder(device={}, software={}, method={})
    return InstantBench(recorder, cores=2, arena=arena, patience=0.0, quick=quick)


def recorded(bench: CpuBench, kind: str) -> list[dict[str, Any]]:
    """The cases of one kind."""
    return [case for case in bench.recorder.cases if case["kind"] == kind]
