"""A grading worker without any right can isolate a submission; one that may not, says so.

As in a container: setpriv drops its rights, and a filter refuses the system calls that container
runtimes refuse by default.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

#: The interpreter of the system, which everybody can reach, with modules that need no library.
TRIAL = """
import sys, tempfile, types
from pathlib import Path
root, filtered = Path(sys.argv[1]), sys.argv[2] == "filtered"
for name, folder in (("mlsys_widgets", root), ("mlsys_widgets.sandbox", root / "sandbox")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(folder)]
from mlsys_widgets.sandbox import isolation
from mlsys_widgets.sandbox.system_call_filter import filter_calls
if filtered:
    filter_calls()
with tempfile.TemporaryDirectory() as folder:
    print(isolation.why_not(Path(folder)))
"""


@pytest.fixture(scope="module")
def worker(root: Path) -> Iterator[list[str]]:
    """A command line that runs Python as a worker in a container would."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root with setpriv (util-linux) can drop rights as a container does")
    if not Path("/usr/bin/python3").exists():
        pytest.skip("there is no system interpreter that another user could reach")
    # Copied, because only its owner may be able to reach a checkout.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copytree(root / "mlsys_widgets" / "sandbox", Path(folder) / "sandbox")
        shutil.copy(root / "mlsys_widgets" / "files.py", folder)
        yield [
            "setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all", "--inh-caps=-all", "/usr/bin/python3", "-c", TRIAL, folder,
        ]  # fmt: skip


def _said(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_worker_without_any_right_can_isolate_submissions(worker: list[str]) -> None:
    assert _said([*worker, "free"]) == "None"


def test_a_worker_that_may_not_make_namespaces_says_so(worker: list[str]) -> None:
    said = _said([*worker, "filtered"])
    assert said == "the system refuses namespaces to this user (Operation not permitted)"
