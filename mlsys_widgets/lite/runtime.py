"""The Python of a site: Pyodide, the wheels it starts with, and the list it finds them by.

Pyodide reads its own list of packages and unpacks what it is told to preload. The list that it
brings names packages on somebody else's server; ours names the wheels beside it, so that a page
asks nobody but the site.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets import __version__
from mlsys_widgets.lite.fetching import PYTHON, SiteParts

#: The rooms that only somebody with a server, a course or a checkout needs.
NOT_FOR_STUDENTS: Final = frozenset(
    {"authoring", "classes", "courses", "grading", "hub", "lite", "notebooks", "sandbox", "server"}
)
#: What the page loads by itself, except the name and version under which it does.
_FOR_THE_PAGE: Final = frozenset({"labextension", "nbextension"})
_EXTENSION: Final = "labextension/package.json"
#: A browser has no command line and no GPU to measure.
_COMMANDS: Final = frozenset({"__main__.py", "cli.py", "command.py"})
_GPU: Final = "measured/gpu/"
#: Of the npm package: what a page loads.
_PYODIDE: Final = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm")
_STDLIB: Final = "python_stdlib.zip"
LOCK: Final = "pyodide-lock.json"
#: Parts of Python that the kernel asks for by name, and no lab uses. Pyodide has them elsewhere.
_ASKED_FOR: Final = ("sqlite3", "ssl")

#: Files of a wheel by their names in it.
Files = dict[str, bytes]


def lay_runtime(fetched: SiteParts, into: Path, kernel_wheels: Iterable[Path] = ()) -> list[str]:
    """Put Pyodide and everything it preloads into a folder; return the names to preload.

    Parameters
    ----------
    kernel_wheels
        Wheels that come with the kernel of the site, whatever their versions.
    """
    into.mkdir(parents=True, exist_ok=True)
    pyodide = dict(_members(fetched.npm["pyodide"].read_bytes(), "package/"))
    for name in (*_PYODIDE, _STDLIB):
        (into / name).write_bytes(pyodide[name])
    wheels = [
        ("numpy", _numpy(fetched.npm["@emscripten-forge/numpy"])),
        ("pandas", _pandas()),
        ("mlsys-widgets", own_wheel()),
        *((name, _about(name, "0")) for name in _ASKED_FOR),
    ]
    for path in [*fetched.wheels.values(), *kernel_wheels]:
        wheels.append((_normal(path.name.split("-")[0]), _slim(path)))
    packages = {}
    for name, files in wheels:
        version = _version(files)
        tag = "cp312-cp312-pyodide_2024_0_wasm32" if name == "numpy" else "py3-none-any"
        file_name = f"{name.replace('-', '_')}-{version}-{tag}.whl"
        (into / file_name).write_bytes(_zipped(files))
        packages[name] = {
            "name": name,
            "version": version,
            "file_name": file_name,
            "install_dir": "site",
            "sha256": hashlib.sha256((into / file_name).read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": sorted(_imports(files)),
            "depends": [],
        }
    lock = {"info": json.loads(pyodide[LOCK])["info"], "packages": packages}
    (into / LOCK).write_text(json.dumps(lock, indent=1), "utf-8")
    # The kernel looks for itself among what was preloaded, under the name of its module.
    return sorted("pyodide_kernel" if name == "pyodide-kernel" else name for name in packages)


def own_wheel() -> Files:
    """Return this package without what a student in a browser does not need."""
    home = Path(__file__).parents[1]
    files = {
        f"{home.name}/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and _for_a_browser(path.relative_to(home))
    }
    return files | _about("mlsys-widgets", __version__)


def _for_a_browser(path: Path) -> bool:
    """Whether a file of this package, by its path there, serves a student in a browser."""
    if path.as_posix() == _EXTENSION:
        return True
    left_out = path.parts[0] in NOT_FOR_STUDENTS | _FOR_THE_PAGE or path.name in _COMMANDS
    return not (left_out or "__pycache__" in path.parts or path.as_posix().startswith(_GPU))


def _numpy(package: Path) -> Files:
    """Return numpy as a wheel; the package of npm holds an environment with numpy in it."""
    ((_, environment),) = _members(package.read_bytes(), "package/pkg/")
    files = dict(_members(environment, f"lib/python{PYTHON}/site-packages/"))
    return {name: content for name, content in files.items() if "/tests/" not in name}


def _pandas() -> Files:
    """Return the three names of pandas that bqplot looks at, without the 40 MB around them.

    bqplot asks whether data are frames, series or time stamps. Ours never are.
    """
    code = "".join(f"class {name}: ...\n" for name in ("DataFrame", "Series", "Timestamp"))
    return {"pandas/__init__.py": code.encode()} | _about("pandas", "0")


def _about(name: str, version: str) -> Files:
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {f"{folder}/METADATA": metadata.encode(), f"{folder}/RECORD": b""}


def _slim(wheel: Path) -> Files:
    """Return the files of a wheel without what only a page loads, and without its tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = [each for each in archive.namelist() if not each.endswith("/")]
        kept = [each for each in names if not re.search(r"\.data/|/tests?/|third_party/", each)]
        return {name: archive.read(name) for name in kept}


def _members(archive: bytes, below: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files below a folder of a compressed tar archive, by their names there."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            opened = members.extractfile(member)
            if opened and member.name.startswith(below):
                yield member.name.removeprefix(below), opened.read()


def _zipped(files: Files) -> bytes:
    """Return a zip archive of files that is the same whenever the files are."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _version(files: Files) -> str:
    (metadata,) = (text for name, text in files.items() if name.endswith(".dist-info/METADATA"))
    found = re.search(r"^Version: (\S+)$", metadata.decode(), re.M)
    return found[1] if found else "0"


def _imports(files: Files) -> set[str]:
    """Return the modules that a wheel brings, by what lies at its top."""
    tops = {name.split("/")[0] for name in files if ".dist-info/" not in name}
    return {top.removesuffix(".py") for top in tops}


def _normal(name: str) -> str:
    """Return a package's name as Pyodide looks it up."""
    return re.sub(r"[-_.]+", "-", name).lower()
