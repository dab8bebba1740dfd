"""The math with the present numbers in it."""

from __future__ import annotations

from mlsys_widgets import BreakEvenTimeline, IronLaw, MemoryBudget, MemoryHierarchy
from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.instruments.live_math import live_math, matters_most
from mlsys_widgets.physics import notation

_MARKED = '<mrow class="mlsys-term">', ""


def test_the_steps_are_those_of_the_result_with_its_numbers():
    law = IronLaw(batch=8)
    math = live_math(law)
    derived = law.result.derivation()
    assert [title for title, _, _ in math["steps"]] == [step.title for step in derived.steps]
    plain = [equation.replace(*_MARKED) for _, equation, _ in math["steps"]]
    assert [each.replace("</mrow>", "") for each in plain] == [
        each.replace("</mrow>", "") for each in derived.equations(notation.MATHML)
    ]
    law.set(batch=16)
    assert live_math(law)["steps"] != math["steps"]


def test_the_term_that_decides_is_marked_and_moves_with_the_controls():
    def marked(law):
        return [title for title, _, decides in live_math(law)["steps"] if decides]

    # 100 MB over 3.35 TB/s take 30 µs; 8.2 GFLOP on 989 TFLOPS take 8 µs each.
    law = IronLaw(batch=1)
    assert marked(law) == ["Time to move the data"]
    law.set(batch=64)
    assert marked(law) == ["Time to compute"]


def test_the_term_that_decides_has_its_color_wherever_it_stands():
    math = live_math(IronLaw(batch=1))
    term = notation.MATHML.symbol("t_memory")
    marked = f'<mrow class="mlsys-term">{term}</mrow>'
    assert math["tone"] == TONES["memory"]
    holding = [equation for _, equation, _ in math["steps"] if term in equation]
    assert len(holding) >= 2  # its own step, and the sum that it is a part of
    assert all(equation.count(marked) == equation.count(term) for equation in holding)
    assert live_math(IronLaw(batch=64))["tone"] == TONES["compute"]
    assert live_math(BreakEvenTimeline())["tone"] == ""  # it has no color in the picture


def test_one_part_is_shown_and_the_others_are_named():
    budget = MemoryBudget()
    math = live_math(budget, "Decode, textbook")
    titles = ["Memory", "Decode, textbook", "Prefill, textbook"]
    assert (math["titles"], math["part"]) == (titles, titles[1])
    assert live_math(budget, "Nonsense")["part"] == "Memory"


def test_what_matters_most_is_said_while_it_means_something():
    timeline = BreakEvenTimeline()
    assert "depends most on" in matters_most(timeline, timeline.result)
    timeline.set(gain=0)  # never recovered: no percentage of infinity
    assert matters_most(timeline, timeline.result) == ""


def test_a_part_without_the_headline_speaks_of_what_it_leads_to():
    hierarchy = MemoryHierarchy()
    first, second = (live_math(hierarchy, part)["most"] for part in hierarchy.explanations)
    assert first.startswith("Time ")
    assert first != second
    assert "depends most on" in second
