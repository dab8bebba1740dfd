"""The environment of a hub's users, filled from the one that runs the tests.

From nothing, pip resolves, fetches and compiles 160 packages. That takes minutes, and gives files
that are here already. So what a hub requires is taken from here, and no more: what our requirements
do not name is missing there too. This package is then installed as a hub does it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mlsys_widgets.hub.running.interpreter import NAME, STAMP, make_environment


def environment_of_users(target: Path, base: Path) -> Path:
    """Return the Python of an environment with this package as it is now, for everybody."""
    if not (target / STAMP).exists() and are_of_one_kind(base, Path(sys.executable)):
        fill(target, base)
    return make_environment(target, base, print)


def fill(target: Path, base: Path) -> None:
    """Create an environment that lacks nothing but this package."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run([base, "-m", "venv", "--without-pip", target], check=True, umask=0o022)
    versions = {}
    for each in required(f"{NAME}[hub]"):
        _copy(each, target)
        versions[canonicalize_name(each.name)] = each.version
    # As of an environment whose package is an older one, which a hub brings up to date.
    stamp = {"package": "", "requires": metadata.requires(NAME), "versions": versions}
    (target / STAMP).write_text(json.dumps(stamp), "utf-8")


def required(requirement: str) -> Iterator[metadata.Distribution]:
    """Yield what a requirement needs here, and what that needs in turn."""
    waiting = [Requirement(requirement)]
    met: set[tuple[str, str]] = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        new = {(name, extra) for extra in ("", *one.extras)} - met
        if not new:
            continue
        distribution = metadata.distribution(one.name)
        if name != NAME and (name, "") in new:
            yield distribution
        met |= new
        for each in map(Requirement, distribution.requires or ()):
            if any(each.marker is None or each.marker.evaluate({"extra": e}) for _, e in new):
                waiting.append(each)


def _copy(distribution: metadata.Distribution, target: Path) -> None:
    """Copy the files of a distribution, for everybody; programs get the Python of their place."""
    assert distribution.files, f"{distribution.name} does not say which files it has"
    here = Path(sys.prefix)
    for file in distribution.files:
        source = Path(os.path.normpath(file.locate()))
        if not (source.is_relative_to(here) and source.is_file()):
            continue
        inside = source.relative_to(here)
        copy = target / inside
        copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if inside.parts[0] == "bin":
            copy.write_bytes(source.read_bytes().replace(bytes(here), bytes(target), 1))
            copy.chmod(0o755)
        elif not ("site-packages" in inside.parts and _linked(source, copy)):
            shutil.copy2(source, copy)
            copy.chmod(0o755 if copy.stat().st_mode & 0o100 else 0o644)


def _linked(source: Path, copy: Path) -> bool:
    """Give a file a second name if everybody may read it: nobody changes a package in place."""
    if not source.stat().st_mode & 0o004:
        return False
    try:
        copy.hardlink_to(source)
    except OSError:  # another disk, or one without links
        return False
    return True


def are_of_one_kind(one: Path, other: Path) -> bool:
    """Return whether what is compiled for one Python runs with the other."""
    code = "import sysconfig as s; print(s.get_config_var('SOABI'), s.get_platform())"
    return len({subprocess.check_output([each, "-I", "-c", code]) for each in (one, other)}) == 1
