"""Getting what a site is made of from the registries of npm and Python, and checking every byte.

pip and npm fetch, as they are set up on this machine; nothing here knows an address. What was
fetched is kept in a folder and used again while its digest is right.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSIONS: Final = Path(__file__).with_name("versions.toml")
#: The version of Python that Pyodide is.
PYTHON: Final = "3.12"


class FetchError(Exception):
    """Something a site is made of could not be had; the message says what, and what to do."""


@dataclass(frozen=True)
class SiteParts:
    """Where everything lies that a site is made of besides this package, each by its name."""

    npm: Mapping[str, Path]
    wheels: Mapping[str, Path]
    extensions: Mapping[str, Path]
    builder: Path


def fetch(into: Path, tell: Callable[[str], None] = lambda _: None) -> SiteParts:
    """Fetch what `versions.toml` names into a folder, unless it lies there already.

    Raises `FetchError` when something is missing on the way or is not what it should be.
    """
    into.mkdir(parents=True, exist_ok=True)
    table = tomllib.loads(VERSIONS.read_text("utf-8"))
    npm = {}
    for name, row in table["npm"].items():
        npm[name] = into / (name.lstrip("@").replace("/", "-") + f"-{row['version']}.tgz")
        if _integrity(npm[name]) != row["integrity"]:
            tell(f"Fetching {name} {row['version']} from npm")
            _fetch_from_npm(f"{name}@{row['version']}", npm[name], row["integrity"])
    wheels = {**table["wheels"], **table["extensions"], **table["builder"]}
    missing = {name: row for name, row in wheels.items() if not _wheel(into, name, row)}
    if missing:
        tell(f"Fetching {len(missing)} wheels with pip")
        _fetch_wheels(missing, into)
    paths = {name: _wheel(into, name, row) for name, row in wheels.items()}
    found = {name: path for name, path in paths.items() if path}
    return SiteParts(
        npm,
        {name: found[name] for name in table["wheels"]},
        {name: found[name] for name in table["extensions"]},
        *(found[name] for name in table["builder"]),
    )


def _integrity(path: Path) -> str:
    """Return the digest of a file as npm writes it; empty if there is no file."""
    if not path.is_file():
        return ""
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def _fetch_from_npm(package: str, path: Path, integrity: str) -> None:
    if not shutil.which("npm"):
        raise FetchError("npm is missing, which fetches Pyodide; install it (apt-get install npm).")
    with tempfile.TemporaryDirectory(dir=path.parent) as aside:
        told = _run(["npm", "pack", "--json", "--pack-destination", aside, package], package)
        (packed,) = Path(aside).glob("*.tgz")
        if _integrity(packed) != integrity:
            raise FetchError(f"{package} from npm is not what {VERSIONS.name} says: {told[:200]}")
        packed.replace(path)


def _wheel(folder: Path, name: str, row: Mapping[str, str]) -> Path | None:
    """Return the wheel with that version and digest, if it lies in the folder."""
    for path in folder.glob(f"*-{row['version']}-*.whl"):
        same_name = path.name.split("-")[0].lower().replace("_", "-") == name
        if same_name and hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]:
            return path
    return None


def _fetch_wheels(rows: Mapping[str, Mapping[str, str]], into: Path) -> None:
    """Have pip fetch wheels of plain Python; it checks the digests itself."""
    with tempfile.TemporaryDirectory(dir=into) as aside:
        wanted = Path(aside) / "wheels.txt"
        wanted.write_text(
            "".join(f"{n}=={r['version']} --hash=sha256:{r['sha256']}\n" for n, r in rows.items()),
            "utf-8",
        )
        _run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--only-binary=:all:", "--platform=any", "--implementation=py"),
                *(f"--python-version={PYTHON}", f"--dest={aside}"),
                *("--require-hashes", f"--requirement={wanted}"),
            ],
            "the wheels of the site",
        )
        # Whole, or not there: somebody else may build a site at the same time.
        for wheel in Path(aside).glob("*.whl"):
            wheel.replace(into / wheel.name)


def _run(command: list[str], what: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise FetchError(f"Could not fetch {what}: {' '.join(last) or 'no reason was given'}")
    return done.stdout
