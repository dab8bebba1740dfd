"""Running pytest as a person would, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest


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
