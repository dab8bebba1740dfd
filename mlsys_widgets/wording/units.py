"""Where SI values meet people: how a number is shown, and how a typed one is read.

Inside the core everything is in seconds, bytes, FLOP and watts. This module is the only place
that knows prefixes, hours and percent signs. A unit is named by a short string:

=============  ===========================  ================================
unit           shown as                     also read
=============  ===========================  ================================
``s``          ``29.9 µs``, ``22.6 hours``  ``30 s``, ``5us``, ``2 min``
``days``       ``19.2 min``, ``30 days``    ``1 week``; a bare number is days
``B``          ``17.2 GB``                  ``16 GiB``, ``512 kB``
``B/s``        ``3.35 TB/s``                ``102GB/s``
``FLOP``       ``8.2 GFLOP``                ``4 GFLOPs``
``FLOP/s``     ``571.7 TFLOPS``             ``989 TFLOP/s``
``OP/s``       ``35 TOPS``                  ``100 TOP/s``
``FLOP/B``     ``170.7 FLOP/B``             ``156 FLOP/byte``
``W``          ``700 W``, ``100 mW``        ``0.1 W``
``J``          ``43 mJ``, ``2.56 J``        ``0.5 kJ``, ``1 Wh``
``Wh``         ``1.2 kWh`` (of joules)      ``500 Wh``; a bare number is kWh
``J/token``    ``43 mJ/token``              ``0.04 J/token``
``J/B``        ``60 pJ/B``                  ``6e-11 J/B``
``J/FLOP``     ``0.5 pJ/FLOP``              ``1 pJ/FLOP``
``kg``         ``888 g``, ``1.2 t``         ``300 g``
``kg/J``       ``481 g/kWh``                ``381 g/kWh``
``USD``        ``3.2 USD``                  ``3.20 $``
``USD/J``      ``0.12 USD/kWh``             ``0.3 $/kWh``
``%``          ``57.8%`` (of a fraction)    ``33``, meaning 33%
``×``          ``7.39×``                    ``2.4x``
``/s``         ``1,450/s``                  ``1.45k``, ``5M per day``
``/day``       ``2,400/day``                ``100 per hour``
a noun         ``133,607 images``           ``134k``, ``1e5``
(empty)        ``133,607``                  ``134k``, ``1e5``
=============  ===========================  ================================

Examples
--------
What cannot happen is shown, and read, as one word:

>>> from mlsys_widgets import physics as ph
>>> no_gain = ph.break_even(compile_time=30, eager_rate=1450, compiled_rate=1450)
>>> ph.format_quantity(no_gain, "images") == ph.NEVER
True
>>> ph.NEVER, ph.parse_quantity(ph.NEVER, "images")
('never', inf)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final, SupportsFloat

SECONDS_PER_HOUR: Final = 3600.0
SECONDS_PER_DAY: Final = 86_400.0
JOULES_PER_KWH: Final = 3.6e6
_MINUTE: Final = 60.0
_YEAR: Final = 365 * SECONDS_PER_DAY

#: What an infinite count or time is called: break-even without a gain.
NEVER: Final = "never"

_PREFIX: Final = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0,
    # Computing writes KB; physics, kW.
    "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
}  # fmt: skip
_BINARY: Final = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_MULTIPLES: Final = {
    "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}  # fmt: skip

#: How plain numbers are typed: of several sizes, since one alone would suggest its own magnitude.
_PLAIN: Final = {"12": 12, "3.5k": 3.5e3, "2e6": 2e6}

#: The units people plan in; nobody says a fraction of one.
_PLANNED: Final = frozenset({"min", "hours", "days", "years"})

#: (from this size on, one of these in SI, its label)
_Step = tuple[float, float, str]


@dataclass(frozen=True)
class _Scale:
    """The ways to write one kind of quantity."""

    noun: str
    example: str
    #: Shown with the last step whose size is reached.
    steps: tuple[_Step, ...]
    #: Read by spelling; spaces do not count.
    spellings: dict[str, float]

    @property
    def bare(self) -> float:
        """The factor of a number that is typed without a unit."""
        return self.spellings[""]


def _metric(noun: str, example: str, shown: str, prefixes: str, *also: str) -> _Scale:
    """A quantity with metric prefixes, shown under one name and read under several."""
    steps = tuple((_PREFIX[p], _PREFIX[p], p + shown) for p in ["", *prefixes])
    bases = [shown, *also]
    table = {p + base: _PREFIX[p] for base in bases for p in ["", *prefixes]}
    table |= {p + base: factor for base in bases for p, factor in _BINARY.items() if "B" in shown}
    return _Scale(noun, example, tuple(sorted(steps)), {"": 1.0, **table})


def _plain(noun: str, example: str, shown: str, *also: str, factor: float = 1.0) -> _Scale:
    """A quantity without prefixes."""
    table = dict.fromkeys(["", shown.strip(), *also], factor)
    return _Scale(noun, example, ((0.0, factor, shown),), table)


def plain_examples(low: float = -math.inf, high: float = math.inf) -> str:
    """How a plain number between two limits may be typed; empty if no example lies there.

    Examples
    --------
    >>> plain_examples(), plain_examples(1, 1e4)
    ('12, 3.5k or 2e6', '12 or 3.5k')
    """
    allowed = [text for text, value in _PLAIN.items() if low <= value <= high]
    return " or ".join(filter(None, [", ".join(allowed[:-1]), *allowed[-1:]]))


def _count(shown: str, *also: str) -> _Scale:
    """A number of things: ``134k``, ``1.2 million``, with or without the noun."""
    table = {
        m + noun: size for m, size in _MULTIPLES.items() for noun in ["", shown.strip(), *also]
    }
    return _Scale("a number", plain_examples(), ((0.0, 1.0, shown),), table)


def _rate(shown: str, seconds: float) -> _Scale:
    """A number per unit of time, shown per one unit and read per any."""
    per = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": _MINUTE, "minute": _MINUTE,
           "h": SECONDS_PER_HOUR, "hr": SECONDS_PER_HOUR, "hour": SECONDS_PER_HOUR,
           "d": SECONDS_PER_DAY, "day": SECONDS_PER_DAY, "year": _YEAR}  # fmt: skip
    table = dict(_MULTIPLES)
    for multiple, size in _MULTIPLES.items():
        for unit, duration in per.items():
            table |= {f"{multiple}/{unit}": size * seconds / duration}
            table |= {f"{multiple}per{unit}": size * seconds / duration}
    return _Scale("a rate", f"1450{shown} or 100 per hour", ((0.0, 1.0, shown),), table)


def _time(unit: float = 1.0) -> _Scale:
    """Short times with prefixes, long ones in the units people plan in.

    ``unit`` is the length in seconds of what the value counts.
    """
    short = _metric("a time", "30 s, 5 µs or 2 hours", "s", "pnµm", "sec", "second", "seconds")
    long = (
        (2 * _MINUTE, _MINUTE, "min"),
        (2 * SECONDS_PER_HOUR, SECONDS_PER_HOUR, "hours"),
        (2 * SECONDS_PER_DAY, SECONDS_PER_DAY, "days"),
        (2 * _YEAR, _YEAR, "years"),
    )
    words = {"min": _MINUTE, "minute": _MINUTE, "h": SECONDS_PER_HOUR, "hr": SECONDS_PER_HOUR,
             "hour": SECONDS_PER_HOUR, "d": SECONDS_PER_DAY, "day": SECONDS_PER_DAY,
             "week": 7 * SECONDS_PER_DAY, "year": _YEAR}  # fmt: skip
    words |= {f"{word}s": size for word, size in words.items()} | short.spellings
    steps = tuple((size / unit, one / unit, label) for size, one, label in (*short.steps, *long))
    spellings = {word: size / unit for word, size in words.items()} | {"": 1.0}
    return _Scale(short.noun, short.example, steps, spellings)


def _energy() -> _Scale:
    """Joules with prefixes; watt-hours are read as well."""
    scale = _metric("an energy", "2.5 J or 40 mJ", "J", "nµmkMG", "joule", "joules")
    return replace(scale, spellings=_WATT_HOURS | scale.spellings)


#: Joules of what electricity is sold in.
_WATT_HOURS: Final = {p + "Wh": _PREFIX[p] * JOULES_PER_KWH / 1e3 for p in ["", "k", "M", "G", "T"]}


def _bought_energy() -> _Scale:
    """Joules, shown in what electricity is sold in."""
    sizes = _WATT_HOURS.items()
    steps = tuple((0.0 if label == "Wh" else size, size, label) for label, size in sizes)
    spellings = _energy().spellings | {"": JOULES_PER_KWH}
    return _Scale("an energy", "1.2 kWh", steps, spellings)


def _mass() -> _Scale:
    """Kilograms, shown in grams and tonnes too."""
    table = {"": 1.0, "mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3}
    steps = ((0.0, 1e-3, "g"), (1.0, 1.0, "kg"), (1e3, 1e3, "t"))
    return _Scale("a mass", "300 g or 1.2 t", steps, table)


_SCALES: Final = {
    "s": _time(),
    "days": _time(unit=SECONDS_PER_DAY),
    "B": _metric("an amount of data", "16 GB or 512 KB", "B", "KMGTPE", "byte", "bytes"),
    "B/s": _metric("a bandwidth", "1.5 TB/s", "B/s", "KMGT", "byte/s", "bytes/s", "Bps"),
    "FLOP": _metric("an amount of work", "8.2 GFLOP", "FLOP", "KMGTPE", "FLOPs"),
    # Accelerators are compared in TFLOPS and TOPS, also past a thousand of them.
    "FLOP/s": _metric("a compute rate", "312 TFLOPS", "FLOPS", "KMGT", "FLOP/s", "FLOPs/s"),
    "OP/s": _metric("a compute rate", "35 TOPS", "OPS", "KMGT", "OP/s", "OPs/s"),
    "FLOP/B": _plain("an intensity", "170.7 FLOP/B", " FLOP/B", "FLOP/byte", "FLOPs/byte"),
    "J": _energy(),
    "Wh": _bought_energy(),
    "J/token": _metric("an energy", "40 mJ/token", "J/token", "nµmk", "J"),
    "J/B": _metric("an energy", "60 pJ/B", "J/B", "fpnµm", "J/byte"),
    "J/FLOP": _metric("an energy", "0.5 pJ/FLOP", "J/FLOP", "fpnµm"),
    "kg": _mass(),
    "kg/J": _plain("a carbon intensity", "381 g/kWh", " g/kWh", factor=1e-3 / JOULES_PER_KWH),
    "USD": _plain("an amount of money", "12.50 USD", " USD", "$"),
    "USD/J": _plain("a price", "0.12 USD/kWh", " USD/kWh", "$/kWh", factor=1 / JOULES_PER_KWH),
    "W": _metric("a power", "700 W or 100 mW", "W", "µmkM", "watt", "watts"),
    "%": _plain("a percentage", "33%", "%", "percent", factor=0.01),
    "×": _plain("a ratio", "2.4×", "×", "x", "times"),
    "/s": _rate("/s", 1.0),
    "/day": _rate("/day", SECONDS_PER_DAY),
    "": _count(""),
}


@cache
def _scale(unit: str) -> _Scale:
    return _SCALES.get(unit) or _count(f" {unit}", unit.removesuffix("s"))


def _digits(value: float, *, pad: bool = False) -> str:
    """About three digits below ten, one decimal above, whole numbers from a thousand on."""
    size = abs(value)
    if size != 0 and not 1e-3 <= size < 1e15:
        return f"{value:.3g}"
    if size >= 999.95:
        return f"{value:,.0f}"
    if size < 0.9995:
        # Of the number as it will be written: 0.09999 becomes 0.100 and has three decimals.
        decimals = 3 if size == 0 else 2 - math.floor(math.log10(float(f"{size:.3g}")))
    else:
        decimals = 2 if size < 9.995 else 1
    text = f"{value:.{decimals}f}"
    return text if pad and size else text.rstrip("0").rstrip(".")


def _written(value: float, step: _Step, *, pad: bool) -> str:
    _, factor, label = step
    space = "" if not label or label[0] in " %×/" else " "
    return f"{_digits(value / factor, pad=pad)}{space}{label}"


def format_quantity(value: SupportsFloat, unit: str = "", *, pad: bool = False) -> str:
    """Write an SI value the way people read it.

    Parameters
    ----------
    value : float or bool
        The number, in SI units; a fraction for ``%``. Infinity is "never", a truth value is
        "yes" or "no".
    unit : str
        One of the units of this module, or the noun of what is counted.
    pad : bool
        Keep trailing zeros, so that a number does not change its width while a slider moves.

    Examples
    --------
    >>> format_quantity(571.7e12, "FLOP/s"), format_quantity(29.85e-6, "s")
    ('571.7 TFLOPS', '29.9 µs')
    >>> format_quantity(133607.14, "images"), format_quantity(0.578, "%")
    ('133,607 images', '57.8%')
    >>> format_quantity(81_288, "s"), format_quantity(float("inf"), "images")
    ('22.6 hours', 'never')
    >>> format_quantity(2e12, "B/s"), format_quantity(2e12, "B/s", pad=True)
    ('2 TB/s', '2.00 TB/s')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _format(float(value), unit, pad)


@lru_cache(4096)  # an instrument shows the same ticks and limits with every move
def _format(number: float, unit: str, pad: bool) -> str:
    if math.isnan(number):
        raise ValueError("value is not a number (NaN); there is nothing to show")
    if math.isinf(number):
        return NEVER if number > 0 else f"−{NEVER}"
    sign = "−" if number < 0 else ""
    return sign + _written(abs(number), _step(abs(number), unit), pad=pad)


def _step(size: float, unit: str) -> _Step:
    """How a value of this size is shown."""
    steps = _scale(unit).steps
    chosen = steps[0]
    for step in steps:
        # A value that would be rounded up to the next step is shown in that step; zero is
        # shown in the plain unit.
        if size >= step[0] * (1 - 5e-5) or (size == 0 and step[0] <= 1.0):
            chosen = step
    return chosen


def in_one_unit(unit: str, *values: SupportsFloat, pad: bool = False) -> tuple[str, ...]:
    """Write values that one sentence compares in one unit, that of the largest.

    A value that would become a small fraction there keeps a unit of its own: less than a hundredth,
    or less than one of what people plan in, such as hours.

    Examples
    --------
    >>> in_one_unit("s", 0.8438, 9.33), in_one_unit("B/s", 3.35e12, 102e9)
    (('0.844 s', '9.33 s'), ('3.35 TB/s', '0.102 TB/s'))
    >>> in_one_unit("s", 5e-6, 9.33), in_one_unit("days", 0.225, 30)
    (('5 µs', '9.33 s'), ('5.4 hours', '30 days'))
    >>> in_one_unit("s", 90, 1200, float("inf"))
    ('1.5 min', '20 min', 'never')
    """
    sizes = [abs(float(value)) for value in values]
    step = _step(max((size for size in sizes if math.isfinite(size)), default=0.0), unit)
    least = 1.0 if step[2] in _PLANNED else 0.01
    shown = []
    for value, size in zip(values, sizes, strict=True):
        if isinstance(value, bool) or not math.isfinite(size) or 0 < size < least * step[1]:
            shown.append(format_quantity(value, unit, pad=pad))
        else:
            sign = "−" if float(value) < 0 else ""
            shown.append(sign + _written(size, step, pad=pad))
    return tuple(shown)


_NUMBER: Final = re.compile(
    r"(?P<sign>[+\-−]?)"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:_\d{3})*(?:\.\d*)?|\.\d+)"
    r"(?P<exponent>[eE][+\-−]?\d+)?"
    r"(?P<unit>(?![\d.,]).*)"
)


def parse_quantity(
    text: str, unit: str = "", *, bare: float | None = None, example: str = ""
) -> float:
    """Read what people type as an SI value.

    Parameters
    ----------
    text : str
        A number, with or without a unit.
    unit : str
        The unit of the answer, and of a number without one; for ``%`` that means percent.
    bare : float, optional
        What a number without a unit is multiplied by instead: ``bare=1e-6`` reads 5 as 5 µs.
    example : str
        How to write it, for whoever typed something else; by default in several units.

    Returns
    -------
    float
        In SI units; a fraction for ``%``.

    Raises
    ------
    ValueError
        If it is not a number of that unit, with a sentence that shows how to write one.

    Examples
    --------
    >>> parse_quantity("30 s", "s"), parse_quantity("1.5 TB/s", "B/s")
    (30.0, 1500000000000.0)
    >>> parse_quantity("33%", "%"), parse_quantity("134k"), parse_quantity("1e5", "images")
    (0.33, 134000.0, 100000.0)
    >>> parse_quantity("30 GB", "s")
    Traceback (most recent call last):
    ...
    ValueError: '30 GB' is in GB, which is not a time; write it like 30 s, 5 µs or 2 hours
    >>> parse_quantity("160 W", "bits", example="1.5")
    Traceback (most recent call last):
    ...
    ValueError: '160 W' is in W, not in bits; write it like 1.5
    """
    scale = _scale(unit)
    example = example or scale.example
    typed = str(text).strip()
    if typed.lower() == NEVER:
        return math.inf
    found = _NUMBER.fullmatch(typed.removeprefix("~").removeprefix("≈").strip())
    if not found:
        hint = " (with a decimal point, not a comma)" if "," in typed else ""
        raise ValueError(f"{text!r} is not {scale.noun}; write it like {example}{hint}")
    spelling = "".join(found["unit"].split()).replace("μ", "µ")
    factor = bare if bare is not None and not spelling else _read_unit(scale, spelling)
    if factor is None:
        is_noun = unit and unit not in _SCALES
        wanted = f"not in {unit}" if is_noun else f"which is not {scale.noun}"
        raise ValueError(
            f"{text!r} is in {found['unit'].strip()}, {wanted}; write it like {example}"
        )
    number = found["digits"].replace(",", "").replace("_", "") + (found["exponent"] or "")
    # Dividing by a million is exact where multiplying by a millionth is not.
    typed_number = float(number.replace("−", "-"))
    value = typed_number * factor if factor >= 1 else typed_number / (1 / factor)
    if math.isinf(value):
        raise ValueError(f"{text!r} is too large; write {scale.noun} like {example}")
    return -value if found["sign"] in ("-", "−") else value


def _read_unit(scale: _Scale, spelling: str) -> float | None:
    """The size of a typed unit: as spelled, else in any letter case if only one unit fits."""
    if spelling in scale.spellings:
        return scale.spellings[spelling]
    wanted = spelling.casefold()
    if wanted.startswith("u") and f"µ{wanted[1:]}" in scale.spellings:
        return scale.spellings[f"µ{wanted[1:]}"]
    fits = {size for name, size in scale.spellings.items() if name.casefold() == wanted}
    return fits.pop() if len(fits) == 1 else None
