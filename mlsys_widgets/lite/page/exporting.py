"""The record of a browser as a file to keep, and back: a browser may delete what it stores.

It is the export that ``mlsys ledger import`` takes, so work goes on on a laptop or a hub, and back.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER, write_whole
from mlsys_widgets.labs.identity import settings_file
from mlsys_widgets.ledger import ExchangeError, Ledger, NotYours
from mlsys_widgets.ledger.events import timestamp
from mlsys_widgets.ledger.journal import journal_at
from mlsys_widgets.ledger.transfer import export_ledgers, import_ledger, import_ledgers, labs_in
from mlsys_widgets.lite.page.visitor import introduce, visitor

#: Says when a file was made, and how many entries of each lab were in it.
_EXPORTED: Final = "exported.json"


@dataclass(frozen=True)
class Kept:
    """What only this browser has of a lab.

    Parameters
    ----------
    visitor
        Who works here; `None` while nobody has said so.
    exported
        When the last file was made; `None` if there was none.
    newer
        How many entries of this lab are in no file.
    since
        When the first of these was made; `None` if there are none.
    """

    visitor: str | None
    exported: str | None
    newer: int
    since: str | None


def kept(ledger: Path) -> Kept:
    """Tell how much of a ledger was exported."""
    noted = _noted()
    counted = noted.get("entries", {}).get(ledger.parent.name, 0)
    newer = Ledger.open(ledger).events()[counted:]
    since = newer[0].time if newer else None
    return Kept(visitor().name, noted.get("time"), len(newer), since)


def tag_of_kept(ledger: Path) -> str:
    """Return a value that changes with what `kept` tells, apart from the ledger itself."""
    noted = _note()
    time = noted.stat().st_mtime_ns if noted.exists() else 0
    told = f"{visitor().name} {time} {journal_at(ledger).hindrance}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def export_record(root: Path) -> dict[str, str]:
    """Return the record of all labs below a folder and what to call the file, and note that.

    Raises `ExchangeError` when there is nothing to export, or something is broken.
    """
    name = visitor().name
    opened = {path: Ledger.open(path) for path in sorted(root.glob(f"*/{LEDGER}"))}
    mine = {path: each for path, each in opened.items() if each.events() and each.student == name}
    moment = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as aside:
        file = export_ledgers(mine, Path(aside) / "record.json", now=moment)
        content = file.read_text("utf-8")
    entries = {path.parent.name: len(each.events()) for path, each in mine.items()}
    note = {"time": timestamp(moment), "entries": entries}
    write_whole(_note(), json.dumps(note))
    return {"name": f"mlsys-record-{moment:%Y-%m-%d-%H%M}.json", "content": content}


def import_record(content: str, ledger: Path, *, aside: bool) -> dict[str, Any]:
    """Take the record of a file over: that of the open lab, and those of labs not begun here.

    Parameters
    ----------
    ledger
        The ledger of the open lab, which may not exist.
    aside
        Whether it is set aside where it has gone another way than the file.

    Returns
    -------
    dict
        What became of the open lab's record, whose it is, and the other labs that were taken over.
    """
    lab, root = ledger.parent.name, ledger.parent.parent
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "the file"
        file.write_text(content, "utf-8")
        student, labs = labs_in(file)
        here = visitor().name or introduce(student).name
        if here != student:
            raise NotYours(
                f"The file holds the record of {student}, and you are {here} here. Say who you are"
                " first, if you are the same person."
            )
        done = import_ledger(file, ledger, lab, student, aside=aside) if lab in labs else "none"
        others = []
        if done != "differs":
            made = import_ledgers(file, Path(folder) / "labs", student=student)
            for other, path in made.items():
                target = root / other / LEDGER
                if other != lab and target.parent.is_dir() and not target.exists():
                    write_whole(target, path.read_bytes())
                    others.append(other)
    if done == "none" and not others:
        raise ExchangeError(
            f"The file holds nothing new for this browser; it holds: {', '.join(labs)}."
        )
    return {"done": done, "student": student, "others": others}


def _note() -> Path:
    return settings_file().parent / _EXPORTED


def _noted() -> dict[str, Any]:
    try:
        noted: Any = json.loads(_note().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}
