"""Designs that a lab takes over from an earlier one: its entry, or a default and a sentence.

Labs are side by side, each in a folder of its name with its ledger in it, as nbgrader fetches them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger.errors import LedgerError
from mlsys_widgets.ledger.ledger import Ledger
from mlsys_widgets.ledger.values import frozen, json_data


@dataclass(frozen=True)
class Handover:
    """The design that a lab starts from, and where it comes from.

    Examples
    --------
    A student who has done the earlier lab starts from its design:

    >>> from mlsys_widgets.ledger.designs import DesignForm, flag
    >>> form = DesignForm("lab_07_kernel_fusion", 7, {"fused": flag("whether kernels are fused")})
    >>> path = folder / form.lab / "ledger.jsonl"
    >>> path.parent.mkdir()
    >>> _ = Ledger.open(path, lab=form.lab, student="ann").save_design({"fused": True}, form)
    >>> here = folder / "lab_11_roofline" / "ledger.jsonl"
    >>> start = earlier_design(form.lab, beside=here, default={"fused": False})
    >>> start.found, dict(start.fields), start.doubt
    (True, {'fused': True}, '')
    >>> print(start.sentence)  # doctest: +ELLIPSIS
    Starts from your design of lab_07_kernel_fusion, saved at ...
    """

    lab: str  #: The earlier lab.
    fields: Mapping[str, Any]  #: What it decided.
    found: bool  #: Whether that comes from its ledger; it is the default otherwise.
    sentence: str  #: Where it comes from, in words.
    doubt: str = ""  #: What is wrong with that ledger, in words; empty if it verifies.


def earlier_design(
    lab: str,
    *,
    beside: str | os.PathLike[str],
    default: Mapping[str, Any],
    student: str | None = None,
) -> Handover:
    """Find the design entry of an earlier lab of the same student, or return the default.

    It is expected in the folder next to that of ``beside``, the ledger of the present lab.

    Examples
    --------
    >>> start = earlier_design(
    ...     "lab_07_kernel_fusion",
    ...     beside="nowhere/lab_11_roofline/ledger.jsonl",
    ...     default={"fusion_enabled": False},
    ... )
    >>> start.found, start.fields["fusion_enabled"]
    (False, False)
    >>> print(start.sentence)
    There is no ledger of lab_07_kernel_fusion beside this lab, so it starts from the default:
    fusion_enabled = False.
    """
    listed = ", ".join(f"{name} = {value!r}" for name, value in default.items())
    fallback = f"so it starts from the default: {listed}."
    path = Path(beside).absolute().parent.parent / lab / LEDGER

    def without(reason: str) -> Handover:
        return Handover(lab, frozen(json_data("default", default)), False, f"{reason}, {fallback}")

    if not path.exists():
        return without(f"There is no ledger of {lab} beside this lab")
    try:
        ledger = Ledger.open(path, lab=lab, student=student)
        state, verdict = ledger.state(), ledger.verify()
    except LedgerError as error:
        return without(f"The ledger of {lab} cannot be used ({error})")
    if lab not in state.designs:
        return without(f"The ledger of {lab} has no design entry yet")
    if student is not None and state.student != student:
        return without(f"The ledger of {lab} beside this lab belongs to {state.student!r}")
    sentence = f"Starts from your design of {lab}, saved at {state.designs[lab].time}."
    doubt = ""
    if verdict.first_problem:
        doubt = f"The ledger of {lab} does not verify: {verdict.first_problem}"
    return Handover(lab, state.designs[lab].fields, True, f"{sentence} {doubt}".strip(), doubt)
