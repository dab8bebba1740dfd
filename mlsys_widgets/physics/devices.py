"""The machines of the course: what each can compute, move and hold, and who says so.

Examples
--------
Which machines are there, and how far apart are their ridge points?

>>> from mlsys_widgets import physics as ph
>>> ph.devices
<6 device entries: a100-sxm, h100-sxm, h200-sxm, orin-nx, mobile-npu, cortex-m7>
>>> {key: round(device.ridge(device.native)) for key, device in ph.devices.items()}
{'a100-sxm': 156, 'h100-sxm': 295, 'h200-sxm': 206, 'orin-nx': 118, 'mobile-npu': 515, \
'cortex-m7': 20}

How many gigabytes do the 8 billion weights of Llama-3.1-8B take in each precision?

>>> weights = ph.workloads["llama31-8b"].parameters
>>> gigabytes = {key: weights * size / 1e9 for key, size in ph.BYTES_PER_ELEMENT.items()}
>>> gigabytes["fp32"], gigabytes["fp16"], gigabytes["int8"]
(32.0, 16.0, 8.0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from mlsys_widgets.physics.provenance import CatalogEntry, Fact, Provenance, Source, number
from mlsys_widgets.physics.result import Explained
from mlsys_widgets.physics.roofline import Ridge
from mlsys_widgets.wording.choices import Catalog, UnknownName
from mlsys_widgets.wording.units import format_quantity

#: Bytes of one element, by precision. tf32 is a way to multiply; its numbers are stored as fp32.
BYTES_PER_ELEMENT: Final[Mapping[str, int]] = MappingProxyType(
    {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
)


@dataclass(frozen=True, kw_only=True)
class Device(CatalogEntry):
    """A machine. Peaks are dense unless the caller asks for sparse.

    ``devices`` holds those of the course; ``make_device`` builds your own.

    Examples
    --------
    What did the H200 change over the H100?

    >>> from mlsys_widgets import physics as ph
    >>> old, new = ph.devices["h100-sxm"], ph.devices["h200-sxm"]
    >>> new.peak("fp16") == old.peak("fp16"), round(new.bandwidth / old.bandwidth, 2)
    (True, 1.43)
    >>> round(old.ridge("fp16")), round(new.ridge("fp16"))
    (295, 206)
    >>> new.provenance["bandwidth"].source, new.provenance["launch_overhead"].kind
    ('NVIDIA H200 SXM datasheet', 'measured')
    """

    native: str  #: The precision its workloads run in by default.
    #: Peak rates, by precision: ``"fp16"``, ``"fp16 sparse"``. Ask ``peak`` (FLOP/s or OP/s).
    peaks: Mapping[str, float] = field(repr=False)
    bandwidth: float = number("B/s")  #: Of its memory (B/s).
    memory: float = number("B")  #: How much it holds (B).
    power: float = number("W")  #: What it draws under full load (W).
    #: What a kernel launch costs; ``None`` if nobody says. Ask ``launch`` (s).
    launch_overhead: float | None = number("s")
    #: The rate of arithmetic that is no matrix product; ``None`` if nobody says. Ask
    #: ``elementwise_rate`` (FLOP/s).
    vector_peak: float | None = number("FLOP/s", default=None)

    def peak(self, precision: str = "fp16", sparse: bool = False) -> float:
        """Peak rate in operations per second.

        In FLOP/s, or OP/s for integers. The ``precision`` is one such as ``"fp16"`` or ``"int8"``;
        with ``sparse`` it counts on 2:4 sparsity. `UnknownName` if no such peak is on record.

        Examples
        --------
        >>> devices["h100-sxm"].peak("fp16") / 1e12, devices["h100-sxm"].peak(sparse=True) / 1e12
        (989.0, 1979.0)
        >>> devices["orin-nx"].peak("int8")
        Traceback (most recent call last):
        ...
        mlsys_widgets.wording.choices.UnknownName: Jetson Orin NX has no dense int8 peak on \
record; it has: fp16, int8 sparse
        """
        key = _peak_key(precision, sparse)
        if key not in self.peaks:
            known = ", ".join(self.peaks)
            wanted = key if sparse else f"dense {key}"
            raise UnknownName(f"{self.name} has no {wanted} peak on record; it has: {known}")
        return self.peaks[key]

    def ridge(self, precision: str = "fp16", sparse: bool = False) -> Explained:
        """The intensity at which the two roofs meet, in FLOP per byte; always derived.

        Examples
        --------
        >>> round(devices["a100-sxm"].ridge("fp16")), round(devices["orin-nx"].ridge("fp16"))
        (156, 118)
        """
        ridge = Ridge(peak=self.peak(precision, sparse), bandwidth=self.bandwidth).ridge
        assert isinstance(ridge, Explained)
        return ridge

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions that have a dense peak."""
        return tuple(key for key in self.peaks if not key.endswith("sparse"))

    def peak_label(self, precision: str = "fp16", sparse: bool = False) -> str:
        """The peak in words; a sparse one always says so.

        Examples
        --------
        >>> devices["h100-sxm"].peak_label("fp16", sparse=True)
        '1,979 TFLOPS fp16 with 2:4 sparsity'
        >>> devices["mobile-npu"].peak_label("int8")
        '35 TOPS int8 dense'
        """
        unit = "OP/s" if precision.startswith("int") else "FLOP/s"
        rate = format_quantity(self.peak(precision, sparse), unit)
        return f"{rate} {precision} {'with 2:4 sparsity' if sparse else 'dense'}"

    def facts(self) -> Iterator[tuple[str, float, str, Provenance]]:
        """Every number with its unit and provenance, the peaks first."""
        for key, value in self.peaks.items():
            unit = "OP/s" if key.startswith("int") else "FLOP/s"
            yield f"peak {key}", value, unit, self.provenance[f"peak {key}"]
        yield from super().facts()

    def launch(self) -> float:
        """Launch overhead in seconds, or a sentence that says that none is on record.

        Examples
        --------
        >>> devices["orin-nx"].launch()
        5e-05
        >>> devices["mobile-npu"].launch()
        Traceback (most recent call last):
        ...
        ValueError: Mobile NPU has no launch overhead on record; pass launch_overhead in seconds
        """
        if self.launch_overhead is None:
            raise ValueError(
                f"{self.name} has no launch overhead on record; pass launch_overhead in seconds"
            )
        return self.launch_overhead

    def elementwise_rate(self) -> float:
        """The rate of elementwise arithmetic: the peak of the vector units, in any precision.

        Tensor cores multiply matrices and nothing else. Frameworks compute what is elementwise
        in fp32, also where the numbers are stored in fewer bytes.

        Examples
        --------
        >>> devices["a100-sxm"].elementwise_rate() / 1e12, devices["a100-sxm"].peak("fp16") / 1e12
        (19.5, 312.0)
        >>> devices["mobile-npu"].elementwise_rate()
        Traceback (most recent call last):
        ...
        ValueError: Mobile NPU has no vector peak on record; pass compute_time in seconds
        """
        if self.vector_peak is None:
            raise ValueError(
                f"{self.name} has no vector peak on record; pass compute_time in seconds"
            )
        return self.vector_peak


def _peak_key(precision: str, sparse: bool) -> str:
    return f"{precision} sparse" if sparse else precision


def make_device(
    key: str, name: str, native: str, peaks: dict[str, Fact], **facts: Fact | None
) -> Device:
    """A device from facts, each with its source; one that is not known is ``None``.

    Parameters
    ----------
    key, name : str
        How programs and people call it.
    native : str
        The precision its workloads run in by default; one of ``peaks``.
    peaks : dict of str to Fact
        Peak rates in FLOP/s, or OP/s for integers, by precision, such as ``"fp16 sparse"``.
    **facts : Fact or None
        ``bandwidth`` (B/s), ``memory`` (B), ``power`` (W), ``launch_overhead`` (s) and
        ``vector_peak`` (FLOP/s).

    Examples
    --------
    An accelerator that is still on paper, asked like any other machine:

    >>> from mlsys_widgets import physics as ph
    >>> plan = ph.Source("our own plan", "2026-11", "estimate")
    >>> ours = ph.make_device(
    ...     "ours",
    ...     "Our accelerator",
    ...     "fp16",
    ...     {"fp16": plan.fact(400e12)},
    ...     bandwidth=plan.fact(4e12),
    ...     memory=plan.fact(96e9),
    ...     power=plan.fact(300.0),
    ...     launch_overhead=None,
    ... )
    >>> float(ours.ridge("fp16"))
    100.0
    >>> step = ph.decode("llama31-8b", ours, batch=1, sequence=2048)
    >>> round(step.tokens_per_second), step.memory_bound
    (246, True)
    """
    sources = {f"peak {precision}": peak.provenance for precision, peak in peaks.items()}
    sources["peak"] = peaks[native].provenance
    sources |= {name: entry.provenance for name, entry in facts.items() if entry}
    return Device(
        key=key,
        name=name,
        provenance=sources,
        native=native,
        peaks={precision: peak.value for precision, peak in peaks.items()},
        **{name: entry.value if entry else None for name, entry in facts.items()},  # type: ignore[arg-type]
    )


_A100 = Source("NVIDIA A100 80GB SXM datasheet", "2021-06", "datasheet")
_H100 = Source("NVIDIA H100 SXM datasheet", "2023", "datasheet")
_H200 = Source("NVIDIA H200 SXM datasheet", "2023-11", "datasheet")
_ORIN = Source("NVIDIA Jetson Orin NX 16GB datasheet", "2023", "datasheet")
_COURSE = Source("ML Systems course, labs 01, 07 and 11", "2026-03", "course")
_ESTIMATE = Source("ML Systems course, lab 11", "2026-03", "estimate")
_OURS = Source("mlsys_widgets/measured/data/h200-sxm.json", "2026-11", "measured")
_LAUNCH_NOTE = "middle of the 5 to 20 µs that the course gives for one kernel launch"
_VECTOR_NOTE = "fp32 on the vector units, which fp16 numbers pass through as well"
_DENSE_NOTE = "the datasheet gives the rate with 2:4 sparsity; dense is half of it"

_HOPPER_PEAKS = {
    "fp16": (989e12, _DENSE_NOTE),
    "fp16 sparse": (1979e12, ""),
    "bf16": (989e12, _DENSE_NOTE),
    "bf16 sparse": (1979e12, ""),
    "tf32": (494.5e12, _DENSE_NOTE),
    "tf32 sparse": (989e12, ""),
    "fp32": (67e12, "vector units, not tensor cores"),
    "fp8": (1979e12, _DENSE_NOTE),
    "fp8 sparse": (3958e12, ""),
    "int8": (1979e12, _DENSE_NOTE),
    "int8 sparse": (3958e12, ""),
}

#: The machines of the course, by key.
devices: Final[Catalog[Device]] = Catalog(
    "device",
    make_device(
        "a100-sxm",
        "A100 SXM",
        "fp16",
        {
            "fp16": _A100.fact(312e12),
            "fp16 sparse": _A100.fact(624e12),
            "bf16": _A100.fact(312e12),
            "bf16 sparse": _A100.fact(624e12),
            "tf32": _A100.fact(156e12),
            "tf32 sparse": _A100.fact(312e12),
            "fp32": _A100.fact(19.5e12, "vector units, not tensor cores"),
            "int8": _A100.fact(624e12),
            "int8 sparse": _A100.fact(1248e12),
        },
        bandwidth=_COURSE.fact(2.0e12, "HBM2e; the datasheet says 2.039 TB/s"),
        memory=_A100.fact(80e9, "HBM2e"),
        power=_A100.fact(400.0),
        launch_overhead=_COURSE.fact(10e-6, _LAUNCH_NOTE),
        vector_peak=_A100.fact(19.5e12, _VECTOR_NOTE),
    ),
    make_device(
        "h100-sxm",
        "H100 SXM",
        "fp16",
        {p: _H100.fact(value, note) for p, (value, note) in _HOPPER_PEAKS.items()},
        bandwidth=_H100.fact(3.35e12, "HBM3"),
        memory=_H100.fact(80e9, "HBM3"),
        power=_H100.fact(700.0),
        launch_overhead=_COURSE.fact(10e-6, _LAUNCH_NOTE),
        vector_peak=_H100.fact(67e12, _VECTOR_NOTE),
    ),
    make_device(
        "h200-sxm",
        "H200 SXM",
        "fp16",
        {p: _H200.fact(value, note) for p, (value, note) in _HOPPER_PEAKS.items()},
        bandwidth=_H200.fact(4.8e12, "HBM3e"),
        memory=_H200.fact(141e9, "HBM3e"),
        power=_H200.fact(700.0),
        launch_overhead=_OURS.fact(
            8.06e-6, "1,000 kernels too short to matter, launched by PyTorch in a stream"
        ),
        vector_peak=_H200.fact(67e12, _VECTOR_NOTE),
    ),
    make_device(
        "orin-nx",
        "Jetson Orin NX",
        "fp16",
        {
            "fp16": _ESTIMATE.fact(12e12, "NVIDIA states no dense fp16 rate"),
            "int8 sparse": _ORIN.fact(100e12, "as advertised, with sparsity"),
        },
        bandwidth=_ORIN.fact(102e9, "LPDDR5; 102.4 GB/s, rounded by the course"),
        memory=_ORIN.fact(16e9, "shared by CPU and GPU"),
        power=_ORIN.fact(25.0),
        launch_overhead=_COURSE.fact(50e-6, "slower CPU and driver than in a server"),
        vector_peak=_ORIN.fact(
            1.88e12, "1,024 CUDA cores with one multiply-add per cycle at 918 MHz, fp32"
        ),
    ),
    make_device(
        "mobile-npu",
        "Mobile NPU",
        "int8",
        {"int8": _COURSE.fact(35e12, "a flagship phone's neural engine")},
        bandwidth=_COURSE.fact(68e9, "LPDDR5, shared with the phone"),
        memory=_COURSE.fact(8e9, "shared by the whole phone"),
        power=_COURSE.fact(5.0),
        launch_overhead=None,
        vector_peak=None,
    ),
    make_device(
        "cortex-m7",
        "Cortex-M7",
        "fp32",
        {"fp32": _COURSE.fact(1e9, "single-precision unit of a fast microcontroller")},
        bandwidth=_COURSE.fact(0.05e9),
        memory=_COURSE.fact(512e3, "on-chip SRAM"),
        power=_COURSE.fact(0.1),
        launch_overhead=_COURSE.fact(2e-3, "interpreter call per operator"),
        vector_peak=_COURSE.fact(1e9, "the same unit that all its arithmetic runs on"),
    ),
)


def find_device(device: Device | str) -> Device:
    """Look up a device by its key; a device itself is returned unchanged."""
    return device if isinstance(device, Device) else devices[device]
