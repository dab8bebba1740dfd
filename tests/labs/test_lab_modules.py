"""Modules beside a lab: found by their imports, importable, and gone afterward."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from mlsys_widgets.labs.lab import module_at
from mlsys_widgets.labs.lab_modules import modules_beside


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "asks.py").write_text("import json, ring as r\nfrom steps import up\n")
    (tmp_path / "ring.py").write_text("def f():\n    from helper_of_ring import g\n    return g\n")
    (tmp_path / "steps.py").write_text("import ring\nup = ring.f() + 1\n")
    (tmp_path / "helper_of_ring.py").write_text("g = 41\n")
    (tmp_path / "unused.py").write_text("1 / 0\n")
    return tmp_path


def test_what_is_imported_is_found_through_each_other_and_nothing_else(folder):
    assert list(modules_beside(folder, "asks.py")) == ["helper_of_ring", "ring", "steps"]
    assert modules_beside(folder, "helper_of_ring.py") == {}


def test_files_import_what_lies_beside_them_and_leave_no_name_behind(folder):
    assert module_at(folder / "asks.py").up == 42
    assert not {"ring", "steps", "helper_of_ring"} & sys.modules.keys()
    assert str(folder) not in sys.path


def test_two_labs_may_have_modules_of_the_same_name(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "asks.py").write_text("from steps import up\n")
    (other / "steps.py").write_text("up = 7\n")
    assert (module_at(folder / "asks.py").up, module_at(other / "asks.py").up) == (42, 7)


def test_nothing_beside_a_lab_shadows_anything(folder):
    (folder / "json.py").write_text("1 / 0\n")
    assert module_at(folder / "asks.py").json.loads("1") == 1


def test_a_folder_named_from_here_leaves_no_name_behind_either(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert module_at(Path("asks.py")).up == 42
    assert not {"ring", "steps", "helper_of_ring"} & sys.modules.keys()


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        (
            "asks.py",
            "up = 1\nup +=\n",
            "asks.py, line 2: invalid syntax",
        ),
        ("asks.py", "x = 1\ny = upp\n", "asks.py, line 2: NameError: name 'upp'"),
        ("ring.py", "def f():\n    return 1 / 0\n", "ring.py, line 2: ZeroDivision"),
        (
            "asks.py",
            "from ring import h\n",
            "asks.py, line 1: ImportError: cannot",
        ),
    ],
)
def test_a_mistake_is_a_sentence_that_says_where(folder, file, text, sentence):
    (folder / file).write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{folder}/{sentence}")):
        module_at(folder / "asks.py")
