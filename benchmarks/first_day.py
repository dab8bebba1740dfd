"""A first day: how long a course, its check and its release take, and a hub until somebody works.

Everything is timed as a person waits for it, start of Python included. The hub is a real one with
real users of this machine, so that part needs root; the environment of its users is made if it is
not there yet, and how long that took is then kept as well.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import findings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the hub of the tests, which is a real one

CLASS = 32
LAB = "lab_01_magnitude"


def seconds(does: Callable[[], object]) -> float:
    began = time.perf_counter()
    does()
    return time.perf_counter() - began


def command(*words: str, cwd: Path, home: Path) -> float:
    """Run a program as somebody whose home is empty; seconds."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    here = {**os.environ, "HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    run = [sys.executable, "-m", *words]
    done = subprocess.run(run, cwd=cwd, env=here, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} fails:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - began


def course(aside: Path) -> dict[str, Any]:
    """From a bundle to a released lab."""
    home = aside / "home"
    home.mkdir()
    roster = aside / "students.csv"
    roster.write_text("username\n" + "".join(f"student{each}\n" for each in range(CLASS)))
    bundle = aside / "course.tar.gz"
    packed = command("mlsys_widgets", "build", "--bundle", str(bundle), cwd=ROOT, home=home)
    init = ("init", str(aside / "course"), "--from", str(bundle), "--roster", str(roster))
    made = command("mlsys_widgets", "course", *init, cwd=aside, home=home)
    (aside / "exchange").mkdir()
    (aside / "exchange").chmod(0o777)
    settings = aside / "course" / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\nc.Exchange.root = {str(aside / 'exchange')!r}\n")
    checked = command("mlsys_widgets", "course", "doctor", cwd=aside / "course", home=home)
    releasing = ("course", "release", LAB)
    released = command("mlsys_widgets", *releasing, cwd=aside / "course", home=home)
    found = {"bundle_s": packed, "init_s": made, "doctor_s": checked, "release_s": released}
    for name, took in found.items():
        print(f"  {name:12} {took:6.1f}")
    return {"students": CLASS, **found}


def hub() -> dict[str, Any]:
    """A hub from its first start to the first server, and until it has stopped."""
    from tests.hub.running import ENVIRONMENT, Person, environment, proxy, running_hub

    found: dict[str, Any] = {"students": CLASS}
    if not ENVIRONMENT.exists():
        found["environment_s"] = seconds(environment)
    folders = {"environment": ENVIRONMENT, "proxy": proxy().parent.parent}
    for name, folder in folders.items():
        files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        found[f"{name}_mb"] = sum(path.stat().st_size for path in files) / 1e6
    began = time.perf_counter()
    names = [f"s{each}" for each in range(CLASS)]
    with running_hub(names) as running:
        found["first_start_s"] = time.perf_counter() - began
        people = [Person(running, running.names[name]) for name in names[:3]]
        found["server_s"] = [seconds(person.arrive) for person in people]
        found["stop_s"] = seconds(running.stop)
        found["next_start_s"] = seconds(running.start)
    for name, took in found.items():
        print(f"  {name:14} {took}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--publish", action="store_true", help="for the pages to quote")
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {"hub": hub}
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        print("no hub: it makes users of this machine, for which it needs root and useradd")
        parts.clear()
    with TemporaryDirectory(prefix="mlsys-day-") as aside:
        Path(aside).chmod(0o755)  # students must reach the exchange, and the doctor looks
        for name, measure in {"course": lambda: course(Path(aside)), **parts}.items():
            under = findings.conditions()
            print(f"{name}; the load before it was {under['load_before']}")
            found = measure()
            if arguments.publish:
                findings.keep("first_day", name, found, under)


if __name__ == "__main__":
    main()
