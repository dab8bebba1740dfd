"""Completes docstrings for the pages of the interface; an extension of Sphinx.

A result of the physics core names each input and derives each output by a formula (see
``mlsys_widgets/physics/result.py``). Its page shows both, read from the class itself, so that no
docstring repeats them and no page can contradict them.
"""

from __future__ import annotations

import pydoc
from typing import Any

from sphinx.application import Sphinx

from mlsys_widgets.physics import Quantity, Result, notation
from mlsys_widgets.physics.result import Derived

#: How units are named where the unit alone would say too little.
_UNITS = {"": "", "%": "a fraction", "×": "a ratio", "/s": "per second", "/day": "per day"}


def inputs_section(kind: type[Result]) -> list[str]:
    """Return the inputs of a kind of result, as a NumPy section."""
    lines = [line for each in kind.inputs().values() for line in _input(each)]
    return ["Parameters", "----------", *lines, ""] if lines else []


def _input(quantity: Quantity) -> list[str]:
    unit = _UNITS.get(quantity.unit, quantity.unit)
    kind = f"float or array, {unit}" if unit else "float or array"
    about = quantity.about[:1].upper() + quantity.about[1:]
    return [f"{quantity.name} : {kind}", f"    {about}, ``{quantity.symbol}``."]


def formula_line(kind: type[Result], member: Derived[Any]) -> str:
    """Return the formula of a derived quantity and its unit; empty where only subclasses have one.

    As text: it reads like what ``derivation()`` prints, and pages need no MathJax for it.
    """
    called = kind.inputs() | kind.outputs()
    try:
        right = notation.write(member.formula, notation.TEXT, lambda name: called[name].symbol)
    except TypeError:  # no return to read: each subclass has its own formula
        return ""
    # What a comparison yields is a verdict, and not equal to it.
    verdict = any(sign in right for sign in "<>≤≥")
    unit = _UNITS.get(member.unit, f"in {member.unit}")
    written = f"``{member.symbol}{':' if verdict else ' ='} {right}``"
    return f"{written}, {unit}." if unit else f"{written}."


def add_sections(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Complete the docstring of a result or of one of its derived quantities."""
    if what in ("attribute", "data", "property") and lines and ":" in lines[0]:
        # Napoleon takes "Data moved: weights and cache" for a type and its description, unless
        # another line comes first.
        lines[:0] = ["..", ""]
    if isinstance(obj, type) and issubclass(obj, Result):
        place = lines.index("Examples") if "Examples" in lines else len(lines)
        lines[place:place] = inputs_section(obj)
    elif isinstance(obj, Derived):
        owner = pydoc.locate(name.rpartition(".")[0])
        assert isinstance(owner, type), name
        if formula := formula_line(owner, obj):
            lines[:] = [*"\n".join(lines).rstrip().splitlines(), formula, ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Run before napoleon, which then reads the section as if it had been in the docstring."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", add_sections, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
