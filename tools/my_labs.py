"""Lay the labs out for practice in my_labs/, where a student works on them.

``make lab`` runs this each time. Nothing that a student has changed is ever overwritten or removed.
A lab that nobody touched follows its release. A lab that was touched stays entirely as it is,
because its notebook and the file with its questions belong together; one line says so. A missing
file is restored.

Without a course nobody grades, so the labs are copies for practice, made from the release; with
``--assignments`` they are laid out as a course hands them out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
#: What is copied, and below which folder: the labs, and the tutorials.
LABS, TUTORIALS = "release", "docs/tutorials"
#: To whoever gets copies for practice.
PRACTICE: Final = (
    "The labs in {} are for practice: each answer is judged at once, and nothing is graded. To see"
    " them as a course hands them out: make lab LAB_FOLDER=my_assignments WAY=--assignments"
)
#: Records what was copied, so that a student's changes can be told from ours.
MEMORY: Final = ".laid_out.json"

#: The dates of a lab, which no student changes: they follow the release even if the lab does not.
DATES: Final = "dates.json"
#: What a student's own server keeps up to date on the start page is no change of the student's.
_KEPT_BY_SERVER: Final = re.compile(
    rb"(<!-- when labs are due;[^\n]*\n).*?(<!-- end of when labs are due -->)", re.S
)

_LEFT_OUT: Final = frozenset({"__pycache__", "ledger.jsonl"})

#: Digest of every file as it was copied, by its path.
Known = dict[str, str]


def lay_out(root: Path, folder: Path, labs: Path | None = None) -> list[str]:
    """Bring a student's folder up to date; return what to tell the student.

    Parameters
    ----------
    labs
        Where the labs are; those that are released if omitted.
    """
    remembered, notices = _remembered(folder), []
    for name, source, below in (
        (LABS, labs or root / LABS, ""),
        (TUTORIALS, root / TUTORIALS, "tutorials"),
    ):
        for unit in _units(source):
            known = remembered.setdefault(name, {})
            if not _lay_out_unit(source, unit, folder / below, known):
                notices.append(
                    f"{folder / below / unit.name} differs from the one in {name}/. Yours stays,"
                    " because you changed it; to get the other one too, rename yours."
                )
    text = json.dumps(remembered, indent=1, sort_keys=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / MEMORY, text.encode())
    return notices


def _units(source: Path) -> Iterator[Path]:
    """Yield what belongs together: the folder of a lab, or a single file."""
    if source.is_dir():
        yield from sorted(each for each in source.iterdir() if not _left_out(each.name))


def _left_out(name: str) -> bool:
    return name in _LEFT_OUT or name.startswith(".")


def _lay_out_unit(source: Path, unit: Path, folder: Path, known: Known) -> bool:
    """Bring what belongs together up to date; return whether it is now what was released."""
    files = [unit] if unit.is_file() else sorted(path for path in unit.rglob("*") if path.is_file())
    paths = [file.relative_to(source) for file in files]
    paths = [path for path in paths if not any(_left_out(part) for part in path.parts)]
    newest = {path: _digest(source / path) for path in paths}
    there = {path: _digest(folder / path) for path in paths}
    before = {path: known.get(path.as_posix()) for path in paths}
    touched = any(
        there[path] not in (None, newest[path], before[path])
        for path in paths
        if path.name != DATES
    )
    for path in paths:
        follows = not touched or path.name == DATES
        if there[path] is None or (there[path] != newest[path] and follows):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            _write(folder / path, (source / path).read_bytes())
            there[path] = newest[path]
        if there[path] == newest[path]:
            before[path] = newest[path]
            known[path.as_posix()] = str(newest[path])
    return before == newest


def _digest(path: Path) -> str | None:
    """Return the digest of a file; `None` if there is nothing, a word for what is not a file."""
    if not os.path.lexists(path):
        return None
    if not path.is_file():
        return "not a file"
    return hashlib.sha256(_KEPT_BY_SERVER.sub(rb"\1\2", path.read_bytes())).hexdigest()


def _remembered(folder: Path) -> dict[str, Known]:
    """Read what was copied, by source. Without it, whatever differs counts as the student's."""
    try:
        memory = json.loads((folder / MEMORY).read_text("utf-8"))
        return {source: dict(known) for source, known in memory.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    aside = path.with_name(f".{path.name}.new")
    aside.write_bytes(content)
    aside.replace(path)


def practice(folder: Path) -> list[str]:
    """Lay out copies for practice of the labs of this checkout."""
    from mlsys_widgets.authoring.practice_copies import practice_copies
    from mlsys_widgets.course.course import Course

    with tempfile.TemporaryDirectory() as aside:
        practice_copies(Course.at(ROOT), Path(aside))
        return [PRACTICE.format(folder), *lay_out(ROOT, folder, Path(aside))]


def main(arguments: Sequence[str]) -> int:
    """Lay the labs of this checkout out in the folder that is named."""
    as_assignments = "--assignments" in arguments
    named = [each for each in arguments if each != "--assignments"]
    if len(named) != 1:
        print("usage: my_labs.py FOLDER [--assignments]", file=sys.stderr)
        return 2
    folder = Path(named[0])
    try:
        for line in lay_out(ROOT, folder) if as_assignments else practice(folder):
            print(line)
    except (OSError, ValueError) as problem:
        print(f"The labs could not be laid out in {folder}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
