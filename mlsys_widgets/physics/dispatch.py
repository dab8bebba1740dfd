"""The dispatch tax: what launching kernels costs a forward pass, and what hides it.

Examples
--------
What does a kernel still cost when a recorded graph replays it, next to a launch of its own?

>>> from mlsys_widgets import physics as ph
>>> ph.format_quantity(ph.GRAPH_NODE_OVERHEAD.value, "s"), ph.GRAPH_NODE_OVERHEAD.provenance.kind
('500 ns', 'measured')
>>> round(ph.devices["a100-sxm"].launch() / ph.GRAPH_NODE_OVERHEAD.value)
20
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from mlsys_widgets.physics.devices import Device, find_device
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Numeric,
    greater,
)
from mlsys_widgets.physics.provenance import Source
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.workloads import ModelPass, Workload, workloads
from mlsys_widgets.wording.choices import one_of

Launch = Literal["serial", "async", "graph"]
Mode = Literal["eager", "compiled"]

#: What a kernel costs beyond itself when a recorded graph is replayed, in seconds.
GRAPH_NODE_OVERHEAD: Final = Source(
    "CUDA graph replay of tiny kernels on an NVIDIA GPU", "2026-11", "measured"
).fact(0.5e-6, "about")


@dataclass(frozen=True, repr=False)
class ForwardPass(Result):
    """One forward pass: kernels that compute, launches that cost, memory that moves.

    How the total follows depends on how kernels are launched; each way is a subclass.
    ``forward_pass`` builds one from numbers, ``run`` from a workload and a device.

    Examples
    --------
    Where does the time of eager keyword spotting go?

    >>> from mlsys_widgets import physics as ph
    >>> eager = ph.run("kws", "a100-sxm")
    >>> for part in ("compute", "memory", "dispatch", "total"):
    ...     print(part, ph.format_quantity(getattr(eager, part), "s"))
    compute 5 ms
    memory 500 µs
    dispatch 10 ms
    total 15.5 ms
    >>> ph.format_quantity(eager.utilization, "%")
    '32.3%'
    """

    kernels: Numeric = given("N", "", "kernels", AT_LEAST_ONE)
    compute_per_kernel: Numeric = given("t_kernel", "s", "compute time of a kernel", POSITIVE)
    launch_overhead: Numeric = given("t_launch", "s", "cost of a launch", NON_NEGATIVE)
    memory_time: Numeric = given("t_memory", "s", "time to move the data", NON_NEGATIVE, 0.0)

    @derived("t_compute", "s")
    def compute(self) -> Numeric:
        """Time spent computing."""
        return self.kernels * self.compute_per_kernel

    @property
    def memory(self) -> Numeric:
        """Time spent moving data; the same as the input."""
        return self.memory_time

    @derived("T", "s")
    def total(self) -> Numeric:
        """Wall time of the pass."""
        raise NotImplementedError

    @derived("t_dispatch", "s")
    def dispatch(self) -> Numeric:
        """Time the device spends waiting for launches."""
        return self.total - self.compute - self.memory_time

    @derived("U", "%")
    def utilization(self) -> Numeric:
        """Fraction of the time spent computing."""
        return self.compute / self.total


@dataclass(frozen=True, repr=False)
class SerialPass(ForwardPass):
    """Every launch waits for the kernel before it, as in the textbook."""

    @derived("T", "s")
    def total(self) -> Numeric:
        """Wall time, each launch paid in full."""
        return self.kernels * self.launch_overhead + self.compute + self.memory_time


@dataclass(frozen=True, repr=False)
class _PerKernel(ForwardPass):
    """Ways to launch whose total follows from the time of each kernel on the device."""

    @derived("d", "s")
    def device_time(self) -> Numeric:
        """Time on the device per kernel."""
        return (self.compute + self.memory_time) / self.kernels


@dataclass(frozen=True, repr=False)
class AsyncPass(_PerKernel):
    """Launches run ahead of the device, as on real GPUs: the slower of the two sets the pace."""

    @derived("T", "s")
    def total(self) -> Numeric:
        """Wall time, launches hidden behind longer kernels."""
        return (
            self.launch_overhead
            + self.device_time
            + (self.kernels - 1) * greater(self.launch_overhead, self.device_time)
        )


@dataclass(frozen=True, repr=False)
class GraphPass(_PerKernel):
    """One launch replays a recorded graph; each kernel costs a little more than itself.

    ``forward_pass(..., launch="graph")`` builds one.

    Examples
    --------
    How much of the dispatch tax does a graph take off keyword spotting?

    >>> from mlsys_widgets import physics as ph
    >>> graph = ph.run("kws", "a100-sxm", launch="graph")
    >>> ph.format_quantity(graph.dispatch, "s"), ph.format_quantity(graph.utilization, "%")
    ('510 µs', '83.2%')
    >>> type(graph).__name__, ph.format_quantity(graph.node_overhead, "s")
    ('GraphPass', '500 ns')
    """

    node_overhead: Numeric = given(
        "t_node", "s", "cost of each kernel in a graph", NON_NEGATIVE, GRAPH_NODE_OVERHEAD.value
    )

    @derived("T", "s")
    def total(self) -> Numeric:
        """Wall time of one replay."""
        return self.launch_overhead + self.kernels * (self.device_time + self.node_overhead)


_BY_LAUNCH: Final[dict[Launch, type[ForwardPass]]] = {
    "serial": SerialPass,
    "async": AsyncPass,
    "graph": GraphPass,
}


def forward_pass(
    kernels: Numeric,
    compute_per_kernel: Numeric,
    launch_overhead: Numeric,
    memory_time: Numeric = 0.0,
    launch: Launch = "serial",
) -> ForwardPass:
    """One forward pass, from its numbers.

    Parameters
    ----------
    kernels : float or array
        Kernels launched.
    compute_per_kernel : float or array, s
        Time that each kernel computes, on average.
    launch_overhead : float or array, s
        Cost of one launch.
    memory_time : float or array, s
        Time spent moving data in the whole pass.
    launch : {"serial", "async", "graph"}
        ``"serial"`` (the textbook), ``"async"`` (real GPUs) or ``"graph"`` (recorded once,
        replayed with one launch).

    Returns
    -------
    ForwardPass
        Of the subclass for ``launch``.

    Examples
    --------
    >>> tiny = dict(kernels=1000, compute_per_kernel=5e-6, launch_overhead=10e-6)
    >>> [round(forward_pass(**tiny, launch=how).utilization, 2) for how in ("serial", "async")]
    [0.33, 0.5]
    """
    kind = _BY_LAUNCH[one_of("launch", launch, _BY_LAUNCH)]
    return kind(
        kernels=kernels,
        compute_per_kernel=compute_per_kernel,
        launch_overhead=launch_overhead,
        memory_time=memory_time,
    )


@dataclass(frozen=True, repr=False)
class PassDemand(Result):
    """The demand of a workload on a device in one pass, before launches are counted."""

    profiled_kernels: Numeric = given("N_eager", "", "kernels in eager mode", AT_LEAST_ONE)
    profiled_compute: Numeric = given("t_eager", "s", "compute time of an eager kernel", POSITIVE)
    flops: Numeric = given("W", "FLOP", "operations", POSITIVE)
    intensity: Numeric = given("I", "FLOP/B", "arithmetic intensity", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "memory bandwidth", POSITIVE)
    fused_share: Numeric = given("s", "%", "fraction of kernels fused away", FRACTION)
    traffic_saved: Numeric = given("r", "%", "fraction of traffic saved", FRACTION)
    speedup: Numeric = given("x", "×", "how much faster the device computes", POSITIVE, 1.0)

    @derived("N", "")
    def kernels(self) -> Numeric:
        """Kernels that are launched."""
        return greater(1.0, self.profiled_kernels * (1 - self.fused_share))

    @derived("t_kernel", "s")
    def compute_per_kernel(self) -> Numeric:
        """Compute time per launched kernel; the total stays the same."""
        return self.profiled_kernels * self.profiled_compute / (self.kernels * self.speedup)

    @derived("t_memory", "s")
    def memory_time(self) -> Numeric:
        """Time to move the data."""
        return self.flops * (1 - self.traffic_saved) / (self.intensity * self.bandwidth)


def run(
    workload: Workload | str,
    device: Device | str,
    mode: Mode = "eager",
    launch: Launch = "serial",
    *,
    kernels: Numeric | None = None,
    speedup: Numeric = 1.0,
    launch_overhead: Numeric | None = None,
) -> ForwardPass:
    """Run a workload on a device, eager or compiled.

    Parameters
    ----------
    workload : ModelPass or str
        An entry of ``workloads``, or its key.
    device : Device or str
        An entry of ``devices``, or its key.
    mode : {"eager", "compiled"}
        ``"compiled"`` launches fewer kernels for the same work.
    launch : {"serial", "async", "graph"}
        How kernels are launched, as in ``forward_pass``. Compiled with graphs is
        ``mode="compiled", launch="graph"``.
    kernels : float or array, optional
        Split the same work into this many eager kernels instead of the workload's own count.
    speedup : float or array
        A device that computes this much faster, with the same launches and the same memory.
    launch_overhead : float or array, s, optional
        Cost of one launch, in place of the device's own.

    Examples
    --------
    >>> round(run("kws", "a100-sxm", mode="compiled").utilization, 4)
    0.6667
    >>> round(run("kws", "a100-sxm", speedup=2).utilization, 3)  # a faster GPU is idle more
    0.192
    """
    chosen = workloads[workload] if isinstance(workload, str) else workload
    machine = find_device(device)
    one_of("mode", mode, get_args(Mode))
    if not isinstance(chosen, ModelPass):
        passes = ", ".join(key for key, entry in workloads.items() if isinstance(entry, ModelPass))
        raise ValueError(f"workload is {chosen.key!r}; a forward pass is known for: {passes}")
    split = chosen.kernels if kernels is None else AT_LEAST_ONE.check("kernels", kernels)
    compiled = mode == "compiled"
    demand = PassDemand(
        profiled_kernels=split,
        profiled_compute=chosen.kernels * chosen.compute_per_kernel / split,
        flops=chosen.flops,
        intensity=chosen.intensity,
        bandwidth=machine.bandwidth,
        fused_share=chosen.fused_share if compiled else 0.0,
        traffic_saved=chosen.traffic_saved if compiled else 0.0,
        speedup=speedup,
    )
    return forward_pass(
        kernels=demand.kernels,
        compute_per_kernel=demand.compute_per_kernel,
        launch_overhead=machine.launch() if launch_overhead is None else launch_overhead,
        memory_time=demand.memory_time,
        launch=launch,
    )
