"""Hidden tests without a student's process: what they put out is made here, from the answers.

Whatever enters the process of a submission can be read there and carried away. So the tests of
answers that the lab's files know never travel: the notebook runs with the visible part of its test
cells, the judge decides from plain data, and the outputs that stock nbgrader would have found are
written under the cells afterward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import nbformat

from mlsys_widgets.grading.judging.scoring import Score, has_failed
from mlsys_widgets.judging.verdicts import Verdict, result_in_words
from mlsys_widgets.labs.answers import sentence_in_lines
from mlsys_widgets.labs.told import which_counts
from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.cell_metadata import HIDDEN


def without_tests(blueprint: Blueprint, judged: AbstractSet[str]) -> Blueprint:
    """Return the notebook without hidden tests of cells that are judged outside of it."""
    cells = {
        name: replace(cell, source=HIDDEN.sub("", cell.source)) if name in judged else cell
        for name, cell in blueprint.cells.items()
    }
    return replace(blueprint, cells=cells)


def place_verdicts(
    cells: Iterable[MutableMapping[str, Any]], blueprint: Blueprint, scores: Iterable[Score]
) -> None:
    """Write points and words under the cells that were judged, as their tests would have done.

    The cells, which a worker has put together, are changed; they get the hidden tests of the
    ``blueprint`` back. Those that wait for a person or ran their own tests stay.
    """
    named = {_name(cell): cell for cell in cells if cell["cell_type"] == "code"}
    for score in scores:
        cell, source = named.get(score.name), blueprint.cells.get(score.name)
        if score.judged and cell is not None and source is not None:
            show_verdict(cell, source.source, score)


def show_verdict(cell: MutableMapping[str, Any], source: str, score: Score) -> None:
    """Give a cell its hidden test back, and the outputs that this would have had."""
    cell["source"] = source
    count = cell["execution_count"]
    # A cell that stopped at an error, or was never reached, has not come to its test.
    if count is None or has_failed(cell["outputs"]):
        return
    text = verdict_text(score)
    outputs = list(cell["outputs"])
    # Neighbors of one stream are one output.
    if outputs and outputs[-1]["output_type"] == "stream" and outputs[-1]["name"] == "stdout":
        text = "".join(outputs.pop()["text"]) + text
    printed = {"output_type": "stream", "name": "stdout", "text": text}
    points = {
        "output_type": "execute_result",
        "data": {"text/plain": repr(score.auto)},
        "metadata": {},
        "execution_count": count,
    }
    cell["outputs"] = [*outputs, nbformat.from_dict(printed), nbformat.from_dict(points)]


def verdict_text(score: Score) -> str:
    """Return what a hidden test would have printed."""
    verdict = Verdict(score.credit or 0.0, f"{score.says}{_both(score)}")
    sentences = [result_in_words(score.name, verdict, score.auto or 0.0, score.most)]
    sentences += [f"For the grader: {score.doubt}"] if score.doubt else []
    return "".join(f"{sentence_in_lines(each)}\n" for each in sentences)


def _both(score: Score) -> str:
    """Say what was answered on new numbers after the explanation, and which answer counts."""
    if (second := score.second) is None:
        return ""
    counts = which_counts(score.most, score.first_credit, second.credit, second.share)
    return (
        f" Second chance, on other numbers: you answered {second.answer}. {second.says}"
        f" {counts if score.most else ''}"
    ).rstrip()


def _name(cell: Mapping[str, Any]) -> Any:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")
