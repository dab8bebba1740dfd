"""The model on trial: what physics predicts for every measured case, beside the measurement.

Each case is judged twice: by the textbook form (datasheet ceilings, every launch serial) and by the
calibrated form (the laws of each family of kernels, launches that run ahead). The calibrated form
has parameters. They are fitted to every other case of a family and judged on the rest; layers and
whole models are sums of those kernels, and nothing is fitted to them but the cost of a launch.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import simulated_replays
from mlsys_widgets.measured.calibrating import (
    LEAST,
    Chosen,
    calibrate,
    device_of,
    fitted_launches,
    fitted_positions,
    usable,
)
from mlsys_widgets.measured.kernel_families import KernelFamily, families
from mlsys_widgets.measured.power_fitting import is_fitted, work_of
from mlsys_widgets.measured.queries import Case, cases, launch_seconds
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.wording.choices import UnknownName
from mlsys_widgets.wording.units import format_quantity

#: The topic whose numbers are bytes.
MEMORY: Final = "memory of training steps"
#: The topics whose numbers are watts and joules.
POWER: Final = "power"
ENERGY: Final = "energy of a step"
#: Mean errors that topics are held to, where it is not a tenth.
_LIMITS: Final = {MEMORY: 0.05, POWER: 0.08}
#: Models whose layers and passes the core can add up, by their name in a document.
_MODELS: Final = ("llama31-8b",)


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
    """One case: the measured value, the textbook's and the calibrated model's."""

    case: Case
    measured: float
    textbook: float
    modeled: float
    fitted: bool
    #: Of the three numbers above: seconds, bytes for memory, watts or joules.
    unit: str = "s"
    #: The family of kernels it belongs to, if it is a single kernel.
    family: str = ""

    @property
    def error(self) -> float:
        """Relative error of the calibrated model."""
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

    @property
    def judged(self) -> tuple[CaseVerdict, ...]:
        """The cases that were not fitted."""
        return tuple(verdict for verdict in self.verdicts if not verdict.fitted)


@dataclass(frozen=True)
class Errors:
    """The errors of the model over some cases, absolute and relative."""

    mean: float
    median: float
    tenth: float
    worst: float

    @classmethod
    def of(cls, verdicts: Sequence[CaseVerdict], *, textbook: bool = False) -> Errors:
        """Return the errors over some cases; ``tenth`` is exceeded by one case in ten."""
        each = [abs(v.textbook_error if textbook else v.error) for v in verdicts]
        return cls(
            statistics.fmean(each),
            statistics.median(each),
            float(np.quantile(each, 0.9)),
            max(each),
        )


@dataclass(frozen=True)
class Goal:
    """A limit that the model's errors are held to."""

    what: str
    limit: float
    reached: float

    @property
    def met(self) -> bool:
        """Whether the error is within the limit."""
        return self.reached <= self.limit


@dataclass(frozen=True)
class Trial:
    """A measurement document and the model's verdict on it, topic by topic."""

    document: Document
    roofs: Roofs
    topics: tuple[Topic, ...]
    calibration: ph.DeviceCalibration

    @cached_property
    def judged(self) -> tuple[CaseVerdict, ...]:
        """All cases that were not fitted."""
        return tuple(v for topic in self.topics for v in topic.judged)

    @property
    def goals(self) -> list[Goal]:
        """Limits for the model on a GPU: over all cases, and in every single topic."""
        overall = Errors.of(self.judged)
        found = [
            Goal("all cases, mean", 0.08, overall.mean),
            Goal("all cases, nine in ten", 0.20, overall.tenth),
            Goal("all cases, worst", 0.40, overall.worst),
        ]
        for topic in self.topics:
            if topic.judged:
                limit = _LIMITS.get(topic.name, 0.10)
                found.append(Goal(f"{topic.name}, mean", limit, Errors.of(topic.judged).mean))
        return found


def roofs_of(document: Document) -> Roofs:
    """Return datasheet roofs if the device is on record, else the best that was measured."""
    device = device_of(document)
    return Roofs(
        device.key,
        device.name,
        MappingProxyType({precision: device.peak(precision) for precision in device.precisions}),
        device.bandwidth,
        launch_seconds(document),
        document["device"]["units"],
        device.provenance["bandwidth"].source,
    )


def hold_trial(
    document: Document,
    chosen: Chosen = fitted_positions,
    calibration: ph.DeviceCalibration | None = None,
) -> Trial:
    """Judge every case of a measurement document that physics has a formula for.

    Cases of a family whose numbers are ``chosen`` are fitted, and the others judged. A
    ``calibration`` to those cases spares the fit.
    """
    roofs = roofs_of(document)
    if calibration is None:
        calibration = ph.read_calibration(calibrate(document, chosen), device_of(document))
    labels = {case.label for case in fitted_launches(document, chosen)}
    topics = [
        *_kernels(document, calibration, chosen),
        _dispatch(document, roofs),
        _replay(document, roofs),
        _launched_models(document, calibration),
        _naive_attention(document, calibration),
        *_passes(document, calibration, labels),
        *_training(document, calibration, labels),
        *_power(document, calibration),
        *_replays(document, calibration),
    ]
    judged = tuple(topic for topic in topics if topic.judged)
    if not judged:
        raise ValueError(
            f"{roofs.key}: no family of kernels has {LEAST} cases or more, so there is nothing to"
            " fit and to judge; measure again without --quick"
        )
    return Trial(document, roofs, judged, calibration)


#: What a topic is called that several families of kernels belong to.
_TOPICS: Final = {
    "products": "products",
    "unaligned products": "products",
    "weight-only products": "products",
    "prompt attention": "attention over prompts",
    "cache attention": "attention over a cache",
    "rows of": "norms and softmax",
    "short rows of": "norms and softmax",
    "ragged rows of": "norms and softmax",
    "small kernels of": "small kernels",
}


def _kernels(
    document: Document, calibration: ph.DeviceCalibration, chosen: Chosen
) -> Iterable[Topic]:
    """Judge single kernels: a topic for each purpose and precision, of all its families."""
    verdicts: dict[str, list[CaseVerdict]] = {}
    words: dict[str, dict[str, str]] = {}
    for family in families(document):
        if usable(family, calibration.device):
            fitted = set(chosen(len(family.members)))
            start = max((s for s in _TOPICS if family.name.startswith(s)), key=len)
            for verdict in _family_verdicts(family, calibration, fitted):
                name = f"{_TOPICS[start]}, {verdict.case.precision}"
                verdicts.setdefault(name, []).append(replace(verdict, family=family.name))
                words.setdefault(name, {})[family.name] = _words(calibration.laws[family.name])
    for name, some in verdicts.items():
        yield Topic(name, tuple(some), words[name])


def _family_verdicts(
    family: KernelFamily, calibration: ph.DeviceCalibration, fitted: set[int]
) -> list[CaseVerdict]:
    timed = calibration.time(family.kernel, family.name, family.precision, family.launches)
    pairs = zip(family.members, np.asarray(timed.textbook), np.asarray(timed.time), strict=True)
    return [
        CaseVerdict(case, case.seconds.median, float(textbook), float(time), position in fitted)
        for position, (case, textbook, time) in enumerate(pairs)
    ]


def _words(law: ph.Law | ph.PowerLaw) -> str:
    """Return the parameters of a law that do something, in words."""
    return ", ".join(
        f"{name.replace('_', ' ')} {format_quantity(value, unit)}"
        for name, value, unit, _ in law.facts()
    )


def _passes(
    document: Document, calibration: ph.DeviceCalibration, fitted: set[str]
) -> Iterable[Topic]:
    """Judge layers and whole models: sums of kernels, some fitted for a launch's cost."""
    for kind, layers in (("layer", 1), ("serving", None)):
        for phase in ("prefill", "decode"):
            for precision in ("fp16", "bf16"):
                members = [
                    case
                    for case in cases(document, kind=kind, precision=precision, phase=phase)
                    if case.shape["model"] in _MODELS
                ]
                name = f"{'one layer' if layers else 'whole model'}, {phase}, {precision}"
                yield Topic(
                    name,
                    _sums(
                        members,
                        lambda case, layers=layers: _pass_verdict(  # type: ignore[misc]
                            case, calibration, layers, fitted=case.label in fitted
                        ),
                    ),
                )


def _sums(members: Iterable[Case], judge: Callable[[Case], CaseVerdict]) -> tuple[CaseVerdict, ...]:
    """Judge sums of kernels, where all of those kernels were measured."""
    found = []
    for case in members:
        # A document may hold some sections only, and one law missing leaves no sum to judge.
        with contextlib.suppress(UnknownName):
            found.append(judge(case))
    return tuple(found)


def _pass_verdict(
    case: Case, calibration: ph.DeviceCalibration, layers: int | None, *, fitted: bool
) -> CaseVerdict:
    model, phase = str(case.shape["model"]), str(case.shape["phase"])
    batch, sequence = float(case.shape["batch"]), float(case.shape["sequence"])
    precision = case.precision or "fp16"
    timed = ph.serving_time(
        model,
        calibration.device,
        phase,  # type: ignore[arg-type]
        batch,
        sequence,
        precision,
        launch="graph" if case.variant == "graph" else "async",
        layers=layers,
        calibration=calibration,
    )
    textbook = {"prefill": ph.prefill, "decode": ph.decode}[phase](
        model, calibration.device, batch, sequence, precision
    )
    share = layers / ph.language_model(model).layers if layers else 1.0
    return CaseVerdict(
        case,
        case.seconds.median,
        float(textbook.time) * share,
        float(timed.time),
        fitted,
    )


def _naive_attention(document: Document, calibration: ph.DeviceCalibration) -> Topic:
    """Judge attention that writes its scores: a sum of kernels, to which nothing was fitted."""

    def judge(case: Case) -> CaseVerdict:
        batch, heads, keys, width = (
            float(case.shape[name]) for name in ("batch", "heads", "keys", "head_width")
        )
        kernels = ph.naive_attention_kernels(
            batch, heads, keys, width, causal=bool(case.shape["causal"])
        )
        timed = ph.time_uses(kernels, calibration)
        return CaseVerdict(
            case,
            case.seconds.median,
            sum(float(use.one.textbook) for use in timed),
            sum(float(use.total) for use in timed),
            fitted=False,
        )

    members = cases(document, kind="attention", precision="fp16", form="naive")
    return Topic("naive attention, fp16", _sums(members, judge))


def _training(
    document: Document, calibration: ph.DeviceCalibration, fitted: set[str]
) -> Iterable[Topic]:
    """Judge training steps: their time as a sum over kernels, and their memory by kind."""

    def judge(case: Case) -> CaseVerdict:
        device, (name, batch, sequence) = calibration.device, _step(case)
        step = ph.training_time(name, device, batch, sequence, calibration=calibration)
        return CaseVerdict(
            case,
            case.seconds.median,
            (case.flops or 0.0) / device.peak("bf16"),
            float(step.time),
            case.label in fitted,
        )

    def judge_memory(case: Case) -> CaseVerdict:
        kept = ph.training_memory(*_step(case))
        states = float(kept.peak - kept.activations)
        peak = (case.memory or {})["peak"]
        return CaseVerdict(case, peak, states, float(kept.peak), False, "B")

    members = cases(document, kind="training", precision="bf16")
    yield Topic("training steps, bf16", _sums(members, judge))
    yield Topic(MEMORY, _sums((case for case in members if case.memory), judge_memory))


def _power(document: Document, calibration: ph.DeviceCalibration) -> Iterable[Topic]:
    """Judge power by the law alone, and the energy of steps by all models together.

    Power follows from what a case moves and computes in the time that was measured. The energy of a
    step follows from its sizes: its time is the model's too.
    """
    if calibration.power is None:
        return
    law = calibration.power
    measured = [c for c in cases(document, kind="energy") if c.energy and c.variant != "idle"]

    def judge(case: Case) -> CaseVerdict:
        moved, computed = work_of(case)
        step = ph.StepEnergy(
            time=case.seconds.median, bytes=moved, flops=computed, idle=law.idle,
            byte_energy=law.byte_energy, flop_energy=law.flop_energy, limit=law.limit,
        )  # fmt: skip
        watts = (case.energy or {})["watts"]
        fitted = is_fitted(case, law.limit)
        return CaseVerdict(case, watts, law.limit, float(step.power), fitted, "W")

    def judge_step(case: Case) -> CaseVerdict:
        shape, phase = case.shape, str(case.shape["work"])
        model, sizes = str(shape["model"]), (float(shape["batch"]), float(shape["sequence"]))
        step = ph.step_energy(
            model,
            calibration.device,
            phase,  # type: ignore[arg-type]
            *sizes,
            case.precision or "fp16",
            launch="graph" if case.variant == "graph" else "async",
            calibration=calibration,
        )
        textbook = {"prefill": ph.prefill, "decode": ph.decode}[phase](
            model, calibration.device, *sizes, case.precision or "fp16"
        )
        joules = (case.energy or {})["joules"]
        fitted = is_fitted(case, law.limit)
        return CaseVerdict(
            case, joules, float(textbook.time) * law.limit, float(step.energy), fitted, "J"
        )

    yield Topic(POWER, _sums(measured, judge), {POWER: _words(law)})
    steps = [case for case in measured if case.shape.get("model") in _MODELS]
    yield Topic(ENERGY, _sums(steps, judge_step))


def _replays(document: Document, calibration: ph.DeviceCalibration) -> Iterable[Topic]:
    """Judge replays of requests: the simulated engine, to which nothing was fitted."""
    last, mean = [], []
    for case in cases(document, kind="replay"):
        if case.shape["model"] not in _MODELS:
            continue
        book = simulated_replays.textbook(case, calibration.device)
        ours = simulated_replays.calibrated(case, calibration)
        seen = simulated_replays.response(case).mean()
        last.append(CaseVerdict(case, case.seconds.median, book.seconds, ours.seconds, False))
        waited = [float(each.mean()) for each in (book.response, ours.response)]
        mean.append(CaseVerdict(case, float(seen), waited[0], waited[1], False))
    yield Topic("replays, until the last answer", tuple(last))
    yield Topic("replays, mean time to an answer", tuple(mean))


def _step(case: Case) -> tuple[str, float, float]:
    """Model, batch and sequence of a training step."""
    return str(case.shape["model"]), float(case.shape["batch"]), float(case.shape["sequence"])


def _launched_models(document: Document, calibration: ph.DeviceCalibration) -> Topic:
    """Judge models launched one by one: kernels by the profiler, launches by the law."""
    verdicts = []
    for case in cases(document, kind="model", variant="eager"):
        if not case.gpu_busy or not case.kernels:
            continue
        each = case.gpu_busy / case.kernels
        serial, ahead = (
            float(ph.forward_pass(case.kernels, each, calibration.launch, launch=how).total)
            for how in ("serial", "async")
        )
        verdicts.append(CaseVerdict(case, case.seconds.median, serial, ahead, fitted=False))
    return Topic("launches of whole models", tuple(verdicts))


def device_time(members: Sequence[Case]) -> Callable[[Case], float | None]:
    """Return the device seconds per kernel by its length, from its longest profile."""
    known: dict[object, float] = {}
    for case in members:
        if case.gpu_busy and case.kernels:
            known[case.shape["length"]] = case.gpu_busy / case.kernels
    return lambda case: known.get(case.shape["length"])


def _dispatch(document: Document, roofs: Roofs) -> Topic:
    """Judge streams of kernels launched one by one.

    The kernels' own time comes from the profiler, the cost of a launch from every other stream that
    waits for the host: measured alone, minutes earlier, it is off by what a shared host varies.
    """
    members = cases(document, kind="dispatch", variant="eager")
    busy = device_time(members)
    known = [(case, each) for case in members if (each := busy(case)) is not None and case.kernels]
    waiting = [
        case.seconds.median / (case.kernels or 1)
        for case, each in known[::2]
        if case.seconds.median > 1.5 * each * (case.kernels or 1)
    ]
    launch = statistics.median(waiting) if waiting else roofs.launch
    if launch is None:
        return Topic("dispatch", ())
    verdicts = []
    for position, (case, each) in enumerate(known):
        serial, ahead = (
            float(ph.forward_pass(float(case.kernels or 1), each, launch, launch=how).total)
            for how in ("serial", "async")
        )
        fitted = position % 2 == 0
        verdicts.append(CaseVerdict(case, case.seconds.median, serial, ahead, fitted))
    return Topic("dispatch", tuple(verdicts), {"launch": format_quantity(launch, "s")})


def _replay(document: Document, roofs: Roofs) -> Topic:
    """Judge the same streams replayed as one graph; a node's cost is fitted on half of them."""
    members = cases(document, kind="dispatch", variant="graph")
    busy = device_time(members)
    known = [(case, each) for case in members if (each := busy(case)) is not None and case.kernels]
    if len(known) < LEAST or roofs.launch is None:
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
        """Return the cost of a node that would make this case exact."""
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
    return Topic("graph replay", verdicts, {"node overhead": format_quantity(node, "s")})
