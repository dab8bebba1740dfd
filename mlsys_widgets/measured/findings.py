"""Answers of a measurement to the questions of the labs, in numbers.

Serial or asynchronous launches? How far below its roof does a real matrix product run, and why?
Is anything above a roof? How much does fusion gain, against the claimed 5×? When does compiling
ResNet-50 really pay off?
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.queries import Case, cases
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.trial import Errors, Roofs, Trial

#: Wall-clock speed-up that the course's text claims for fusing LayerNorm, Dropout and ReLU.
CLAIMED_FUSION_SPEEDUP: Final = 5.0
#: How much longer a stream of shorter kernels may take before that is no accident of timing.
_TOLERANCE: Final = 1.05


@dataclass(frozen=True)
class LaunchFinding:
    """The errors of serial and asynchronous launches against the measured streams of kernels."""

    serial_error: float
    async_error: float
    streams: int
    #: The cost of a launch, in words.
    launch: str

    @property
    def follows(self) -> str:
        """The kind of launch that the hardware follows."""
        return "asynchronous" if self.async_error < self.serial_error else "serial"


def launches(trial: Trial) -> LaunchFinding | None:
    """Whether wall time follows serial or asynchronous launches."""
    topic = next((topic for topic in trial.topics if topic.name == "dispatch"), None)
    if topic is None:
        return None
    # The textbook column of this topic is the serial form, the model column the asynchronous one.
    return LaunchFinding(
        Errors.of(topic.judged, textbook=True).median,
        Errors.of(topic.judged).median,
        len(topic.judged),
        topic.parameters["launch"],
    )


def disturbed_streams(document: Document) -> list[tuple[Case, Case]]:
    """Find streams of shorter kernels that took longer than as many longer ones, which cannot be.

    The same launches with more to do on the GPU never end sooner. Where they seem to, something
    else held up the host while the shorter kernels were timed.
    """
    found = []
    for variant in ("eager", "graph"):
        by_count: dict[float, list[Case]] = {}
        for case in cases(document, kind="dispatch", variant=variant):
            by_count.setdefault(float(case.shape["launches"]), []).append(case)
        for streams in by_count.values():
            streams.sort(key=lambda case: float(case.shape["elements"]))
            found += [
                (short, long)
                for short, long in pairwise(streams)
                if short.seconds.median > _TOLERANCE * long.seconds.median
            ]
    return found


@dataclass(frozen=True)
class Shortfall:
    """A matrix product below its roof, and the factors that explain the distance.

    The factors multiply: fraction of the roof (``share``) = floor × waves × rest.
    """

    n: int
    precision: str
    attained: float
    share: float
    floor: float
    waves: float
    rest: float


def shortfalls(trial: Trial, precision: str = "fp16") -> list[Shortfall]:
    """Find how far below its roof each square product runs, and why."""
    members = [
        verdict
        for topic in trial.topics
        for verdict in topic.verdicts
        if verdict.case.kind == "gemm"
        and verdict.case.precision == precision
        and len({verdict.case.shape[side] for side in "mnk"}) == 1
    ]
    if not members:
        return []
    # No product is faster than the smallest one, so its time is the floor under all of them.
    floor = min(v.measured for v in members)
    units, found = trial.roofs.units, []
    for verdict in sorted(members, key=lambda v: float(v.case.shape["n"])):
        n = int(verdict.case.shape["n"])
        share = verdict.textbook / verdict.measured
        above_floor = verdict.textbook / (verdict.textbook + floor)
        tiled = ph.waves(n, n, units)
        # With less than one wave of tiles, libraries use smaller tiles or split the sums.
        waves = float(tiled.efficiency) if tiled.tiles >= units > 1 else 1.0
        rest = share / (above_floor * waves)
        attained = (verdict.case.flops or 0.0) / verdict.measured
        found.append(Shortfall(n, precision, attained, share, above_floor, waves, rest))
    return found


def above_a_roof(document: Document, roofs: Roofs) -> list[tuple[Case, float]]:
    """Find cases faster than their roof, and by what factor: a wrong roof or a wrong number."""
    found = []
    for case in cases(document):
        peak = roofs.peaks.get(case.precision or "")
        if not case.traffic or peak is None or case.kind == "dispatch":
            continue  # dispatch runs in place on data that may stay in the cache, by design
        roof = ph.kernel_time(case.flops or 0.0, case.traffic, peak, roofs.bandwidth)
        excess = float(roof.textbook) / case.seconds.median
        if excess > 1:
            found.append((case, excess))
    return found


@dataclass(frozen=True)
class FusionFinding:
    """The speed-up of fusing one chain at one size, on the wall clock and on the device."""

    chain: str
    rows: int
    columns: int
    wall: dict[str, float]
    device: dict[str, float]
    modeled: float
    #: By traffic alone, for tensors large enough that nothing else matters.
    traffic: float


_CHAINS: Final = {
    "layernorm_dropout_relu": ph.chain("layernorm", "dropout", "relu"),
    "layernorm_relu": ph.chain("layernorm", "relu"),
}


def fusions(document: Document, roofs: Roofs) -> list[FusionFinding]:
    """Measured speed-ups of fusion, beside the model's for the same chain and device."""
    found, measured = [], cases(document, kind="fusion")
    for base in (case for case in measured if case.variant == "eager"):
        name, rows, columns = (base.shape[key] for key in ("chain", "rows", "columns"))
        alike = {"chain": name, "rows": rows, "columns": columns}.items()
        same = {case.variant: case for case in measured if alike <= case.shape.items()}
        wall: dict[str, float] = {
            variant: base.seconds.median / same[variant].seconds.median
            for variant in ("compiled", "compiled_graph", "triton")
            if variant in same
        }
        device: dict[str, float] = {}
        if base.gpu_busy:
            device = {
                variant: base.gpu_busy / case.gpu_busy
                for variant, case in same.items()
                if variant in ("compiled", "triton") and case.gpu_busy
            }
        chain, elements = _CHAINS[str(name)], float(rows) * float(columns)
        model = ph.fuse(
            chain,
            elements,
            bandwidth=roofs.bandwidth,
            launch_overhead=roofs.launch or 0.0,
            # What is elementwise runs on the vector units, in fp32.
            compute_time=elements * chain.flops_per_element / roofs.peaks["fp32"],
        )
        found.append(
            FusionFinding(
                str(name),
                int(rows),
                int(columns),
                wall,
                device,
                float(model.speedup),
                float(model.traffic_reduction),
            )
        )
    return found


@dataclass(frozen=True)
class BreakEvenFinding:
    """When compiling a model pays off on this device."""

    model: str
    batch: int
    variant: str
    eager_rate: float
    compiled_rate: float
    compile_time: float
    break_even: float


def break_evens(document: Document) -> list[BreakEvenFinding]:
    """Return the break-even point of every model that was measured both eager and compiled."""
    found, measured = [], cases(document, kind="model")
    for base in (case for case in measured if case.variant == "eager"):
        model, batch = base.shape["model"], base.shape["batch"]
        alike = {"model": model, "batch": batch}.items()
        same = [case for case in measured if alike <= case.shape.items()]
        for variant in ("compiled", "compiled_graph"):
            for case in (each for each in same if each.variant == variant):
                if not (case.throughput and base.throughput and case.compile_seconds):
                    continue
                inferences = ph.break_even(case.compile_seconds, base.throughput, case.throughput)
                found.append(
                    BreakEvenFinding(
                        str(model),
                        int(batch),
                        variant,
                        base.throughput,
                        case.throughput,
                        case.compile_seconds,
                        float(inferences),
                    )
                )
    return found
