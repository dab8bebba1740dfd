"""What the panel is told, however it asks: over HTTP (`handlers`), or a kernel without a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.handin.boxes import recorded_in_boxes
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.ledger.drafts import Boxes, DraftRefused, Drafts
from mlsys_widgets.ledger.kept_settings import KeptSettings
from mlsys_widgets.server.due_reports import DueReports
from mlsys_widgets.server.finder import Finder
from mlsys_widgets.server.lab_steps import LabSteps
from mlsys_widgets.server.paths import NotFound, PathRefused, Root
from mlsys_widgets.server.reports import Reports, etag

#: What a list of ledgers shows of each report.
_IN_LISTS: Final = ("lab", "student", "last", "ok", "problem", "design")


class PanelAnswers:
    """Answers about the labs below a root. May be asked from several threads."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.finder = Finder(root)
        self.reports = Reports()
        self.due = DueReports()
        self.steps = LabSteps()

    def tag(self, ledger: Path, notebook: Path) -> str:
        """Return a value that changes with the ledger, and with what its dates are in words."""
        dates = self.due.tag(notebook)
        return f'{etag(ledger)[:-1]}{f"-{dates}" if dates else ""}"'

    def report(self, path: str) -> dict[str, Any]:
        """Return what the ledger beside a notebook says, and how far along each step is.

        Raises `PathRefused` and `NotFound` as `Root.ledger` does.
        """
        ledger, notebook = self.root.ledger(path), self.root.notebook(path)
        report = self.reports.of(ledger)
        place = {"path": path, "ledger": self.root.path_of(ledger)}
        due, you = self.due.of(notebook), name_here(ledger.parent)
        return {**place, "you": you, "due": due, **report.as_data(self.steps.of(notebook))}

    def ledgers(self, *known: Path) -> dict[str, Any]:
        """List all ledgers below the root, abridged; finding them takes a while the first time."""
        return self.listed(*self.finder.ledgers(*known))

    def listed(self, ledgers: Iterable[Path], complete: bool) -> dict[str, Any]:
        """Abridge the reports of ledgers."""
        listed = []
        for ledger in ledgers:
            report = self.reports.of(ledger)
            shown = {name: getattr(report, name) for name in _IN_LISTS}
            listed.append({"ledger": self.root.path_of(ledger), **shown})
        return {"ledgers": listed, "complete": complete}

    def labs(self) -> dict[str, Any]:
        """List all labs below the root."""
        labs, complete = self.finder.labs()
        return {"labs": [lab._asdict() for lab in labs], "complete": complete}

    def begin_again(self, ledger: Path) -> dict[str, Any]:
        """Set a ledger aside; `LedgerError` when that cannot be done."""
        aside = Ledger.open(ledger).begin_again()
        Drafts(ledger).clear()
        KeptSettings(ledger).clear()
        return {"aside": self.root.path_of(aside) if aside else None}


def name_here(folder: Path) -> str | None:
    """Return whose labs a kernel here would say these are; `None` if that is no name."""
    from mlsys_widgets.labs.identity import student

    try:
        return student(folder).name
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class DraftReport:
    """All drafts beside a notebook, and what tells which of them are out of date."""

    drafts: Boxes
    #: The id of the ledger, empty if there is none; `None` if it cannot be read.
    ledger: str | None = None
    #: What is recorded as boxes show it, by name.
    recorded: Mapping[str, Any] = field(default_factory=dict)


def read_drafts(notebook: Path) -> DraftReport:
    """Read the drafts beside a notebook."""
    ledger = notebook.with_name(LEDGER)
    drafts = Drafts(ledger).read()
    if not ledger.exists():
        return DraftReport(drafts, ledger="")
    try:
        state = Ledger.open(ledger).state()
    except LedgerError:
        return DraftReport(drafts)
    return DraftReport(drafts, state.ledger_id, recorded_in_boxes(state))


def change_drafts(notebook: Path, changes: list[Any]) -> None:
    """Write and remove drafts; `DraftRefused` when that cannot be done."""
    try:
        Drafts(notebook.with_name(LEDGER)).change(changes)
    except OSError as problem:
        why = problem.strerror or "the file cannot be written"
        raise DraftRefused(f"What you typed could not be kept: {why}.") from problem


#: What keeps the panel from being answered, and how HTTP calls that.
REFUSALS: Final[Mapping[type[Exception], HTTPStatus]] = {
    PathRefused: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    LedgerError: HTTPStatus.CONFLICT,
    ValueError: HTTPStatus.CONFLICT,
}


def refusal(problem: Exception, missing: str = "") -> tuple[HTTPStatus, str]:
    """Return how HTTP calls what went wrong, and a sentence that a person can do something about.

    ``missing`` is what to say if there is no such notebook.
    """
    status = next(code for kind, code in REFUSALS.items() if isinstance(problem, kind))
    if status is HTTPStatus.NOT_FOUND and missing:
        return status, missing
    if status is HTTPStatus.CONFLICT and not isinstance(problem, LedgerError):
        return status, _sentence(str(problem))
    return status, str(problem)


def _sentence(words: str) -> str:
    """Write a refusal of the command line as a sentence; a file's name stays as it is spelled."""
    start = words[:1].upper() if words.partition(" ")[0].isalpha() else words[:1]
    return f"{start}{words[1:].rstrip('.')}."
