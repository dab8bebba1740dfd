"""For nbgrader: bringing what students handed in from the exchange into the course.

nbgrader copies as whoever collects and follows links, so a link in a student's folder would bring a
key or a neighbor's work along; a pipe, or a name that it cannot read, stops the whole class. Here
each folder is read by descriptor and within limits, and one student's trouble is one student's.
A hub writes this line by itself; for an exchange without a hub it goes into
``nbgrader_config.py``::

    c.ExchangeFactory.collect = "mlsys_widgets.grading.plugins.collect.CollectByDescriptor"
"""

from __future__ import annotations

import os
import shutil
import stat
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nbgrader.exchange.default import ExchangeCollect

from mlsys_widgets.files import lay_out, user_named
from mlsys_widgets.grading.reading.submissions import (
    LEFT_OUT,
    name_problem,
    read_handed_in,
    written_remarks,
)
from mlsys_widgets.notebooks.remarks import quoted

#: Stands for a folder that is nobody's.
_NOBODY: Final = ""


class CollectByDescriptor(ExchangeCollect):  # type: ignore[misc]
    """Collects like nbgrader, but only what is a file, and only from the folder's owner."""

    #: What nbgrader found: a folder, whose it is, and from when.
    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """Find the newest work of everybody. Called by nbgrader."""
        self._refused: list[str] = []
        super().init_src()
        self.src_records = [each for each in self.src_records if each["username"] != _NOBODY]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Return whose work a folder is, and from when. Called by nbgrader, for each folder.

        Before the newest is chosen: a folder that somebody made in another's name must not hide the
        one that the other handed in.
        """
        try:
            record: dict[str, Any] = super()._path_to_record(path)
            if why := self._not_theirs(path, record["username"]):
                raise ValueError(why)
        # Whatever dateutil raises for a time that a stranger has made up.
        except (OSError, ValueError, OverflowError) as problem:
            self._refuse(Path(path).name, problem)
            return {"username": _NOBODY, "filename": "", "timestamp": datetime.min}
        return record

    def _not_theirs(self, path: str, student: str) -> str:
        """Say why a folder is not the student's whose name it bears; empty if it is."""
        if problem := name_problem(student):
            return problem
        about = Path(path).lstat()
        if not stat.S_ISDIR(about.st_mode):
            return "it is no folder"
        # Where nobody has an account of their own, everything belongs to whoever collects.
        if not self.check_owner or about.st_uid == os.geteuid():
            return ""
        owner = user_named(about.st_uid) or f"user {about.st_uid}"
        return "" if owner == student else f"it belongs to {owner}"

    def copy_files(self) -> None:
        """Copy what was found. Called by nbgrader."""
        lab = self.coursedir.assignment_id
        taken = 0
        for record in self.src_records:
            try:
                taken += self._take(record, lab)
            except OSError as problem:  # a full disk, most likely; the others are tried as well
                self._refuse(record["filename"], problem)
        self.log.info("Collected %d of %d submissions of %s", taken, len(self.src_records), lab)
        if self._refused:
            self.log.warning("Not collected: %s", "; ".join(self._refused))

    def _take(self, record: dict[str, Any], lab: str) -> bool:
        """Copy the work of one student, unless it is there already; say whether it was copied."""
        student = record["username"]
        target = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, lab))
        if target.is_dir() and not self._replaces(target, record["timestamp"]):
            more = "" if self.update else ", use --update to update"
            self.log.info("Submission already exists%s: %s %s", more, student, lab)
            return False
        # As nbgrader says it: formgrader shows this after its button was pressed.
        doing = "Updating" if target.is_dir() else "Collecting"
        self.log.info("%s submission: %s %s", doing, student, lab)
        found = read_handed_in(Path(self.inbound_path), record["filename"], student, lab)
        files = {name: content for name, content in found.files.items() if name != LEFT_OUT}
        if not files:  # what was collected before stays
            raise OSError("; ".join(each.sentence for each in found.remarks) or "it is empty")
        if found.remarks:
            files[LEFT_OUT] = written_remarks(found.remarks)
            for remark in found.remarks:
                self.log.warning("%s: %s", student, remark.sentence)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh, old = (target.with_name(f".{lab}.{word}") for word in ("collecting", "replaced"))
        for each in (fresh, old):  # of a collection that was interrupted
            shutil.rmtree(each, ignore_errors=True)
        lay_out(fresh, files)
        if self.coursedir.groupshared:
            _share(fresh)
        if target.is_dir():
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)
        return True

    def _replaces(self, target: Path, time: datetime) -> bool:
        known = self.coursedir.get_existing_timestamp(str(target))
        if self.update:
            return known is None or bool(time > known)
        return bool(self.before_duedate and known != time)

    def _refuse(self, folder: str, problem: Exception) -> None:
        why = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        self._refused.append(f"{quoted(folder)}: {why}")


def _share(folder: Path) -> None:
    """Let the group that teaches change what was collected, as nbgrader does."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o2770 if path.is_dir() else 0o660))
