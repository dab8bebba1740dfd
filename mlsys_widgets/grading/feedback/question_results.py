"""What a graded notebook says about each question: the answer, what it earned, and why.

Read from the notebook, because stock nbgrader may have graded it; points are the gradebook's, which
the feedback's preprocessor has put into the cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.judging.verdicts import explanation_in
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id, is_locked
from mlsys_widgets.notebooks.essay_cells import typed_text

#: Where the preprocessor notes that a person has still to read a cell.
UNREAD: Final = "unread"
_RECORDED: Final = " is recorded."
_FOR_GRADERS: Final = " For the grader: "
#: What nbgrader writes where a person would: the solution is as it was released.
_UNUSED: Final = "No response."
#: A text on a page, in characters; an essay is far shorter.
_MOST: Final = 20_000


@dataclass(frozen=True)
class QuestionResult:
    """One thing that is graded, as its student reads about it."""

    name: str
    title: str
    #: The act it belongs to; 0 for the lab as a whole.
    act: int
    points: float
    #: What it earned; `None` while nobody has read it.
    earned: float | None
    #: The answer in words, or the whole text of an essay or of graded code; empty if there is none.
    answer: str = ""
    why: str = ""
    #: What a person wrote about it.
    comment: str = ""
    #: Whether the answer is a text of its own, to be shown as it was typed.
    is_text: bool = False

    @property
    def counts(self) -> bool:
        """Whether it has points: what is deeper has none unless the course requires it."""
        return self.points > 0


def results_of(book: Any) -> list[QuestionResult]:
    """Return what is graded in a notebook, in its order."""
    steps: dict[str, dict[str, Any]] = {}
    for cell in book.cells:
        about = _about(cell)
        if isinstance(about.get("title"), str) and isinstance(about.get("id"), str):
            steps.setdefault(about["id"], about)
    comments = {
        grade_id(cell): str(cell_metadata(cell).get("comment") or "") for cell in book.cells
    }
    return list(_results(book, steps, comments))


def _results(
    book: Any, steps: Mapping[str, Mapping[str, Any]], comments: Mapping[str | None, str]
) -> Iterator[QuestionResult]:
    typed = ""
    for cell in book.cells:
        metadata, name = cell_metadata(cell), grade_id(cell)
        if name is None or not metadata.get("grade"):
            typed = cell.source if metadata.get("solution") else typed
            continue
        answer, why = _told(name, cell)
        is_text = not _is_ours(cell)  # an essay, code that a person grades, or code with its test
        if is_text:
            answer = typed if is_locked(cell) else typed_text(cell.source) or cell.source
        step = {**steps.get(name, {}), **_about(cell)}
        act = steps.get(name, {}).get("act")
        comment = comments.get(name) or comments.get(f"{name}_answer", "")
        yield QuestionResult(
            name,
            str(step.get("title") or name.replace("_", " ").capitalize()),
            act if isinstance(act, int) else 0,
            float(metadata.get("points") or 0),
            None if metadata.get(UNREAD) else float(metadata.get("score") or 0),
            answer.strip()[:_MOST],
            why[:_MOST],
            "" if comment == _UNUSED else comment,
            is_text,
        )
        typed = ""


def _about(cell: Any) -> dict[str, Any]:
    found = cell.metadata.get("mlsys", {})
    return found if isinstance(found, dict) else {}


def _told(name: str, cell: Any) -> tuple[str, str]:
    """Return the answer and the explanation that a check has printed, or its error in a line."""
    outputs = cell.get("outputs", ())
    for output in outputs:
        if output.output_type == "error":  # the frames above its last line would quote the test
            return "", f"{output.ename}: {output.evalue}" if output.evalue else output.ename
    printed = "".join(o.text for o in outputs if o.output_type == "stream" and o.name == "stdout")
    answer, why = "", ""
    for part in re.split(rf"(?:^|\s){re.escape(name)}: ", " ".join(printed.split())):
        if part.endswith(_RECORDED):
            answer = part.removesuffix(_RECORDED)
        elif part:
            why = explanation_in(part.partition(_FOR_GRADERS)[0])
    return answer, why


def _is_ours(cell: Any) -> bool:
    """Whether a check reads what is recorded, and says so; a scratch cell above it is no answer."""
    return is_locked(cell) and "lab." in cell.source
