"""The modules of a site are compiled when it is built, by the Python that runs them."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

import pytest

from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.precompiled import CompileError, compiled, files_of

MODULE = {"one/__init__.py": b"VALUE = 1\n", "one/about.txt": b"about"}


def test_every_module_is_compiled(runtime: Path):
    """Compiling them in the page took most of the time of a start."""
    for archive in (*runtime.glob("*.whl"), *runtime.glob("python_stdlib-*.zip")):
        names = set(files_of(archive.read_bytes()))
        sources = {PurePosixPath(each) for each in names if each.endswith(".py")}
        compiled = {
            str(each.parent / "__pycache__" / f"{each.stem}.cpython-312.pyc") for each in sources
        }
        assert compiled <= names, archive.name
        # Cards read formulas from their source, so ours have it where there are some.
        assert not sources or archive.name.startswith("mlsys_widgets-"), archive.name
    (ours,) = runtime.glob("mlsys_widgets-*.whl")
    files = files_of(ours.read_bytes())
    assert "mlsys_widgets/physics/roofline.py" in files
    assert all(b"derived(" in files[name] for name in files if name.endswith(".py"))


def test_what_was_compiled_is_kept_and_what_cannot_be_stays(fetched: SiteParts, tmp_path: Path):
    with tarfile.open(fetched.npm["pyodide"]) as package:
        package.extractall(tmp_path, filter="data")
    pyodide = tmp_path / "package"
    files = MODULE | {"one/template.py": b"{{ no Python }}"}
    made = compiled({"one": files}, pyodide, tmp_path)["one"]
    assert set(made) == {"one/__init__.pyc", "one/about.txt", "one/template.py"}
    # The second time, nothing is compiled: no Python is there to do it.
    assert compiled({"one": files}, tmp_path / "none", tmp_path)["one"] == made


def test_without_node_or_its_python_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(CompileError, match="The modules were not compiled"):
        compiled({"one": MODULE}, tmp_path, tmp_path / "kept")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompileError, match="node is missing, which compiles"):
        compiled({"one": MODULE}, tmp_path, tmp_path / "kept")
