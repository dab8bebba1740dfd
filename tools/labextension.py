"""Build what runs in the browser, or make an environment show what was built.

``build`` needs npm and jupyter-builder and writes to mlsys_widgets/labextension (the Lab panel and
our widgets, for JupyterLab), mlsys_widgets/nbextension (the widgets alone, for other pages) and the
design system in mlsys_widgets/drawing. All are committed: nobody else needs Node. ``link`` needs
the standard library only. It does for an editable install what a wheel does by itself: Jupyter
looks for extensions in the environment, and an editable install puts nothing there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "labextension"
BUILT: Final = ROOT / "mlsys_widgets" / "labextension"
CLASSIC: Final = ROOT / "mlsys_widgets" / "nbextension"
#: The design system, for pages that are written by Python: feedback and reports.
DESIGN: Final = ROOT / "mlsys_widgets" / "drawing" / "design.css"
CONFIG: Final = ROOT / "mlsys_widgets" / "server" / "jupyter_server_config.json"
CLASSIC_CONFIG: Final = CLASSIC / "notebook_config.json"
#: What a build is made from, besides the folders src and style.
TOP: Final = (".npmrc", "bundle.config.js", "nbextension.js", "package.json", "tsconfig.json")
#: Holds the digest of the sources that the build was made from.
DIGEST: Final = "source.sha256"

#: Where the files go in an environment; the same places as in pyproject.toml.
PANEL_PLACE: Final = Path("share", "jupyter", "labextensions", "mlsys-widgets-lab")
CLASSIC_PLACE: Final = Path("share", "jupyter", "nbextensions", "mlsys-widgets-lab")
CONFIG_PLACE: Final = Path("etc", "jupyter", "jupyter_server_config.d", "mlsys_widgets.json")
CLASSIC_CONFIG_PLACE: Final = Path("etc", "jupyter", "nbconfig", "notebook.d", "mlsys_widgets.json")
#: What is linked, and where to.
PLACES: Final = (
    (BUILT, PANEL_PLACE),
    (CLASSIC, CLASSIC_PLACE),
    (CONFIG, CONFIG_PLACE),
    (CLASSIC_CONFIG, CLASSIC_CONFIG_PLACE),
)


def sources(folder: Path = SOURCE) -> Iterator[Path]:
    """Yield all files that a build is made from, in a fixed order."""
    yield from sorted(folder / name for name in TOP)
    for part in ("src", "style"):
        yield from sorted(path for path in (folder / part).rglob("*") if path.is_file())


def digest(folder: Path = SOURCE) -> str:
    """Return the digest of names and contents of the sources, whatever their line ends."""
    seen = hashlib.sha256()
    for path in sources(folder):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        seen.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        seen.update(content)
    return seen.hexdigest()


def build(folder: Path = SOURCE, built: Path = BUILT, classic: Path = CLASSIC) -> int:
    """Compile and bundle; ``built`` must be where package.json says."""
    npm, builder = shutil.which("npm"), Path(sys.executable).with_name("jupyter-builder")
    if npm is None:
        print(
            "npm is missing: building the Lab panel needs it; install the packages nodejs (20 or"
            " newer) and npm. The panel that is committed works without."
        )
        return 1
    about = json.loads((folder / "package.json").read_text("utf-8"))
    named = {**about["dependencies"], **about["devDependencies"]}
    if not all((folder / "node_modules" / name).exists() for name in named):
        subprocess.run([npm, "install", "--no-audit", "--no-fund"], cwd=folder, check=True)
    shutil.rmtree(folder / "lib", ignore_errors=True)
    subprocess.run([npm, "run", "compile"], cwd=folder, check=True)
    # Only now: sources that do not compile leave the build that was there.
    shutil.rmtree(built, ignore_errors=True)
    subprocess.run([builder, "build", folder], cwd=folder, check=True)
    subprocess.run([npm, "run", "nbextension", "--", classic], cwd=folder, check=True)
    widen(built / "package.json")
    shutil.copyfile(folder / "style" / DESIGN.name, DESIGN)
    (built / DIGEST).write_text(f"{digest(folder)}\n", "utf-8")
    return 0


def widen(package: Path) -> None:
    """Say what the panel runs with, where the source says what it is built with.

    JupyterLab reads this and calls an extension incompatible that names another version.
    """
    about = json.loads(package.read_text("utf-8"))
    del about["devDependencies"], about["scripts"]
    shared = about["jupyterlab"]["sharedPackages"]
    for name, pinned in about["dependencies"].items():
        about["dependencies"][name] = shared.get(name, {}).get("requiredVersion", f"^{pinned}")
    package.write_text(f"{json.dumps(about, indent=2)}\n", "utf-8")


def link(environment: Path) -> int:
    """Make an environment show what was built; again changes nothing."""
    for source, place in PLACES:
        target = environment / place
        if target.is_symlink() and target.readlink() == source:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink() or target.is_file():
            target.unlink()
        elif target.exists():
            shutil.rmtree(target)
        try:
            target.symlink_to(source, target_is_directory=source.is_dir())
        except OSError:  # Windows lets few people make links
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run ``build``, or ``link`` for the environment of this Python."""
    match list(arguments):
        case ["build"]:
            return build()
        case ["link"]:
            return link(Path(sys.prefix))
    print("usage: labextension.py build | link", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
