"""Finding a student's work when it is not where it should be.

A notebook under another name, in a folder, in a zip, in a copy beside a blank original: all of it
is honest work. Where only one file can be meant, it is put in its place and graded; where a person
has to choose, nothing is guessed. Either way there is a remark that says what was found.

Pure: names and bytes come in, names, bytes and remarks go out. Nothing is believed about them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import nbformat

from mlsys_widgets.files import LEDGER, TIMESTAMP
from mlsys_widgets.grading.reading.zipped_work import unzipped
from mlsys_widgets.ledger.carried_record import BadRecord, carried
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum, grade_id
from mlsys_widgets.notebooks.notebook_text import UnreadableNotebook, is_plain, is_zip, read_json
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted

_NOTEBOOK: Final = ".ipynb"
#: What editors and mail programs put behind the name of a notebook.
_DISGUISED: Final = (".ipynb.txt", ".ipynb.json")
#: More notebooks than this are not looked into; nobody could say which one is meant.
_MOST: Final = 20
_SYSTEM_FILES: Final = ("__MACOSX", ".ipynb_checkpoints")


@dataclass(frozen=True)
class FoundWork:
    """A submission with its work in its place."""

    #: Paths and contents; the notebook, if there is one, has the name of the lab.
    files: Mapping[str, bytes]
    #: What was found elsewhere, and what was done about it.
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    """A file that is a notebook and may be the student's work on this lab."""

    path: str
    book: Mapping[str, Any]
    remarks: tuple[Remark, ...]
    answered: frozenset[str]
    written: frozenset[str]
    #: The record that it carries, where no ledger lies beside it.
    record: bytes
    beside: Mapping[str, bytes]

    @property
    def has_work(self) -> bool:
        return bool(self.answered or self.written or self.record)

    @property
    def shown(self) -> str:
        return quoted(self.path)


def find_work(files: Mapping[str, bytes], lab: str) -> FoundWork:
    """Put a submission's work in its place, where there is no doubt which file is meant."""
    name = f"{lab}{_NOTEBOOK}"
    others = [path for path in sorted(files) if path != name and _may_be_one(path, files, lab)]
    if name in files and not others and is_plain(files[name]):
        return FoundWork(files)
    candidates = list(_candidates([name, *others] if name in files else others, files, lab))
    proper = next((each for each in candidates if each.path == name), None)
    rest = [each for each in candidates if each is not proper]
    if proper is not None:
        return _beside(files, proper, rest, name)
    chosen = _only(each for each in rest if each.has_work) or _only(rest)
    if chosen is None:
        return FoundWork(files)  # whoever would run the notebook says what is there instead
    if name not in files:
        how = RemarkKind.OTHER_NAME
    else:
        how = RemarkKind.ZIPPED if is_zip(files[name]) else RemarkKind.OTHER_FILE
    return _placed(files, chosen, name, Remark(how, name, chosen.shown))


def _may_be_one(path: str, files: Mapping[str, bytes], lab: str) -> bool:
    parts = PurePosixPath(path).parts
    small = parts[-1].casefold()
    if parts[-1].startswith("._") or any(each in _SYSTEM_FILES for each in parts):
        return False
    plain = (lab.casefold(), f"{lab.casefold()}.txt", f"{lab.casefold()}.json")
    return (
        small.endswith((_NOTEBOOK, *_DISGUISED))
        or small in plain
        or (small.endswith(".zip") and is_zip(files[path]))
    )


def _candidates(paths: Iterable[str], files: Mapping[str, bytes], lab: str) -> Iterator[_Candidate]:
    for path in list(paths)[:_MOST]:
        if not is_zip(files[path]):
            yield from _candidate(path, files[path], lab, _beside_of(path, files))
            continue
        packed = unzipped(files[path])
        for inner in sorted(packed)[: _MOST * 10]:
            if _may_be_one(inner, packed, lab) and not is_zip(packed[inner]):
                beside = _beside_of(inner, packed)
                yield from _candidate(f"{path}/{inner}", packed[inner], lab, beside)


def _candidate(
    path: str, content: bytes, lab: str, beside: Mapping[str, bytes]
) -> Iterator[_Candidate]:
    try:
        book, remarks = read_json(content)
    except UnreadableNotebook:
        return
    if _lab_of(book) not in (None, lab) or not isinstance(book.get("cells"), list):
        return
    answered, written = _work_in(book)
    record = b"" if LEDGER in beside else _record_in(book)
    yield _Candidate(path, book, remarks, answered, written, record, beside)


def _record_in(book: Mapping[str, Any]) -> bytes:
    try:
        return carried(book) or b""
    except BadRecord:
        return b""


def _lab_of(book: Mapping[str, Any]) -> str | None:
    """Return which lab a notebook says it belongs to."""
    try:
        lab = book["metadata"]["mlsys"]["lab"]
    except (KeyError, TypeError):
        return None
    return lab if isinstance(lab, str) else None


def _work_in(book: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the answer cells that are not as they were released, and what else a student wrote."""
    answered, written = set(), set()
    for raw in book["cells"]:
        try:
            cell = nbformat.from_dict(raw)
            metadata, name = cell_metadata(cell), grade_id(cell)
            cell.source = "".join(cell.source)
            if name is not None and metadata.get("solution"):
                if metadata.get("checksum") != checksum(cell):
                    answered.add(name)
            elif name is None and cell.metadata.get("editable", True) and cell.source.strip():
                written.add(cell.source.strip())
        except (AttributeError, KeyError, TypeError, ValueError):
            continue  # a cell that is none
    return frozenset(answered), frozenset(written)


def _only(candidates: Iterable[_Candidate]) -> _Candidate | None:
    """Return the only one of several; notebooks in which the same is written are one."""
    found = list(candidates)
    same = {(each.answered, each.written, each.record, _sources(each.book)) for each in found}
    return found[0] if len(same) == 1 else None


def _sources(book: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        "".join(map(str, source)) if isinstance(source := cell.get("source"), list) else str(source)
        for cell in book["cells"]
        if isinstance(cell, dict)
    )


def _beside(
    files: Mapping[str, bytes], proper: _Candidate, rest: list[_Candidate], name: str
) -> FoundWork:
    """Look whether the work is in another notebook than the one that is there."""
    working = [each for each in rest if each.has_work]
    copy = _only(working)
    if copy is not None and not proper.has_work:
        return _placed(files, copy, name, Remark(RemarkKind.WORK_IN_COPY, name, copy.shown))
    more = [each for each in working if each.answered - proper.answered]
    remarks: list[Remark] = []
    if more:
        listed = ", ".join(each.shown for each in more[:3])
        cells = sorted(frozenset.union(*(each.answered for each in more)) - proper.answered)
        what = f"{listed} has work in cells that it leaves blank: {', '.join(cells[:3])}"
        remarks.append(Remark(RemarkKind.WORK_BESIDE, name, what + (", …" if cells[3:] else "")))
    return _placed(files, proper, name, *remarks)


def _placed(
    files: Mapping[str, bytes], chosen: _Candidate, name: str, *remarks: Remark
) -> FoundWork:
    """Put a notebook in its place, and what lies beside it, where nothing is in the way."""
    kept = {
        path: content
        for path, content in files.items()
        # A folder may have the name of the notebook.
        if path != chosen.path and not path.startswith(f"{name}/")
    }
    if chosen.path != name or chosen.remarks:
        kept[name] = json.dumps(chosen.book).encode()
    else:
        kept[name] = files[name]
    for path, content in chosen.beside.items():
        kept.setdefault(path, content)
    return FoundWork(kept, (*remarks, *chosen.remarks))


def _beside_of(path: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what lies in the same folder or below it, but not the time of handing in."""
    folder = PurePosixPath(path).parent
    if folder == PurePosixPath():
        return {p: c for p, c in files.items() if p not in (path, TIMESTAMP)}
    prefix = f"{folder}/"
    found = {p.removeprefix(prefix): c for p, c in files.items() if p.startswith(prefix)}
    return {p: c for p, c in found.items() if p not in (PurePosixPath(path).name, TIMESTAMP)}
