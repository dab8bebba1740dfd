"""Submitting a lab through nbgrader, with a receipt that says where its ledger ends.

With this line in the ``nbgrader_config.py`` of students, the receipt is written beside the ledger
whenever a lab is submitted, and the grader holds the ledger against it::

    c.ExchangeFactory.submit = "mlsys_widgets.server.submit.SubmitWithReceipt"

``python -m mlsys_widgets.server.submit FOLDER`` submits the lab in a folder, as the panel's button
does on a hub: in a process of its own, because nbgrader changes its working folder and its settings
are those of a whole process.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nbgrader.exchange import ExchangeError, ExchangeFactory  # type: ignore[import-untyped]
from nbgrader.exchange.default import ExchangeSubmit  # type: ignore[import-untyped]
from nbgrader.utils import parse_utc  # type: ignore[import-untyped]

from mlsys_widgets.course.due_words import due_words
from mlsys_widgets.course.own_dates import dates_here
from mlsys_widgets.files import DRAFTS, LEDGER, SETTINGS, TOLD
from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.ledger.handed_in import note_hand_in
from mlsys_widgets.ledger.receipt import write_receipt
from mlsys_widgets.server.submit_reply import SubmitReply

#: The student's own business: what was typed and not recorded, how instruments were left, and what
#: was told.
_OWN: Final = (DRAFTS, SETTINGS, TOLD)


def refuse_closed(lab: str, folder: Path) -> None:
    """Raise `ExchangeError` for a lab that is closed for this student, or was withdrawn.

    Only what a hub says about this very student decides that. Dates that came with a lab may be
    older than an extension.
    """
    dates = dates_here(folder)
    words = due_words(dates, lab, datetime.now(UTC)) if dates and dates.own else None
    if words and words.state == "closed":
        raise ExchangeError(words.text)


def with_receipt(submit: Any) -> Any:
    """Make a class that submits as another one does: a receipt before that, a note afterward."""

    class SubmitNotingLedger(submit):  # type: ignore[misc]
        """Writes the receipt, submits, and notes that it did."""

        def copy_files(self) -> None:
            """Copy the work of a student to where it is collected. Called by nbgrader."""
            folder, head = Path(self.src_path), None
            refuse_closed(self.coursedir.assignment_id, folder)
            if (folder / LEDGER).is_file():
                try:
                    head = write_receipt(folder)
                except (LedgerError, OSError) as problem:  # the work itself can be submitted
                    self.log.warning("There is no receipt for the ledger: %s", problem)
            self.coursedir.ignore = [*self.coursedir.ignore, *_OWN]
            super().copy_files()
            moment = parse_utc(self.timestamp).replace(tzinfo=UTC)
            note_hand_in(folder, head, moment, course=self.coursedir.course_id)

    return SubmitNotingLedger


#: For nbgrader's own exchange, which is a folder.
SubmitWithReceipt = with_receipt(ExchangeSubmit)


def submit_folder(folder: Path) -> SubmitReply:
    """Submit the lab in a folder, named as the lab, through the exchange; else `ExchangeError`."""
    from nbgrader.apps import NbGrader  # type: ignore[import-untyped]
    from nbgrader.auth import Authenticator  # type: ignore[import-untyped]
    from nbgrader.coursedir import CourseDirectory  # type: ignore[import-untyped]

    app = NbGrader()
    app.load_config_file()
    config = app.config
    # The lab may lie anywhere below the server's root, not only where nbgrader fetches to.
    config.Exchange.assignment_dir = str(folder.parent)
    config.Exchange.path_includes_course = False
    config.CourseDirectory.assignment_id = folder.name
    course = CourseDirectory(config=config)
    submitting = ExchangeFactory(config=config).Submit(
        coursedir=course, authenticator=Authenticator(config=config), config=config
    )
    submitting.start()
    names = sorted(p.name for p in folder.iterdir() if p.is_file() and p.name not in _OWN)
    return SubmitReply(submitting.timestamp, course.course_id, tuple(names))


def main(arguments: list[str]) -> int:
    """Submit the lab in a folder; what came of it is printed as a line of JSON."""
    try:
        reply = submit_folder(Path(arguments[0]))
    except (ExchangeError, OSError, RuntimeError, ValueError) as problem:
        reply = SubmitReply(problem=str(problem) or type(problem).__name__)
    print(json.dumps(asdict(reply)))
    return 1 if reply.problem else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
