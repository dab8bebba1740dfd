"""Everyone has their own numbers, drawn from the student's name and always the same."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mlsys_widgets.labs import Parameter, Parameters, steps
from mlsys_widgets.labs.variants import draw

names = st.text(min_size=1, max_size=30)
values = st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=20, unique=True)


def parameters(**declared):
    return {name: Parameter(each[0], each, "", name) for name, each in declared.items()}


@given(student=names, edition=st.text(max_size=8), first=values, second=values)
def test_a_draw_is_stable_within_its_values_and_on_its_own(student, edition, first, second):
    alone = draw(parameters(a=first), lab="x", student=student, edition=edition)
    both = draw(parameters(b=second, a=first), lab="x", student=student, edition=edition)
    again = draw(parameters(b=second, a=first), lab="x", student=student, edition=edition)
    assert both == again
    assert alone.a == both.a
    assert both.a in first
    assert both.b in second


@given(student=names, first=values)
def test_without_variants_there_are_defaults(student, first):
    off = draw(parameters(a=first), lab="x", student=student, edition="2027", variants=False)
    assert off == Parameters({"a": first[0]})


def test_every_value_is_reached_about_as_often():
    declared = parameters(a=list(range(20)))
    found = [draw(declared, lab="x", student=f"s{k}").a for k in range(4000)]
    counts = [found.count(value) for value in range(20)]
    assert min(counts) > 130
    assert max(counts) < 280


@pytest.mark.parametrize("what", ["lab", "edition", "student"])
def test_another_lab_edition_or_student_has_other_numbers(what):
    declared = parameters(a=list(range(1000)), b=list(range(1000)))
    base = {"lab": "x", "edition": "", "student": "s"}
    drawn = {tuple(draw(declared, **{**base, what: f"{k}"}).values()) for k in range(50)}
    assert len(drawn) == 50


@given(one=names, other=names)
def test_names_that_differ_are_told_apart(one, other):
    """Names, labs and editions cannot be shifted into each other."""
    assume(one != other)
    declared = parameters(a=range(10**12))
    assert draw(declared, lab=one, student=other) != draw(declared, lab=other, student=one)


def test_parameters_are_read_by_attribute_and_by_name():
    p = Parameters({"kernels": 3})
    assert (p.kernels, p["kernels"], dict(p)) == (3, 3, {"kernels": 3})
    with pytest.raises(AttributeError, match="the lab has no parameter 'kernel'; it has: kernels"):
        _ = p.kernel
    with pytest.raises(AttributeError):
        p._repr_html_()
    with pytest.raises(ValueError, match="'size' has no values; give at least one"):
        Parameter(1, (), "", "size")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((1, 3, 1), (1, 2, 3)),
        ((0.1, 0.3, 0.1), (0.1, 0.2, 0.3)),
        ((1, 2, 0.4), (1, 1.4, 1.8)),
        ((5, 5, 1), (5,)),
    ],
)
def test_steps(arguments, found):
    assert steps(*arguments) == found


@pytest.mark.parametrize("arguments", [(1, 0, 1), (0, 1, 0), (0, 1, -1)])
def test_steps_that_go_nowhere(arguments):
    with pytest.raises(ValueError, match="steps go up from first to last"):
        steps(*arguments)
