"""Submitting a lab through nbgrader, with a receipt that says where its ledger ends.

With this line in the ``nbgrader_config.py`` of students, the receipt is written beside the ledger
whenever a lab is submitted, and the grader holds the ledger against it::

    c.ExchangeFactory.submit = "mlsys_widgets.server.submit.SubmitWithReceipt"
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeSubmit  # type: ignore[import-untyped]

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.ledger.receipt import write_receipt


def with_receipt(submit: Any) -> Any:
    """Make a class that submits as another one does, and writes the receipt before that.

    Parameters
    ----------
    submit
        The class that nbgrader would submit with.
    """

    class SubmitNotingLedger(submit):  # type: ignore[misc]
        """Writes the receipt, then submits."""

        def copy_files(self) -> None:
            """Copy the work of a student to where it is collected. Called by nbgrader."""
            folder = Path(self.src_path)
            if (folder / LEDGER).is_file():
                try:
                    write_receipt(folder)
                except (LedgerError, OSError) as problem:  # the work itself can be submitted
                    self.log.warning("There is no receipt for the ledger: %s", problem)
            super().copy_files()

    return SubmitNotingLedger


#: For nbgrader's own exchange, which is a folder.
SubmitWithReceipt = with_receipt(ExchangeSubmit)
