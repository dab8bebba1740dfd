"""The Python of a site: what is in it, and that labs run in it, as node runs it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from mlsys_widgets.authoring.practice_copies import practice_copies
from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.runtime import CARRIED, NOT_FOR_STUDENTS, own_wheel
from tests.lite.conftest import ROOT, Browserless
from tests.test_architecture import LAW

#: How many modules Python may have loaded once the cells of a lab have run.
MOST_MODULES = 850
#: Imports every module that a site holds of ours, and says which could not be.
IMPORT_ALL = """
import importlib, json, pkgutil
import mlsys_widgets
names = [each.name for each in pkgutil.walk_packages(mlsys_widgets.__path__, "mlsys_widgets.")]
failed = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as problem:
        failed[name] = repr(problem)
print(json.dumps({"names": names, "failed": failed}))
"""

#: Runs the cells of each lab as a kernel would, and says how far it came and what it recorded.
RUN_LABS = """
import json, os, pathlib, sys
sys.path.insert(0, "")
told = {}
for folder in sorted(pathlib.Path().glob("lab_*")):
    os.chdir(folder)
    for kept in ("asks", "checks"):
        sys.modules.pop(kept, None)
    (book,) = pathlib.Path().glob("*.ipynb")
    cells = json.loads(book.read_text("utf-8"))["cells"]
    code = ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    names, ran = {"__name__": "__main__"}, 0
    for text in code:
        exec(compile(text, f"{folder}, cell {ran}", "exec"), names)
        ran += 1
    ledger = pathlib.Path("ledger.jsonl").read_text("utf-8").splitlines()
    told[folder.name] = {
        "cells": len(code), "ran": ran, "ledger": [json.loads(e) for e in ledger],
        "modules": len(sys.modules),
    }
    os.chdir("..")
print(json.dumps(told))
"""


def last_line(printed: str) -> dict[str, dict[str, object]]:
    told: dict[str, dict[str, object]] = json.loads(printed.strip().splitlines()[-1])
    return told


def test_what_a_student_needs_needs_nothing_that_is_left_out():
    """By the table of docs/architecture.md, which the imports of every module are held to."""
    for room in LAW.keys() - NOT_FOR_STUDENTS:
        assert not LAW[room].uses & NOT_FOR_STUDENTS, room


def test_a_site_holds_nothing_for_servers_commands_or_gpus():
    names = set(own_wheel())
    assert "mlsys_widgets/physics/roofline.py" in names
    ours = {name.removeprefix("mlsys_widgets/") for name in names if "dist-info" not in name}
    closed = {name for name in ours if name.split("/")[0] in NOT_FOR_STUDENTS}
    assert {name for name in closed if not name.startswith(CARRIED)} == set()
    assert {each for each in CARRIED if not any(n.startswith(each) for n in closed)} == set()
    assert not [name for name in names if re.search(r"/(command|cli|__main__)\.py$|/gpu/", name)]


def test_python_finds_every_package_beside_itself_with_the_bytes_it_expects(runtime):
    (lock,) = runtime.glob("pyodide-lock-*.json")
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    assert {"numpy", "ipywidgets", "bqplot", "mlsys-widgets"} <= packages.keys()
    for each in packages.values():
        wheel = runtime / each["file_name"]
        assert wheel.parent == runtime
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == each["sha256"]
    # What a browser kept of another site has another name, or Python would refuse to start with it.
    (stdlib,) = runtime.glob("python_stdlib-*.zip")
    for path in (lock, stdlib, *runtime.glob("*.whl")):
        assert hashlib.sha256(path.read_bytes()).hexdigest()[:8] in path.name
    named = {each["file_name"] for each in packages.values()}
    assert named == {path.name for path in runtime.glob("*.whl")}


def test_what_cannot_be_installed_is_refused_in_a_sentence(in_node: Browserless, tmp_path: Path):
    code = """
import piplite.cli
try:
    exec(await piplite.cli.get_transformed_code(["install", "pandas"]))
except ImportError as problem:
    print(problem)
"""
    assert "Nothing can be installed here" in in_node(code, tmp_path)


def test_every_room_of_a_student_imports(in_node: Browserless, tmp_path: Path):
    told = last_line(in_node(IMPORT_ALL, tmp_path))
    assert not told["failed"]
    rooms = {name.split(".")[1] for name in told["names"]}
    assert LAW.keys() - NOT_FOR_STUDENTS <= rooms


@pytest.fixture(scope="module")
def labs_run(in_node: Browserless, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("labs")
    practice_copies(Course.at(ROOT), folder)
    return last_line(in_node(RUN_LABS, folder))


@pytest.mark.parametrize(
    "lab", sorted(path.parent.name for path in ROOT.glob("assignments/*/lab.py"))
)
def test_every_lab_runs_and_begins_its_ledger(labs_run, lab):
    told = labs_run[lab]
    assert told["ran"] == told["cells"] > 0
    assert [event["kind"] for event in told["ledger"]][:1] == ["opened"]


def test_a_lab_loads_no_more_modules_than_it_may(labs_run):
    """Each takes a part of the time until the first card; it was 1,200 when nobody looked."""
    first = next(iter(labs_run.values()))
    assert first["modules"] <= MOST_MODULES
