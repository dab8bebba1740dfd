"""Lay the app of the site beside the pages in build/html: their instruments run where they stand.

``make gallery`` runs this once the pages are built. docs/_static/run_here.js starts the app in a
frame of a page.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
HTML: Final = ROOT / "build" / "html"
#: What was fetched from registries, and apps that were made of it.
KEPT: Final = ROOT / "build" / "lite"
#: Where docs/_static/run_here.js looks for it, beside the pages.
APP: Final = "app"
#: A frame shows one instrument and keeps nothing: it needs neither the Lab panel nor files. What
#: JupyterLab shows while it starts is not seen, and is at times removed twice.
_DISABLED: Final = (
    "mlsys-widgets-lab:panel",
    "@jupyterlab/apputils-extension:splash",
    "@jupyterlite/application-extension:service-worker-manager",
)
_STORES: Final = ("contents", "settings")
#: What the app asks for first, in the words of Jupyter's contents API.
_NO_FILES: Final = {"name": "", "path": "", "type": "directory", "format": "json", "content": []}


def lay_app(pages: Path, kept: Path, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Put the app into a folder of pages, set up for frames; return its folder.

    Parameters
    ----------
    kept
        Where apps are kept (`site_app`).
    """
    from mlsys_widgets.lite.site_app import SETTINGS, site_app

    app = pages / APP
    shutil.rmtree(app, ignore_errors=True)
    shutil.copytree(site_app(kept, tell), app)
    settings = app / SETTINGS
    told = json.loads(settings.read_text("utf-8"))
    about: dict[str, Any] = told["jupyter-config-data"]
    # The page around the frame says what runs in it.
    about["exposeAppInBrowser"] = True
    about["disabledExtensions"] = [*about.get("disabledExtensions", []), *_DISABLED]
    # Each frame begins with nothing, whatever was open in one before.
    about["enableMemoryStorage"] = True
    about |= {f"{store}StorageDrivers": ["memoryStorageDriver"] for store in _STORES}
    settings.write_text(json.dumps(told, indent=1), "utf-8")
    listed = app / "api" / "contents" / "all.json"
    listed.parent.mkdir(parents=True)
    listed.write_text(json.dumps(_NO_FILES), "utf-8")
    return app


def main() -> int:
    """Lay the app beside the pages of the last build."""
    from mlsys_widgets.lite.fetching import FetchError
    from mlsys_widgets.lite.precompiled import CompileError
    from mlsys_widgets.lite.site_app import SiteError

    try:
        lay_app(HTML, KEPT, print)
    except (CompileError, FetchError, SiteError) as problem:
        print(problem, file=sys.stderr)
        return 1
    size = sum(each.stat().st_size for each in HTML.rglob("*") if each.is_file())
    print(f"Built {HTML.relative_to(ROOT)}: {size / 1e6:.0f} MB, with instruments that run.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
