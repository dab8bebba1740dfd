"""Worked numbers: a value with its unit, and the formula that leads to it in every notation."""

from __future__ import annotations

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.cards.worked_numbers import worked_rows


def test_a_result_of_physics_brings_one_row_for_each_step():
    run = ph.forward_pass(1000, 5e-6, 10e-6)
    rows = worked_rows(run)
    assert [row.label for row in rows] == [step.title for step in run.derivation().steps]
    last = rows[-1]
    assert last.text().endswith("33.3% (U = t_compute / T = 5 ms / 15 ms)")
    assert last.typeset.count("<mfrac>") == 2
    assert "33.3%" not in last.typeset  # the value is in the row already
    assert "<var>U</var> = <var>t<sub>compute</sub></var> / <var>T</var>" in last.html()


def test_an_authors_note_takes_the_place_of_the_formula():
    busy = ph.forward_pass(1000, 5e-6, 10e-6).utilization
    (row,) = worked_rows({"Busy": (busy, "%", "as asked")})
    assert row.text() == "Busy: 33.3% (as asked)"
    assert row.html() == "<strong>Busy:</strong> 33.3% (as asked)"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("the launches", "Limit: the launches"),
        ((1.5e-3, "s"), "Limit: 1.5 ms"),
        (lambda: (2, "×", "of 4"), "Limit: 2× (of 4)"),
        ((None, "s"), "Limit: none"),
    ],
)
def test_what_an_author_may_give(number, text):
    (row,) = worked_rows([("Limit", number)])
    assert (row.text(), row.typeset) == (text, "")


def test_what_is_written_is_escaped():
    (row,) = worked_rows({"<b>": ("<i>")})
    assert row.html() == "<strong>&lt;b&gt;:</strong> &lt;i&gt;"
