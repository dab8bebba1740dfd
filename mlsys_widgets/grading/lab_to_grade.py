"""All that is needed of a course to judge hand-ins of one lab, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.late_penalty import late_penalty
from mlsys_widgets.grading.gradebook.version_cells import add_earlier_cells
from mlsys_widgets.grading.judging.lab_copies import Copies, earlier_versions, judged_with, keys_of
from mlsys_widgets.grading.judging.marking import Marking
from mlsys_widgets.grading.judging.scoring import Judge
from mlsys_widgets.grading.reading.hand_in_facts import HandInFacts
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Lab, load

_ASSIGNMENTS, _SOURCE = "assignments", "source"


class CannotGrade(ValueError):
    """A class that cannot be graded as it is, and what to do about it."""


@dataclass(frozen=True)
class LabToGrade:
    """A lab of a course, its gradebook, and what judges hand-ins."""

    marking: Marking
    gradebook: LabGradebook
    #: What students were told about their hand-ins.
    told: JudgedHandIns
    #: What it is judged with, and the same of earlier versions by their names.
    version: str
    earlier: Mapping[str, str]

    @classmethod
    def of(cls, course: Course, name: str) -> Self:
        """Read a lab; `CannotGrade` if the course does not have it."""
        if not (course.home / _ASSIGNMENTS / name).is_dir():
            raise CannotGrade(
                f"there is no {_ASSIGNMENTS}/{name} in {course.root}; grade in the folder of"
                " the course, where the lab's checks are"
            )
        copies = Copies.of(course, name)
        earlier = earlier_versions(course, name, copies)
        home = keys_of(course, name)
        lab: Lab = load(home)
        judge = Judge(
            lab, load_checks(home), variants=course.variants, edition=course.edition,
            also=tuple(each.lab for each in earlier),
        )  # fmt: skip
        if earlier:
            add_earlier_cells(course.db_url, name, (each.blueprint for each in earlier))
        told = JudgedHandIns(course.home, name)
        gradebook = LabGradebook(
            course.db_url, name, late_penalty(course, name), course.calendar, told.moments
        )
        marking = Marking(
            course, lab, judge, gradebook.blueprint, gradebook.points, gradebook.answer_cells,
            given=_files_of(course.home / _SOURCE / name),
            notebook=_released_notebook(course, name),
            facts=HandInFacts.of(course, name, due=gradebook.has_due_date),
            copies=copies, graded_cells=gradebook.graded_cells,
        ).with_earlier(earlier)  # fmt: skip
        marking.precompute()
        version = judged_with(home, gradebook.blueprint)
        return cls(marking, gradebook, told, version,
                   {each.version: each.judged_with for each in earlier})  # fmt: skip


def _released_notebook(course: Course, lab: str) -> bytes:
    """Read the notebook that students get; empty if it is not built."""
    path = course.folder("release", lab) / f"{lab}.ipynb"
    return path.read_bytes() if path.is_file() else b""


def _files_of(folder: Path) -> dict[str, bytes]:
    """Read what the instructor released beside the notebook; it replaces what was handed in."""
    if not folder.is_dir():
        return {}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".ipynb", ".pyc")
    }
