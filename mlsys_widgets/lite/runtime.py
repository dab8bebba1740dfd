"""The Python of a site: Pyodide, the wheels it starts with, and the list it finds them by.

Pyodide reads its own list of packages and unpacks what it is told to preload. The list that it
brings names packages on somebody else's server; ours names the wheels beside it, so that a page
asks nobody but the site. Unpacking took a fifth of a start, so only what has to be a file is in a
wheel: everything else lies in the archive of the standard library, from which Python imports.

What may differ from one site to the next has a part of its digest in its name: a browser that kept
a file of the site before would otherwise start Python from two halves, or refuse to.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlsys_widgets import __version__
from mlsys_widgets.lite.fetching import PYTHON, SiteParts
from mlsys_widgets.lite.precompiled import Files, compiled, files_of, zipped
from mlsys_widgets.lite.slimming import MADE, slim

#: The rooms that only somebody with a server, a course or a checkout needs.
NOT_FOR_STUDENTS: Final = frozenset(
    {"authoring", "classes", "courses", "grading", "hub", "lite", "notebooks", "sandbox", "server"}
)
#: Of those rooms: what answers the Lab panel from a kernel, and what only a page needs.
CARRIED: Final = (
    "lite/__init__.py",
    "lite/page/",
    *(
        f"server/{name}.py"
        for name in (
            *("__init__", "carry_over", "design_labels", "due_reports", "finder"),
            *("handin_answers", "lab_steps", "panel_answers", "paths", "reports"),
            "version_outlook",
        )
    ),
)
#: Ends the module that is the kernel: before anything can run in it, it is prepared for ledgers.
_PREPARE: Final = (
    b"\nfrom mlsys_widgets.lite.page.kernel_start import prepare\n\nprepare()\ndel prepare\n"
)
_KERNEL: Final = "pyodide_kernel/__init__.py"
#: What cannot be imported from an archive: libraries of C, and what reads files beside its modules.
_UNPACKED: Final = frozenset({"bqplot", "mlsys-widgets", "numpy"})
#: What the kernel asks for as packages before it starts, whatever can be imported already.
_ASKED: Final = frozenset(
    {"comm", "ipykernel", "ipython", "jedi", "micropip", "piplite", "pyodide-kernel"}
    | {"sqlite3", "ssl"}
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
_LOCK: Final = "pyodide-lock.json"
_OURS: Final = "mlsys-widgets"
#: In the modules whose formulas cards read from their source.
_FORMULA: Final = b"derived("
_EXTENSION_OF_KERNEL: Final = "jupyterlite-pyodide-kernel"
#: In there: what the kernel imports of what comes with it.
_KERNEL_WHEEL: Final = re.compile(r"/static/pypi/((?:ipykernel|pyodide_kernel)-[^/]+\.whl)$")


@dataclass(frozen=True)
class Runtime:
    """How Python starts from a folder: the names of its files there, and what is preloaded."""

    lock: str
    stdlib: str
    packages: tuple[str, ...]


def lay_runtime(fetched: SiteParts, into: Path, kept: Path) -> Runtime:
    """Put Pyodide and everything it preloads into a folder.

    Parameters
    ----------
    kept
        Where to keep what was compiled, for the next time.
    """
    into.mkdir(parents=True, exist_ok=True)
    pyodide = dict(_members(fetched.npm["pyodide"].read_bytes(), "package/"))
    for name in (*_PYODIDE, _STDLIB, _LOCK):
        (into / name).write_bytes(pyodide[name])
    ours = own_wheel()
    formulas = {name: ours.pop(name) for name in [*ours] if _FORMULA in ours[name]}
    wheels = [
        ("numpy", _numpy(fetched.npm["@emscripten-forge/numpy"])),
        (_OURS, ours),
        ("formulas", formulas),
        *((name, files | _about(name, "0")) for name, files in MADE.items()),
    ]
    taken = {path.name: path.read_bytes() for path in fetched.wheels.values()}
    for name, content in (taken | _kernel_wheels(fetched)).items():
        files = slim(files_of(content))
        if _KERNEL in files:
            files[_KERNEL] += _PREPARE
        wheels.append((_normal(name.split("-")[0]), files))
    archives = {**dict(wheels), _STDLIB: files_of(pyodide[_STDLIB])}
    # Formulas on cards are read from their source.
    ready = compiled(archives, into, kept, keep_source={"formulas"})
    ready[_OURS] |= ready.pop("formulas")
    for name in (_STDLIB, _LOCK):
        (into / name).unlink()  # Python that compiles starts with them
    imported = ready.pop(_STDLIB)
    for name in ready.keys() - _UNPACKED:
        imported |= ready.pop(name)
    ready |= {name: _about(name, "0") for name in _ASKED}
    stdlib = _write(into, "python_stdlib-{}.zip", zipped(imported))
    packages = {}
    for name, files in sorted(ready.items()):
        version, content = _version(files), zipped(files)
        tag = "cp312-cp312-pyodide_2024_0_wasm32" if name == "numpy" else "py3-none-any"
        stem = f"{name.replace('-', '_')}-{version}"
        packages[name] = {
            "name": name,
            "version": version,
            # The build of a wheel, which begins with a digit.
            "file_name": _write(into, f"{stem}-0{{}}-{tag}.whl", content),
            "install_dir": "site",
            "sha256": hashlib.sha256(content).hexdigest(),
            "package_type": "package",
            "imports": sorted(_imports(files)),
            "depends": [],
        }
    lock = {"info": json.loads(pyodide[_LOCK])["info"], "packages": packages}
    listed = _write(into, "pyodide-lock-{}.json", json.dumps(lock, indent=1).encode())
    # The kernel looks for itself among what was preloaded, under the name of its module.
    preloaded = ("pyodide_kernel" if name == "pyodide-kernel" else name for name in packages)
    return Runtime(listed, stdlib, tuple(sorted(preloaded)))


def _write(folder: Path, name: str, content: bytes) -> str:
    """Write a file with a part of its digest in its name; return the name."""
    named = name.format(hashlib.sha256(content).hexdigest()[:8])
    (folder / named).write_bytes(content)
    return named


def _kernel_wheels(fetched: SiteParts) -> Files:
    """Return the wheels that come with the kernel's extension and that it imports, by name."""
    members = files_of(fetched.extensions[_EXTENSION_OF_KERNEL].read_bytes()).items()
    found = ((_KERNEL_WHEEL.search(name), content) for name, content in members)
    return {match[1]: content for match, content in found if match}


def own_wheel() -> Files:
    """Return this package without what a student in a browser does not need."""
    home = Path(__file__).parents[1]
    files = {
        f"{home.name}/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and _for_a_browser(path.relative_to(home))
    }
    return files | _about(_OURS, __version__)


def _for_a_browser(path: Path) -> bool:
    """Whether a file of this package, by its path there, serves a student in a browser."""
    if path.as_posix() == _EXTENSION:
        return True
    if path.as_posix().startswith(CARRIED):
        return "__pycache__" not in path.parts
    left_out = path.parts[0] in NOT_FOR_STUDENTS | _FOR_THE_PAGE or path.name in _COMMANDS
    return not (left_out or "__pycache__" in path.parts or path.as_posix().startswith(_GPU))


def _numpy(package: Path) -> Files:
    """Return numpy as a wheel; the package of npm holds an environment with numpy in it."""
    ((_, environment),) = _members(package.read_bytes(), "package/pkg/")
    return slim(dict(_members(environment, f"lib/python{PYTHON}/site-packages/")))


def _about(name: str, version: str) -> Files:
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {f"{folder}/METADATA": metadata.encode(), f"{folder}/RECORD": b""}


def _members(archive: bytes, below: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files below a folder of a compressed tar archive, by their names there."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            opened = members.extractfile(member)
            if opened and member.name.startswith(below):
                yield member.name.removeprefix(below), opened.read()


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
