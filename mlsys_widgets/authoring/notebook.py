"""The instructor's notebook, with cells as nbgrader, JupyterLab and the Lab panel need them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any, Final

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mlsys_widgets.authoring import templates
from mlsys_widgets.authoring.act_minutes import lab_minutes, with_deeper
from mlsys_widgets.authoring.deeper_heading import DeeperHeading, deeper_headings
from mlsys_widgets.authoring.hidden_tests import CheckSource, region
from mlsys_widgets.authoring.pools import validate_pools
from mlsys_widgets.authoring.student_source import student_prose, student_source
from mlsys_widgets.authoring.text import LabCell, TextError
from mlsys_widgets.authoring.validation import validate
from mlsys_widgets.authoring.ways import explored_on
from mlsys_widgets.course.course import Course
from mlsys_widgets.labs import Choice, Code, Essay, Item, Lab, Measurement, Number, Record
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.deeper import as_counted
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.student_steps import kind_of

#: nbval always compares the outputs of cells with this tag, of others unless it is told to be lax.
CHECKED: Final = "nbval-check-output"
#: nbval never compares the outputs of these: they depend on the time or on the machine.
VARIES: Final = "nbval-ignore-output"
_SOLUTION: Final = "### BEGIN SOLUTION\n{}\n### END SOLUTION"
_SCRATCH: Final = """\
# If you compute, do it here. The card above shows what counts; to enter a result from code:
# lab.answer("{}", result)"""
_SCRATCH_CODE: Final = """\
# Write the function here if you like. The card above shows what counts; to record it from here:
# lab.answer("{}", the_function)"""
#: Where hidden tests find what judges, and the check of a pool.
_GRADING: Final = "mlsys_widgets.grading"
_JUDGING: Final = "mlsys_widgets.judging"
_KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: What JupyterLab calls a heading whose section is folded.
_FOLDED: Final = "jp-MarkdownHeadingCollapsed"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")

Cell = nbformat.NotebookNode


class Notebook:
    """Makes the cells of one lab."""

    def __init__(self, lab: Lab, checks: CheckSource, course: Course) -> None:
        self._lab, self._checks, self._course = lab, checks, course
        parameters = lab.draw("", variants=False)
        self._declared = lab.items(parameters)
        self._items = as_counted(self._declared, course.deeper_in(lab.name))
        self._known = templates.names(lab, parameters)
        self._ids: Counter[str] = Counter()
        self._minutes: dict[str, Any] = {}
        #: The predictions that are explored on each instrument, by where its cell stands.
        self._explored: dict[str, list[str]] = {}
        #: Titles of the instruments so far.
        self._above: list[str] = []
        #: What is said below the headings of deeper sections, by where they stand.
        self._said: dict[str, DeeperHeading] = {}

    def make(self, lab_cells: list[LabCell]) -> nbformat.NotebookNode:
        """Make the notebook, with solutions and hidden tests but without outputs."""
        validate(self._lab.name, self._declared, lab_cells)
        validate_pools(self._lab)
        if self._lab.minutes is None:
            self._minutes = lab_minutes(self._items, lab_cells).plain()
        self._explored = explored_on(lab_cells)
        self._said = deeper_headings(self._items, lab_cells)
        cells = []
        for cell, deeper in with_deeper(lab_cells):
            made = getattr(self, f"_{cell.kind}")(cell)
            if deeper and self._is_optional:
                _leave_to_students(made)
            cells += made
        return new_notebook(
            cells=cells,
            metadata={
                "kernelspec": _KERNEL,
                "language_info": {"name": "python"},
                "mlsys": self._about(),
            },
        )

    def _about(self) -> dict[str, Any]:
        """Return the metadata that the Lab panel reads of the lab as a whole."""
        lab = self._lab
        # As pairs, because nbformat sorts the keys of a mapping and the order of fields matters.
        design = [
            [name, field.about, *([dict(field.called)] if field.called else [])]
            for name, field in lab.design.items()
        ]
        return {
            "lab": lab.name,
            "title": lab.title,
            "acts": list(lab.acts),
            **({"minutes": self._minutes} if self._minutes else {}),
            **({} if self._is_optional else {"deeper": "required"}),
            **({"design": design} if design else {}),
            # What a student makes beside the notebook is handed in with it.
            **({"files": sorted(lab.examples)} if lab.examples else {}),
        }

    @property
    def _is_optional(self) -> bool:
        return self._course.deeper_in(self._lab.name) == "optional"

    # One method for each kind of cell.

    def _deeper(self, cell: LabCell) -> list[Cell]:
        said = self._said[cell.where]
        made = self._still(student_prose(f"{self._filled(cell)}\n\n{said.in_words}"))
        made.metadata["mlsys"] = {"kind": "deeper", "act": said.act, "minutes": said.minutes}
        # JupyterLab's own fold: it opens with a click, and the notebook remembers that it is open.
        if self._is_optional:
            made.metadata[_FOLDED] = True
        return [made]

    def _prose(self, cell: LabCell) -> list[Cell]:
        return [self._still(student_prose(self._filled(cell)))]

    def _setup(self, cell: LabCell) -> list[Cell]:
        counts = "" if self._is_optional else ', deeper="required"'
        opens = f'lab = open_lab("{self._lab.name}"{self._course.arguments}{counts})'
        cover = ["cover"] if re.search(r"^cover = ", cell.body, re.MULTILINE) else []
        counted = [f"minutes={self._minutes}"] if self._minutes else []
        welcome = f"lab.welcome({', '.join([*cover, *counted])})"
        body = f"from mlsys_widgets import open_lab\n{cell.body}\n\n{opens}\n{welcome}"
        return [self._locked("setup", "Set-up: run this cell first", body)]

    def _card(self, cell: LabCell) -> list[Cell]:
        item = self._items[cell.name]
        metadata = self._step(cell.name, item)
        if isinstance(item, Measurement):
            metadata["tags"] = [VARIES]
        code = f'lab.card("{cell.name}")'
        return [self._locked(f"card_{cell.name}", _called(item), code, **metadata)]

    def _instrument(self, cell: LabCell) -> list[Cell]:
        self._above.append(cell.name)
        about: dict[str, Any] = {"kind": "instrument", "title": cell.name}
        if names := self._explored.get(cell.where):
            about["explores"] = names
        title = f"Instrument: {cell.name}"
        return [self._locked(f"instrument_{cell.name}", title, cell.body, mlsys=about)]

    def _reveal(self, cell: LabCell) -> list[Cell]:
        called = _title(self._items[cell.name])
        about = {"kind": "compare", "id": cell.name, "title": called}
        return [self._locked(f"reveal_{cell.name}", f"Compare: {called}", cell.body, mlsys=about)]

    def _show(self, cell: LabCell) -> list[Cell]:
        title = cell.name[:1].upper() + cell.name[1:]
        # The HUD says when the ledger was last written.
        varies = {"tags": [VARIES]} if "lab.hud(" in cell.body else {}
        return [self._locked(f"show_{cell.name}", title, cell.body, **varies)]

    def _design(self, cell: LabCell) -> list[Cell]:
        step = {"mlsys": {"kind": DESIGN, "id": DESIGN, "act": 0, "title": "What you pass on"}}
        return [self._locked("design", "Design: what you pass on", cell.body, **step)]

    def _answer(self, cell: LabCell) -> list[Cell]:
        name, item = cell.name, self._items[cell.name]
        assert isinstance(item, Checked)
        solution = f'{cell.body}\nlab.answer("{name}", {name})'
        hint = _SCRATCH_CODE if isinstance(item, Code) else _SCRATCH
        scratch = new_code_cell(
            f"{hint.format(name)}\n{_SOLUTION.format(solution)}",
            id=self._id(f"answer_{name}"),
            metadata={
                "nbgrader": _nbgrader(f"{name}_answer", solution=True),
                "mlsys": {"kind": "scratch"},
                # A typo in a scratch cell must not stop the notebook.
                "tags": ["raises-exception"],
            },
        )
        points = item.points
        body, judged_by = self._check(name)
        call = f"award({judged_by}, globals(), points={points:g}{self._course.arguments})"
        reads = f'{name} = lab.answered("{name}")'
        check = self._graded("graded", name, reads, region(body, call), points)
        check.metadata["tags"] = [CHECKED]
        return [self._question(name, item), scratch, check]

    def _check(self, name: str) -> tuple[str, str]:
        """Return the code of an answer's check with its imports, and what to call it there."""
        questions = self._lab.pools.get(name)
        if questions is None:
            return self._checks.cut(name, also=[(_GRADING, "award")]), name
        also = [(_GRADING, "award"), (_JUDGING, "pooled")]
        return self._checks.cut(*questions, also=also), f"pooled({', '.join(questions)})"

    def _record(self, cell: LabCell) -> list[Cell]:
        name, item = cell.name, self._items[cell.name]
        assert isinstance(item, Record)
        call = f'award_record("{name}", points={item.points:g})'
        hidden = region(f"from {_GRADING} import award_record", call)
        made = self._graded("record", name, f'lab.record("{name}")', hidden, item.points)
        made.metadata["mlsys"]["title"] = _title(item)
        return [made]

    def _essay(self, cell: LabCell) -> list[Cell]:
        name, item = cell.name, self._items[cell.name]
        assert isinstance(item, Essay)
        model = self._filled(cell)
        if problem := item.limits.problem(model):
            raise TextError(f"{cell.where}: the model answer of {name}. {' '.join(problem)}")
        if item.deeper:
            # A cell for graders would wait for somebody to read what does not count.
            return [self._question(name, item)]
        answer = new_markdown_cell(
            _SOLUTION.format(model),
            id=self._id(f"answer_{name}"),
            metadata={"nbgrader": _nbgrader(name, solution=True, points=item.points)},
        )
        return [self._question(name, item), answer]

    # What the cells have in common.

    def _filled(self, cell: LabCell) -> str:
        try:
            return templates.fill(cell.body, self._known)
        except TextError as problem:
            raise TextError(f"{cell.where}: {problem}") from None

    def _question(self, name: str, item: Item) -> Cell:
        step = self._step(name, item)
        return self._locked(f"question_{name}", _called(item), f'lab.card("{name}")', **step)

    def _still(self, source: str) -> Cell:
        """Prose that cannot be edited. nbgrader does not track it, which saves time."""
        digest = hashlib.sha256(source.encode()).hexdigest()[:10]
        still = {"deletable": False, "editable": False}
        return new_markdown_cell(source, id=self._id(f"prose-{digest}"), metadata=still)

    def _locked(self, name: str, title: str, source: str, **metadata: Any) -> Cell:
        """A folded cell that nbgrader locks, and restores before it grades.

        JupyterLab shows the first line of a folded cell, so that line says what the cell is. It is
        the only comment: students can unfold the cell.
        """
        name = self._id(name)
        return new_code_cell(
            f"# {title}\n{student_source(source, cell=True)}",
            id=name,
            metadata={
                "jupyter": {"source_hidden": True},
                "nbgrader": _nbgrader(name, locked=True),
                **metadata,
            },
        )

    def _graded(self, kind: str, name: str, visible: str, hidden: str, points: float) -> Cell:
        return new_code_cell(
            f"{visible}\n{hidden}",
            id=self._id(f"check_{name}"),
            metadata={
                "nbgrader": _nbgrader(name, locked=True, points=points),
                "mlsys": {"kind": kind},
            },
        )

    def _step(self, name: str, item: Item) -> dict[str, Any]:
        """Return the metadata that the Lab panel reads of a step."""
        kind = kind_of(item)
        if kind is None:
            return {}
        step: dict[str, Any] = {
            "kind": kind, "id": name, "act": item.act, "title": _title(item),
        }  # fmt: skip
        needs = item.ledger_names(name)
        if needs != (name,):
            step["needs"] = list(needs)
        if isinstance(item, Essay) and item.at_least > 1:
            step["at_least"] = item.at_least
        if isinstance(item, Number | Choice) and (reads := self._named(item.ask)):
            step["reads"] = reads
        return {"mlsys": step}

    def _named(self, question: str) -> list[str]:
        """The instruments above a question that it names; they may stand in another act."""
        return [title for title in self._above if title.casefold() in question.casefold()]

    def _id(self, name: str) -> str:
        """An id that depends on what the cell is, not on its position."""
        fit = _UNFIT.sub("-", name)[:56].strip("-")
        self._ids[fit] += 1
        return fit if self._ids[fit] == 1 else f"{fit}-{self._ids[fit]}"


def _leave_to_students(cells: list[Cell]) -> None:
    """Have cells say that they are beyond the core, where a step or a way leads through them."""
    for cell in cells:
        if "mlsys" in cell.metadata:
            cell.metadata["mlsys"]["deeper"] = True


def _title(item: Item) -> str:
    title = getattr(item, "title", None) or getattr(item, "subject", "")
    return " ".join(str(title).split())


def _called(item: Item) -> str:
    """Name an item and what it is about, in one line."""
    return f"{item.kind}: {_title(item)}"


def _nbgrader(
    grade_id: str, *, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        metadata["points"] = int(points) if float(points).is_integer() else points
    return metadata
