"""How many things there are, with the noun in the right form."""

from __future__ import annotations

from typing import SupportsFloat

from mlsys_widgets.wording.units import NEVER, format_quantity


def counted(number: SupportsFloat, singular: str, plural: str | None = None) -> str:
    """Write how many things there are, with the noun in the right form.

    The plural is needed only where it is not the singular with an ``s``.

    Examples
    --------
    >>> counted(1, "image"), counted(3_000, "image"), counted(2, "query", "queries")
    ('1 image', '3,000 images', '2 queries')
    >>> counted(float("inf"), "image")
    'never'
    """
    shown = format_quantity(number)
    noun = singular if shown == "1" else plural or f"{singular}s"
    return shown if shown == NEVER else f"{shown} {noun}"


def in_unit(value: SupportsFloat, unit: str) -> str:
    """Write a number in its unit; one of what a noun counts is singular.

    Examples
    --------
    >>> in_unit(1, "rows"), in_unit(2, "rows"), in_unit(1, "s")
    ('1 row', '2 rows', '1 s')
    """
    # A noun has a singular; the symbol of a unit, such as s, has none.
    if len(unit) > 2 and unit.isalpha() and unit.endswith("s"):
        return counted(value, unit[:-1], unit)
    return format_quantity(value, unit)
