"""Compiles the modules of a site when it is built, because Python in a page takes seconds to do so.

Only the Python that will run them can compile them, so it does, under node.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from mlsys_widgets.lite.fetching import PYTHON

_SCRIPT: Final = Path(__file__).with_name("precompile.mjs")

#: Files of a wheel by their names in it.
Files = dict[str, bytes]


class CompileError(Exception):
    """The modules of a site could not be compiled; the message says why."""


def compiled(
    archives: Mapping[str, Files], pyodide: Path, kept: Path, keep_source: Collection[str] = ()
) -> dict[str, Files]:
    """Return archives with compiled modules instead of their sources.

    Parameters
    ----------
    pyodide
        The folder with Pyodide and its standard library.
    kept
        Where to keep what was compiled, for the next time.
    keep_source
        Archives in which the sources stay, too.
    """
    kept.mkdir(parents=True, exist_ok=True)
    sources = {name: zipped(files) for name, files in archives.items()}
    places = {
        name: kept / f"{name}-{hashlib.sha256(_SCRIPT.read_bytes() + source).hexdigest()[:24]}.zip"
        for name, source in sources.items()
    }
    missing = {name: sources[name] for name, place in places.items() if not place.is_file()}
    if missing:
        _compile(missing, pyodide, places)
    ready = {}
    for name, files in archives.items():
        made = files_of(places[name].read_bytes())
        if name in keep_source:
            ready[name] = files | {_beside_source(each): made[each] for each in made}
        else:
            ready[name] = {each: files[each] for each in files if f"{each}c" not in made} | made
    return ready


def _beside_source(module: str) -> str:
    """Return where Python looks for a compiled module whose source is there."""
    path = PurePosixPath(module)
    tag = f"cpython-{PYTHON.replace('.', '')}"
    return str(path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc")


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files that is the same whenever the files are."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            about = zipfile.ZipInfo(name)
            archive.writestr(about, files[name], zipfile.ZIP_DEFLATED, compresslevel=9)
    return held.getvalue()


def files_of(archive: bytes) -> Files:
    """Return the files of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [each for each in opened.namelist() if not each.endswith("/")]
        return {name: opened.read(name) for name in names}


def _compile(sources: Mapping[str, bytes], pyodide: Path, places: Mapping[str, Path]) -> None:
    node = shutil.which("node")
    if not node:
        raise CompileError(
            "node is missing, which compiles the modules of the site; it comes with npm"
            " (apt-get install npm)."
        )
    folder = next(iter(places.values())).parent
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        for name, source in sources.items():
            (Path(aside) / f"{name}.zip").write_bytes(source)
        done = subprocess.run(
            [node, _SCRIPT, pyodide, aside], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CompileError(f"The modules were not compiled: {done.stderr[-1000:]}")
        for name in sources:
            # Whole, or not there: somebody else may build a site at the same time.
            (Path(aside) / f"{name}.compiled.zip").replace(places[name])
