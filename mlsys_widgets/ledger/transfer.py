"""One student's ledgers in a single file: to hand in, to keep, to move to another machine.

The file holds the events as they are, hashes included, so whatever could be verified before can be
verified after. Both directions are checked: a broken ledger is neither exported nor imported, and
an import never overwrites a ledger.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from mlsys_widgets.files import LEDGER, write_new
from mlsys_widgets.ledger.carried_record import continues
from mlsys_widgets.ledger.errors import ExchangeError, not_saved
from mlsys_widgets.ledger.events import Event, Malformed, from_line, from_object, timestamp, to_line
from mlsys_widgets.ledger.journal import LARGEST_FILE, journal_at, move_beside
from mlsys_widgets.ledger.kinds import schema
from mlsys_widgets.ledger.verification import Verification, verify_lines

#: What became of an import: done, the ledger has all of it already, or it went another way.
Imported = Literal["imported", "ahead", "differs"]

FORMAT: Final = "mlsys-ledgers"
EXPORT_VERSION: Final = 1

#: What may happen to an honest student: for a grader to judge, and no reason to keep the student
#: from moving to another machine.
_HARMLESS: Final = frozenset({"late prediction", "torn"})


def export_ledgers(
    paths: Iterable[str | os.PathLike[str]],
    destination: str | os.PathLike[str],
    *,
    now: datetime | None = None,
) -> Path:
    """Write one student's ledgers, one per lab, to a single new file.

    `ExchangeError` where a ledger does not verify, they belong to several students, two are of one
    lab, or the file exists already.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> _ = ledger.record_answer("ridge", 295)
    >>> written = export_ledgers([path], folder / "ledgers.json")
    >>> document = json.loads(written.read_text())
    >>> document["student"], [part["lab"] for part in document["ledgers"]]
    ('ann', ['lab_11_roofline'])
    """
    moment = now or datetime.now(UTC)
    found: dict[str, list[Event]] = {}
    owners: dict[str, str] = {}
    for path in map(Path, paths):
        lab, student, events = _read(path, moment)
        if lab in found:
            raise ExchangeError(
                f"{path}: another ledger of {lab} was named; an export holds one once per lab."
            )
        found[lab] = events
        owners[student] = str(path)
    if not found:
        raise ExchangeError("There is no ledger to export; name at least one.")
    if len(owners) > 1:
        listed = ", ".join(f"{path} is of {student!r}" for student, path in owners.items())
        raise ExchangeError(f"An export is of one student, but {listed}.")
    ledgers = [
        {"lab": lab, "events": [event._asdict() for event in found[lab]]} for lab in sorted(found)
    ]
    document = {
        "format": FORMAT,
        "version": EXPORT_VERSION,
        "student": next(iter(owners)),
        "exported": timestamp(moment),
        "ledgers": ledgers,
        "digest": _digest(ledgers),
    }
    target = Path(destination)
    try:
        write_new(target, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode("ascii"))
    except FileExistsError:
        raise ExchangeError(f"{target} exists already; choose another name.") from None
    except OSError as error:
        raise not_saved(error, target) from error
    return target


def import_ledgers(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    student: str | None = None,
    now: datetime | None = None,
) -> dict[str, Path]:
    """Write the ledgers of an export to ``folder/<lab>/ledger.jsonl``, all or none.

    A ledger that the export continues gets what it lacks; one that has all of it, or more, stays.
    `ExchangeError` where the file is damaged or no export, a ledger in it does not verify, or
    another ledger is in its place. `NotSaved` where one cannot be written; then no new one is.

    Examples
    --------
    From a laptop to another machine:

    >>> from mlsys_widgets.ledger import Ledger
    >>> path = folder / "ledger.jsonl"
    >>> ledger = Ledger.open(path, lab="lab_11_roofline", student="ann")
    >>> _ = ledger.record_answer("ridge", 295)
    >>> moved = import_ledgers(export_ledgers([path], folder / "ledgers.json"), folder / "hub")
    >>> there = Ledger.open(moved["lab_11_roofline"])
    >>> there.state().answers["ridge"].value, there.verify().ok
    (295, True)
    """
    moment = now or datetime.now(UTC)
    document = _load(Path(source))
    owner = document["student"]
    if student is not None and owner != student:
        raise ExchangeError(f"{source} holds ledgers of {owner!r}, not of {student!r}.")
    wanted: dict[str, tuple[Path, bytes]] = {}
    for part in document["ledgers"]:
        lab = part["lab"]
        if lab in wanted:
            raise ExchangeError(f"{source} holds {lab} twice.")
        try:
            lines = [to_line(from_object(event)) for event in part["events"]]
        except ValueError as error:
            raise ExchangeError(f"{source}: an event of {lab} {error}.") from None
        verdict = verify_lines(lines, student=owner, lab=lab, now=moment)
        _refuse_broken(f"{source}: {lab}", verdict)
        wanted[lab] = (Path(folder) / lab / LEDGER, b"".join(lines))
    new, longer = {}, {}
    for path, content in wanted.values():
        theirs, ours = content.splitlines(), path.read_bytes().splitlines() if path.exists() else []
        if not path.exists():
            new[path] = content
        elif continues(theirs, ours):
            longer[path] = b"".join(line + b"\n" for line in theirs[len(ours) :])
        elif not continues(ours, theirs):
            raise ExchangeError(
                f"{path} exists and has gone another way than the ledger in {source};"
                " rename it if you want the other one."
            )
    made: list[Path] = []
    try:
        for path, content in new.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, content)
            made.append(path)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        raise not_saved(error, path) from error
    for path, rest in longer.items():
        if rest:
            with journal_at(path.absolute()).writing(create=False) as writer:
                writer.append(rest)
    return {lab: path for lab, (path, _) in wanted.items()}


def import_ledger(
    source: str | os.PathLike[str],
    path: Path,
    lab: str,
    student: str,
    *,
    aside: bool = False,
    now: datetime | None = None,
) -> Imported:
    """Bring the ledger of one lab up to what an export holds of it, whatever is there already.

    With ``aside``, a ledger that has gone another way is set aside for the one in the file.
    `ExchangeError` where the file is damaged or no export, or holds nothing of this student and
    lab.
    """
    document = _load(Path(source))
    if document["student"] != student:
        raise ExchangeError(
            f"The file holds the record of {document['student']!r}, and you are {student!r} here."
        )
    theirs = _lines_of(document, lab, str(source), now or datetime.now(UTC))
    journal = journal_at(path)
    news = journal.news()
    ours = news.lines if news else []
    if news and continues(ours, theirs):
        return "ahead"
    if news and not continues(theirs, ours):
        if not aside:
            return "differs"
        with journal.writing(create=False):
            move_beside(path, "old")
        journal, ours = journal_at(path), []
    with journal.writing(create=not ours) as writer:
        writer.set_tail_aside()
        writer.append(b"".join(line + b"\n" for line in theirs[len(ours) :]))
    return "imported"


def labs_in(source: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Tell whose ledgers an export holds, and of which labs; raises as `import_ledger` does."""
    document = _load(Path(source))
    return document["student"], [part["lab"] for part in document["ledgers"]]


def _lines_of(document: dict[str, Any], lab: str, source: str, now: datetime) -> list[bytes]:
    """Return the lines of one ledger of an export, which verifies."""
    parts = [part for part in document["ledgers"] if part["lab"] == lab]
    if len(parts) != 1:
        held = ", ".join(part["lab"] for part in document["ledgers"])
        raise ExchangeError(f"The file holds no record of {lab}; it holds: {held}.")
    try:
        lines = [to_line(from_object(event)) for event in parts[0]["events"]]
    except ValueError as error:
        raise ExchangeError(f"{source}: an event of {lab} {error}.") from None
    verdict = verify_lines(lines, student=document["student"], lab=lab, now=now)
    _refuse_broken(f"{source}: {lab}", verdict)
    return [line.rstrip(b"\n") for line in lines]


def _read(path: Path, now: datetime) -> tuple[str, str, list[Event]]:
    journal = journal_at(path.absolute())
    news = journal.news()
    if news is None:
        raise ExchangeError(f"There is no ledger {path}.")
    verdict = verify_lines(news.lines, journal.tail, now=now)
    _refuse_broken(str(path), verdict)
    lines = [line for line in (*news.lines, journal.tail) if line.strip()]
    events = []
    for line in lines:
        try:
            events.append(from_line(line))
        except Malformed:
            continue  # the unfinished last line; any other was refused above
    if not events:
        raise ExchangeError(f"{path} is empty.")
    return events[0].lab, events[0].value["student"], events


def _refuse_broken(what: str, verdict: Verification) -> None:
    for problem in verdict.problems:
        if problem.kind not in _HARMLESS:
            raise ExchangeError(f"{what} does not verify. {problem}")


def _load(path: Path) -> dict[str, Any]:
    import jsonschema

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ExchangeError(f"{path} is larger than any export ({LARGEST_FILE:,} bytes).")
        document = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ExchangeError(f"{path} cannot be read ({error.strerror or error}).") from None
    except (ValueError, RecursionError):
        raise ExchangeError(f"{path} is not a JSON document, or a damaged one.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ExchangeError(f"{path} is not an export of ledgers.")
    version = document.get("version")
    if type(version) is int and version > EXPORT_VERSION:
        raise ExchangeError(
            f"{path} has version {version}, and this mlsys_widgets reads up to version"
            f" {EXPORT_VERSION}; upgrade mlsys_widgets."
        )
    whole = {"$defs": schema()["$defs"], "$ref": "#/$defs/export"}
    try:
        wrong = jsonschema.exceptions.best_match(
            jsonschema.Draft202012Validator(whole).iter_errors(document)
        )
    except RecursionError:
        raise ExchangeError(f"{path} is nested too deeply.") from None
    if wrong is not None:
        raise ExchangeError(f"{path}: {wrong.json_path} does not fit ({wrong.message[:200]}).")
    if _digest(document["ledgers"]) != document["digest"]:
        raise ExchangeError(
            f"{path}: its digest does not match, so the file was damaged or edited."
        )
    checked: dict[str, Any] = document
    return checked


def _digest(ledgers: list[dict[str, Any]]) -> str:
    text = json.dumps(ledgers, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
