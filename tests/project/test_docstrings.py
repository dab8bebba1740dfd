"""Docstrings on the interface's pages: what goes into every result, what comes out, in which units.

Whether every public name has an example is another test's concern; here it is how they are shown.
"""

from __future__ import annotations

import inspect

import pytest

from mlsys_widgets import physics

napoleon = pytest.importorskip("sphinx.ext.napoleon")


def results():
    public = (getattr(physics, name) for name in physics.__all__)
    return [kind for kind in public if inspect.isclass(kind) and issubclass(kind, physics.Result)]


def completed(tool, kind, name, docstring, what="class"):
    lines = docstring.splitlines()
    tool("docstrings").add_sections(None, what, name, kind, None, lines)
    return lines


def test_the_inputs_stand_before_the_examples(tool):
    lines = completed(
        tool, physics.Ridge, "mlsys_widgets.physics.Ridge", inspect.getdoc(physics.Ridge)
    )
    start = lines.index("Parameters")
    assert lines[start : start + 7] == [
        "Parameters",
        "----------",
        "peak : float or array, FLOP/s",
        "    Peak compute rate, ``P``.",
        "bandwidth : float or array, B/s",
        "    Memory bandwidth, ``B``.",
        "",
    ]
    assert lines[start + 7] == "Examples"


def test_a_derived_quantity_shows_its_formula_and_unit(tool):
    formulas = {
        name: completed(
            tool,
            getattr(physics.Roofline, name),
            f"mlsys_widgets.physics.Roofline.{name}",
            getattr(physics.Roofline, name).__doc__,
        )[1]
        for name in physics.Roofline.outputs()
    }
    assert formulas == {
        "ridge": "``I* = P / B``, in FLOP/B.",
        "attainable": "``A = min(P, B × I)``, in FLOP/s.",
        "mfu": "``MFU = A / P``, a fraction.",
        "memory_bound": "``memory-bound: I < I*``.",
    }


def test_words_before_a_colon_are_no_type(tool):
    docstring = physics.Generation.bytes.__doc__
    assert docstring == "Data moved: the weights once, and the cache."
    lines = completed(
        tool,
        physics.Generation.bytes,
        "mlsys_widgets.physics.Generation.bytes",
        docstring,
        what="attribute",
    )
    read = str(napoleon.NumpyDocstring(lines, what="attribute", name="bytes"))
    assert docstring in read
    assert ":type:" not in read


def test_every_result_is_complete(tool):
    sections = tool("docstrings")
    assert len(results()) > 20
    for kind in results():
        written = "\n".join(sections.inputs_section(kind))
        assert all(f"{name} : float or array" in written for name in kind.inputs())
        # A docstring that lists them too would list them twice.
        assert "\nParameters\n" not in kind.__doc__.replace("    ", "")
        for name in kind.outputs():
            formula = sections.formula_line(kind, inspect.getattr_static(kind, name))
            abstract = "NotImplementedError" in inspect.getsource(getattr(kind, name).formula)
            assert bool(formula) != abstract, f"{kind.__name__}.{name}"
