"""What there is to do in a released lab, read from its notebook."""

from __future__ import annotations

from mlsys_widgets.classes.released_lab import LabStep, solutions_of, steps_of, text_of
from mlsys_widgets.labs import Number, Prediction


def test_a_solution_that_builds_on_another_is_not_used_alone() -> None:
    def cell(name: str, code: str) -> dict:
        source = f"{name} = ...\n### BEGIN SOLUTION\n{code}\n### END SOLUTION"
        return {"id": f"answer_{name}", "cell_type": "code", "source": source}

    book = {"cells": [
        cell("a", "n = lab.p.side\na = 2 * n"),
        cell("b", "b = a + 1"),
        cell("c", "n = 3\nc = n"),
    ]}  # fmt: skip
    assert solutions_of(book) == {"a": "n = lab.p.side\na = 2 * n", "c": "n = 3\nc = n"}


def test_steps_follow_the_notebook() -> None:
    items = {
        "first": Prediction("Which one?", {"A": "memory", "B": "compute"}),
        "time": Number("How long?", "s", points=10),
    }
    locked = ["RooflineWidget(", 'lock=lab.card("first"))']
    book = {"cells": [
        {"id": "card_first", "source": 'lab.card("first")'},
        {"id": "instrument_roof", "source": locked},
        {"id": "answer_time", "source": "time = ..."},
        {"id": "card_unknown", "source": ""},
        {"id": "text", "source": "Read this."},
    ]}  # fmt: skip
    assert steps_of(book, items) == (
        LabStep("card", "first"),
        LabStep("use", "RooflineWidget", "first"),
        LabStep("answer", "time"),
    )


def test_a_source_may_be_kept_as_lines() -> None:
    assert text_of({"source": ["a\n", "b"]}) == text_of({"source": "a\nb"}) == "a\nb"
