"""Write the exact versions that each image installs: ``python deploy/images/lock.py``.

The versions are those that the labs were tested with (constraints.txt), except where versions.toml
chooses. JupyterHub is the chart's, because a student's server must match the hub that starts it.
Each image gets a ``requirements.txt`` that names every package, so building it resolves nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final

IMAGES: Final = Path(__file__).resolve().parent
ROOT: Final = IMAGES.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from constraints import pins  # noqa: E402 (tools is not a package)

HEADER: Final = "# Every package of the image. Made by deploy/images/lock.py; do not edit.\n"


def wanted(image: str) -> tuple[list[str], list[str]]:
    """What an image asks pip for: packages with their dependencies, and packages alone."""
    versions = tomllib.loads((IMAGES.parent / "versions.toml").read_text("utf-8"))
    hub = f"jupyterhub=={versions['hub']['jupyterhub']}"
    exchange = versions["exchange"]
    # Its metadata asks for a jupyter_core of 2022, but it runs with today's: tests/deploy tries it.
    client = [f"{name}=={exchange[name]}" for name in ("ngshare_exchange", "setuptools")]
    return {
        "student": ([f"{ROOT}[student]", "nbgrader", hub], client),
        "grader": ([f"{ROOT}[ta,postgres]", hub], client),
        "exchange": (
            [hub, *(f"{name}=={exchange[name]}" for name in ("ngshare", "sqlalchemy"))],
            [],
        ),
    }[image]


def lock(image: str) -> str:
    """Resolve what an image needs in a fresh environment; return its requirements as text."""
    together, alone = wanted(image)
    chosen = tuple(f"{pin.partition('==')[0]}==" for pin in together if "==" in pin)
    tested = (ROOT / "constraints.txt").read_text("utf-8").splitlines(keepends=True)
    # The exchange runs none of our code, and its SQLAlchemy is too old for the rest.
    ours = image != "exchange"
    kept = [line for line in tested if ours and not line.lower().startswith(chosen)]
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(kept))
        venv.create(Path(folder) / "env", with_pip=True)
        pip = [f"{folder}/env/bin/python", "-m", "pip", "--disable-pip-version-check"]
        install = [*pip, "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*install, "-c", constraints, *together], check=True)
        if alone:
            subprocess.run([*install, "--no-deps", *alone], check=True)
        # With --all, because pip treats setuptools as its own part; what came with the
        # environment is left out.
        tools = ["--exclude", "pip"] + ([] if alone else ["--exclude", "setuptools"])
        frozen = subprocess.run(
            [*pip, "freeze", "--all", *tools], check=True, capture_output=True, text=True
        )
    return HEADER + "".join(f"{pin}\n" for pin in pins(frozen.stdout.splitlines()))


if __name__ == "__main__":
    for image in sys.argv[1:] or ("student", "grader", "exchange"):
        target = IMAGES / image / "requirements.txt"
        target.write_text(lock(image), "utf-8")
        print(f"Wrote {target.relative_to(ROOT)}")
