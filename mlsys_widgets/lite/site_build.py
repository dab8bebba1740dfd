"""The site: JupyterLab as files, the runtime, and the labs for practice or as an assignment."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.authoring.practice_copies import assignment_copies, practice_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.telling import Way
from mlsys_widgets.lite.fetching import SiteParts, fetch
from mlsys_widgets.lite.runtime import lay_runtime
from mlsys_widgets.server.panel_answers import PanelAnswers
from mlsys_widgets.server.paths import Root

_KERNEL: Final = "@jupyterlite/pyodide-kernel-extension"
_SETTINGS: Final = "jupyter-lite.json"
#: Where the Lab panel finds the labs of a site.
LABS: Final = "labs.json"


class SiteError(Exception):
    """The site could not be built; the message says why, and what to do."""


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
        Where to keep what is fetched from registries, for the next time.
    way
        Whether it is for practice, with the checks of the labs, or an assignment, without.
    """
    fetched = fetch(kept, tell)
    with tempfile.TemporaryDirectory() as aside:
        source, built = Path(aside) / "source", Path(aside) / "site"
        tell("Putting the runtime together")
        kernel = _kernel_extension()
        runtime, ready = source / "static" / "pyodide", kept / "compiled"
        packages = lay_runtime(fetched, runtime, ready, _kernel_wheels(kernel))
        copies = practice_copies if way == "practice" else assignment_copies
        copies(course, source / "files")
        by_code = way == "assignment" and course.draws_by_code
        settings = _settings(packages, way, by_code)
        (source / _SETTINGS).write_text(json.dumps(settings, indent=1), "utf-8")
        tell("Building JupyterLab as files")
        _build(source, built, [kernel, *_extensions(fetched)])
        _keep_ledgers_as_text(built / _SETTINGS)
        _list_labs(source / "files", built)
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(built, into)


def _kernel_extension() -> Path:
    """Return the folder of the extension that runs Python in the page."""
    home = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / _KERNEL
    if not home.is_dir():
        raise SiteError(
            "A site is built with JupyterLite: pip install 'mlsys-widgets[site]', and try again."
        )
    return home


def _kernel_wheels(extension: Path) -> list[Path]:
    """Return what the kernel imports of what comes with it."""
    names = ("ipykernel", "pyodide_kernel")
    wheels = sorted((extension / "static" / "pypi").glob("*.whl"))
    return [each for each in wheels if each.name.split("-")[0] in names]


def _extensions(fetched: SiteParts) -> list[Path]:
    """Return what the page loads for widgets: folders and wheels of Lab extensions."""
    wheels = [fetched.wheels["bqplot"], fetched.wheels["bqscales"], *fetched.extensions.values()]
    return [*wheels, Path(__file__).parents[1] / "labextension"]


def _settings(packages: list[str], way: Way, by_code: bool) -> dict[str, Any]:
    """Return how the site starts Python: with everything it needs, from nowhere else.

    The Lab panel reads for what the site is published, and whether students draw by code.
    """
    kernel = {"loadPyodideOptions": {"packages": packages}, "disablePyPIFallback": True}
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "mlsys_widgets",
            "mlsysSite": way,
            "mlsysByCode": "yes" if by_code else "no",
            "litePluginSettings": {f"{_KERNEL}:kernel": kernel},
        },
    }


def _build(source: Path, into: Path, extensions: list[Path]) -> None:
    command = [
        *(sys.executable, "-m", "jupyterlite_core.app", "build", "--apps=lab"),
        *(f"--lite-dir={source}", f"--contents={source / 'files'}", f"--output-dir={into}"),
        *("--no-sourcemaps", "--ignore-sys-prefix"),
        *(f"--LiteBuildConfig.federated_extensions={each.resolve()}" for each in extensions),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=source)
    if done.returncode:
        raise SiteError(f"JupyterLite could not build the site:\n{done.stderr[-2000:]}")


def _list_labs(files: Path, into: Path) -> None:
    """List the labs for the Lab panel, which cannot search a site."""
    labs = PanelAnswers(Root(files)).labs()
    (into / LABS).write_text(json.dumps(labs, indent=1), "utf-8")


def _keep_ledgers_as_text(settings: Path) -> None:
    """JupyterLite takes ``.jsonl`` for one JSON document, and loses a ledger with two lines."""
    told = json.loads(settings.read_text("utf-8"))
    types = told["jupyter-config-data"].setdefault("fileTypes", {})
    types["jsonl"] = {
        "extensions": [".jsonl"],
        "fileFormat": "text",
        "mimeTypes": ["text/plain"],
        "name": "jsonl",
    }
    settings.write_text(json.dumps(told, indent=1), "utf-8")
