"""What a clone holds, and running pytest as a person would, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tracked(root) -> list[Path]:
    """Every file that is tracked or about to be, as a clone has it: nothing that make has made."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing is tracked")
    return [Path(name) for name in filter(None, listed.stdout.decode().split("\0"))]


@pytest.fixture
def run_pytest(root, tmp_path):
    """Run pytest on a test file under this project's settings and conftest."""

    def run(source, **environment):
        tests = tmp_path / "tests"
        tests.mkdir()
        (tests / "test_sample.py").write_text(source)
        for path in (root / "tests").glob("*.py"):  # conftest.py and what it imports
            if not path.name.startswith("test_"):
                shutil.copy(path, tests)
        shutil.copy(root / "pyproject.toml", tmp_path)
        (tmp_path / "tools").symlink_to(root / "tools")  # where conftest finds the table
        return subprocess.run(
            [sys.executable, "-m", "pytest", "tests"],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
