"""A student's work on a lab, as it lies in a folder: the notebook, and what it says about itself.

Everything is read from the notebook's metadata, as the Lab panel reads it. No code of a lab runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER, MEASUREMENT
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.practice import NOT_GRADED, PRACTICE, WAY
from mlsys_widgets.labs.student_steps import STEP_KINDS, StudentStep
from mlsys_widgets.ledger.receipt import RECEIPT

#: A notebook beyond this many bytes is not handed in.
LARGEST_NOTEBOOK: Final = 64 << 20
#: What a student makes beside the notebook, in labs that do not say so themselves.
_USUAL: Final = (MEASUREMENT,)


class CannotHandIn(ValueError):
    """Work that cannot be handed in as it is, and what to do about it."""


@dataclass(frozen=True)
class LabWork:
    """The work of a student on one lab."""

    #: The notebook; everything else is in its folder.
    notebook: Path
    #: Which lab, and what people call it.
    lab: str
    title: str
    #: What there is to do in it.
    steps: tuple[StudentStep, ...]
    #: Names of what the student makes beside the notebook.
    files: tuple[str, ...] = _USUAL
    #: Whether it is a copy for practice, which nobody grades.
    practice: bool = False

    def must_count(self) -> None:
        """Refuse to hand in what nobody grades."""
        if self.practice:
            raise CannotHandIn(f"{self.notebook.name} is not handed in. {NOT_GRADED}")

    @property
    def folder(self) -> Path:
        return self.notebook.parent

    @property
    def ledger(self) -> Path:
        """The ledger beside the notebook, which may not exist."""
        return self.folder / LEDGER


def archived_names(lab: str, files: tuple[str, ...] = _USUAL) -> set[str]:
    """List the names of everything that is handed in."""
    return {f"{lab}.ipynb", LEDGER, RECEIPT, *_USUAL, *files}


def read_work(notebook: Path) -> LabWork:
    """Read what a notebook says about its lab; `CannotHandIn` when that is nothing."""
    try:
        too_large = notebook.stat().st_size > LARGEST_NOTEBOOK
        content = b"" if too_large else notebook.read_bytes()
    except OSError as problem:
        raise CannotHandIn(f"{notebook.name} cannot be read: {problem.strerror}") from None
    if too_large:
        raise CannotHandIn(
            f"{notebook.name} is larger than {LARGEST_NOTEBOOK >> 20} MiB; clear its outputs and"
            " save it"
        )
    try:
        book: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise CannotHandIn(f"{notebook.name} is not a notebook") from None
    about = _mlsys(book)
    lab = about.get("lab")
    if not isinstance(lab, str) or not lab or Path(lab).name != lab:
        raise CannotHandIn(f"{notebook.name} does not say which lab it belongs to")
    title = about.get("title")
    named = about.get("files")
    listed = named if isinstance(named, list) else []
    plain = [each for each in listed if isinstance(each, str) and _is_plain(each)]
    return LabWork(
        notebook,
        lab,
        title if isinstance(title, str) else lab,
        tuple(steps_in(book)),
        tuple(dict.fromkeys((*_USUAL, *plain))),
        about.get(WAY) == PRACTICE,
    )


def find_work(place: Path) -> LabWork:
    """Find the lab in a folder, or take the notebook that is named; else `CannotHandIn`."""
    if place.suffix == ".ipynb":
        return read_work(place.resolve())
    if not place.is_dir():
        raise CannotHandIn(f"there is no folder {place}; name the folder of the lab")
    found = []
    for path in sorted(place.resolve().glob("*.ipynb")):
        try:
            found.append(read_work(path))
        except CannotHandIn:
            continue
    usual = [work for work in found if work.notebook.stem == work.lab]
    chosen = usual or found
    if not chosen:
        raise CannotHandIn(
            f"there is no lab in {place.resolve()}; name its folder: mlsys hand-in FOLDER"
        )
    if len(chosen) > 1:
        listed = ", ".join(work.notebook.name for work in chosen)
        raise CannotHandIn(f"there are several labs here; name the one to hand in: {listed}")
    return chosen[0]


def _mlsys(node: Any) -> dict[str, Any]:
    """Return the metadata of a notebook or a cell that are ours; empty if there are none."""
    metadata = node.get("metadata") if isinstance(node, dict) else None
    about = metadata.get("mlsys") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else {}


def steps_in(book: Any) -> list[StudentStep]:
    """List the steps that the cells of a notebook hold, in order; an act lasts until the next."""
    found: dict[tuple[str, str], StudentStep] = {}
    act = 0
    cells = book.get("cells")
    for about in map(_mlsys, cells if isinstance(cells, list) else ()):
        number = about.get("act")
        act = number if isinstance(number, int) else act
        kind, name = about.get("kind"), about.get("id")
        if not isinstance(kind, str) or kind not in STEP_KINDS or not isinstance(name, str):
            continue
        title, needs = about.get("title"), about.get("needs")
        wanted = tuple(map(str, needs)) if isinstance(needs, list) and needs else (name,)
        # The ledger has one design, whatever its cell is called.
        wanted = (DESIGN,) if kind == DESIGN else wanted
        shown = title if isinstance(title, str) else name
        fewest = about.get("at_least")
        deeper = about.get("deeper") is True
        # A cell that a student has copied is the same step.
        found.setdefault(
            (kind, name),
            StudentStep(
                name, kind, act, shown, wanted, fewest if isinstance(fewest, int) else 1, deeper
            ),
        )
    return list(found.values())


def _is_plain(name: str) -> bool:
    """Whether a name is that of a file in the folder itself."""
    return Path(name).name == name and name not in (".", "..") and not name.startswith(".")
