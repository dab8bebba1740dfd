"""What leaves the repository: the package, and never a key."""

from __future__ import annotations

import ast
import email
import subprocess
import sys
import tarfile
import zipfile

import pytest

#: Modules of the package that are named as a file of a lab is.
KNOWN = {"mlsys_widgets/labs/lab.py"}


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, root],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    (metadata,) = (top for top in tops if top.endswith(".dist-info"))
    assert tops - {metadata} == {"mlsys_widgets", metadata.replace(".dist-info", ".data")}


def test_the_wheel_installs_the_lab_panel_and_the_widgets(wheel, tool):
    """Jupyter looks for extensions in the environment, not in packages."""
    data = {
        name.partition(".data/data/")[2]: wheel.read(name)
        for name in wheel.namelist()
        if ".data/" in name
    }
    wanted = {
        (place / path.relative_to(source)).as_posix(): path
        for source, place in tool("labextension").PLACES
        for path in (source, *source.rglob("*"))
        if path.is_file()
    }
    assert data == {name: path.read_bytes() for name, path in wanted.items()}


def test_the_wheel_holds_all_of_the_package_but_what_measures_gpus(wheel, root):
    kept = {
        path.relative_to(root).as_posix()
        for path in (root / "mlsys_widgets").rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not path.is_relative_to(root / "mlsys_widgets" / "measured" / "gpu")
    }
    assert "mlsys_widgets/py.typed" in kept
    assert {name for name in wheel.namelist() if name.startswith("mlsys_widgets/")} == kept


def said_by_checks(root):
    """Every sentence of five words or more that the checks of a lab say, and their functions."""
    for path in sorted((root / "assignments").glob("*/checks.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if len(node.value.split()) >= 5:
                    yield node.value
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"def {node.name}(given"


def test_the_wheel_holds_no_key(wheel, root):
    """Neither a file of a lab nor a sentence, a belief or a check of one."""
    sentences = set(said_by_checks(root))
    assert sentences
    labs = {path.parent.name for path in (root / "assignments").glob("*/lab.py")}
    for name in wheel.namelist():
        parts = set(name.split("/"))
        assert not parts & {"assignments", "source", "release", *labs}, name
        assert name.split("/")[-1] not in {"lab.py", "asks.py"} or name in KNOWN, name
        if name.startswith("mlsys_widgets/authoring/template/"):
            continue  # the lab that mlsys new-lab starts with is nobody's exam
        text = wheel.read(name).decode("utf-8", "replace")
        assert not [sentence for sentence in sentences if sentence in text], name


def test_the_wheel_says_what_it_is(wheel):
    def member(name):
        (path,) = (each for each in wheel.namelist() if each.endswith(f".dist-info/{name}"))
        return wheel.read(path).decode()

    metadata = email.message_from_string(member("METADATA"))
    assert metadata["Name"] == "mlsys-widgets"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra")) == {
        "student", "ta", "postgres", "hub", "docs", "site", "dev", "bench",
    }  # fmt: skip
    assert "mlsys = mlsys_widgets.cli:main" in member("entry_points.txt")


def test_the_source_archive_holds_no_instructor_files(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops == {
        "mlsys_widgets", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO",
        ".gitignore",
    }  # fmt: skip
