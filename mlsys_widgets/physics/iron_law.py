"""The iron law: an inference takes the time to move data, to compute, and a fixed latency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.devices import Device, find_device
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Numeric,
    greater,
)
from mlsys_widgets.physics.result import Result, derived, given

Term = Literal["memory", "compute", "latency"]
_TERMS: tuple[Term, ...] = ("memory", "compute", "latency")


@dataclass(frozen=True, repr=False)
class IronLawTime(Result):
    """Three terms; each subclass is a way to combine them (added or overlapped).

    ``iron_law`` builds one.
    """

    data: Numeric = given("D", "B", "data moved", POSITIVE)
    operations: Numeric = given("O", "FLOP", "operations of one inference", POSITIVE)
    bandwidth: Numeric = given("BW", "B/s", "memory bandwidth", POSITIVE)
    rate: Numeric = given("R", "FLOP/s", "peak compute rate", POSITIVE)
    efficiency: Numeric = given("η", "%", "fraction of the peak that is reached", SHARE, 1.0)
    latency: Numeric = given("L", "s", "fixed latency", NON_NEGATIVE, 0.0)
    batch: Numeric = given("b", "", "inferences at once; weights move once", AT_LEAST_ONE, 1.0)

    @derived("t_memory", "s")
    def memory_time(self) -> Numeric:
        """Time to move the data."""
        return self.data / self.bandwidth

    @derived("t_compute", "s")
    def compute_time(self) -> Numeric:
        """Time to compute."""
        return self.batch * self.operations / (self.rate * self.efficiency)

    @derived("T", "s")
    def total(self) -> Numeric:
        """Time of the batch."""
        raise NotImplementedError

    @derived("ratio", "×")
    def memory_to_compute(self) -> Numeric:
        """Memory time as a multiple of compute time."""
        return self.memory_time / self.compute_time

    @derived("b*", "")
    def balance_batch(self) -> Numeric:
        """Batch size at which compute takes as long as memory."""
        return self.batch * self.memory_to_compute

    @property
    def binding(self) -> Term | NDArray[np.str_]:
        """The largest term: the one to improve first."""
        terms = np.broadcast_arrays(self.memory_time, self.compute_time, self.latency)
        largest = np.argmax(np.stack(terms), axis=0)
        return _TERMS[int(largest)] if np.ndim(largest) == 0 else np.array(_TERMS)[largest]

    @property
    def compute_bound_batch(self) -> Numeric:
        """The smallest whole batch that is compute-bound."""
        whole = np.maximum(1.0, np.ceil(self.balance_batch))
        return float(whole) if np.ndim(whole) == 0 else whole


@dataclass(frozen=True, repr=False)
class AdditiveIronLaw(IronLawTime):
    """One term after the other."""

    @derived("T", "s")
    def total(self) -> Numeric:
        """Time of the batch, one term after the other."""
        return self.memory_time + self.compute_time + self.latency


@dataclass(frozen=True, repr=False)
class OverlappedIronLaw(IronLawTime):
    """Memory and compute at the same time."""

    @derived("T", "s")
    def total(self) -> Numeric:
        """Time of the batch, memory and compute at the same time."""
        return greater(self.memory_time, self.compute_time) + self.latency


@dataclass(frozen=True, repr=False)
class Capacity(Result):
    """Something that must fit into a memory.

    ``capacity`` builds one.
    """

    size: Numeric = given("D", "B", "size", POSITIVE)
    memory: Numeric = given("C", "B", "capacity", POSITIVE)

    @derived("fill", "×")
    def fill(self) -> Numeric:
        """Size as a multiple of the capacity."""
        return self.size / self.memory

    @derived("OOM", "")
    def out_of_memory(self) -> bool | NDArray[np.bool_]:
        """Out of memory if it is larger than the capacity."""
        return self.size > self.memory


def iron_law(
    data: Numeric,
    operations: Numeric,
    device: Device | str | None = None,
    *,
    bandwidth: Numeric | None = None,
    rate: Numeric | None = None,
    precision: str | None = None,
    efficiency: Numeric = 1.0,
    latency: Numeric = 0.0,
    batch: Numeric = 1.0,
    overlapped: bool = False,
) -> IronLawTime:
    """The time of one batch: ``D/BW + b·O/(R·η) + L``.

    Parameters
    ----------
    data : float or array, B
        What must move: the weights, once for a whole batch.
    operations : float or array, FLOP
        Of one inference; a batch of ``b`` does ``b`` times as many.
    device : Device or str, optional
        Where it runs; gives bandwidth and peak rate unless these are given.
    bandwidth : float or array, B/s, optional
        In place of the device's own.
    rate : float or array, FLOP/s, optional
        Peak rate, in place of the device's own.
    precision : str, optional
        The precision whose peak counts; by default the device's native one.
    efficiency : float or array
        Fraction of the peak that is reached.
    latency : float or array, s
        Fixed time per batch.
    batch : float or array
        Inferences per batch.
    overlapped : bool
        Whether memory and compute run at the same time: ``max(D/BW, b·O/(R·η)) + L``.

    Examples
    --------
    One ResNet-50 image on an H100: what binds, and which batch would keep the tensor cores busy?

    >>> from mlsys_widgets import physics as ph
    >>> net = ph.workloads["resnet50-inference"]
    >>> one = ph.iron_law(net.data, net.operations, "h100-sxm", latency=10e-6)
    >>> for term in ("memory_time", "compute_time", "latency", "total"):
    ...     print(term, ph.format_quantity(getattr(one, term), "s"))
    memory_time 29.9 µs
    compute_time 8.29 µs
    latency 10 µs
    total 48.1 µs
    >>> one.binding, one.compute_bound_batch
    ('memory', 4.0)
    >>> print(one.derivation("balance_batch").steps[-1].shown)
    3.6
    """
    if device is not None:
        machine = find_device(device)
        bandwidth = machine.bandwidth if bandwidth is None else bandwidth
        rate = machine.peak(precision or machine.native) if rate is None else rate
    if bandwidth is None or rate is None:
        raise ValueError("give a device, or both bandwidth and rate")
    kind = OverlappedIronLaw if overlapped else AdditiveIronLaw
    return kind(
        data=data,
        operations=operations,
        bandwidth=bandwidth,
        rate=rate,
        efficiency=efficiency,
        latency=latency,
        batch=batch,
    )


def capacity(size: Numeric, device: Device | str) -> Capacity:
    """Whether something fits into the memory of a device, and how much of it it fills.

    ``size``, in bytes, must fit into the ``device``: an entry of ``devices``, or its key.

    Examples
    --------
    Would the KV cache of 64 long conversations alone fit on an A100?

    >>> from mlsys_widgets import physics as ph
    >>> cache = ph.kv_cache("llama31-8b", batch=64, sequence=8192)
    >>> fit = ph.capacity(cache, "a100-sxm")
    >>> fit.out_of_memory, ph.format_quantity(fit.fill, "%")
    (False, '85.9%')
    >>> print(fit.derivation("fill"))
    KV = 2 × batch × S × H_kv × d × L × b = 2 × 64 × 8,192 × 8 × 128 × 32 × 2 B = 68.7 GB   (size \
of the KV cache)
    fill = D / C = 68.7 GB / 80 GB = 0.859×   (size as a multiple of the capacity)
    """
    return Capacity(size=size, memory=find_device(device).memory)
