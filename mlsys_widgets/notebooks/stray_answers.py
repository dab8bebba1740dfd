"""Answers that a student wrote where they do not count: in a test, below it, or without recording.

Nothing is run here, and nothing is decided: the words of a notebook are read, and what looks like
an answer is named, so that a person can look at it if the answer is missing in the end.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum, grade_id
from mlsys_widgets.notebooks.lost_cells import as_students_get_it, squeezed
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted

#: Characters of a cell; nobody types an answer into a longer one.
_LONGEST: Final = 50_000
#: Words of a text that can be an essay, at least.
_FEWEST_WORDS: Final = 4
#: Lines that only IPython understands.
_MAGIC: Final = re.compile(r"^\s*[%!?].*$", re.M)
_MARKER: Final = re.compile(r"^(?:<{7}|>{7}) ", re.M)


def stray_work(book: Any, blueprint: Blueprint, *, lost: bool = False) -> list[Remark]:
    """Name what a student wrote where it does not count, cell by cell.

    ``book`` is as it was submitted, before cells of the lab are restored. Where it ``lost`` what
    nbgrader notes in cells, nobody can tell a student's text from the lab's.
    """
    remarks = [*_edited(book, blueprint), *_answers(book, blueprint), *_conflicts(book)]
    return remarks if lost else [*remarks, *_essays(book, blueprint), *_texts(book)]


def _edited(book: Any, blueprint: Blueprint) -> Iterator[Remark]:
    """Yield the lab's own cells that students wrote into."""
    names = [
        name
        for cell in book.cells
        if (name := grade_id(cell) or "") in blueprint.cells and _added(cell, blueprint)
    ]
    if names:
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
        yield Remark(RemarkKind.EDITED_CELL, listed)


def _added(cell: Any, blueprint: Blueprint) -> list[str]:
    """Return the lines of code that a student added to a cell of the lab."""
    source = blueprint.cells[grade_id(cell) or ""]
    if not source.locked or cell.cell_type != "code":
        return []
    released = as_students_get_it(source)
    if cell.source.strip() == released.strip():
        return []
    known = {squeezed(line) for line in released.split("\n")}
    lines: list[str] = cell.source[:_LONGEST].split("\n")
    return [
        line
        for line in lines
        if line.strip() and not line.strip().startswith("#") and squeezed(line) not in known
    ]


def _answers(book: Any, blueprint: Blueprint) -> Iterator[Remark]:
    wanted = tuple(name for name in blueprint.graded if blueprint.cells[name].locked)
    named = {grade_id(cell): number for number, cell in enumerate(book.cells)}
    tests = {name: named[name] for name in wanted if name in named}
    found: dict[str, tuple[int, str]] = {}
    counts: set[str] = set()
    for number, cell in enumerate(book.cells):
        if cell.cell_type != "code" or len(cell.source) > _LONGEST:
            continue
        for name, words, records in _answers_of(cell.source, wanted):
            own = blueprint.cells.get(grade_id(cell) or "")
            in_time = number < tests.get(name, len(book.cells)) and not (own and own.locked)
            if in_time and (records or not _asks_the_ledger(name, tests, blueprint)):
                counts.add(name)
            found[name] = number, words or found.get(name, (number, name))[1]
    for name, (number, words) in found.items():
        if name not in counts:
            last = number == len(book.cells) - 1
            where = _where(number, tests.get(name), last=last)
            yield Remark(RemarkKind.STRAY_ANSWER, name, f"{quoted(words)} {where}")


def _asks_the_ledger(name: str, tests: Mapping[str, int], blueprint: Blueprint) -> bool:
    """Whether a test takes what is recorded; if not, or without a test, the variable counts."""
    return name in tests and ".answered(" in blueprint.cells[name].source


def _where(number: int, test: int | None, *, last: bool) -> str:
    if test is None:
        return "in a cell"
    if number == test:
        return "in its test"
    if number < test:
        return "above its test"
    return "in the last cell" if last else "below its test"


@lru_cache(maxsize=256)  # most cells are as they were released, in every notebook of a class
def _answers_of(source: str, names: tuple[str, ...]) -> tuple[tuple[str, str, bool], ...]:
    """Return the answers in a cell: the name, the words if there are any, whether it counts."""
    if not any(name in source for name in names):
        return ()
    try:
        tree = ast.parse(_MAGIC.sub("", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(_answers_in(tree, names))


def _answers_in(tree: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, str, bool]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                if not _is_plain_reading(value):
                    yield name, _line(node), False
            case ast.Call(
                func=ast.Attribute(attr="answer"), args=[ast.Constant(value=name), value]
            ) if name in names:
                # Where it records a variable of the same name, the assignment says more.
                same = isinstance(value, ast.Name) and value.id == name
                yield name, "" if same else _line(node), True


def _is_plain_reading(value: ast.expr) -> bool:
    """Whether an answer is only read: the line of the test itself, or the dots of a template."""
    match value:
        case ast.Call(func=ast.Attribute(attr="answered")):
            return True
        case ast.Constant(value=constant):
            return constant is None or constant is ...
    return False


def _line(node: ast.AST) -> str:
    try:
        return " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        return "…"


def _essays(book: Any, blueprint: Blueprint) -> Iterator[Remark]:
    """Find a student's own text beside a cell for a written answer that was left untouched."""
    cells = book.cells
    for number, cell in enumerate(cells):
        name = grade_id(cell)
        source = blueprint.cells.get(name or "")
        if name is None or source is None or not (source.graded and source.solution):
            continue
        if source.kind != "markdown" or not _is_blank(cell):
            continue
        below = ((number + 1, "below it"), (number + 2, "below it"))
        for place, words in ((number - 1, "above it"), *below, (len(cells) - 1, "at the end")):
            if 0 <= place < len(cells) and _is_own_text(cells[place]):
                text = " ".join(cells[place].source.split())
                yield Remark(RemarkKind.STRAY_ESSAY, name, f"{quoted(text, 40)} in a cell {words}")
                break


def _texts(book: Any) -> Iterator[Remark]:
    """Name what a student wrote as text into cells of their own; answers may be among it."""
    texts = [cell.source for cell in book.cells if _is_own(cell) and _is_text(cell)]
    if texts:
        first = quoted(" ".join(texts[0].split()))
        where = "a cell" if len(texts) == 1 else f"{len(texts)} cells"
        yield Remark(RemarkKind.TYPED_TEXT, where, first)


def _is_text(cell: Any) -> bool:
    """Whether a cell holds words or bare numbers, and nothing that computes."""
    if cell.cell_type != "code":
        return True
    code = _MAGIC.sub("", cell.source)
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return bool(code.strip()) and all(map(_says_only, statements))


def _says_only(statement: ast.stmt) -> bool:
    match statement:
        # Python reads "limit: 295" as a note on a name.
        case ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
            return True
    return False


def _is_blank(cell: Any) -> bool:
    try:
        return bool(cell_metadata(cell).get("checksum") == checksum(cell))
    except (KeyError, TypeError, ValueError):  # of metadata that a student edited
        return False


def _is_own(cell: Any) -> bool:
    """Whether a student made a cell, and wrote something into it that a person can read."""
    return (
        grade_id(cell) is None
        and cell.metadata.get("editable", True) is not False
        and bool(cell.source.strip())
        and len(cell.source) <= _LONGEST
    )


def _is_own_text(cell: Any) -> bool:
    words = len(cell.source[:_LONGEST].split())
    return _is_own(cell) and cell.cell_type in ("markdown", "raw") and words >= _FEWEST_WORDS


def _conflicts(book: Any) -> Iterator[Remark]:
    """Yield cells into which a tool for notebooks has written both sides of a conflict."""
    for number, cell in enumerate(book.cells):
        if len(_MARKER.findall(cell.source[:_LONGEST])) >= 2:
            yield Remark(RemarkKind.CONFLICT_CELL, grade_id(cell) or f"number {number + 1}")
