"""Answers that were kept when a submission was graded, and judging them again with other keys.

The log of graded submissions holds, for every graded cell, what was typed as exact data, and the
numbers that the student was given. A key is a function of these, so a new one is applied to a class
without opening a submission. Where a check looks at a file that the student made, such as a
measurement, it gets the copy in the autograded folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.judging.told_answers import (
    GivenWithoutFiles,
    NotKept,
    SecondAnswer,
    judged_again,
    judged_now,
)
from mlsys_widgets.judging.keys import Checks, Given
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Parameters

#: Bytes of a file beside the notebook that a check may look at here, without a reader's limits.
_LARGEST_FILE: Final = 1 << 20


@dataclass(frozen=True)
class RegradedAnswers:
    """The answers of one student, judged with the keys that there are now."""

    #: All graded cells; those that were not judged again are as they were.
    scores: tuple[Score, ...]
    #: Why a cell keeps its points, by its name: where that is no matter of course.
    kept: Mapping[str, str] = field(default_factory=dict)


class KeptAnswers:
    """The answers of one student, as the log has them."""

    def __init__(self, line: Mapping[str, Any]) -> None:
        self.scores = tuple(map(Score.from_data, line["scores"]))
        self._parameters = line["parameters"]

    def judge(self, checks: Checks, points: Mapping[str, float], folder: Path) -> RegradedAnswers:
        """Judge all answers.

        Some checks look at a file in the autograded ``folder`` of the student.
        """
        given = _KeptGiven(Parameters(self._parameters), folder)
        scores, kept = [], {}
        for score in self.scores:
            most = points.get(score.name, score.most)
            if not score.judged or score.auto is None:
                scores.append(score)
            elif score.data is None:  # what the ledger holds; no key has to do with it
                share = score.auto / score.most if score.most else score.credit or 0.0
                scores.append(replace(score, auto=round(most * share, 2), most=most))
            else:
                own = GivenWithoutFiles(Parameters(self._parameters), folder)
                of = own if score.told else given
                verdict, second = judged_now(score.name, checks, of, score.data), score.second
                if second is not None:
                    second = judged_again(second, score.name, checks, second.parameters, folder)
                if isinstance(verdict, str):
                    kept[score.name] = verdict
                    scores.append(score)
                else:
                    scores.append(_with(score, verdict, second, most))
        return RegradedAnswers(tuple(scores), kept)


def _with(score: Score, verdict: Verdict, second: SecondAnswer | None, most: float) -> Score:
    credit = max(verdict.credit, second.worth if second else 0.0)
    auto = round(most * credit, 2)
    return replace(
        score, auto=auto, most=most, says=verdict.says, belief=verdict.belief,
        credit=credit, second=second, alone=verdict.credit if second else None,
        by_notebook=score.by_notebook if auto else None,
    )  # fmt: skip


class _KeptGiven(SubmittedGiven):
    """What a student was given; the folder only if it can stand for the submission."""

    def __getattribute__(self, name: str) -> Any:
        if name == "folder" and (why := _unfit(Given.__getattribute__(self, name))):
            raise NotKept(why)
        return super().__getattribute__(name)


def _unfit(folder: Path) -> str | None:
    """Say why a folder cannot stand for the submission; `None` if it can."""
    if not folder.is_dir():
        return "its check looks at a file, and the autograded folder is gone"
    files = (path for path in folder.iterdir() if path.suffix != ".ipynb")
    if any(path.lstat().st_size > _LARGEST_FILE for path in files):
        return f"its check looks at a file, and one has more than {_LARGEST_FILE >> 20} MiB"
    return None
