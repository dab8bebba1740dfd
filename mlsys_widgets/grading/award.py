"""The last lines of hidden tests, inside a notebook that nbgrader runs.

nbgrader takes a cell's last value as its points, so these functions print a sentence and return a
number. Hidden tests are built into the instructor's notebook from the lab's checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.flags import Flag, FlagKind
from mlsys_widgets.grading.judging import Verdict, judge
from mlsys_widgets.grading.keys import Check, Given
from mlsys_widgets.labs import Lab, Record, load, student
from mlsys_widgets.labs.answers import print_sentence
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.working_folder import working_folder
from mlsys_widgets.ledger import Ledger, LedgerError, State


def award(
    check: Check,
    namespace: Mapping[str, Any],
    *,
    points: float,
    variants: bool = True,
    edition: str = "",
) -> float:
    """Judge the answer that has the name of its check, and print the verdict.

    Parameters
    ----------
    check
        The lab's check.
    namespace
        Where the answer is: the notebook's ``globals()``.
    points
        What it is worth.
    variants, edition
        As the lab was built.
    """
    folder = Path.cwd()
    lab = load(folder)
    parameters = lab.draw(student(folder).name, edition=edition, variants=variants)
    try:
        key = check(Given(parameters, working_folder(folder)))
    except ValueError as reason:  # of an answer about a file that is missing or broken
        verdict = Verdict(0.0, str(reason))
    else:
        verdict = judge(key, namespace.get(check.__name__, ...))
    earned = round(points * verdict.credit, 2)
    print_sentence(f"{check.__name__}: {earned:g} of {points:g} points. {verdict.says}")
    return earned


def award_record(record: str, *, points: float) -> float:
    """Award points for what the ledger beside the notebook holds; each part counts the same.

    Somebody else's ledger earns nothing. One that does not verify still does: what that means is
    for a person to decide, so it is only said.
    """
    folder = Path.cwd()
    work, owner = working_folder(folder), student(folder).name
    verdict, doubt = judge_record(load(folder), record, work, owner)
    earned = round(points * verdict.credit, 2)
    print_sentence(f"{record}: {earned:g} of {points:g} points. {verdict.says}")
    if doubt:
        print_sentence(f"For the grader: {doubt.detail}")
    return earned


def judge_record(lab: Lab, record: str, folder: Path, owner: str) -> tuple[Verdict, Flag | None]:
    """Judge what the ledger in a folder earns, and flag the first thing in it that does not fit.

    Parameters
    ----------
    lab
        The lab.
    record
        The item of the lab that says what the ledger should hold.
    folder
        Where the ledger lies.
    owner
        Whose it must be.
    """
    wanted = _wanted(lab, record)
    try:
        ledger = Ledger.open(folder / LEDGER, lab=lab.name, student=owner)
        state, found = ledger.state(), ledger.verify(student=owner, lab=lab.name)
    except LedgerError as problem:
        return Verdict(0.0, str(problem)), Flag(FlagKind.DOUBTFUL_LEDGER, detail=str(problem))
    if state.student not in (None, owner):
        said = f"The ledger is of {state.student}, not of {owner}."
        return Verdict(0.0, said), Flag(FlagKind.FOREIGN_LEDGER, detail=said)
    missing = [name for name, parts in wanted.items() if not _holds(state, lab.name, parts)]
    said = f"Missing: {', '.join(_titles(lab, missing))}." if missing else "All there."
    verdict = Verdict(1 - len(missing) / len(wanted), said)
    if found.first_problem is None:
        return verdict, None
    return verdict, Flag(FlagKind.DOUBTFUL_LEDGER, detail=str(found.first_problem))


def _titles(lab: Lab, names: Iterable[str]) -> list[str]:
    """The titles that the cards show to students."""
    items = lab.items(lab.draw("", variants=False))
    return [f"“{getattr(items.get(name), 'title', name)}”" for name in names]


def _wanted(lab: Lab, record: str) -> dict[str, tuple[str, ...]]:
    """What a record consists of, and the names under which the ledger keeps each part."""
    items = lab.items(lab.draw("", variants=False))
    found = items[record]
    assert isinstance(found, Record)
    return {name: items[name].ledger_names(name) if name in items else (name,) for name in found.of}


def _holds(state: State, lab: str, names: Iterable[str]) -> bool:
    kept = {*state.predictions, *state.reflections, *state.answers}
    kept |= {DESIGN} if lab in state.designs else set()
    return kept.issuperset(names)
