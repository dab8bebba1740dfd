"""Devices that were measured: the parameters of their laws, and where each comes from.

The textbook form divides work by the peak and data by the bandwidth. The calibrated form uses the
laws of ``kernel_laws`` with parameters fitted to a measurement of the device, and is never faster.
The parameters that ship are those that ``mlsys validate`` judges: fitted to some of the measured
cases, judged on the others.

Examples
--------
Which families of kernels follow a law of their own, and what does that of softmax take into account
beyond a floor and shares of both ceilings?

>>> from dataclasses import fields
>>> from mlsys_widgets import physics as ph
>>> for family in ("products", "cache attention", "rows of softmax"):
...     print(f"{family}: {ph.LAWS[family].__doc__.splitlines()[0]}")
products: Products with weights: tiles, waves of them, and sizes that tensor cores cannot take.
cache attention: A floor and constant shares of both ceilings.
rows of softmax: Softmax of rows that a block holds in its registers or, if they are longer, \
elsewhere.
>>> shared = {field.name for field in fields(ph.Law)}
>>> [field.name for field in fields(ph.LAWS["rows of softmax"]) if field.name not in shared]
['row_time', 'column_time', 'long_share', 'block_share']
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, Final

from mlsys_widgets.physics.attention_law import PromptAttentionLaw
from mlsys_widgets.physics.devices import Device, find_device
from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.kernel_laws import Law, LawCeilings, SmallLaw
from mlsys_widgets.physics.kernel_time import CalibratedTime
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.power_law import PowerLaw
from mlsys_widgets.physics.product_laws import ProductLaw, UnalignedLaw
from mlsys_widgets.physics.products import storages
from mlsys_widgets.physics.provenance import Provenance, Source, catalog_entry
from mlsys_widgets.physics.row_laws import GatherLaw, RowLaw, SoftmaxLaw
from mlsys_widgets.wording.choices import UnknownName, one_of

#: The law that each family of kernels follows.
LAWS: Final[Mapping[str, type[Law]]] = {
    "products": ProductLaw,
    "unaligned products": UnalignedLaw,
    "weight-only products": Law,
    "prompt attention": PromptAttentionLaw,
    "cache attention": Law,
    "rows of softmax": SoftmaxLaw,
    "rows": RowLaw,
    "short rows": RowLaw,
    "ragged rows": RowLaw,
    "small kernels of embedding": GatherLaw,
    "small kernels": SmallLaw,
}


#: A precision that the same units compute at the same rate, where one was measured too little.
_ALIKE: Final = {"bf16": "fp16"}


@dataclass(frozen=True)
class DeviceCalibration:
    """A device as it was measured.

    ``calibration_of`` finds the one that ships, ``read_calibration`` reads your own.

    Examples
    --------
    How much of an H200's roof does a large matrix product reach, and a small one?

    >>> from mlsys_widgets import physics as ph
    >>> h200 = ph.calibration_of("h200-sxm")
    >>> large, small = (h200.time(ph.product(n, n, n), "products") for n in (8192, 512))
    >>> large.roof_share > 0.6, small.roof_share < 0.2
    (True, True)
    >>> h200.source.kind, h200.device.name
    ('measured', 'H200 SXM')
    >>> name, value, unit, origin = next(h200.facts())
    >>> name, unit, origin.note
    ('launch', 's', 'layers and models that wait for the host')
    """

    device: Device  #: The device that was measured.
    laws: Mapping[str, Law]  #: By family, products and attention by precision: ``"products fp16"``.
    launch: float  #: How long the host takes to launch one kernel of a model (s).
    training_launch: float  #: The same while gradients are recorded and computed (s).
    units: float  #: Multiprocessors.
    source: Source  #: The measurement.
    power: PowerLaw | None = None  #: What its power depends on, if its energy was measured.

    def power_law(self) -> PowerLaw:
        """Return the law that the power of the device follows.

        `UnknownName` if its energy was not measured.
        """
        if self.power is None:
            raise UnknownName(
                f"the energy of {self.device.name} was not measured, so nothing tells its power"
            )
        return self.power

    def law(self, family: str, precision: str) -> Law:
        """The law of a family in a precision.

        The ``family`` is a key of ``LAWS``, or one that ``product_family`` or ``row_family`` names,
        and the ``precision`` a key of ``storages``. `UnknownName` if it was not measured.
        """
        for name in (f"{family} {precision}", f"{family} {_ALIKE.get(precision, '')}", family):
            if name in self.laws:
                return self.laws[name]
        known = ", ".join(self.laws)
        raise UnknownName(
            f"{self.device.name} has no measured {family} in {precision}; it has: {known}"
        )

    def time(
        self, kernel: Kernel, family: str, precision: str = "fp16", launches: Numeric = 1.0
    ) -> CalibratedTime:
        """How long a kernel takes on the device.

        Each of the ``launches``, the kernels that the call runs, pays the floor. ``family`` and
        ``precision`` as in ``law``.
        """
        law, ceilings = self._found.get((family, precision)) or self._find(family, precision)
        return law.time(kernel, ceilings, launches)

    def _find(self, family: str, precision: str) -> tuple[Law, LawCeilings]:
        peak = self.device.peak(storages[precision].arithmetic)
        ceilings = LawCeilings(peak, self.device.bandwidth, float(self.units))
        found = self._found[family, precision] = self.law(family, precision), ceilings
        return found

    @cached_property
    def _found(self) -> dict[tuple[str, str], tuple[Law, LawCeilings]]:
        """Laws and ceilings that were asked for: a model asks for the same few again and again."""
        return {}

    @cached_property
    def precisions(self) -> tuple[str, ...]:
        """The precisions in which products were measured."""
        families = ("products", "weight-only products")
        return tuple(p for p in storages if any(f"{f} {p}" in self.laws for f in families))

    def facts(self) -> Iterator[tuple[str, float, str, Provenance]]:
        """Every parameter with its unit and provenance."""
        waiting = "layers and models that wait for the host"
        yield "launch", self.launch, "s", self.source.fact(self.launch, waiting).provenance
        note, each = "training steps that wait for the host", self.training_launch
        yield "launch in training", each, "s", self.source.fact(each, note).provenance
        for law in self.laws.values():
            for name, value, unit, origin in law.facts():
                yield f"{law.name}: {name}", value, unit, origin
        for name, value, unit, origin in self.power.facts() if self.power else ():
            yield f"power: {name}", value, unit, origin


def calibrated_devices() -> tuple[str, ...]:
    """Keys of the devices that have a calibration.

    Each is a key of ``devices``.

    Examples
    --------
    Of which devices can the calibrated form be asked?

    >>> calibrated_devices()
    ('h200-sxm',)
    """
    return tuple(_shipped())


def calibration_of(device: Device | str) -> DeviceCalibration:
    """The calibration of a device.

    `UnknownName` if no measurement of the device ships.

    Examples
    --------
    >>> "int4" in calibration_of("h200-sxm").precisions
    True
    >>> calibration_of("a100-sxm")
    Traceback (most recent call last):
    ...
    mlsys_widgets.wording.choices.UnknownName: device is 'a100-sxm', of which no measurement is on \
record; the calibrated form knows: h200-sxm
    """
    key = find_device(device).key
    known = _shipped()
    if key not in known:
        raise UnknownName(
            f"device is {key!r}, of which no measurement is on record; the calibrated form knows: "
            f"{', '.join(known)}"
        )
    return known[key]


@cache
def _shipped() -> dict[str, DeviceCalibration]:
    folder = resources.files(__package__).joinpath("calibrations")
    texts = (entry.read_text("utf-8") for entry in folder.iterdir() if entry.is_file())
    read = (read_calibration(json.loads(text)) for text in texts)
    return {calibration.device.key: calibration for calibration in read}


def read_calibration(data: Mapping[str, Any], device: Device | None = None) -> DeviceCalibration:
    """A calibration from plain data, as ``mlsys calibrate`` writes it.

    ``device`` is needed where it is not one of ``devices``.

    Examples
    --------
    Suppose that your own measurement found a floor of 3 µs and 80% of the bandwidth:

    >>> from mlsys_widgets import physics as ph
    >>> shares = {"floor": 3e-6, "bandwidth_share": 0.8, "compute_share": 0.7, "exposed": 0.0}
    >>> mine = ph.read_calibration(
    ...     {
    ...         "device": "a100-sxm",
    ...         "source": "my-a100.json",
    ...         "date": "2026-11",
    ...         "units": 108.0,
    ...         "launch": 8e-6,
    ...         "training_launch": 12e-6,
    ...         "laws": {
    ...             "cache attention": {
    ...                 "law": "cache attention",
    ...                 "cases": 12,
    ...                 "from": "decoding",
    ...                 "parameters": shares,
    ...             }
    ...         },
    ...     }
    ... )
    >>> token = ph.attention(16, heads=32, queries=1, keys=2048, head_width=128, kv_heads=8)
    >>> timed = mine.time(token, "cache attention")
    >>> ph.format_quantity(timed.textbook, "s"), ph.format_quantity(timed.time, "s")
    ('67.2 µs', '87 µs')
    >>> mine.laws["cache attention"].provenance["floor"].note
    'from 12 cases of decoding'
    """
    source = Source(data["source"], data["date"], "measured")
    laws = {}
    for name, entry in data["laws"].items():
        kind = LAWS[one_of("law", entry["law"], LAWS)]
        note = f"from {entry['cases']} cases of {entry['from']}"
        facts = {p: source.fact(value, note) for p, value in entry["parameters"].items()}
        laws[name] = catalog_entry(kind, name, name, **facts)
    power = data.get("power")
    if power is not None:
        note = f"from {power['cases']} cases of {power['from']}"
        facts = {p: source.fact(value, note) for p, value in power["parameters"].items()}
        power = catalog_entry(PowerLaw, "power", "power", **facts)
    return DeviceCalibration(
        device=find_device(data["device"]) if device is None else device,
        laws=laws,
        launch=data["launch"],
        training_launch=data["training_launch"],
        units=data["units"],
        source=source,
        power=power,
    )
