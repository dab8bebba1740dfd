"""What a submission earns, decided in the grader's own process from plain data.

The answers came out of the student's process as data. The checks come from the instructor's
course, the ledger from the submission's folder, the numbers from this process's own physics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.grading.judging.award import judge_record
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.own_measurement import (
    SubmittedGiven,
    asks_for_one,
    shipped_measurement,
)
from mlsys_widgets.grading.judging.told_answers import (
    JudgedAnswer,
    SecondAnswer,
    ToldAnswer,
    judged_again,
)
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.grading.reading.recorded_answers import recorded_answers
from mlsys_widgets.judging.code_keys import kept_replies, replies_as_text
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.judging.keys import Checks, CodeKey, Given
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Code, Item, Lab, Record, UnusableAnswer
from mlsys_widgets.labs.asked import AUTOGRADED, Checked, is_usable
from mlsys_widgets.labs.attempts import Attempts, answer_name
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum
from mlsys_widgets.sandbox.answer_data import from_data, to_data
from mlsys_widgets.sandbox.job import FunctionCall

_NOTHING: Final = to_data(...)
#: What `to_data` makes of a text; of a function, its replies follow.
_WITHOUT_REPLIES: Final = 2


@dataclass(frozen=True)
class Score:
    """What one graded cell earns."""

    name: str
    #: Its points; `None` where a person decides.
    auto: float | None
    #: What it is worth.
    most: float
    #: What to say about it, and the belief that was recognized.
    says: str = ""
    belief: str | None = None
    #: What was typed, in words; `None` where nothing is typed.
    answer: str | None = None
    #: What stock nbgrader gives, where that is something else: nothing for a cell that failed.
    by_notebook: float | None = None
    #: Whether it was decided here, from the answer or the ledger.
    judged: bool = False
    #: What does not fit in the ledger that was judged.
    doubt: str = ""
    #: The fraction that it earned, also of what is deeper and has no points; `None` as above.
    credit: float | None = None
    #: The answer as `sandbox.answer_data` has it, kept so that it can be judged again.
    data: Sequence[str] | None = None
    #: When an answer was handed in that the student was told about, which therefore counts.
    told: str = ""
    #: What the first answer earned, where there is a second: the better of both is in ``credit``.
    alone: float | None = None
    #: What was answered on new numbers after that.
    second: SecondAnswer | None = None

    @property
    def first_credit(self) -> float:
        """The fraction that the first answer earned."""
        return (self.credit or 0.0) if self.alone is None else self.alone

    @property
    def answered(self) -> bool:
        """Whether it was judged from an answer."""
        return self.judged and self.data is not None and self.data != _NOTHING

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**vars(self), "second": self.second and asdict(self.second)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_data` returned."""
        second = data.get("second")
        return cls(**{**data, "second": SecondAnswer(**second) if second else None})


class Judge:
    """Scores the submissions of one lab.

    ``also`` are other versions of the lab that were released, in which a student may have begun.
    """

    def __init__(
        self,
        lab: Lab,
        checks: Checks,
        *,
        variants: bool = True,
        edition: str = "",
        also: Sequence[Lab] = (),
    ) -> None:
        self._lab, self._checks, self._also = lab, checks, also
        self._variants, self._edition = variants, edition

    @property
    def judged(self) -> frozenset[str]:
        """The cells that are decided here, so that their hidden tests need not run."""
        items = self._lab.items(self._lab.draw("", variants=False))
        return frozenset(name for name, item in items.items() if isinstance(item, AUTOGRADED))

    def calls(
        self, student: str, folder: Path, recorded: Mapping[str, Any], *, runs: bool
    ) -> dict[str, FunctionCall]:
        """Return the calls of a student's functions that a child must make, by name of the reply.

        ``recorded`` are the answers of the ledger. A notebook that ``runs``, too, may have a source
        that is not recorded.
        """
        p = self._lab.draw(student, variants=self._variants, edition=self._edition)
        given = SubmittedGiven(p, folder)
        return {
            _reply_name(name, number): FunctionCall(
                name, recorded.get(name), item.function, arguments, key.driver
            )
            for name, item in self._lab.items(p).items()
            if isinstance(item, Code) and (runs or name in recorded)
            for key in _code_keys(self._checks, name, given)
            for number, arguments in enumerate(key.cases)
        }

    def score(
        self,
        student: str,
        cells: Mapping[str, Any],
        points: Mapping[str, float],
        answers: Mapping[str, Any],
        folder: Path,
        *,
        released: datetime | None = None,
        handed_in: datetime | None = None,
        ledger: LedgerRecord | None = None,
        told: Mapping[str, ToldAnswer] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> tuple[list[Score], list[Flag]]:
        """Score all graded cells, and flag what a TA should look at.

        ``cells`` are those of the notebook that ran, by name, without those that are missing, and
        ``folder`` has a copy of the other files. Answers that the student was ``told`` about are
        judged in place of those here; ``shares`` is what a second answer counts, by question, where
        one may be taken now.
        """
        p = self._lab.draw(student, variants=self._variants, edition=self._edition)
        items, given = self._lab.items(p), SubmittedGiven(p, folder)
        told, shares = told or {}, shares or {}
        ledger = ledger or self.read_ledger(folder, student, items)
        scores, doubts = [], list(_measurement_doubts(items, folder))
        for name, most in points.items():
            item, cell, doubt, data = items.get(name), cells.get(name), None, None
            if isinstance(item, Checked):
                data = answers.get(name, _NOTHING)
                if data == _NOTHING and (cell is None or _has_stopped(cell)):
                    # The cell that reads the answer is gone or failed; the ledger still has it.
                    kept = recorded_answers(folder, self._lab, student, ledger=ledger)
                    data = to_data(kept.get(name))
                if isinstance(item, Code):
                    data = self._with_replies(name, given, data, answers)
                verdict, answer = self._judge_answer(name, given, data)
                known = told.get(name)
                if known and not _is_called_again(name, known.first, data, answers):
                    again = judged_again(known.first, name, self._checks, p, folder)
                    verdict = Verdict(again.credit, again.says, again.belief)
                    data, answer = again.data, again.answer
            elif isinstance(item, Record):
                times = {"released": released, "handed_in": handed_in}
                verdict, doubt = self._judge_record(name, folder, student, ledger, times)
                answer = None
                doubts += [doubt] if doubt else []
            else:
                # A cell that the lab's files do not know, such as an essay: nbgrader's own rule.
                # If there is no cell or nothing ran, there is nothing for a person to read.
                if cell is None:
                    auto = None if cells else 0.0
                else:
                    auto = by_notebook(cell) if _has_run(cell) else 0.0
                scores.append(Score(name, auto, most))
                continue
            second = self._second(name, told.get(name), shares.get(name), student, folder, ledger)
            credit = max(verdict.credit, second.worth if second else 0.0)
            auto = round(most * credit, 2)
            stopped = cell is not None and _has_run(cell) and has_failed(cell.outputs)
            scores.append(
                Score(
                    name,
                    auto,
                    most,
                    verdict.says,
                    verdict.belief,
                    answer,
                    by_notebook=0.0 if stopped and auto else None,
                    judged=True,
                    doubt=doubt.detail if doubt else "",
                    credit=credit,
                    data=data,
                    told=told[name].first.time if name in told else "",
                    alone=verdict.credit if second else None,
                    second=second,
                )
            )
        return scores, list(dict.fromkeys(doubts))

    def read_ledger(
        self, folder: Path, student: str, items: Mapping[str, Item]
    ) -> LedgerRecord | None:
        """Read the ledger of a submission; `None` if whoever needs it should say why not."""
        try:
            attempts = Attempts(self._lab, student, self._edition, self._variants)
            return LedgerRecord(
                self._lab, folder, student, items=items, attempts=attempts, also=self._also
            )
        except MemoryError:
            raise
        except Exception:
            return None

    def _with_replies(
        self, name: str, given: Given, data: Sequence[str], answers: Mapping[str, Any]
    ) -> Sequence[str]:
        """Return the data of a function with what it replied, so that it can be judged again."""
        if data == _NOTHING:
            return data
        cases = [case for key in _code_keys(self._checks, name, given) for case in key.cases]
        replies = [answers.get(_reply_name(name, k), _NOTHING)[-1] for k in range(len(cases))]
        return [*data, replies_as_text(cases, replies)]

    def _judge_answer(self, name: str, given: Given, data: Any) -> tuple[Verdict, str]:
        try:
            answer = from_data(data[:2])
        except (UnusableAnswer, ValueError, OverflowError) as reason:
            return Verdict(0.0, f"Not usable: {reason}."), "not usable"
        words = "" if answer is ... else repr(answer)[:80]
        try:
            return judge_answer(
                self._checks[name], given, answer, lambda key: kept_replies(key, data[2])
            ), words
        except MemoryError:
            raise
        except Exception as problem:
            # A check that reads a file of the submission may meet anything there.
            sentence = f"The check could not be made: {type(problem).__name__}: {problem}"
            return Verdict(0.0, sentence[:300]), words

    def _second(
        self,
        name: str,
        told: ToldAnswer | None,
        share: float | None,
        student: str,
        folder: Path,
        ledger: LedgerRecord | None,
    ) -> SecondAnswer | None:
        """Judge what was answered on new numbers; `None` if nothing was, or nothing may be."""
        if told is None:
            return None
        if told.second is not None:
            return judged_again(told.second, name, self._checks, told.second.parameters, folder)
        if share is None or told.first.credit >= 1 or ledger is None:
            return None
        attempts = Attempts(self._lab, student, self._edition, self._variants)
        asked = attempts.at(name, 1)
        recorded = recorded_answers(folder, self._lab, student, ledger=ledger)
        value = recorded.get(answer_name(name, 1))
        if asked is None or value is None or not isinstance(asked.item, Checked):
            return None
        if isinstance(asked.item, Code) or not is_usable(asked.item, value):
            return None
        data = to_data(value)
        verdict, _ = self._judge_answer(name, SubmittedGiven(asked.p, folder), data)
        return SecondAnswer(
            data, asked.item.in_words(value), verdict.credit, verdict.says, verdict.belief,
            share=share, parameters=dict(asked.p),
        )  # fmt: skip

    def _judge_record(
        self,
        name: str,
        folder: Path,
        student: str,
        ledger: LedgerRecord | None,
        times: Mapping[str, datetime | None],
    ) -> tuple[Verdict, Flag | None]:
        try:
            return judge_record(self._lab, name, folder, student, ledger=ledger, **times)
        except MemoryError:
            raise
        except Exception as problem:
            sentence = f"The ledger could not be read: {type(problem).__name__}: {problem}"[:300]
            return Verdict(0.0, sentence), Flag(FlagKind.DOUBTFUL_LEDGER, detail=sentence)


def _reply_name(name: str, number: int) -> str:
    return f"{name}.{number}"


def _code_keys(checks: Checks, name: str, given: Given) -> list[CodeKey]:
    """Return the key of a function; none if its check fails, which is said later."""
    try:
        key: Any = checks[name](given)
    except MemoryError:
        raise
    except Exception:
        return []
    return [key] if isinstance(key, CodeKey) else []


def _is_called_again(
    name: str, known: JudgedAnswer, data: Sequence[str], answers: Mapping[str, Any]
) -> bool:
    """Whether the function that was told was called now, with the cases of now."""
    same = list(data[:_WITHOUT_REPLIES]) == list(known.data[:_WITHOUT_REPLIES])
    return same and _reply_name(name, 0) in answers


def _measurement_doubts(items: Mapping[str, Item], folder: Path) -> Iterator[Flag]:
    """Flag a measurement that cannot be the student's own, where the lab asks for one."""
    if asks_for_one(items) and (shipped := shipped_measurement(folder)):
        yield Flag(FlagKind.SHIPPED_MEASUREMENT, MEASUREMENT, shipped)


def _has_run(cell: Any) -> bool:
    """Whether a code cell was run at all; if not, the absence of an error means nothing."""
    return cell.cell_type != "code" or cell.execution_count is not None


def _has_stopped(cell: Any) -> bool:
    """Whether a cell was not run to its end, as when a student's code uses the name ``lab``."""
    return not _has_run(cell) or (cell.cell_type == "code" and has_failed(cell.outputs))


def has_failed(outputs: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a cell stopped at an error, or complained, which counts the same in nbgrader."""
    return any(
        output["output_type"] == "error"
        or (output["output_type"] == "stream" and output["name"] == "stderr")
        for output in outputs
    )


def by_notebook(cell: Any) -> float | None:
    """Return the points that stock nbgrader gives for a cell's outputs; a test compares the two."""
    metadata = cell_metadata(cell)
    most = float(metadata["points"])
    if metadata.get("solution", False):
        return 0.0 if metadata.get("checksum") == checksum(cell) else None
    if cell.cell_type != "code":
        return None
    for output in cell.outputs:
        if has_failed([output]):
            return 0.0
        if output.output_type == "execute_result":
            return _partial(output.data.get("text/plain"), most)
    return most


def _partial(value: Any, most: float) -> float:
    """Return the points in a cell's last value; what nbgrader cannot read counts as all of them."""
    if not value:
        return 0.0
    try:
        points = float(value)
    except (TypeError, ValueError):
        return most
    if points > most:  # nbgrader stops here, and the submission with it
        return 0.0
    return points if points >= 0 else most
