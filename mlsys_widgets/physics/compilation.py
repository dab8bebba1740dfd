"""When compilation pays off: a cost that is paid once, a gain with every inference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.domain import NON_NEGATIVE, POSITIVE, Numeric, recovered_after
from mlsys_widgets.physics.result import Result, derived, given


@dataclass(frozen=True, repr=False)
class BreakEven(Result):
    """The number of inferences that recovers the compile time.

    ``break_even`` returns that number alone; the result itself also answers "what if".

    Examples
    --------
    ResNet-50 compiles in 30 s. What if it took ten minutes?

    >>> from dataclasses import replace
    >>> from mlsys_widgets import physics as ph
    >>> net = ph.workloads["resnet50"]
    >>> quick = ph.BreakEven(
    ...     compile_time=net.compile_time,
    ...     eager_rate=net.eager_rate,
    ...     compiled_rate=net.compiled_rate,
    ... )
    >>> slow = replace(quick, compile_time=600.0)
    >>> [ph.format_quantity(each.break_even, "images") for each in (quick, slow)]
    ['133,607 images', '2,672,143 images']
    >>> ph.format_quantity(quick.saved_per_inference, "s")
    '224.5 µs'
    """

    compile_time: Numeric = given("t_compile", "s", "compile time", NON_NEGATIVE)
    eager_rate: Numeric = given("R_eager", "/s", "eager throughput", POSITIVE)
    compiled_rate: Numeric = given("R_compiled", "/s", "compiled throughput", POSITIVE)

    @derived("Δt", "s")
    def saved_per_inference(self) -> Numeric:
        """Time saved by each inference."""
        return 1 / self.eager_rate - 1 / self.compiled_rate

    @derived("N", "inferences")
    def break_even(self) -> Numeric:
        """Inferences until the compile time is recovered."""
        return recovered_after(self.compile_time, self.saved_per_inference)


@dataclass(frozen=True, repr=False)
class Deployment(BreakEven):
    """A compiled model in service for a while.

    ``deployment`` builds one.

    Examples
    --------
    Does compiling the keyword-spotting service pay off, with 2,400 requests a day for a week?

    >>> from dataclasses import replace
    >>> from mlsys_widgets import physics as ph
    >>> kws = ph.workloads["kws-service"]
    >>> rate = 1 / ph.run("kws", "a100-sxm").total
    >>> week = ph.deployment(kws.compile_time, rate, gain=kws.gain, per_day=kws.per_day, days=7)
    >>> week.roi_positive, ph.format_quantity(week.days_to_break_even, "days")
    (True, '22.6 hours')
    >>> ph.format_quantity(week.saved, "s"), ph.format_quantity(week.net_saved, "s")
    ('74.4 s', '64.4 s')
    >>> half_a_day = replace(week, days=0.5)
    >>> half_a_day.roi_positive, ph.format_quantity(half_a_day.net_saved, "s")
    (False, '−4.69 s')
    """

    per_day: Numeric = given("V", "/day", "inferences per day", POSITIVE)
    days: Numeric = given("D", "days", "days in service", POSITIVE)

    @derived("n", "inferences")
    def inferences(self) -> Numeric:
        """Inferences over the whole deployment."""
        return self.per_day * self.days

    @derived("D_break-even", "days")
    def days_to_break_even(self) -> Numeric:
        """Days until the compile time is recovered."""
        return self.break_even / self.per_day

    @derived("S", "s")
    def saved(self) -> Numeric:
        """Time saved by all inferences, before the compile time is subtracted."""
        return self.inferences * self.saved_per_inference

    @derived("net", "s")
    def net_saved(self) -> Numeric:
        """Time saved, net of the compile time."""
        return self.saved - self.compile_time

    @derived("ROI", "")
    def roi_positive(self) -> bool | NDArray[np.bool_]:
        """Compilation pays off within the deployment."""
        return self.inferences >= self.break_even

    @property
    def curve(self) -> tuple[tuple[Numeric, Numeric], tuple[Numeric, Numeric]]:
        """The straight line of time saved: (days, seconds) at its start and at its end."""
        return (0.0, 0.0), (self.days, self.saved)


def break_even(compile_time: Numeric, eager_rate: Numeric, compiled_rate: Numeric) -> Numeric:
    """Inferences until compilation has paid for itself; infinity if it never does.

    Parameters
    ----------
    compile_time : float or array, s
        Time spent compiling, once.
    eager_rate, compiled_rate : float or array, /s
        Inferences per second before and after.

    Returns
    -------
    float or array
        Inferences. A single number can explain itself: ask its ``derivation()``.

    Examples
    --------
    >>> n = break_even(compile_time=30, eager_rate=1450, compiled_rate=2150)
    >>> round(n, 2)
    133607.14
    >>> print(n.derivation())
    Δt = 1 / R_eager − 1 / R_compiled = 1 / 1,450/s − 1 / 2,150/s = 224.5 µs   (time saved by each \
inference)
    N = t_compile / Δt = 30 s / 224.5 µs = 133,607 inferences   (inferences until the compile time \
is recovered)
    >>> break_even(compile_time=30, eager_rate=1450, compiled_rate=1450)
    inf
    """
    result = BreakEven(
        compile_time=compile_time, eager_rate=eager_rate, compiled_rate=compiled_rate
    )
    return result.break_even


def deployment(
    compile_time: Numeric,
    eager_rate: Numeric,
    compiled_rate: Numeric | None = None,
    *,
    per_day: Numeric,
    days: Numeric,
    gain: Numeric | None = None,
) -> Deployment:
    """Whether compilation pays off over a deployment, when, and how much time it saves.

    Parameters
    ----------
    compile_time : float or array, s
        Time spent compiling, once.
    eager_rate : float or array, /s
        Inferences per second before.
    compiled_rate, gain : float or array, optional
        Inferences per second after, or the gain in throughput (0.48 for +48%). Give one of them.
    per_day, days : float or array
        Inferences per day, and days in service.

    Examples
    --------
    >>> month = deployment(30, 1450, 2150, per_day=1e7, days=30)
    >>> month.roi_positive, round(month.days_to_break_even * 24 * 60, 1)  # minutes
    (True, 19.2)
    >>> once = deployment(30, 1450, gain=0.48, per_day=1000, days=1)
    >>> once.roi_positive, round(once.break_even)
    (False, 134125)
    """
    if (compiled_rate is None) == (gain is None):
        raise ValueError("give either compiled_rate or gain, but not both")
    if gain is not None:
        gain = NON_NEGATIVE.check("gain", gain)
        compiled_rate = POSITIVE.check("eager_rate", eager_rate) * (1 + gain)
    assert compiled_rate is not None
    return Deployment(
        compile_time=compile_time,
        eager_rate=eager_rate,
        compiled_rate=compiled_rate,
        per_day=per_day,
        days=days,
    )
