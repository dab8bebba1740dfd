"""The units of typed answers: ``33%`` in percent, ``3.94 µs`` in microseconds, ``883k`` images.

An answer is kept in the unit that its question asks for. Whoever types another unit of the same
kind has it converted; whoever types none means the unit that was asked for.
"""

from __future__ import annotations

import math
import re
from typing import Final

from mlsys_widgets.wording.units import parse_quantity

#: By the word in a question: the unit as physics names it, and how much of it the word means.
_UNITS: Final = {
    "percent": ("%", 0.01),
    "times": ("×", 1.0),
    "µs": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "seconds": ("s", 1.0),
    "minutes": ("s", 60.0),
    "hours": ("s", 3600.0),
    "days": ("s", 86400.0),
    "bytes": ("B", 1.0),
    "KB": ("B", 1e3),
    "MB": ("B", 1e6),
    "GB": ("B", 1e9),
    "TB": ("B", 1e12),
    "MB/s": ("B/s", 1e6),
    "GB/s": ("B/s", 1e9),
    "TB/s": ("B/s", 1e12),
    "GFLOP": ("FLOP", 1e9),
    "GFLOPS": ("FLOP/s", 1e9),
    "TFLOPS": ("FLOP/s", 1e12),
    "FLOP/byte": ("FLOP/B", 1.0),
    "watts": ("W", 1.0),
}
#: What could be a decimal comma or thousands: 3,940.
_AMBIGUOUS: Final = re.compile(r"[+\-−~≈]?\s*[1-9]\d{0,2},\d{3}(?![\d,.])")


def read_number(text: str, unit: str, example: str = "") -> float:
    """Read a typed number in the unit that was asked for; ``example`` is how to write one.

    Raises
    ------
    ValueError
        With a sentence that says how to write it.
    """
    known, size = _UNITS.get(unit, (unit, 1.0))
    # A question in days is answered in days: an example in seconds would lead astray.
    example = example or (f"12.5 {unit}" if known == "s" else "")
    value = parse_quantity(text, known, bare=size, example=example)
    if not math.isfinite(value):
        raise ValueError(f"{text.strip()!r} is not a finite number; type a number, in {unit}")
    # Three digits that were typed stay three digits: 0.33 / 0.01 is not quite 33.
    return float(f"{value / size:.12g}")


def is_measured(unit: str) -> bool:
    """Whether a unit measures something; nouns only say what is counted.

    Examples
    --------
    >>> is_measured("µs"), is_measured("images")
    (True, False)
    """
    return unit in _UNITS


def comma_note(text: str) -> str:
    """Ask back where a comma may have been meant as a decimal point; usually nothing."""
    typed = text.strip()
    if not _AMBIGUOUS.match(typed):
        return ""
    return (
        "The comma was read as a thousands separator. For a decimal point, type"
        f" “{typed.replace(',', '.')}”."
    )


def write_number(value: float, unit: str) -> str:
    """A number with the unit that was asked for.

    Examples
    --------
    >>> write_number(33.3, "percent"), write_number(3.94, "µs"), write_number(883_036, "images")
    ('33.3 percent', '3.94 µs', '883,036 images')
    """
    return f"{short_number(value)} {unit}"


def short_number(value: float) -> str:
    """A number as people write it, to six digits."""
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        return f"{value:.6g}"
    decimals = max(0, 5 - math.floor(math.log10(size))) if size else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text
