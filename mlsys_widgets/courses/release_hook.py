"""Releasing through nbgrader's exchange, with a note of which version that is.

With this line in the settings of whoever teaches, formgrader and ``nbgrader release_assignment``
keep the version and tell students what changed, as ``mlsys course release`` does::

    c.ExchangeFactory.release_assignment = "mlsys_widgets.courses.release_hook.ReleaseVersion"

It is for nbgrader's own exchange, which is a folder. What changed is said with
``--ReleaseVersion.note="…"``.
"""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseAssignment
from traitlets import Unicode

from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.kept_versions import KeptVersion, kept_versions, note_release
from mlsys_widgets.course.lab_versions import CHANGES, STAMP
from mlsys_widgets.courses.first_releases import note_release as note_first_release
from mlsys_widgets.files import write_whole


class ReleaseVersion(ExchangeReleaseAssignment):  # type: ignore[misc]
    """Releases a lab, and notes which version of it."""

    note = Unicode("", help="What changed, for students.").tag(config=True)

    def copy_files(self) -> None:
        """Copy the lab to where students fetch it. Called by nbgrader."""
        root, lab = Path(self.coursedir.root), str(self.coursedir.assignment_id)
        kept = self._kept(root, lab)
        super().copy_files()
        if kept is None:
            return
        note_first_release(root, lab)
        noted = note_release(kept, self.note or None)
        say_what_changed(Path(self.dest_path) / f"{lab}.ipynb", root, lab, noted.version)

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy a folder, all of it at once: somebody may fetch the lab at this very moment."""
        beside = Path(dest).with_name(f".{Path(dest).name}.new")
        shutil.rmtree(beside, ignore_errors=True)  # of a release that was cut off
        super().do_copy(src, str(beside), log)
        for path in (beside, *beside.rglob("*")):  # as nbgrader does, but a moment later
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        beside.rename(dest)

    def _kept(self, root: Path, lab: str) -> KeptVersion | None:
        try:
            return keep_version(Course.at(root), lab)
        except (OSError, ValueError) as problem:  # an assignment that is not ours, or a broken one
            self.log.warning("The version of %s is not noted: %s", lab, problem)
            return None


def say_what_changed(notebook: Path, course: Path, lab: str, version: str) -> None:
    """Have a notebook in the exchange say which version it is, and what changed with each."""
    book = json.loads(notebook.read_bytes())
    about = book.get("metadata", {}).get("mlsys")
    if not isinstance(about, dict):
        return
    known = [each for each in kept_versions(course, lab) if each.released]
    about[STAMP] = version
    about[CHANGES] = [[each.version, each.note] for each in known]
    text = json.dumps(book, indent=1, sort_keys=True, ensure_ascii=False)
    write_whole(notebook, f"{text}\n", mode=stat.S_IMODE(notebook.stat().st_mode))
