"""The Python that users of a hub run: one that they can reach.

An environment in root's home works for root and nobody else, and one that is installed from a clone
shows students the clone, keys and all. So we try, with a user's rights, whether users can run the
one at hand. If they cannot, an environment with the same versions is created in the hub's folder.
Where that takes another Python, which cannot have all of these versions, they are chosen for it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from mlsys_widgets import __version__
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import Account

NAME: Final = "mlsys-widgets"
_PACKAGE: Final = Path(__file__).resolve().parents[2]
#: Written when an environment is complete; says what it was made from.
STAMP: Final = ".mlsys_hub.json"
_NEEDED: Final = (
    "jupyterhub", "jupyterhub_idle_culler", "batchspawner", "jupyterlab", "nbgrader",
    "mlsys_widgets",
)  # fmt: skip
_RUNS: Final = (
    "import importlib.util as u, numpy, sys;"
    f"missing = [n for n in {_NEEDED!r} if u.find_spec(n) is None];"
    "sys.exit('without ' + ', '.join(missing) if missing else 0)"
)
_CAN_MAKE: Final = "import sys, venv; sys.exit(sys.version_info < (3, 11))"
_VERSION: Final = "import platform; print(platform.python_version())"
#: How pip names the package for which it found nothing, or nothing that fits.
_NOT_FOUND: Final = re.compile(
    r"(?:No matching distribution found for|The user requested \(constraint\)|Cannot install)"
    r" ([A-Za-z0-9._-]+)"
)
_PYTHONS: Final = ("python3.11", "python3", "python3.12", "python3.13", "python3.14")
_PLACES: Final = "/usr/local/bin:/usr/bin:/bin"

#: Belongs to no hub, and reaches what every user does: to find a Python before there are users.
NOBODY: Final = Account("nobody", 65534, 65534, "student")

Say = Callable[[str], None]


class CannotInstall(ValueError):
    """An environment that could not be created."""

    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(f"the environment of users could not be created: {reason}")
        found = _NOT_FOUND.search(output)
        self.package = found[1] if found else None


def interpreter_for(account: Account, home: Path, target: Path, say: Say) -> Path:
    """Return a Python that has everything a hub needs and that users can run.

    A user tries it, from their home. If one is needed, an environment is created in `target`.
    """
    own = Path(sys.executable)
    if clone() is None and runs(own, account, home):
        return own
    python = target / "bin" / "python"
    if not (is_fresh(target) and runs(python, account, home)):
        make_environment(target, _reachable_python(account, home), say)
    if not runs(python, account, home):
        raise ValueError(
            f"{account.name} cannot run {python}; let everybody pass through the folders above it"
            " (chmod o+x), or choose another place with --folder"
        )
    return python


def runs(python: Path, account: Account, home: Path) -> bool:
    """Whether a user can run an interpreter, and it has everything."""
    try:
        return run_as(account, [python, "-I", "-c", _RUNS], home=home).returncode == 0
    except OSError:
        return False


def clone() -> Path | None:
    """Return the clone that the package runs from; `None` if it is where pip installs packages."""
    return None if _PACKAGE.is_relative_to(sys.prefix) else _PACKAGE.parent


def make_environment(target: Path, base: Path, say: Say) -> Path:
    """Create an environment with the versions of this one, or bring it up to date."""
    python = target / "bin" / "python"
    if is_fresh(target):
        return python
    known = _stamp(target)
    if known is None:  # missing, or never finished
        say(f"Creating an environment that users can reach in {target}; this takes minutes")
        shutil.rmtree(target, ignore_errors=True)
    else:
        say(f"Updating the environment of users in {target}")
    try:
        if known is None:
            _run([base, "-m", "venv", "--without-pip", target])
        with TemporaryDirectory() as aside:
            package = _package(Path(aside))
            if not (known and _same_versions(known)):
                _install_versions(python, package, Path(aside), say)
            # The same version may have other files, and pip compares versions only.
            _pip(python, "install", "--no-deps", "--force-reinstall", f"{NAME}{package}")
    except CannotInstall:
        if known is None:
            shutil.rmtree(target, ignore_errors=True)
        raise
    (packages,) = target.glob("lib/python3*/site-packages")
    here = _versions()
    made = {
        "package": _digest(),
        "requires": metadata.requires(NAME),
        # What this environment had of what that one has; there it may be another version.
        "versions": {name: here[name] for name in _versions([str(packages)]) if name in here},
    }
    (target / STAMP).write_text(json.dumps(made), "utf-8")
    return python


def _install_versions(python: Path, package: str, aside: Path, say: Say) -> None:
    """Install the versions of this environment, or those that the other Python can have."""
    pins = aside / "constraints.txt"
    pins.write_text("".join(f"{n}=={v}\n" for n, v in _versions().items()), "utf-8")
    wanted = f"{NAME}[hub]{package}"
    try:
        _pip(python, "install", "--constraint", pins, wanted)
        return
    except CannotInstall as problem:
        theirs, ours = _version_of(python), _version_of(Path(sys.executable))
        if theirs == ours:
            raise
        named = problem.package or "packages"
    say(
        f"Python {theirs}, which users can run, cannot have the {named} that Python {ours} has"
        " here; versions are chosen for it"
    )
    try:
        _pip(python, "install", wanted)
    except CannotInstall as problem:
        raise CannotInstall(
            f"Python {theirs} ({python.resolve()}) cannot install"
            f" {problem.package or 'what a hub needs'}, which Python {ours} ({sys.executable}) has."
            f" Install {NAME}[hub] with a Python that everybody can reach, and name it with"
            f" --python. {problem}"
        ) from None


def _version_of(python: Path) -> str:
    done = subprocess.run(
        [str(python), "-I", "-c", _VERSION], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def is_fresh(target: Path) -> bool:
    """Whether an environment is complete, with the package and versions of this one."""
    stamp = _stamp(target)
    return stamp is not None and stamp["package"] == _digest() and _same_versions(stamp)


def differs_in_package_alone(target: Path) -> bool:
    """Whether an environment has the versions of this one, and other files of the package."""
    stamp = _stamp(target)
    return stamp is not None and _same_versions(stamp)


def _same_versions(stamp: Mapping[str, Any]) -> bool:
    here = _versions()
    return stamp.get("requires") == metadata.requires(NAME) and all(
        here.get(name, version) == version for name, version in stamp["versions"].items()
    )


def _reachable_python(account: Account, home: Path) -> Path:
    """Return a Python that users can run and that creates environments; this one if possible."""
    made_from = str(Path(sys.base_prefix) / "bin")
    own = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path=made_from)
    others = (shutil.which(name, path=_PLACES) for name in _PYTHONS)
    for found in filter(None, (own, *others)):
        try:
            done = run_as(account, [found, "-I", "-c", _CAN_MAKE], home=home)
        except OSError:  # it lies where users may not go
            continue
        if done.returncode == 0:
            return Path(found)
    raise ValueError(
        f"users of this hub cannot run {sys.executable}, and there is no other Python 3.11 or newer"
        f" in {_PLACES}; install one (apt-get install python3), or install mlsys-widgets[hub] where"
        " everybody can reach it and name that Python with --python"
    )


def _versions(path: list[str] | None = None) -> dict[str, str]:
    """Return what is installed in an environment besides the package; here without a path."""
    found = metadata.distributions(path=path) if path else metadata.distributions()
    names = {each.name.lower().replace("_", "-"): each.version for each in found}
    names.pop(NAME, None)
    return names


def _stamp(target: Path) -> dict[str, Any] | None:
    try:
        stamp: dict[str, Any] = json.loads((target / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return stamp


def _digest() -> str:
    """Return a digest that changes with every file of the package."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(_PACKAGE)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _package(aside: Path) -> str:
    """Return the package as pip can install it again: a new build, its origin or its version."""
    if here := clone():
        # Built in this environment if possible: then nothing has to be downloaded for it.
        own = ["--no-build-isolation"] if find_spec("hatchling") else []
        _pip(None, "wheel", *own, "--no-deps", "--wheel-dir", aside, here)
        (wheel,) = aside.glob("*.whl")
        return f" @ {wheel.as_uri()}"
    origin = metadata.distribution(NAME).read_text("direct_url.json")
    if origin:
        url = json.loads(origin)["url"]
        if Path(unquote(urlsplit(url).path)).exists():
            return f" @ {url}"
    return f"=={__version__}"


def _pip(python: Path | None, action: str, *arguments: str | Path) -> None:
    """Run this environment's pip, on another environment if one is given."""
    other: list[str | Path] = ["--python", python] if python else []
    quiet = ["--disable-pip-version-check", "--quiet"]
    _run([sys.executable, "-m", "pip", *other, *quiet, action, *arguments])


def _run(command: list[str | Path]) -> None:
    # Root's umask may be strict, but everybody must be able to read this.
    done = subprocess.run(
        [str(each) for each in command], umask=0o022, capture_output=True, text=True, check=False
    )
    if done.returncode:
        output = (done.stderr or done.stdout).strip()
        raise CannotInstall(" ".join(output.splitlines()[-3:]), output)
