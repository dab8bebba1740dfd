"""The site: the app of a site, with the labs of a course for practice or as an assignment."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.authoring.practice_copies import assignment_copies, practice_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import files_beside, stamp_in
from mlsys_widgets.course.telling import Way
from mlsys_widgets.lite.site_app import SETTINGS, site_app
from mlsys_widgets.server.panel_answers import PanelAnswers
from mlsys_widgets.server.paths import Root

#: Where the Lab panel finds the labs of a site.
LABS: Final = "labs.json"
#: What JupyterLite lists of the files of a site, a file for each folder.
_LISTED: Final = "all.json"


def build_site(
    course: Course,
    into: Path,
    kept: Path,
    tell: Callable[[str], None] = lambda _: None,
    *,
    way: Way = "practice",
) -> None:
    """Build the site of a course's labs into a folder.

    Parameters
    ----------
    kept
        Where to keep what is fetched from registries and made of it, for the next time.
    way
        Whether it is for practice, with the checks of the labs, or an assignment, without.
    """
    app = site_app(kept, tell)
    with tempfile.TemporaryDirectory() as aside:
        files = Path(aside) / "files"
        copies = practice_copies if way == "practice" else assignment_copies
        copies(course, files)
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(app, into)
        shutil.copytree(files, into / "files", dirs_exist_ok=True)
    by_code = way == "assignment" and course.draws_by_code
    _tell_the_panel(into / SETTINGS, way, by_code=by_code)
    _list_files(into)
    list_labs(into)


def _tell_the_panel(settings: Path, way: Way, *, by_code: bool) -> None:
    """Say for what the site is published, and whether students draw by code."""
    told = json.loads(settings.read_text("utf-8"))
    told["jupyter-config-data"] |= {"mlsysSite": way, "mlsysByCode": "yes" if by_code else "no"}
    settings.write_text(json.dumps(told, indent=1), "utf-8")


def _list_files(site: Path) -> None:
    """List the files of the site for JupyterLite, in the words of Jupyter's contents API."""
    from jupyter_server.services.contents.filemanager import FileContentsManager

    files = site / "files"
    contents: Any = FileContentsManager(root_dir=str(files))
    for folder in (files, *(path for path in files.rglob("*") if path.is_dir())):
        below = folder.relative_to(files)
        path = "" if folder == files else below.as_posix()
        listing = contents.get(path)
        place = site / "api" / "contents" / below / _LISTED
        place.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(listing, indent=1, default=lambda time: time.isoformat())
        place.write_text(text.replace("+00:00", "Z"), "utf-8")


def list_labs(site: Path) -> None:
    """List the labs for the Lab panel, which cannot search a site, and as what they are published.

    A browser keeps the notebook of a student: this tells that the site has another version, and
    what its files are.
    """
    files = site / "files"
    labs = PanelAnswers(Root(files)).labs()
    for row in labs["labs"]:
        notebook = files / row["path"]
        content = {
            notebook.name: notebook.read_bytes(),
            **files_beside(notebook.parent, row["lab"]),
        }
        row["version"] = stamp_in(content[notebook.name]) or ""
        row["files"] = {name: sha256(each).hexdigest() for name, each in content.items()}
    (site / LABS).write_text(json.dumps(labs, indent=1), "utf-8")
