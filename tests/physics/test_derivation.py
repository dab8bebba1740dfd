"""Results explain themselves, and the explanation is what was computed."""

from __future__ import annotations

import ast
import math
import xml.etree.ElementTree as ET

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation
from mlsys_widgets.physics.derivation import EveryNotation
from mlsys_widgets.physics.domain import greater, lesser
from mlsys_widgets.physics.queueing import erlang_c, mean_value, response_quantile
from mlsys_widgets.physics.result import derivable
from tests.physics.cases import CASES, Case, identify

every_case = pytest.mark.parametrize("case", CASES, ids=identify)
FUNCTIONS = {
    "min": lesser,
    "max": greater,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "ln": math.log,
    "Erlang": erlang_c,
    "quantile": response_quantile,
    "MVA": mean_value,
}


def explained(case: Case) -> ph.Derivation:
    return case().derivation()


@every_case
def test_every_output_has_its_step(case: Case) -> None:
    result = case()
    names = [step.quantity.name for step in result.derivation().steps]
    wanted = result.outputs() if isinstance(result, ph.Result) else [result.name]
    assert set(wanted) <= set(names)
    assert len(set(names)) == len(names)


@every_case
def test_the_written_formula_computes_the_value(case: Case) -> None:
    """Evaluate what is shown to the student, with the exact inputs in place of the symbols."""
    for member in derivable(type(case())) if isinstance(case(), ph.Result) else ():
        result = case()
        names = notation.names_in(member.formula)
        shown = notation.write(member.formula, notation.TEXT, lambda name: name)
        code = shown.replace("×", "*").replace("−", "-").replace("²", "**2")
        code = code.replace("≥", ">=").replace("≤", "<=").replace("⌈", "ceil(").replace("⌉", ")")
        code = code.replace("√", "sqrt").replace("^", "**")
        values = {name: getattr(result, name) for name in names}
        value = eval(compile(ast.parse(code, mode="eval"), "formula", "eval"), FUNCTIONS | values)
        assert value == pytest.approx(getattr(result, member.name), rel=1e-12)


@every_case
def test_steps_come_after_what_they_use(case: Case) -> None:
    result = case()
    if not isinstance(result, ph.Result):
        return
    seen = set(result.inputs())
    for step in result.derivation().steps:
        member = {m.name: m for m in derivable(type(result))}.get(step.quantity.name)
        if member:
            assert set(notation.names_in(member.formula)) <= seen
        seen.add(step.quantity.name)


@every_case
def test_renderings_are_well_formed(case: Case) -> None:
    derivation = explained(case)
    page = ET.fromstring(derivation.to_html())
    assert len(page.findall("li")) == len(derivation.steps)
    for text in (derivation.to_latex(), derivation.to_markdown()):
        depth = 0
        for before, letter in zip(" " + text, text, strict=False):
            depth += {"{": 1, "}": -1}.get(letter, 0) if before != "\\" else 0
            assert depth >= 0
        assert depth == 0
        assert "nan" not in text
    assert derivation.to_text().count("\n") == len(derivation.steps) - 1
    assert derivation.to_markdown().count("$") == 2 * len(derivation.steps)


@every_case
def test_the_last_number_of_a_step_is_its_value(case: Case) -> None:
    for step in explained(case).steps:
        line = ph.Derivation((step,)).to_text()
        assert line.split("   (")[0].endswith(step.shown)


def test_a_derivation_follows_a_number_into_the_result_it_came_from() -> None:
    kernel = ph.gemm(512, 512, 512)
    roof = ph.roofline(kernel.intensity, 989e12, 3.35e12)
    names = [step.quantity.name for step in roof.derivation("mfu").steps]
    assert names == ["flops", "bytes", "intensity", "attainable", "mfu"]


def test_only_what_is_asked_for() -> None:
    done = ph.forward_pass(1000, 5e-6, 10e-6)
    assert [s.quantity.name for s in done.derivation("compute").steps] == ["compute"]
    with pytest.raises(ValueError, match="quantity is 'speed'; it must be one of: compute"):
        done.derivation("speed")


def test_never_is_written_as_never() -> None:
    text = str(ph.break_even(30, 1450, 1450).derivation())
    assert "30 s / 0 s = never" in text


def test_a_formula_is_written_in_a_notation_when_somebody_reads_it() -> None:
    asked = []

    def write(how: notation.Notation) -> str:
        asked.append(how)
        return how.symbol("t_launch")

    formula = EveryNotation(write)
    assert asked == []
    assert [formula[notation.TEXT], formula[notation.TEXT]] == ["t_launch"] * 2
    assert asked == [notation.TEXT]  # once
    assert list(formula) == list(notation.NOTATIONS)
    assert len(formula) == len(list(formula))
    assert formula == {how: how.symbol("t_launch") for how in formula}


def test_what_a_class_declares_is_not_changed_by_whoever_reads_it() -> None:
    kind = type(ph.gemm(1, 1, 1))
    kind.inputs().clear()
    kind.outputs().clear()
    assert kind.inputs()
    assert kind.outputs()
