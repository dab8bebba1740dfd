"""Kernel fusion: what it saves when a chain of operations becomes one kernel."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.devices import Device, find_device
from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE, Numeric
from mlsys_widgets.physics.fusion_rule import chainable
from mlsys_widgets.physics.operations import Op, ops
from mlsys_widgets.physics.result import Result, derived, given


@dataclass(frozen=True)
class Link:
    """One operation of a chain, and the named tensors it reads besides the flowing one."""

    op: Op
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """Operations applied one after the other to a tensor called ``x``.

    ``chain`` builds one; ``fuse`` says what fusing it saves.
    """

    #: The operations, each with the tensors it reads besides the flowing one.
    links: tuple[Link, ...]

    @property
    def name(self) -> str:
        """The chain as people write it."""
        return " → ".join(link.op.name for link in self.links)

    @property
    def flops_per_element(self) -> float:
        """Work on each element by all operations."""
        return float(sum(link.op.flops_per_element for link in self.links))

    @property
    def unfused_reads(self) -> int:
        """Tensors read when every operation is its own kernel."""
        return sum(1 + len(link.operands) for link in self.links)

    @property
    def unfused_writes(self) -> int:
        """Tensors written when every operation is its own kernel."""
        return len(self.links)

    @property
    def fused_reads(self) -> int:
        """Tensors read by one fused kernel: ``x`` and every other tensor once."""
        return len({"x"}.union(*(link.operands for link in self.links)))

    @property
    def fused_writes(self) -> int:
        """Tensors written by one fused kernel."""
        return 1


def chain(*steps: str | tuple[str, ...]) -> Chain:
    """Build a chain of operations.

    Parameters
    ----------
    *steps : str or tuple of str
        Each an op such as ``"relu"``, or an op with the names of the tensors it reads besides
        the flowing one, such as ``("add", "bias")``. A tensor named twice is one tensor.
        Tensors that are left out get names of their own.

    Raises
    ------
    ValueError
        If an operation cannot continue a chain.

    Examples
    --------
    How many tensors cross the memory bus before and after the course's chain is fused?

    >>> from mlsys_widgets import physics as ph
    >>> ours = ph.chain("layernorm", "dropout", "relu")
    >>> ours.name, ours.flops_per_element
    ('LayerNorm → Dropout → ReLU', 10.0)
    >>> ours.unfused_reads + ours.unfused_writes, ours.fused_reads + ours.fused_writes
    (6, 2)
    >>> chain("relu", "matmul")
    Traceback (most recent call last):
    ...
    ValueError: matmul (a matmul) ends a chain of elementwise operations; a chain may hold: relu, \
add, mul, scale, sigmoid, tanh, gelu, dropout, layernorm, softmax
    """
    if not steps:
        raise ValueError("a chain needs at least one op, such as chain('relu')")
    written = [(step,) if isinstance(step, str) else step for step in steps]
    for op in {key: ops[key] for key, *_ in written}.values():
        if not chainable(op):
            allowed = ", ".join(key for key in ops if chainable(key))
            raise ValueError(
                f"{op.key} (a {op.kind}) ends a chain of elementwise operations; "
                f"a chain may hold: {allowed}"
            )
    links = []
    for position, (key, *named) in enumerate(written):
        op = ops[key]
        if len(named) > op.operands:
            raise ValueError(
                f"{op.key} reads {op.operands} more tensors besides the flowing one, not {named}"
            )
        missing = range(len(named), op.operands)
        operands = (*named, *(f"{op.key}{position}.{k}" for k in missing))
        links.append(Link(op, operands))
    return Chain(tuple(links))


@dataclass(frozen=True, repr=False)
class Fusion(Result):
    """A chain of operations as separate kernels and as one.

    ``fuse`` builds one.

    Examples
    --------
    Is fusing worth more on a small tensor, where launches count, or on a large one?

    >>> from mlsys_widgets import physics as ph
    >>> ours = ph.chain("layernorm", "dropout", "relu")
    >>> small, large = (ph.fuse(ours, elements=rows * 768) for rows in (16, 65536))
    >>> round(small.speedup, 2), round(large.speedup, 2)
    (3.0, 2.62)
    >>> for each in (small, large):
    ...     times = (each.unfused_time, each.fused_time)
    ...     print(" -> ".join(ph.format_quantity(time, "s") for time in times))
    30.1 µs -> 10 µs
    357.8 µs -> 136.5 µs
    >>> ph.format_quantity(large.unfused_traffic, "B"), ph.format_quantity(large.fused_traffic, "B")
    ('604 MB', '201.3 MB')
    """

    elements: Numeric = given("n", "", "elements", AT_LEAST_ONE)
    bytes_per_element: Numeric = given("b", "B", "bytes per element", POSITIVE)
    flops_per_element: Numeric = given("w", "FLOP", "operations per element", POSITIVE)
    unfused_launches: Numeric = given("k", "", "kernels when unfused", AT_LEAST_ONE)
    unfused_tensors: Numeric = given("m", "", "tensors read or written, unfused", POSITIVE)
    fused_tensors: Numeric = given("m_fused", "", "tensors read or written, fused", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "memory bandwidth", POSITIVE)
    launch_overhead: Numeric = given("t_launch", "s", "cost of a launch", NON_NEGATIVE)
    compute_time: Numeric = given("t_compute", "s", "compute time, fused or not", NON_NEGATIVE)
    fused_launches: Numeric = given("k_fused", "", "kernels when fused", AT_LEAST_ONE, 1.0)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations, fused or not."""
        return self.flops_per_element * self.elements

    @derived("Q", "B")
    def unfused_traffic(self) -> Numeric:
        """Data moved by separate kernels."""
        return self.unfused_tensors * self.bytes_per_element * self.elements

    @derived("Q_fused", "B")
    def fused_traffic(self) -> Numeric:
        """Data moved by one fused kernel."""
        return self.fused_tensors * self.bytes_per_element * self.elements

    @derived("Q/Q_fused", "×")
    def traffic_reduction(self) -> Numeric:
        """How many times less data fusion moves."""
        return self.unfused_traffic / self.fused_traffic

    @derived("I", "FLOP/B")
    def unfused_intensity(self) -> Numeric:
        """Arithmetic intensity of separate kernels."""
        return self.flops / self.unfused_traffic

    @derived("I_fused", "FLOP/B")
    def fused_intensity(self) -> Numeric:
        """Arithmetic intensity of one fused kernel."""
        return self.flops / self.fused_traffic

    @derived("T", "s")
    def unfused_time(self) -> Numeric:
        """Time of separate kernels."""
        return (
            self.unfused_launches * self.launch_overhead
            + self.compute_time
            + self.unfused_traffic / self.bandwidth
        )

    @derived("T_fused", "s")
    def fused_time(self) -> Numeric:
        """Time of one fused kernel."""
        return (
            self.fused_launches * self.launch_overhead
            + self.compute_time
            + self.fused_traffic / self.bandwidth
        )

    @derived("speedup", "×")
    def speedup(self) -> Numeric:
        """How many times faster fusion is."""
        return self.unfused_time / self.fused_time


def fuse(
    chain: Chain,
    elements: Numeric,
    bytes_per_element: Numeric = 2,
    device: Device | str = "a100-sxm",
    *,
    bandwidth: Numeric | None = None,
    launch_overhead: Numeric | None = None,
    compute_time: Numeric | None = None,
) -> Fusion:
    """Compare a chain of kernels with one fused kernel: traffic, launches and time.

    Parameters
    ----------
    chain : Chain
        The operations, from ``chain(...)``.
    elements, bytes_per_element : float or array
        Size of the tensors. All tensors of the chain have the same size.
    device : Device or str
        Where it runs, or its key in ``devices``.
    bandwidth : float or array, B/s, optional
        In place of the device's own.
    launch_overhead : float or array, s, optional
        In place of the device's own.
    compute_time : float or array, s, optional
        Time of the arithmetic, fused or not. If omitted, the device's vector units do it at their
        peak.

    Examples
    --------
    >>> ours = chain("layernorm", "dropout", "relu")
    >>> f = fuse(ours, elements=1024 * 768, bytes_per_element=2, device="a100-sxm")
    >>> f.traffic_reduction, round(f.unfused_intensity, 2), f.fused_intensity, round(f.speedup, 1)
    (3.0, 0.83, 2.5, 2.9)

    The course's text gives the arithmetic 5 µs, which leaves less to gain:

    >>> round(fuse(ours, elements=1024 * 768, compute_time=5e-6).speedup, 1)
    2.4
    """
    machine = find_device(device)
    count = AT_LEAST_ONE.check("elements", elements)
    if compute_time is None:
        compute_time = count * chain.flops_per_element / machine.elementwise_rate()
    return Fusion(
        elements=count,
        bytes_per_element=bytes_per_element,
        flops_per_element=chain.flops_per_element,
        unfused_launches=len(chain.links),
        unfused_tensors=chain.unfused_reads + chain.unfused_writes,
        fused_tensors=chain.fused_reads + chain.fused_writes,
        bandwidth=machine.bandwidth if bandwidth is None else bandwidth,
        launch_overhead=machine.launch() if launch_overhead is None else launch_overhead,
        compute_time=compute_time,
    )
