"""The app of a site: JupyterLab as files and the Python that it starts, without labs.

Nothing of it depends on a course, and it takes half a minute. So it is made once and kept, under a
digest of everything that it is made of.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import held
from mlsys_widgets.lite.fetching import SiteParts, fetch
from mlsys_widgets.lite.runtime import Runtime, lay_runtime, own_wheel

_KERNEL: Final = "@jupyterlite/pyodide-kernel-extension:kernel"
#: Where the app says how it starts.
SETTINGS: Final = "jupyter-lite.json"
_RUNTIMES: Final = "static"
_PANEL: Final = Path(__file__).parents[1] / "labextension"
#: How many apps are kept: a branch or two, and what somebody copies just now.
_MOST_KEPT: Final = 4
#: Seconds to wait for somebody who makes the same app.
_PATIENCE: Final = 1800.0


class SiteError(Exception):
    """The site could not be built; the message says why, and what to do."""


def site_app(kept: Path, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Return a folder with the app, which is not to be changed; make it unless it is there.

    Parameters
    ----------
    kept
        Where it is kept, with what is fetched from registries.
    """
    place = kept / f"app-{_digest()}"
    with held(kept / "making.lock", "Somebody makes a site here already.", patience=_PATIENCE):
        if not place.is_dir():
            fetched = fetch(kept, tell)
            with tempfile.TemporaryDirectory(dir=kept) as aside:
                made = Path(aside) / "app"
                _make(fetched, Path(aside), made, kept / "compiled", tell)
                # Whole, or not there.
                made.rename(place)
        os.utime(place)
        apps = sorted(kept.glob("app-*"), key=lambda each: each.stat().st_mtime)
        for old in apps[:-_MOST_KEPT]:
            shutil.rmtree(old)
    return place


def _digest() -> str:
    """Return a digest of what an app is made of: versions.toml has those of what is fetched."""
    seen = hashlib.sha256()
    for name, content in _made_of():
        seen.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return seen.hexdigest()[:16]


def _made_of() -> Iterator[tuple[str, bytes]]:
    for folder, pattern in ((Path(__file__).parent, "*.*"), (_PANEL, "**/*")):
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                yield path.relative_to(folder).as_posix(), path.read_bytes()
    yield from sorted(own_wheel().items())


def _make(
    fetched: SiteParts, aside: Path, into: Path, compiled: Path, tell: Callable[[str], None]
) -> None:
    tell("Building JupyterLab as files")
    source = aside / "source"
    source.mkdir()
    wheels = [fetched.wheels["bqplot"], fetched.wheels["bqscales"], *fetched.extensions.values()]
    _run_builder(_unpacked(fetched.builder, aside), source, into, [*wheels, _PANEL])
    tell("Putting the runtime together")
    # By its version: its own files name each other.
    folder = f"{_RUNTIMES}/{fetched.npm['pyodide'].stem}"
    _settle(into / SETTINGS, folder, lay_runtime(fetched, into / folder, compiled))


def _unpacked(wheel: Path, aside: Path) -> Path:
    """Unpack what lays JupyterLab out; it needs libraries that are installed here."""
    if not importlib.util.find_spec("jupyterlite_core"):
        raise SiteError(
            "A site is built with JupyterLite: pip install 'mlsys-widgets[site]', and try again."
        )
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(aside / "builder")
    return aside / "builder"


def _run_builder(builder: Path, source: Path, into: Path, extensions: list[Path]) -> None:
    command = [
        *(sys.executable, "-m", "jupyterlite_core.app", "build", "--apps=lab"),
        *(f"--lite-dir={source}", f"--output-dir={into}"),
        *("--no-sourcemaps", "--ignore-sys-prefix"),
        *(f"--LiteBuildConfig.federated_extensions={each.resolve()}" for each in extensions),
    ]
    # The one that was fetched, and not another version that is installed here.
    around = {**os.environ, "PYTHONPATH": str(builder)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=source, env=around
    )
    if done.returncode:
        raise SiteError(f"JupyterLite could not build the site:\n{done.stderr[-2000:]}")


def runtime_in(site: Path) -> Path:
    """Return the folder of a site from which Python starts."""
    (folder,) = (site / _RUNTIMES).glob("pyodide-*")
    return folder


def _settle(settings: Path, folder: str, runtime: Runtime) -> None:
    """Have the app start Python with everything it needs, from a folder of it and nowhere else."""
    told = json.loads(settings.read_text("utf-8"))
    about: dict[str, Any] = told["jupyter-config-data"]
    about["appName"] = "mlsys_widgets"
    about.setdefault("litePluginSettings", {}).setdefault(_KERNEL, {}).update(
        pyodideUrl=f"./{folder}/pyodide.js",
        disablePyPIFallback=True,
        loadPyodideOptions={
            "packages": list(runtime.packages),
            "lockFileURL": f"./{folder}/{runtime.lock}",
            "stdLibURL": f"./{folder}/{runtime.stdlib}",
        },
    )
    # JupyterLite takes .jsonl for one JSON document, and loses a ledger with two lines.
    about.setdefault("fileTypes", {})["jsonl"] = {
        "extensions": [".jsonl"],
        "fileFormat": "text",
        "mimeTypes": ["text/plain"],
        "name": "jsonl",
    }
    settings.write_text(json.dumps(told, indent=1), "utf-8")
