"""Answers that were kept when a submission was graded, and judging them again with other keys.

The log of graded submissions holds, for every graded cell, what was typed as exact data, and the
numbers that the student was given. A key is a function of these, so a new one is applied to a class
without opening a submission. Where a check looks at a file that the student made, such as a
measurement, it gets the copy in the autograded folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.judging.told_answers import (
    GivenWithoutFiles,
    LooksAtFile,
    SecondAnswer,
)
from mlsys_widgets.judging.code_keys import kept_replies
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.judging.keys import Checks, CodeKey, Given
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Parameters, UnusableAnswer
from mlsys_widgets.sandbox.answer_data import from_data

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

        Parameters
        ----------
        checks
            The lab's checks as they are now.
        points
            What each graded cell is worth now.
        folder
            The autograded folder of the student, for checks that look at a file.
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
                verdict = _judged(score, checks, own if score.told else given)
                second = _second(score, checks, folder)
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


def _second(score: Score, checks: Checks, folder: Path) -> SecondAnswer | None:
    """Judge the answer on new numbers again; as it was where that cannot be done."""
    if score.second is None:
        return None
    given = GivenWithoutFiles(Parameters(score.second.parameters), folder)
    verdict = _judged(replace(score, data=score.second.data), checks, given)
    if isinstance(verdict, str):
        return score.second
    return replace(score.second, credit=verdict.credit, says=verdict.says, belief=verdict.belief)


class _NotKept(Exception):
    """A check asks for something that was not kept, or cannot be looked at here."""


class _KeptGiven(SubmittedGiven):
    """What a student was given; the folder only if it can stand for the submission."""

    def __getattribute__(self, name: str) -> Any:
        if name == "folder" and (why := _unfit(Given.__getattribute__(self, name))):
            raise _NotKept(why)
        return super().__getattribute__(name)


def _judged(score: Score, checks: Checks, given: Given) -> Verdict | str:
    """Return the verdict; words that say why there is none, and the points stay."""
    if score.name not in checks:
        return "checks.py has no check of that name any more"
    try:
        answer = from_data((score.data or ())[:2])
    except (UnusableAnswer, ValueError, OverflowError) as reason:
        return Verdict(0.0, f"Not usable: {reason}.")

    def replies(key: CodeKey) -> Sequence[Any]:
        found = kept_replies(key, (score.data or ())[2])
        if found is None:
            raise _NotKept(
                "its cases have changed, so it must be called again: mlsys grade --force"
            )
        return found

    try:
        return judge_answer(checks[score.name], given, answer, replies)
    except (_NotKept, LooksAtFile) as why:
        return str(why)
    except MemoryError:
        raise
    except Exception as problem:
        # Whatever is wrong with a check, it must not cost a class its points.
        return f"its check fails: {type(problem).__name__}: {problem}"[:200]


def _unfit(folder: Path) -> str | None:
    """Say why a folder cannot stand for the submission; `None` if it can."""
    if not folder.is_dir():
        return "its check looks at a file, and the autograded folder is gone"
    files = (path for path in folder.iterdir() if path.suffix != ".ipynb")
    if any(path.lstat().st_size > _LARGEST_FILE for path in files):
        return f"its check looks at a file, and one has more than {_LARGEST_FILE >> 20} MiB"
    return None
