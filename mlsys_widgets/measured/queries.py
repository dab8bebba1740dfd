"""Queries over a measurement: its cases, its points on a roofline, and its ceilings."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from .case_names import label_of, size_in_words
from .checks import MeasurementError
from .documents import available, load
from .recorder import Document, Spread, Value

Source = str | os.PathLike[str] | Mapping[str, Any]
#: The kinds of cases that peaks and bandwidth come from.
_CEILINGS = ("gemm", "copy", "triad")


@dataclass(frozen=True)
class Case:
    """One measured case, in SI units; what was not measured is ``None``.

    ``cases`` returns them.

    Examples
    --------
    How fast did a 2-core server multiply two matrices of 1,024 by 1,024?

    >>> from mlsys_widgets import measured, physics as ph
    >>> (case,) = measured.cases("cpu-2core-server", kind="gemm", precision="fp32", n=1024)
    >>> case.label, case.shape["threads"]
    ('gemm numpy fp32 N=1024', 2)
    >>> ph.format_quantity(case.rate, "FLOP/s")
    '192.9 GFLOPS'
    >>> case.seconds.q25 <= case.seconds.median <= case.seconds.q75
    True
    >>> case.flops == ph.gemm(1024, 1024, 1024, bytes_per_element=4).flops
    True
    """

    section: str  #: The part of the measurement it belongs to.
    #: ``kind``, ``variant``: what was run (``"gemm"``, ``"copy"``, ``"launch"``), and how
    #: (``"numpy"``, ``"graph"``).
    kind: str
    variant: str
    precision: str | None
    #: Its sizes: ``m``, ``n`` and ``k`` of a product, ``threads``, and so on.
    shape: Mapping[str, Value]
    flops: float | None
    #: ``bytes``, ``traffic``: data moved by the textbook's formula, and the fewest that the
    #: implementation moves (B).
    bytes: float | None
    traffic: float | None
    kernels: int | None
    #: Time of one call: ``median``, the quartiles ``q25`` and ``q75``, and ``repetitions`` (s).
    seconds: Spread
    #: ``enqueue``, ``latency``: time of the CPU before the call returns, and of one call alone
    #: until its result is there (s).
    enqueue: Spread | None
    latency: Spread | None
    gpu_busy: float | None  #: Time of one call in which the GPU ran a kernel or a copy (s).
    compile_seconds: float | None  #: Time of the first calls of a compiled function (s).
    throughput: float | None  #: Samples or tokens per second, or bytes of a stream (/s).
    error: float | None  #: Relative error of the result, against a reference in 64 bits.
    memory: Mapping[str, float] | None  #: Of a training step, by kind and at the peak (B).
    #: Energy of one call (``joules``), mean power (``watts``), clocks and temperature.
    energy: Mapping[str, float] | None
    #: Of a replay: its ``requests`` and its ``steps``, one list per quantity.
    timeline: Mapping[str, Mapping[str, Sequence[float]]] | None

    @property
    def rate(self) -> float | None:
        """FLOP per second, by the median."""
        return None if self.flops is None else self.flops / self.seconds.median

    @property
    def bandwidth(self) -> float | None:
        """Bytes moved per second, by the median."""
        return None if self.traffic is None else self.traffic / self.seconds.median

    @property
    def label(self) -> str:
        """A few words that distinguish this case from the others."""
        words = (self.kind, self.variant, self.precision, label_of(self.kind, self.shape))
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Point:
    """A measured point on a roofline: where it lies, how far it spreads and what it is.

    ``points`` returns them.

    Examples
    --------
    Does any measured product beat the roof that the H200's datasheet promises?

    >>> from mlsys_widgets import measured, physics as ph
    >>> h200 = ph.devices["h200-sxm"]
    >>> found = measured.points("h200-sxm", precision="fp16", kind="gemm")
    >>> roofs = [ph.roofline(p.intensity, h200.peak("fp16"), h200.bandwidth) for p in found]
    >>> any(p.attained > roof.attainable for p, roof in zip(found, roofs))
    False
    >>> best = max(found, key=lambda point: point.attained)
    >>> best.size, round(best.attained / h200.peak("fp16"), 1)
    ('N = 7,168', 0.7)
    """

    device: str
    kind: str
    variant: str
    precision: str | None
    label: str  #: A few words that distinguish it from other points.
    shape: Mapping[str, Value]
    intensity: float
    attained: float
    low: float
    high: float
    spread: float
    seconds: float

    @property
    def size(self) -> str:
        """Its size in words: ``N = 4,096``, or what an attention kernel reads."""
        return size_in_words(self.kind, self.shape)

    @property
    def is_square(self) -> bool:
        """Whether it is a product of two square matrices."""
        sides = {self.shape.get(side) for side in ("m", "n", "k")}
        return len(sides) == 1 and None not in sides


@dataclass(frozen=True)
class Ceilings:
    """The best results that were measured on a machine.

    ``ceilings`` returns them.

    Examples
    --------
    What fraction of its datasheet did an H200 reach?

    >>> from mlsys_widgets import measured, physics as ph
    >>> reached, promised = measured.ceilings("h200-sxm"), ph.devices["h200-sxm"]
    >>> round(reached.bandwidth / promised.bandwidth, 1)
    0.9
    >>> round(reached.peaks["fp16"] / promised.peak("fp16"), 1)
    0.7
    """

    device: str
    peaks: Mapping[str, float]
    bandwidth: float | None  #: The best copy or triad past the last cache (B/s).
    #: From one launch of a tiny operation to the next, as seen by a program (s).
    launch: float | None


def _document(source: Source) -> Document:
    """Return a document from itself, its name, its path or the key of its device."""
    if isinstance(source, Mapping):
        return dict(source)
    name = os.fspath(source)
    known = available()
    if name in known:
        return _shipped(name)
    if os.sep not in name and not name.endswith(".json"):
        for each in known:
            document = _shipped(each)
            if document["device"]["key"] == name:
                return document
    return load(source)


@functools.cache
def _shipped(name: str) -> Document:
    """Return a document that ships, read once; no query changes it."""
    return load(name)


def _spread(value: Mapping[str, Any] | None) -> Spread | None:
    return None if value is None else Spread(**value)


def _case(entry: Mapping[str, Any]) -> Case:
    seconds = _spread(entry["seconds"])
    if seconds is None:
        raise MeasurementError("cases: seconds is missing and required.")
    known: dict[str, Any] = {each.name: entry.get(each.name) for each in fields(Case)}
    known |= {name: _spread(known[name]) for name in ("enqueue", "latency")}
    return Case(**known | {"seconds": seconds, "shape": MappingProxyType(dict(entry["shape"]))})


def cases(
    device: Source,
    *,
    kind: str | None = None,
    precision: str | None = None,
    variant: str | None = None,
    **shape: Value,
) -> list[Case]:
    """Return the matching cases of a document, in the order in which they were measured.

    The ``device`` is the name of a document that ships, the key of its device, the path of a file,
    or a loaded document. Only cases whose ``shape`` has these values, such as ``n=1024`` or
    ``threads=1``.

    Examples
    --------
    >>> [case.variant for case in cases("cpu-2core-server", kind="copy", threads=1)]
    ['numpy']
    """
    return list(_matching(_document(device), kind, precision, variant, shape))


def _matching(
    document: Document,
    kind: str | None,
    precision: str | None,
    variant: str | None,
    shape: Mapping[str, Value],
) -> Iterator[Case]:
    for entry in document["cases"]:
        # Plain comparisons: a lab asks this hundreds of times while a student waits for a cell.
        if (
            (kind is None or entry["kind"] == kind)
            and (precision is None or entry["precision"] == precision)
            and (variant is None or entry["variant"] == variant)
            and (not shape or shape.items() <= entry["shape"].items())
        ):
            yield _case(entry)


def points(
    device: Source,
    precision: str | None = None,
    kind: str | None = None,
    *,
    variant: str | None = None,
    count: str = "traffic",
    **shape: Value,
) -> list[Point]:
    """Measured points to draw over a roofline, by increasing intensity.

    Parameters
    ----------
    device : str, path or document
        Name of a document that ships, key of its device, path of a file, or a loaded document.
    count : {"traffic", "bytes"}
        Which bytes count for the intensity: the fewest that the implementation moves, or those
        of the textbook formula. They differ for fused kernels, layer norm, softmax and 8-bit
        products.
    **shape
        Only cases whose shape has these values.

    Returns
    -------
    list of Point
        Cases without FLOP or bytes, such as a copy or a launch, are left out.

    Examples
    --------
    >>> found = points("cpu-2core-server", precision="fp32", kind="gemm")
    >>> [point.label for point in found if point.is_square][:2]
    ['gemm numpy fp32 N=32', 'gemm numpy fp32 N=48']
    >>> all(point.low <= point.attained <= point.high for point in found)
    True
    """
    if count not in ("traffic", "bytes"):
        raise ValueError(f"count must be 'traffic' or 'bytes', not {count!r}")
    document = _document(device)
    found = []
    for case in _matching(document, kind, precision, variant, shape):
        moved = case.traffic if count == "traffic" else case.bytes
        if not case.flops or not moved:
            continue
        times = case.seconds
        found.append(
            Point(
                device=document["device"]["key"],
                kind=case.kind,
                variant=case.variant,
                precision=case.precision,
                label=case.label,
                shape=case.shape,
                intensity=case.flops / moved,
                attained=case.flops / times.median,
                low=case.flops / times.q75,
                high=case.flops / times.q25,
                spread=(times.q75 - times.q25) / times.median,
                seconds=times.median,
            )
        )
    return sorted(found, key=lambda point: (point.intensity, point.label))


def ceilings(device: Source) -> Ceilings:
    """Return the best matrix product per precision, the best stream, and the cost of a launch.

    The ``device`` is as in ``cases``.

    Examples
    --------
    >>> found = ceilings("cpu-2core-server")
    >>> sorted(found.peaks), found.bandwidth > 1e9, found.launch < 1e-4
    (['fp32', 'fp64'], True, True)
    """
    document = _document(device)
    cache = document["device"]["last_cache_bytes"]
    peaks: dict[str, float] = {}
    bandwidth: float | None = None
    for case in (c for kind in _CEILINGS for c in _matching(document, kind, None, None, {})):
        if case.kind == "gemm" and case.precision and case.rate:
            peaks[case.precision] = max(case.rate, peaks.get(case.precision, 0.0))
        elif case.kind in ("copy", "triad") and case.bandwidth and (case.traffic or 0.0) > cache:
            bandwidth = max(case.bandwidth, bandwidth or 0.0)
    return Ceilings(
        document["device"]["key"], MappingProxyType(peaks), bandwidth, launch_seconds(document)
    )


def launch_seconds(document: Document) -> float | None:
    """Return the cost of a launch, as in `ceilings`, without looking at the other cases.

    Examples
    --------
    >>> launch_seconds(load("cpu-2core-server")) == ceilings("cpu-2core-server").launch
    True
    """
    found = [
        case.seconds.median
        for case in _matching(document, "launch", None, None, {})
        if case.variant in ("period", "numpy")
    ]
    return found[-1] if found else None
