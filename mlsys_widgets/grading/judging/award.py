"""The last lines of hidden tests, inside a notebook that nbgrader runs.

nbgrader takes a cell's last value as its points, so these functions print a sentence and return a
number. Hidden tests are built into the instructor's notebook from the lab's checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.grading.reading.entry_rules import usual_rules
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.judging.keys import Check, CodeKey, Given
from mlsys_widgets.judging.verdicts import Verdict, result_in_words
from mlsys_widgets.labs import Code, Lab, Record, load, student
from mlsys_widgets.labs.answers import print_sentence
from mlsys_widgets.labs.function_calls import call_apart
from mlsys_widgets.labs.identity import is_instructors
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.practice import NOT_GRADED
from mlsys_widgets.labs.working_folder import working_folder
from mlsys_widgets.ledger import LedgerError, State

#: Of work without a ledger, and without a record in its notebook.
_NOTHING: Final = "There is no ledger that can be read, and no record in the notebook."


def award(
    check: Check,
    namespace: Mapping[str, Any],
    *,
    points: float,
    variants: bool = True,
    edition: str = "",
) -> float:
    r"""Judge the answer that has the name of its check, and print the verdict.

    ``namespace`` is the notebook's ``globals()``. nbgrader reads the points as the cell's last
    value.

    Examples
    --------
    >>> from contextlib import chdir
    >>> from mlsys_widgets.judging import Belief, NumberKey
    >>> inverted = Belief("inverted", 1 / 295, credit=0.2, says="These are bytes per FLOP.")
    >>> def ridge(given):
    ...     return NumberKey(295, tolerance=0.02, beliefs=[inverted])
    >>> with chdir(folder):  # where the notebook is
    ...     _ = Path("asks.py").write_text(
    ...         "from mlsys_widgets.labs import Lab\n"
    ...         "lab = Lab('lab_00_demo', title='Demo', chapter=0, acts=())\n"
    ...     )
    ...     award(ridge, {"ridge": 295.2}, points=10)
    ...     award(ridge, {"ridge": 0.00339}, points=10)
    ridge: 10 of 10 points. Right.
    10.0
    ridge: 2 of 10 points. These are bytes per FLOP.
    2.0
    """
    folder = Path.cwd()
    lab = load(folder)
    parameters = lab.draw(student(folder).name, edition=edition, variants=variants)
    # An instructor's notebook has the lab's examples beside it, and is nobody's submission.
    given = Given if is_instructors(folder) else SubmittedGiven
    item, answer = lab.items(parameters).get(check.__name__), namespace.get(check.__name__, ...)

    def call(key: CodeKey) -> Sequence[Any]:
        assert isinstance(item, Code)
        return call_apart(answer, item.function, key.cases, key.driver)

    verdict = judge_answer(check, given(parameters, working_folder(folder)), answer, call)
    earned = round(points * verdict.credit, 2)
    print_sentence(result_in_words(check.__name__, verdict, earned, points))
    return earned


def award_record(record: str, *, points: float) -> float:
    """Award points for what the ledger beside the notebook holds; each part counts the same.

    Somebody else's ledger earns nothing. One that does not verify still does: what that means is
    for a person to decide, so it is only said.

    Examples
    --------
    A student has committed the prediction of a new lab, and not yet answered its reflection:

    >>> from contextlib import chdir
    >>> from mlsys_widgets.authoring import new_lab
    >>> from mlsys_widgets.ledger import Ledger
    >>> with chdir(new_lab(folder, "lab_00_demo")):
    ...     ledger = Ledger.open("ledger.jsonl", lab="lab_00_demo", student=student().name)
    ...     _ = ledger.commit_prediction("act1_bound", "A", confidence=2)
    ...     award_record("commitments", points=20)
    commitments: 10 of 20 points. Missing: “What helps?”.
    10.0
    """
    folder = Path.cwd()
    work, owner = working_folder(folder), student(folder).name
    verdict, doubt = judge_record(load(folder), record, work, owner)
    earned = round(points * verdict.credit, 2)
    print_sentence(result_in_words(record, verdict, earned, points))
    if doubt:
        print_sentence(f"For the grader: {doubt.detail}")
    return earned


def judge_record(
    lab: Lab,
    record: str,
    folder: Path,
    owner: str,
    *,
    ledger: LedgerRecord | None = None,
    released: datetime | None = None,
    handed_in: datetime | None = None,
) -> tuple[Verdict, Flag | None]:
    """Judge what the ledger in a folder earns, and flag what in it does not fit.

    Only entries that a card of this lab could have written are counted: a prediction without a
    value is none. The times of release and hand-in are in UTC.
    """
    wanted = _wanted(lab, record)
    try:
        ledger = ledger or LedgerRecord(lab, folder, owner)
        doubts = ledger.doubts(released=released, handed_in=handed_in)
    except LedgerError as problem:
        # Where the graded copy lies is nobody's business who reads this.
        why = str(problem).replace(f"{folder}{os.sep}", "")
        return Verdict(0.0, why), Flag(FlagKind.DOUBTFUL_LEDGER, detail=why)
    if ledger.somebody_else is not None:
        sentence = f"The ledger is of {ledger.somebody_else}, not of {owner}."
        return Verdict(0.0, sentence), Flag(
            FlagKind.FOREIGN_LEDGER, detail=f"{ledger.somebody_else}, not of {owner}"
        )
    if ledger.is_practice:
        return Verdict(0.0, NOT_GRADED), Flag(FlagKind.PRACTICE, detail=NOT_GRADED)
    state = ledger.state
    missing = [name for name, parts in wanted.items() if not _holds(state, lab.name, parts)]
    sentence = f"Missing: {', '.join(_titles(lab, missing))}." if missing else "All there."
    if ledger.head is None:
        sentence = f"{_NOTHING} {sentence}"
    verdict = Verdict(1 - len(missing) / len(wanted), sentence)
    if not doubts:
        return verdict, None
    more = f" And {len(doubts) - 1} more." if len(doubts) > 1 else ""
    return verdict, Flag(FlagKind.DOUBTFUL_LEDGER, detail=f"{doubts[0]}{more}")


def _titles(lab: Lab, names: Iterable[str]) -> list[str]:
    """Return the titles that the cards show to students."""
    items = usual_rules(lab).items
    return [f"“{getattr(items.get(name), 'title', name)}”" for name in names]


def _wanted(lab: Lab, record: str) -> dict[str, tuple[str, ...]]:
    """Return what a record consists of, and the names under which the ledger keeps each part."""
    items = usual_rules(lab).items
    found = items[record]
    assert isinstance(found, Record)
    return {name: items[name].ledger_names(name) if name in items else (name,) for name in found.of}


def _holds(state: State, lab: str, names: Iterable[str]) -> bool:
    kept = {*state.predictions, *state.reflections, *state.answers}
    kept |= {DESIGN} if lab in state.designs else set()
    return kept.issuperset(names)
