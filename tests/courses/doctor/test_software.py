"""Packages, extensions, kernel and isolation: broken one at a time, and diagnosed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsys_widgets import __version__
from mlsys_widgets.courses.doctor import software
from tests.courses.doctor.findings import (
    doctor_elsewhere,
    is_broken,
    is_doubtful,
    is_well,
    name_gradebook,
)

pytestmark = pytest.mark.timeout(300)


def packages_with(course: Path, *path: Path, options: tuple[str, ...] = ()) -> str:
    code = (
        "import sys; from pathlib import Path\n"
        "from mlsys_widgets.course.course import Course\n"
        "from mlsys_widgets.courses.doctor.software import packages\n"
        "for each in packages(Course(Path(sys.argv[1]))): print(each)"
    )
    done = subprocess.run(
        [sys.executable, *options, "-c", code, course],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, path))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_package_that_is_too_old(course: Path, tmp_path: Path):
    old = tmp_path / "nbval-0.1.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: nbval\nVersion: 0.1\n", "utf-8")
    told = packages_with(course, tmp_path)
    assert "level='problem', said='nbval 0.1 does not satisfy >=0.11'" in told
    assert "pip install --upgrade 'mlsys-widgets[ta]'" in told


def test_a_package_that_is_missing(course: Path, tmp_path: Path, root: Path):
    """Everything that is installed here except one package that only TAs need."""
    import nbval

    installed = Path(nbval.__file__).parent.parent
    for each in installed.iterdir():
        if not each.name.startswith("nbval"):
            (tmp_path / each.name).symlink_to(each)
    told = packages_with(course, root, tmp_path, options=("-S",))
    assert "level='problem', said='nbval is missing'" in told


def test_a_driver_that_is_missing_for_the_gradebook(course: Path, tmp_path: Path, root: Path):
    import psycopg

    for each in Path(psycopg.__file__).parent.parent.iterdir():
        if not each.name.startswith("psycopg"):
            (tmp_path / each.name).symlink_to(each)
    assert "psycopg" not in packages_with(course, root, tmp_path, options=("-S",))
    name_gradebook(course, "postgresql+psycopg:///grades")
    told = packages_with(course, root, tmp_path, options=("-S",))
    assert "psycopg is missing" in told
    assert "pip install --upgrade 'mlsys-widgets[ta,postgres]'" in told


def test_a_lab_extension_that_was_disabled(course: Path, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    program = Path(sys.executable).parent / "jupyter-labextension"
    words = ("disable", "--level=user", "mlsys-widgets-lab")
    subprocess.run([program, *words], check=True, capture_output=True)
    is_broken(
        software.extensions, course, "lab extensions", "disabled: mlsys-widgets-lab",
        "jupyter labextension enable mlsys-widgets-lab",
    )  # fmt: skip


def test_a_server_extension_that_was_disabled(course: Path, tmp_path: Path, monkeypatch):
    off = {"ServerApp": {"jpserver_extensions": {"mlsys_widgets.server": False}}}
    (tmp_path / "jupyter_server_config.d").mkdir()
    (tmp_path / "jupyter_server_config.d" / "off.json").write_text(json.dumps(off), "utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    is_broken(
        software.extensions, course, "server extensions",
        "not enabled: mlsys_widgets.server",
        "jupyter server extension enable --sys-prefix mlsys_widgets.server",
    )  # fmt: skip
    is_well(software.extensions, course, "lab extensions")


def test_an_environment_without_extensions(course: Path, tmp_path: Path):
    """Another environment that borrows our packages: Jupyter looks beside its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    import nbgrader

    ours = Path(nbgrader.__file__).parent.parent
    code = (
        "import sys; from pathlib import Path\n"
        "from mlsys_widgets.course.course import Course\n"
        "from mlsys_widgets.courses.doctor.software import extensions\n"
        "for each in extensions(Course(Path(sys.argv[1]))): print(each.level, each.said)"
    )
    (site / "borrowed.pth").write_text(f"{ours}\n{Path(__file__).parents[3]}\n", "utf-8")
    done = subprocess.run(
        [tmp_path / "env/bin/python", "-c", code, course],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lab, server = done.stdout.splitlines()
    missing = "mlsys-widgets-lab (the Lab panel, controls and cards)"
    assert lab.startswith(f"problem JupyterLab does not find {missing}")
    assert server.startswith("problem not enabled: mlsys_widgets.server")


@pytest.fixture
def kernelspec(tmp_path: Path, monkeypatch) -> Callable[..., None]:
    """Make python3 the name of another kernel."""

    def write(*argv: str, **environment: str) -> None:
        folder = tmp_path / "share" / "kernels" / "python3"
        folder.mkdir(parents=True)
        said = {
            "argv": argv, "display_name": "x", "language": "python", "env": environment,
        }  # fmt: skip
        (folder / "kernel.json").write_text(json.dumps(said), "utf-8")
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))

    return write


def test_a_kernel_whose_python_is_gone(course: Path, kernelspec):
    kernelspec("/nowhere/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}")
    is_broken(
        software.kernel, course, "kernel", "python3 does not start: .*No such file",
        "python -m ipykernel install --sys-prefix",
    )  # fmt: skip


def test_a_kernel_that_dies(course: Path, kernelspec):
    kernelspec(sys.executable, "-c", "raise SystemExit(1)")
    is_broken(software.kernel, course, "kernel", "python3 does not start: .*died", "ipykernel")


def test_a_kernel_with_another_version_of_the_package(course: Path, kernelspec, tmp_path: Path):
    (tmp_path / "old" / "mlsys_widgets").mkdir(parents=True)
    (tmp_path / "old" / "mlsys_widgets" / "__init__.py").write_text("__version__ = '0.0.1'\n")
    launch = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
    kernelspec(sys.executable, *launch, PYTHONPATH=str(tmp_path / "old"))
    is_doubtful(
        software.kernel, course, "kernel",
        f"python3 has mlsys-widgets 0.0.1 instead of {re.escape(__version__)}", "ipykernel",
    )  # fmt: skip


def test_a_kernel_without_widgets(course: Path, kernelspec, tmp_path: Path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "bqplot.py").write_text("raise ImportError('bqplot is broken')\n")
    launch = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
    kernelspec(sys.executable, *launch, PYTHONPATH=str(tmp_path / "old"))
    said = "python3 cannot run a lab: bqplot is broken"
    is_broken(software.kernel, course, "kernel", said, "ipykernel")


def test_a_machine_that_cannot_isolate(course: Path):
    """In a user namespace with a single user, a child cannot become nobody."""
    alone = ("unshare", "--user", "--map-root-user")
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine gives no namespaces to begin with")
    found = doctor_elsewhere(course, *alone)["sandbox"]
    assert found["level"] == "problem"
    assert "the system refuses namespaces to this user" in found["said"]
    assert "--sandbox none" in found["fix"]
    is_well(software.sandbox, course, "sandbox")
