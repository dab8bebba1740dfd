"""Candidates of a record: everything in a submission that may be its ledger, and which one counts.

The ledger should be the file ``ledger.jsonl``. Students forget it, rename it, pack it, save it in
another way, or work on two machines, so every file, the notebook's own record, zips and checkpoints
are searched. There is one rule for all of that:

1. Only what says that it is this student's work on this lab can count.
2. Of two of which one continues the other, the longer one counts.
3. Several that are left are merged, see `merged_ledgers`; one that is not intact counts only if
   none is.

Where each was found decides nothing but what is said about it. What is chosen takes the place of
the file, and is read, limited, verified and flagged exactly as the file would be. All that is
searched has one limit for its size and one for its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.reading.merged_ledgers import events_in, merge
from mlsys_widgets.grading.reading.misplaced_work import FoundWork
from mlsys_widgets.grading.reading.resaved_ledger import may_hold_a_ledger, read_saved
from mlsys_widgets.grading.reading.zipped_work import unzipped
from mlsys_widgets.ledger.carried_record import (
    LARGEST_RECORD,
    RECORD,
    BadRecord,
    Owner,
    carried,
    continues,
    owner_of,
    whole_lines,
)
from mlsys_widgets.ledger.verification import verify_lines
from mlsys_widgets.notebooks.notebook_text import is_zip
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind, quoted
from mlsys_widgets.wording.plurals import counted

#: Candidates that are looked at besides the file and the notebook's record, and zips.
_MOST: Final = 12
_MOST_ZIPS: Final = 4
#: Bytes of all of those together.
_LARGEST: Final = 2 * LARGEST_RECORD
#: Entries of ledgers that are merged; a lab writes some hundreds.
_MOST_MERGED: Final = 20_000
#: Names that are listed in a sentence.
_LISTED: Final = 3
#: A ledger from before the lab was begun again.
_SET_ASIDE: Final = re.compile(rf"{re.escape(LEDGER)}\.old-(\d{{1,9}})")
#: No sentence begins with its bare name, which has no capital.
_THE_FILE: Final = f"the file {LEDGER}"
_CHECKPOINTS: Final = ".ipynb_checkpoints"
_NOTEBOOK: Final = ".ipynb"
#: What a notebook that carries a record has in it.
_MARK: Final = f'"{RECORD}"'.encode()
#: What shows that a ledger was changed, and not merely that its clock was wrong.
_BROKEN: Final = frozenset({"broken", "wrong schema", "other lab"})


@dataclass(frozen=True)
class Candidate:
    """Something that may be the record of a submission."""

    #: Where it was found: a path, or nothing for the notebook's own record.
    place: str
    #: As the file of a ledger has it.
    content: bytes
    #: How it was saved instead, see `SavedLedger`.
    how: str = ""

    @property
    def shown(self) -> str:
        """Its place, in words."""
        if self.place == LEDGER:
            return _THE_FILE
        return quoted(self.place) if self.place else "the record that the notebook carries"

    @cached_property
    def owner(self) -> Owner | None:
        """Whose it says it is."""
        return owner_of(self.content)

    @cached_property
    def lines(self) -> list[bytes]:
        return [line.strip() for line in whole_lines(self.content) if line.strip()]

    def continues(self, other: Candidate) -> bool:
        """Whether all of another one is the beginning of this one, however each was saved."""
        if continues(self.lines, other.lines):
            return True
        ours, theirs = events_in(self.content), events_in(other.content)
        # What cannot be read is not compared, so nothing of it may be lost.
        return len(theirs) == len(other.lines) and ours[: len(theirs)] == theirs

    def is_intact(self, lab: str) -> bool:
        """Whether its chain is unbroken."""
        verdict = verify_lines(self.lines, lab=lab, now=datetime.now(UTC))
        return bool(self.lines) and not any(p.kind in _BROKEN for p in verdict.problems)


@dataclass(frozen=True)
class FoundRecord:
    """The ledger that counts."""

    #: As its file has it, or would have it; `None` if there is nothing that can be read.
    content: bytes | None = None
    #: What was found, and what was done about it.
    remarks: tuple[Remark, ...] = ()
    #: What it was merged from.
    parts: tuple[bytes, ...] = ()


def find_record(
    files: Mapping[str, bytes], lab: str, names: Collection[str], book: Any = None
) -> FoundRecord:
    """Find the record of a submission.

    The ledger carries one of the ``names`` of the student. Without ``book``, the notebook is looked
    for in the files.
    """
    file = files.get(LEDGER)
    saved = read_saved(file, lab) if file is not None else None
    found = [Candidate(LEDGER, *saved)] if saved is not None else []
    problem = ""
    try:
        record = carried(_parsed(files.get(f"{lab}{_NOTEBOOK}", b"")) if book is None else book)
        found += [Candidate("", record)] if record and record.strip() else []
    except BadRecord as bad:
        problem = str(bad)
    aside = _set_aside(files, lab)
    found += _elsewhere(files, lab)
    own = [each for each in found if _is_own(each, lab, names)]
    # A notebook that was not saved since the lab was begun again carries an earlier ledger.
    own = [
        each for each in own
        if each.place == LEDGER or not any(old.continues(each) for old in aside)
    ] or [each for each in aside[-1:] if _is_own(each, lab, names)]  # fmt: skip
    if not own:
        return _without_own(found, file, problem)
    kept = _longest(own)
    intact = [each for each in kept if each.is_intact(lab)] if len(kept) > 1 else kept
    used = [each for each in intact if each.owner == intact[0].owner] or kept[:1]
    if sum(len(each.lines) for each in used) > _MOST_MERGED:
        used = used[:1]
    unused = [each for each in kept if each not in used]
    others = [each for each in found if each.owner and each.owner.student not in names]
    remarks = [
        *_not_used(unused, intact),
        *(Remark(RemarkKind.LEDGER_NOT_USED, each.shown, "it is somebody else's")
          for each in others if each.owner and each.owner.lab == lab),
    ]  # fmt: skip
    if len(used) > 1:
        return _merged(used, remarks)
    (chosen,) = used
    return FoundRecord(chosen.content, (*_about(chosen, file, own), *remarks))


def with_found_record(work: FoundWork, lab: str, names: Collection[str]) -> FoundWork:
    """Return the files of a submission with the ledger that counts as their ``ledger.jsonl``.

    The parts of a merged one lie beside it, as those do from before a lab was begun again, and
    checkpoints, which nobody hands in on purpose, are left out.
    """
    found = find_record(work.files, lab, names)
    files = {path: each for path, each in work.files.items() if not _is_checkpoint(path)}
    if found.content is not None:
        files[LEDGER] = found.content
    last = max((int(match[1]) for match in map(_SET_ASIDE.fullmatch, files) if match), default=0)
    for number, part in enumerate(found.parts, last + 1):
        files[f"{LEDGER}.old-{number}"] = part
    return FoundWork(files, (*work.remarks, *found.remarks))


def carried_owner(notebook: bytes) -> Owner | None:
    """Tell of which lab and whose the record in a notebook says it is; `None` without one."""
    try:
        record = carried(_parsed(notebook))
    except BadRecord:
        return None
    return owner_of(record) if record else None


# Where candidates come from.


def _elsewhere(files: Mapping[str, bytes], lab: str) -> list[Candidate]:
    """Find ledgers under any name, in any folder, in zips, checkpoints and other notebooks."""
    found: list[Candidate] = []
    room, zips = _LARGEST, _MOST_ZIPS
    for path in sorted(files, key=lambda path: (_is_checkpoint(path), path)):
        content = files[path]
        is_read = path == LEDGER or (path == f"{lab}{_NOTEBOOK}" and not is_zip(content))
        if is_read or _SET_ASIDE.fullmatch(path):
            continue
        inner = {path: content}
        if is_zip(content):
            if zips == 0:
                continue
            zips -= 1
            inner = {f"{path}/{name}": each for name, each in unzipped(content, room).items()}
        for place, each in inner.items():
            if len(found) == _MOST or len(each) > room or not _may_be_one(place, each):
                continue
            room -= len(each)  # also of what turns out to be none: reading it took its time
            if candidate := _candidate(place, each, lab):
                found.append(candidate)
    return found


def _may_be_one(place: str, content: bytes) -> bool:
    """Whether there may be a ledger in a file; nothing of it is parsed."""
    if place.casefold().endswith(_NOTEBOOK):
        return _MARK in content
    return may_hold_a_ledger(content)


def _candidate(place: str, content: bytes, lab: str) -> Candidate | None:
    """Read a file as a ledger, or as a notebook that carries one."""
    if place.casefold().endswith(_NOTEBOOK):
        try:
            record = carried(_parsed(content))
        except BadRecord:
            return None
        return Candidate(place, record) if record and record.strip() else None
    saved = read_saved(content, lab)
    return Candidate(place, *saved) if saved else None


def _set_aside(files: Mapping[str, bytes], lab: str) -> list[Candidate]:
    """Return the ledgers from before the lab was begun again, the latest last."""
    numbered = {int(match[1]): match[0] for match in map(_SET_ASIDE.fullmatch, files) if match}
    names = [numbered[number] for number in sorted(numbered)[-_MOST:]]
    read = ((name, read_saved(files[name], lab)) for name in names)
    return [Candidate(name, *saved) for name, saved in read if saved]


def _is_checkpoint(path: str) -> bool:
    return _CHECKPOINTS in PurePosixPath(path).parts


def _parsed(notebook: bytes) -> Any:
    """Return a notebook as JSON has it; `None` if it is none, or carries nothing."""
    if _MARK not in notebook:
        return None
    try:
        return json.loads(notebook)
    except (ValueError, RecursionError):
        return None


# Which of them counts.


def _is_own(candidate: Candidate, lab: str, names: Collection[str]) -> bool:
    owner = candidate.owner
    if owner is None:  # its beginning is damaged: only in its proper place is it clear whose it is
        return candidate.place in (LEDGER, "")
    return owner.lab == lab and owner.student in names


def _longest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out each one that another continues; of two that are the same, the later one."""
    kept: list[Candidate] = []
    for each in sorted(candidates, key=lambda one: -len(one.lines)):
        if not any(other.continues(each) for other in kept):
            kept.append(each)
    return sorted(kept, key=candidates.index)


def _merged(parts: Sequence[Candidate], remarks: Iterable[Remark]) -> FoundRecord:
    merged = merge([each.content for each in parts])
    about = _listed([each.shown for each in parts])
    detail = ""
    if merged.disputed:
        detail = (
            f". They differ about {_listed(merged.disputed)}: of a prediction the first commit"
            " counts, of an answer the latest"
        )
    told = Remark(RemarkKind.LEDGERS_MERGED, about, detail)
    return FoundRecord(merged.content, (told, *remarks), tuple(each.content for each in parts))


# What is said about it.


def _without_own(found: Sequence[Candidate], file: bytes | None, problem: str) -> FoundRecord:
    """Say what there is instead; somebody else's ledger is left to whoever verifies it."""
    if found:
        return FoundRecord(found[0].content, tuple(_about(found[0], file, found)))
    if problem:
        return FoundRecord(file, (Remark(RemarkKind.RECORD_UNUSABLE, detail=problem),))
    return FoundRecord(file, (Remark(RemarkKind.NO_LEDGER, detail=_why_not(file, ())),))


def _about(chosen: Candidate, file: bytes | None, own: Sequence[Candidate]) -> Iterator[Remark]:
    if chosen.place != LEDGER:
        why = _why_not(file, own)
        if why.endswith("older"):
            before = next(len(each.lines) for each in own if each.place == LEDGER)
            why = f"{why} by {counted(len(chosen.lines) - before, 'entry', 'entries')}"
        yield Remark(RemarkKind.LEDGER_ELSEWHERE, why, chosen.shown)
    if chosen.how:
        yield Remark(RemarkKind.LEDGER_RESAVED, chosen.shown, chosen.how)


def _why_not(file: bytes | None, own: Sequence[Candidate]) -> str:
    """Say why the file is not what counts."""
    if file is None:
        return f"there is no {LEDGER}"
    if any(each.place == LEDGER for each in own):
        return f"{_THE_FILE} is older"
    if not file.strip():
        return f"{_THE_FILE} is empty"
    return f"nothing of yours can be read in {_THE_FILE}"


def _not_used(unused: Iterable[Candidate], intact: Sequence[Candidate]) -> Iterator[Remark]:
    for each in unused:
        why = "it contradicts what was graded, and is not intact"
        if each in intact:
            why = "it contradicts what was graded, and is too large or too different to be merged"
        yield Remark(RemarkKind.LEDGER_NOT_USED, each.shown, why)


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - _LISTED} more"] if len(words) > _LISTED else []
    *most, last = [*words[:_LISTED], *more]
    return f"{', '.join(most)} and {last}" if most else last
