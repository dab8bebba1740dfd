"""Kernel fusion: what it saves for a chain of operations, and which pairs can fuse at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mlsys_widgets.physics.devices import Device, find_device
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    Catalogue,
    Numeric,
    one_of,
)
from mlsys_widgets.physics.provenance import Record, Source, number, record
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.workloads import ElementwiseChain, workloads

OpKind = Literal["elementwise", "row-reduction", "reduction", "matmul"]
Relation = Literal["producer", "shared-input", "unrelated"]
FusionKind = Literal["pointwise", "vertical", "horizontal", "epilogue", "barrier", "none"]


@dataclass(frozen=True, kw_only=True)
class Op(Record):
    """An operation: what kind it is, and for elementwise ones the work per element."""

    kind: OpKind
    flops_per_element: float = number("FLOP")
    #: Tensors it reads beside the one that flows through the chain.
    operands: int


_COUNT: Final = Source("operations counted per output element", "2026-11", "estimate")
_OPERANDS: Final = Source("definition of the operation", "2026-11", "course")


def _op(key: str, name: str, kind: OpKind, flops: float, operands: int = 0, note: str = "") -> Op:
    return record(
        Op,
        key,
        name,
        kind=kind,
        flops_per_element=_COUNT.fact(flops, note),
        operands=_OPERANDS.fact(operands),
    )


#: The operations a chain can be built from. Dropout counts its random number, so that the
#: LayerNorm, Dropout, ReLU chain has the ten operations per element that the course gives it.
ops: Final[Catalogue[Op]] = Catalogue(
    "op",
    {
        op.key: op
        for op in (
            _op("relu", "ReLU", "elementwise", 1),
            _op("add", "Add", "elementwise", 1, operands=1),
            _op("mul", "Multiply", "elementwise", 1, operands=1),
            _op("scale", "Scale", "elementwise", 1),
            _op("sigmoid", "Sigmoid", "elementwise", 4, note="negate, exponent, add, divide"),
            _op("tanh", "Tanh", "elementwise", 6),
            _op("gelu", "GELU", "elementwise", 8, note="tanh form"),
            _op("dropout", "Dropout", "elementwise", 4, note="random number, compare, scale"),
            _op("layernorm", "LayerNorm", "row-reduction", 5),
            _op("softmax", "Softmax", "row-reduction", 5),
            _op("sum", "Sum", "reduction", 1),
            _op("max", "Max", "reduction", 1),
            _op("matmul", "Matrix product", "matmul", 2, 1, "per multiply-add of each output"),
        )
    },
)

#: Operations whose output element needs only its own row: a chain may hold these.
_CHAINABLE: Final[tuple[OpKind, ...]] = ("elementwise", "row-reduction")


@dataclass(frozen=True)
class Link:
    """One operation of a chain and the named tensors it reads beside the flowing one."""

    op: Op
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """Operations applied one after the other to a tensor called ``x``."""

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
        """Tensors read when every operation is a kernel of its own."""
        return sum(1 + len(link.operands) for link in self.links)

    @property
    def unfused_writes(self) -> int:
        """Tensors written when every operation is a kernel of its own."""
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
    steps
        Each an op such as ``"relu"``, or an op with the names of the tensors it reads beside
        the flowing one, such as ``("add", "bias")``. A tensor named twice is one tensor.
        Tensors that are left out get names of their own.

    Examples
    --------
    >>> day14 = chain(("mul", "w"), ("add", "b"), "relu", "sigmoid")
    >>> day14.unfused_reads, day14.unfused_writes, day14.fused_reads, day14.fused_writes
    (6, 4, 3, 1)
    >>> chain("relu", "matmul")
    Traceback (most recent call last):
    ...
    ValueError: matmul (a matmul) ends a chain of elementwise operations; \
a chain may hold: relu, add, mul, scale, sigmoid, tanh, gelu, dropout, layernorm, softmax
    """
    if not steps:
        raise ValueError("a chain needs at least one op, such as chain('relu')")
    links = []
    for position, step in enumerate(steps):
        key, *named = (step,) if isinstance(step, str) else step
        op = ops[key]
        if op.kind not in _CHAINABLE:
            allowed = ", ".join(key for key, entry in ops.items() if entry.kind in _CHAINABLE)
            raise ValueError(
                f"{op.key} (a {op.kind}) ends a chain of elementwise operations; "
                f"a chain may hold: {allowed}"
            )
        if len(named) > op.operands:
            raise ValueError(
                f"{op.key} reads {op.operands} more tensors beside the flowing one, not {named}"
            )
        missing = range(len(named), op.operands)
        operands = (*named, *(f"{op.key}{position}.{k}" for k in missing))
        links.append(Link(op, operands))
    return Chain(tuple(links))


@dataclass(frozen=True, repr=False)
class Fusion(Result):
    """A chain of operations as separate kernels and as one."""

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


def _elementwise_rate(machine: Device) -> float:
    """Operations per second that elementwise kernels reach.

    The course gives the compute time of one chain; the rate that follows from it serves for all
    chains, but never above what the device can do.
    """
    known = workloads["layernorm-dropout-relu"]
    assert isinstance(known, ElementwiseChain)
    flops = known.elements * chain("layernorm", "dropout", "relu").flops_per_element
    return min(flops / known.compute, machine.peak(machine.native))


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
    """What fusing a chain into one kernel saves in traffic, launches and time.

    Parameters
    ----------
    chain
        The operations, from ``chain(...)``.
    elements, bytes_per_element
        Size of the tensors. All tensors of the chain have the same size.
    device
        Where it runs; gives bandwidth and launch overhead unless these are given.
    compute_time
        Seconds of arithmetic, fused or not. Left out, it follows from the operations at the
        rate that the course's own chain implies.

    Examples
    --------
    >>> ours = chain("layernorm", "dropout", "relu")
    >>> f = fuse(ours, elements=1024 * 768, bytes_per_element=2, device="a100-sxm")
    >>> f.traffic_reduction, round(f.unfused_intensity, 2), f.fused_intensity, round(f.speedup, 1)
    (3.0, 0.83, 2.5, 2.4)
    """
    machine = find_device(device)
    count = AT_LEAST_ONE.check("elements", elements)
    if compute_time is None:
        compute_time = count * chain.flops_per_element / _elementwise_rate(machine)
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


@dataclass(frozen=True)
class FusionVerdict:
    """Whether two operations can become one kernel, how, and why."""

    kind: FusionKind
    reason: str

    @property
    def fusible(self) -> bool:
        """Whether one kernel can do both."""
        return self.kind not in ("barrier", "none")


def can_fuse(
    first: Op | str,
    second: Op | str,
    relation: Relation = "producer",
    *,
    same_shape: bool = True,
) -> FusionVerdict:
    """Decide whether two operations can become one kernel.

    Parameters
    ----------
    first, second
        Operations, or their keys in ``ops``.
    relation
        ``"producer"`` if the second reads what the first writes, ``"shared-input"`` if both
        read the same tensor, ``"unrelated"`` otherwise.
    same_shape
        Whether both work on tensors of the same shape.

    Examples
    --------
    >>> can_fuse("relu", "sigmoid").kind, can_fuse("matmul", "relu").kind
    ('pointwise', 'epilogue')
    >>> print(can_fuse("sum", "mul").reason)
    Sum must see every element before Multiply can start with the first: the whole tensor is read \
once for the sum and once more for what follows.
    """
    one = ops[first] if isinstance(first, str) else first
    two = ops[second] if isinstance(second, str) else second
    one_of("relation", relation, ("producer", "shared-input", "unrelated"))
    if relation == "unrelated":
        return FusionVerdict(
            "none", f"{one.name} and {two.name} share no data, so fusing them saves no traffic."
        )
    if relation == "shared-input":
        return _side_by_side(one, two)
    return _in_sequence(one, two, same_shape)


def _side_by_side(one: Op, two: Op) -> FusionVerdict:
    if "matmul" in (one.kind, two.kind) and one.kind != two.kind:
        return FusionVerdict(
            "none",
            f"{one.name} and {two.name} read the same tensor, but a matrix product tiles it in "
            "its own way and would have to wait for the other.",
        )
    return FusionVerdict(
        "horizontal",
        f"{one.name} and {two.name} read the same tensor: one kernel reads it once for both.",
    )


def _in_sequence(one: Op, two: Op, same_shape: bool) -> FusionVerdict:
    names = f"{one.name} and {two.name}"
    match one.kind, two.kind:
        case "reduction", _:
            return FusionVerdict(
                "barrier",
                f"{one.name} must see every element before {two.name} can start with the first: "
                f"the whole tensor is read once for the {one.key} and once more for what follows.",
            )
        case "matmul", "elementwise":
            return FusionVerdict(
                "epilogue",
                f"{two.name} is applied to each output of the product while it is still in "
                "registers, before it is written.",
            )
        case _, "matmul":
            return FusionVerdict(
                "none",
                f"A matrix product reads each of its inputs many times: computing {one.name} "
                "again for every read would cost more than writing it once.",
            )
        case "matmul", _:
            return FusionVerdict(
                "barrier",
                f"{two.name} needs whole rows, and a product computes its output tile by tile.",
            )
        case "elementwise", "elementwise" if same_shape:
            return FusionVerdict(
                "pointwise",
                f"{names} work element by element on the same shape: the value between them "
                "stays in a register.",
            )
        case "row-reduction", "row-reduction" | "reduction" if not same_shape:
            return FusionVerdict(
                "barrier", f"{names} reduce over different rows, so the first must finish."
            )
        case "row-reduction", _:
            return FusionVerdict(
                "vertical",
                f"{one.name} reduces one row at a time; while the row is on chip, {two.name} "
                "continues with it. A row too long for on-chip memory brings the barrier back.",
            )
    return FusionVerdict(
        "vertical",
        f"{two.name} consumes each value of {one.name} as it is made: nothing between them is "
        "written to memory.",
    )
