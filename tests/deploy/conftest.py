"""Environments that tests of the cluster share, created once below build/deploy."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.hub.running.proxy import find_proxy

from .cluster import Programs
from .dockerfile import carry_out, read, stages

# Programs for other interpreters than pytest's, which looks for doctests everywhere.
collect_ignore = ["chart.py", "loopback_config.py", "loopback_exchange.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the environment of the chart's hub is slow: making it takes minutes."""
    for item in items:
        if item.path.parent == Path(__file__).parent and "hub" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@contextmanager
def _once(folder: Path, key: str) -> Iterator[bool]:
    """Whether something is still to be made in a folder; one process at a time."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    stamp = folder / "made_from"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.is_file() and stamp.read_text() == key:
            yield False
            return
        shutil.rmtree(folder, ignore_errors=True)
        yield True
        stamp.write_text(key)


@pytest.fixture(scope="session")
def versions(root: Path) -> Mapping[str, Any]:
    """What the cluster is made of."""
    return tomllib.loads((root / "deploy" / "versions.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def hub(root: Path, versions: Mapping[str, Any]) -> Path:
    """The bin folder of what runs in the chart's hub image, and of what checks our files."""
    pins = [f"{name}=={version}" for name, version in versions["hub"].items()]
    listed = Path(__file__).with_name("requirements.txt").read_text("utf-8")
    folder = root / "build" / "deploy" / "hub"
    with _once(folder, "\n".join([sys.version, *pins, listed])) as missing:
        if missing:
            venv.create(folder, with_pip=True)
            pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
            file = Path(__file__).with_name("requirements.txt")
            subprocess.run([*pip, *pins, "-r", file], check=True, timeout=1500)
    return folder / "bin"


@pytest.fixture(scope="session")
def image(root: Path) -> Callable[[str], Path]:
    """Install what an image holds, by the steps of its Dockerfile; returns its /opt/mlsys."""

    @cache  # once in a run, even if somebody edits the package meanwhile
    def made(name: str) -> Path:
        stage = stages(read(root / "deploy" / "images" / name / "Dockerfile"))[0]
        folder = root / "build" / "deploy" / name
        with _once(folder, _contents(root, name)) as missing:
            if missing:
                places = {
                    each: folder / each[1:] for each in ("/opt/mlsys", "/opt/tools", "/build")
                }
                (folder / "said").write_text(carry_out(stage, root, places))
        return folder / "opt" / "mlsys"

    return made


def _contents(root: Path, name: str) -> str:
    """A number that changes with anything that the image is made from."""
    images = root / "deploy" / "images"
    files = [root / "pyproject.toml", *images.glob("*.*"), *(images / name).iterdir()]
    files += (root / "mlsys_widgets").rglob("*") if name != "exchange" else []
    sums = hashlib.sha256(sys.version.encode())
    for file in sorted(files):
        if file.is_file() and "__pycache__" not in file.parts:
            sums.update(file.read_bytes())
    return sums.hexdigest()


@pytest.fixture(scope="session")
def programs(root: Path, hub: Path, image: Callable[[str], Path]) -> Programs:
    """All that a cluster on the loopback runs."""
    folder = root / "build" / "deploy"
    proxy = find_proxy(folder / "proxy", print)
    return Programs(hub, image("student") / "bin", image("exchange") / "bin", proxy)


#: One process for all, because schemas take seconds to load: manifests in, problems out.
VALIDATE = """
import json, sys, kubernetes_validate

def problem(manifest):
    for version in sys.argv[1:]:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.ValidationError as wrong:
            return f"{version}: {wrong.message}"
    return ""

for line in sys.stdin:
    print(json.dumps([problem(manifest) for manifest in json.loads(line)]), flush=True)
"""


@pytest.fixture(scope="session")
def validate(hub: Path, versions: Mapping[str, Any]) -> Iterator[Callable[..., list[str]]]:
    """Check manifests against the schemas of Kubernetes; what is wrong with each, or nothing."""
    command = [hub / "python", "-c", VALIDATE, *versions["chart"]["kubernetes"]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def checked(*manifests: Mapping[str, Any]) -> list[str]:
            assert process.stdin
            assert process.stdout
            print(json.dumps(manifests), file=process.stdin, flush=True)
            found: list[str] = json.loads(process.stdout.readline())
            return found

        yield checked
