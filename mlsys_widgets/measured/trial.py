"""The model on trial: what physics predicts for every measured case, beside the measurement.

Each case is judged twice: by the textbook form (datasheet ceilings, every launch serial) and by
the extended form (a floor under every kernel, achievable shares of both ceilings, launches that
run ahead). The extended form has parameters. They are fitted to every other case and judged on
the rest; reported errors are those of the cases that were not fitted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.fitting import Ceiling, Fit, fit_kernel
from mlsys_widgets.measured.queries import Case, cases, ceilings
from mlsys_widgets.measured.recorder import Document

#: Variants that time the device alone, by kind of machine.
_ON_DEVICE = {"gpu": "graph", "cpu": "numpy"}
#: The fewest cases of a group for which fitting half of them means anything.
_LEAST = 5


@dataclass(frozen=True)
class Roofs:
    """The ceilings of the textbook form, and their source."""

    key: str
    name: str
    peaks: Mapping[str, float]
    bandwidth: float
    launch: float | None
    units: int
    source: str


@dataclass(frozen=True)
class CaseVerdict:
    """One case: the measured time, the textbook's and the extended model's."""

    case: Case
    measured: float
    textbook: float
    modeled: float
    fitted: bool

    @property
    def error(self) -> float:
        """Relative error of the extended model."""
        return self.modeled / self.measured - 1

    @property
    def textbook_error(self) -> float:
        """Relative error of the textbook form."""
        return self.textbook / self.measured - 1


@dataclass(frozen=True)
class Topic:
    """The cases of one kind, and the parameters fitted to them."""

    name: str
    verdicts: tuple[CaseVerdict, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: Whether the goal for the model's error counts this topic.
    counted: bool = True

    @property
    def judged(self) -> tuple[CaseVerdict, ...]:
        """The cases that were not fitted."""
        return tuple(verdict for verdict in self.verdicts if not verdict.fitted)


@dataclass(frozen=True)
class Trial:
    """A measurement document and the model's verdict on it, topic by topic."""

    document: Document
    roofs: Roofs
    topics: tuple[Topic, ...]

    @property
    def judged(self) -> tuple[CaseVerdict, ...]:
        """All cases that were not fitted, of the topics that the goal counts."""
        return tuple(v for topic in self.topics if topic.counted for v in topic.judged)


def median_error(verdicts: Sequence[CaseVerdict], *, textbook: bool = False) -> float:
    """Median absolute relative error."""
    return statistics.median(_errors(verdicts, textbook))


def worst_error(verdicts: Sequence[CaseVerdict], *, textbook: bool = False) -> float:
    """Largest absolute relative error."""
    return max(_errors(verdicts, textbook))


def _errors(verdicts: Iterable[CaseVerdict], textbook: bool) -> list[float]:
    return [abs(v.textbook_error if textbook else v.error) for v in verdicts]


def roofs_of(document: Document) -> Roofs:
    """Datasheet roofs if the device is on record, otherwise the best that was measured on it."""
    found, device = ceilings(document), document["device"]
    if device["key"] in ph.devices:
        known = ph.devices[device["key"]]
        peaks = {precision: known.peak(precision) for precision in known.precisions}
        bandwidth, source = known.bandwidth, f"{known.provenance['bandwidth'].source}"
    else:
        if found.bandwidth is None or not found.peaks:
            raise ValueError(
                f"{device['key']}: no copy past the last cache or no matrix product was measured, "
                "so there is no roof to judge by; measure the sections copy and gemm"
            )
        peaks, bandwidth = dict(found.peaks), found.bandwidth
        source = "the best of this measurement, because no datasheet is on record"
    return Roofs(
        device["key"],
        device["name"],
        MappingProxyType(peaks),
        bandwidth,
        found.launch,
        device["units"],
        source,
    )


def hold_trial(document: Document) -> Trial:
    """Judge every case of a measurement document that physics has a formula for."""
    roofs = roofs_of(document)
    variant = _ON_DEVICE[document["device"]["kind"]]
    topics = [
        _kernels(document, roofs, "gemm", variant, ["gemm"], waves=variant == "graph"),
        _kernels(document, roofs, "projection", variant, ["projection"]),
        _kernels(document, roofs, "elementwise", variant, ["elementwise"]),
        _kernels(
            document, roofs, "normalization", variant, ["softmax", "layernorm"], counted=False
        ),
        _dispatch(document, roofs),
        _replay(document, roofs),
    ]
    return Trial(document, roofs, tuple(topic for topic in topics if topic.verdicts))


def _kernels(
    document: Document,
    roofs: Roofs,
    name: str,
    variant: str,
    kinds: Sequence[str],
    *,
    waves: bool = False,
    counted: bool = True,
) -> Topic:
    """Single kernels: one fit per operation and precision."""
    groups: dict[str, list[Case]] = {}
    for kind in kinds:
        for case in cases(document, kind=kind, variant=variant):
            if case.bytes and case.flops is not None and case.precision in roofs.peaks:
                what = case.shape.get("operation", kind)
                groups.setdefault(f"{what} {case.precision}", []).append(case)
    verdicts: list[CaseVerdict] = []
    parameters: dict[str, str] = {}
    for group, members in groups.items():
        if len(members) < _LEAST:
            continue
        members.sort(key=lambda case: (case.flops or 0.0, case.bytes or 0.0))
        ceiling = Ceiling(roofs.peaks[members[0].precision or ""], roofs.bandwidth, roofs.units)
        # Every other case, starting with the smallest; the fit never sees the rest.
        fit = fit_kernel(members[::2], ceiling, waves=waves)
        parameters[group] = str(fit)
        for position, case in enumerate(members):
            verdicts.append(_kernel_verdict(case, ceiling, fit, fitted=position % 2 == 0))
    return Topic(name, tuple(verdicts), parameters, counted)


def _kernel_verdict(case: Case, ceiling: Ceiling, fit: Fit, *, fitted: bool) -> CaseVerdict:
    timed = fit.kernel_time(case, ceiling)
    return CaseVerdict(case, case.seconds.median, float(timed.textbook), float(timed.time), fitted)


def device_time(members: Sequence[Case]) -> Callable[[Case], float | None]:
    """Device seconds per kernel by its length, from the longest profile of each length."""
    known: dict[object, float] = {}
    for case in members:
        if case.gpu_busy and case.kernels:
            known[case.shape["length"]] = case.gpu_busy / case.kernels
    return lambda case: known.get(case.shape["length"])


def _dispatch(document: Document, roofs: Roofs) -> Topic:
    """Streams of kernels launched one by one.

    Nothing is fitted: the launch overhead comes from the launch cases and the kernels' own time
    from the profiler.
    """
    members = cases(document, kind="dispatch", variant="eager")
    busy = device_time(members)
    verdicts = []
    for case in members:
        each = busy(case)
        if each is None or case.kernels is None or roofs.launch is None:
            continue
        serial, ahead = (
            ph.forward_pass(case.kernels, each, roofs.launch, launch=how).total
            for how in ("serial", "async")
        )
        verdicts.append(
            CaseVerdict(case, case.seconds.median, float(serial), float(ahead), fitted=False)
        )
    return Topic("dispatch", tuple(verdicts))


def _replay(document: Document, roofs: Roofs) -> Topic:
    """The same streams replayed as one graph; the cost of a node is fitted on half of them."""
    members = cases(document, kind="dispatch", variant="graph")
    busy = device_time(members)
    known = [(case, each) for case in members if (each := busy(case)) is not None and case.kernels]
    if len(known) < _LEAST or roofs.launch is None:
        return Topic("graph replay", ())
    launch = roofs.launch

    def total(case: Case, each: float, node: float) -> float:
        done = ph.GraphPass(
            kernels=float(case.kernels or 1),
            compute_per_kernel=each,
            launch_overhead=launch,
            node_overhead=node,
        )
        return float(done.total)

    def extra(case: Case, each: float) -> float:
        """The cost of a node that would make this case exact."""
        return (case.seconds.median - launch) / (case.kernels or 1) - each

    # The cost is visible only with many short kernels; elsewhere the kernels hide it.
    telling = [extra(c, e) for c, e in known[::2] if (c.kernels or 0) >= 100]
    node = max(0.0, statistics.median(telling))
    textbook = ph.GRAPH_NODE_OVERHEAD.value
    verdicts = tuple(
        CaseVerdict(
            case,
            case.seconds.median,
            total(case, each, textbook),
            total(case, each, node),
            fitted=position % 2 == 0,
        )
        for position, (case, each) in enumerate(known)
    )
    return Topic("graph replay", verdicts, {"node overhead": ph.format_quantity(node, "s")})
