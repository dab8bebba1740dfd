"""How long a served language model takes, kernel by kernel, on a device that was measured.

The textbook form (``decode`` and ``prefill``) divides all data by the bandwidth or all operations
by the peak. This form adds up the kernels, each by the law of its family, and says what launching
them costs: one by one from the host, which runs ahead of the device, or replayed as one graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

import numpy as np

from mlsys_widgets.physics.device_calibration import DeviceCalibration, calibration_of
from mlsys_widgets.physics.devices import Device
from mlsys_widgets.physics.dispatch import GRAPH_NODE_OVERHEAD
from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, Numeric, greater
from mlsys_widgets.physics.kernel_time import CalibratedTime
from mlsys_widgets.physics.language_model import language_model
from mlsys_widgets.physics.model_kernels import (
    ACTIVATION_BYTES,
    KernelUse,
    Part,
    Phase,
    layer_kernels,
    model_kernels,
)
from mlsys_widgets.physics.products import storages
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.workloads import LanguageModel
from mlsys_widgets.wording.choices import one_of

ServingLaunch = Literal["async", "graph"]
#: What sets the time of a kernel, or of a whole pass.
Reason = Literal["floor", "bandwidth", "arithmetic", "launch"]

_PARTS: Final[dict[Part, str]] = {
    "products": "products",
    "attention": "attention",
    "normalization": "normalization",
    "small kernels": "small_kernels",
    "logits": "logits",
}


@dataclass(frozen=True)
class TimedUse:
    """A kernel of a pass with its time: of one use, and of all.

    Examples
    --------
    Which kernel takes most of a decode step, and what is it waiting for?

    >>> from mlsys_widgets import physics as ph
    >>> step = ph.serving_time("llama31-8b", "h200-sxm", "decode", batch=1, sequence=2048)
    >>> worst = step.dominant
    >>> worst.use.name, worst.use.times, worst.reason
    ('Gate and up product', 32.0, 'bandwidth')
    >>> round(worst.total / step.time, 1)
    0.3
    """

    use: KernelUse  #: The kernel.
    one: CalibratedTime  #: The time of one use.

    @property
    def total(self) -> Numeric:
        """Seconds of all its uses in one pass."""
        return self.use.times * self.one.time

    @property
    def reason(self) -> Reason:
        """The largest term of its time; for single numbers."""
        one = self.one
        terms: dict[Reason, float] = {
            "floor": float(one.kernels * one.floor),
            "bandwidth": float(one.memory_time),
            "arithmetic": float(one.compute_time),
        }
        return max(terms, key=terms.__getitem__)


@dataclass(frozen=True, repr=False, kw_only=True)
class TimedKernels(Result):
    """Kernels that a host launches and a device runs one after the other."""

    kernels: Numeric = given("N", "", "kernels", AT_LEAST_ONE)
    launch_overhead: Numeric = given("t_launch", "s", "launching a kernel", NON_NEGATIVE)
    node_overhead: Numeric = given(
        "t_node", "s", "gap between two kernels", NON_NEGATIVE, GRAPH_NODE_OVERHEAD.value
    )
    uses: tuple[TimedUse, ...] = field(default=(), compare=False)

    @derived("t_gaps", "s")
    def gaps(self) -> Numeric:
        """Time between one kernel and the next."""
        return self.kernels * self.node_overhead

    @derived("t_host", "s")
    def host_time(self) -> Numeric:
        """Time in which the host launches all kernels."""
        return self.kernels * self.launch_overhead

    @property
    def dominant(self) -> TimedUse:
        """The kernel that takes most of the time; for single numbers."""
        return max(self.uses, key=lambda timed: float(timed.total))


@dataclass(frozen=True, repr=False)
class ServingTime(TimedKernels):
    """One pass of a model: what its kernels take, part by part, and what launching them takes.

    ``serving_time`` builds one.
    """

    tokens: Numeric = given("n", "", "tokens read or written", AT_LEAST_ONE)
    products: Numeric = given("t_products", "s", "products with the weights", NON_NEGATIVE)
    attention: Numeric = given("t_attention", "s", "attention", NON_NEGATIVE)
    normalization: Numeric = given("t_norm", "s", "normalization", NON_NEGATIVE)
    small_kernels: Numeric = given("t_small", "s", "small kernels", NON_NEGATIVE)
    logits: Numeric = given("t_logits", "s", "logits", NON_NEGATIVE)

    @derived("t_device", "s")
    def device_time(self) -> Numeric:
        """Time on the device: all kernels, and the gaps between them."""
        return (
            self.products
            + self.attention
            + self.normalization
            + self.small_kernels
            + self.logits
            + self.gaps
        )

    @derived("T", "s")
    def time(self) -> Numeric:
        """Time of the pass."""
        raise NotImplementedError

    @derived("tokens/s", "/s")
    def tokens_per_second(self) -> Numeric:
        """Tokens per second."""
        return self.tokens / self.time

    @property
    def parts(self) -> dict[str, Numeric]:
        """Seconds on the device, by what kernels are for, and the gaps between them."""
        return {part: getattr(self, name) for part, name in _PARTS.items()} | {"gaps": self.gaps}

    @property
    def reason(self) -> Reason:
        """Why the pass takes as long as it does; for single numbers."""
        if float(self.time) > float(self.device_time):
            return "launch"
        return self.dominant.reason


@dataclass(frozen=True, repr=False)
class LaunchedPass(ServingTime):
    """Kernels launched one by one; the host runs ahead until it is the slower one."""

    @derived("T", "s")
    def time(self) -> Numeric:
        """Time of the pass: the longer of computing and launching."""
        return greater(self.device_time, self.host_time)


@dataclass(frozen=True, repr=False)
class ReplayedPass(ServingTime):
    """All kernels replayed as one graph."""

    @derived("T", "s")
    def time(self) -> Numeric:
        """Time of the pass: kernel after kernel, nobody waiting for the host."""
        return self.device_time


_BY_LAUNCH: Final[dict[ServingLaunch, type[ServingTime]]] = {
    "async": LaunchedPass,
    "graph": ReplayedPass,
}


def serving_time(
    model: LanguageModel | str,
    device: Device | str,
    phase: Phase,
    batch: Numeric,
    sequence: Numeric,
    precision: str = "fp16",
    *,
    launch: ServingLaunch = "graph",
    layers: int | None = None,
    calibration: DeviceCalibration | None = None,
) -> ServingTime:
    """One pass of a served model in the calibrated form.

    Parameters
    ----------
    model : LanguageModel or str
        A language model of ``workloads``, or its key.
    device : Device or str
        A device that was measured, or its key.
    phase : {"prefill", "decode"}
        ``"prefill"`` reads ``batch`` prompts of ``sequence`` tokens; ``"decode"`` writes one token
        for each of ``batch`` sequences that have ``sequence`` tokens in the cache.
    batch, sequence : float or array
        Sequences at once, and tokens in each.
    precision : str
        Of the weights and their products: 16 bits or fewer.
    launch : {"async", "graph"}
        ``"async"``: launched one by one, the host running ahead; ``"graph"``: recorded once and
        replayed.
    layers : int, optional
        Time so many layers alone, without embedding and logits.
    calibration : DeviceCalibration, optional
        In place of the one on record for the device.

    Examples
    --------
    One user, one token at a time, on an H200: what is the device doing, and what does a graph save?

    >>> from mlsys_widgets import physics as ph
    >>> ask = dict(model="llama31-8b", device="h200-sxm", phase="decode", batch=1, sequence=2048)
    >>> eager, graph = (ph.serving_time(**ask, launch=how) for how in ("async", "graph"))
    >>> eager.reason, graph.reason
    ('launch', 'bandwidth')
    >>> round(eager.time / graph.time, 1)
    2.3
    >>> largest = max(graph.parts, key=graph.parts.get)
    >>> largest, round(graph.parts[largest] / graph.time, 1)
    ('products', 0.7)

    The textbook form, which divides all data by the bandwidth, promises more than either:

    >>> textbook = ph.decode("llama31-8b", "h200-sxm", batch=1, sequence=2048)
    >>> textbook.time < graph.time < eager.time
    True
    """
    chosen = language_model(model)
    calibration = calibration_of(device) if calibration is None else calibration
    kind = _BY_LAUNCH[one_of("launch", launch, _BY_LAUNCH)]
    one_of("phase", phase, get_args(Phase))
    # Everything beside the weights is kept in 16 bits, so wider weights would be no fair model.
    served = [p for p in calibration.precisions if storages[p].weight <= ACTIVATION_BYTES]
    one_of("precision", precision, served)
    batch = AT_LEAST_ONE.check("batch", batch)
    sequence = AT_LEAST_ONE.check("sequence", sequence)
    if layers is None:
        uses = model_kernels(chosen, phase, batch, sequence, precision)
    else:
        uses = layer_kernels(chosen, phase, batch, sequence, precision, times=layers)
    timed = time_uses(uses, calibration)
    return kind(
        tokens=batch * sequence if phase == "prefill" else batch,
        **{name: _sum(timed, part) for part, name in _PARTS.items()},
        kernels=sum(use.launches * use.times for use in uses),
        launch_overhead=calibration.launch,
        uses=timed,
    )


def time_uses(uses: Iterable[KernelUse], calibration: DeviceCalibration) -> tuple[TimedUse, ...]:
    """Time kernels by the laws of a device, each kernel once for all of its uses.

    The laws come from ``calibration_of``; the order is that of ``uses``.

    Examples
    --------
    How much faster is tiled attention over a prompt of 4,096 tokens than the textbook's?

    >>> from mlsys_widgets import physics as ph
    >>> h200 = ph.calibration_of("h200-sxm")
    >>> naive = ph.time_uses(ph.naive_attention_kernels(1, 32, 4096, 128, causal=True), h200)
    >>> prompt = ph.attention(1, 32, 4096, 4096, 128, causal=True)
    >>> tiled = h200.time(prompt, "prompt attention").time
    >>> sum(each.total for each in naive) > 5 * tiled
    True
    >>> max(naive, key=lambda each: each.total).use.name
    'Softmax'
    """
    known: dict[Any, CalibratedTime] = {}
    timed = []
    for use in uses:
        how = use.family, use.precision, use.launches
        one = known.get((id(use.kernel), *how))
        if one is None:
            one = known[id(use.kernel), *how] = calibration.time(use.kernel, *how)
        timed.append(TimedUse(use, one))
    return tuple(timed)


def _sum(timed: Iterable[TimedUse], part: Part) -> Numeric:
    total: Numeric = 0.0
    for each in timed:
        if each.use.part == part:
            total = total + each.total
    return total if isinstance(total, np.ndarray) else float(total)
