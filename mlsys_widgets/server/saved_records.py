"""Saves in a notebook's file what its ledger records, so that the notebook alone is enough.

Whoever hands in or moves only the notebook takes the answers along; see
`mlsys_widgets.ledger.carried_record`. The browser's copy of the notebook does not change, so
JupyterLab has nothing to ask about: like the pages of widgets, the record is put into what is
about to be written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlsys_widgets.files import NBGRADER_CONFIG
from mlsys_widgets.labs.identity import student
from mlsys_widgets.ledger.carried_record import put_record, read_ledger_file, take_out
from mlsys_widgets.server.paths import NotFound, PathRefused, Root

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


class SavedRecords:
    """Puts the record into notebooks that are about to be saved."""

    def __init__(self, root: Root) -> None:
        self.root = root

    def put_into(self, *, model: dict[str, Any], path: str, **_more: Any) -> None:
        """Update the record of a notebook; called by the server before it saves.

        A notebook beside somebody else's ledger, beside none, or of another lab keeps what it
        carries: it belongs to whom its first line names, whoever saves it. A notebook in
        ``source/`` or ``release/`` of a course carries nothing, because students get copies of it.
        """
        content = model.get("content")
        if model.get("type") != "notebook" or not isinstance(content, dict):
            return
        try:
            about = content["metadata"]["mlsys"]
            ledger = self.root.ledger(path.strip("/"))
            name = student(ledger.parent).name
        except (KeyError, TypeError, ValueError, PathRefused, NotFound):
            return
        if _is_built(ledger.parent):
            take_out(content)
            return
        lab = about.get("lab") if isinstance(about, dict) else None
        lines = read_ledger_file(ledger)
        if lines is not None and isinstance(lab, str):
            put_record(content, lines, lab, name)


def _is_built(folder: Path) -> bool:
    """Whether the notebook in a folder is one that a course gives to students."""
    step = folder.resolve().parent
    return step.name in ("source", "release") and (step.parent / NBGRADER_CONFIG).is_file()


def save_records(serverapp: ServerApp, root: Root) -> None:
    """Have a server save what ledgers record."""
    records = SavedRecords(root)
    serverapp.contents_manager.register_pre_save_hook(records.put_into)  # type: ignore[no-untyped-call]
