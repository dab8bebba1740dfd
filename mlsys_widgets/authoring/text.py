"""Reads ``lab.py``: jupytext's percent format, where each cell line says what the cell is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

#: What a cell can be, by the word on its line. All but setup and design take a name.
CODE_KINDS: Final = (
    "setup", "card", "instrument", "reveal", "show", "answer", "record", "design",
)  # fmt: skip
#: Kinds whose cell is generated from its name alone.
EMPTY_KINDS: Final = ("card", "record")


class TextError(ValueError):
    r"""A lab as text that cannot be built, with the file and what to fix.

    Examples
    --------
    A cell line that names nothing that a cell can be:

    >>> path = folder / "lab.py"
    >>> _ = path.write_text('# %% widget="roofline"\nRooflineWidget()\n')
    >>> read(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.authoring.text.TextError: .../lab.py, cell 1: the line “# %% …” must name exactly
    one of setup, card, instrument, reveal, show, answer, record, design; it names widget (the cell
    begins 'RooflineWidget()')
    """


@dataclass(frozen=True)
class LabCell:
    """A cell as its author wrote it."""

    #: One of `CODE_KINDS`, or ``prose``, ``essay`` or ``deeper``.
    kind: str
    #: An item or a title; empty for prose, the heading of deeper parts, setup and design.
    name: str
    body: str
    #: File and cell, for whoever has to fix something.
    where: str = field(default="", compare=False)


def read(path: Path) -> list[LabCell]:
    """Read the cells of a lab."""
    import jupytext  # takes as long as all else here, and only whoever builds a lab needs it

    book = jupytext.reads(path.read_text("utf-8"), fmt="py:percent")
    return [_lab_cell(path, k, cell) for k, cell in enumerate(book.cells, 1) if not _blank(cell)]


def _blank(cell: object) -> bool:
    return not cell.source.strip() and not _said(cell)  # type: ignore[attr-defined]


def _said(cell: object) -> dict[str, object]:
    """Return a cell line without jupytext's notes on how many empty lines it found."""
    found = cell.metadata.items()  # type: ignore[attr-defined]
    return {key: value for key, value in found if not key.startswith("lines_to_")}


def _lab_cell(path: Path, number: int, cell: object) -> LabCell:
    metadata = _said(cell)
    body: str = cell.source.strip("\n")  # type: ignore[attr-defined]
    where = f"{path}, cell {number}"
    if cell.cell_type == "markdown":  # type: ignore[attr-defined]
        if not metadata:
            return LabCell("prose", "", body, where)
        if list(metadata) == ["deeper"]:
            return LabCell("deeper", "", _heading(where, body), where)
        if list(metadata) != ["essay"]:
            said = ", ".join(metadata)
            raise TextError(f"{where}: prose can say essay=… or deeper=true; it says {said}")
        return LabCell("essay", _name(where, "essay", metadata["essay"]), body, where)
    kinds = [kind for kind in CODE_KINDS if kind in metadata]
    if len(kinds) != 1 or len(metadata) != 1:
        listed = ", ".join(CODE_KINDS)
        raise TextError(
            f"{where}: the line “# %% …” must name exactly one of {listed}; it names"
            f" {', '.join(metadata) or 'nothing'} (the cell begins {body[:40]!r})"
        )
    kind = kinds[0]
    name = "" if kind in ("setup", "design") else _name(where, kind, metadata[kind])
    if kind in EMPTY_KINDS and body:
        raise TextError(f"{where}: a {kind} cell is generated from its name; leave its body empty")
    if kind not in EMPTY_KINDS and not body:
        raise TextError(f"{where}: the {kind} cell is empty")
    return LabCell(kind, name, body, where)


def _name(where: str, kind: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TextError(
            f'{where}: {kind} needs a name in quotes, such as {kind}="…"; it is {value!r}'
        )
    return value.strip()


def _heading(where: str, body: str) -> str:
    if not body.startswith("#"):
        raise TextError(
            f"{where}: a cell that says deeper=true begins with the heading of its section; it"
            f" begins {body[:40]!r}"
        )
    return body


def open_lab_with(source: str, lab: str, arguments: str, way: str = "") -> str:
    r"""A cell's code with other arguments of the course where it opens the lab.

    Examples
    --------
    >>> open_lab_with('lab = open_lab("lab_02", edition="a", deeper="required")', "lab_02", "")
    'lab = open_lab("lab_02", deeper="required")'
    """
    # What is deeper is no matter of the draw and stays as it is.
    opens = re.compile(rf'^(lab = open_lab\("{re.escape(lab)}").*?((?:, deeper="\w+")?)\)$', re.M)
    return opens.sub(lambda found: f"{found[1]}{arguments}{found[2]}{way})", source)
