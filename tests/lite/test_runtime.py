"""The Python of a site: what is in it, and that all of it can be imported, as node runs it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from mlsys_widgets.lite.precompiled import files_of
from mlsys_widgets.lite.runtime import CARRIED, NOT_FOR_STUDENTS, own_wheel
from mlsys_widgets.measured import ceilings
from mlsys_widgets.measured.disturbances import product_rates
from tests.lite.conftest import Browserless
from tests.test_architecture import LAW

#: Files that Python unpacks when it starts; they were 1,300 when all wheels were unpacked.
MOST_UNPACKED = 600
#: Imports every module that a site holds of ours, says which could not be, and what pip says.
IMPORT_ALL = """
import importlib, json, pkgutil
import mlsys_widgets, piplite.cli
names = [each.name for each in pkgutil.walk_packages(mlsys_widgets.__path__, "mlsys_widgets.")]
failed = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as problem:
        failed[name] = repr(problem)
try:
    exec(await piplite.cli.get_transformed_code(["install", "pandas"]))
except ImportError as problem:
    refusal = str(problem)
print(json.dumps({"names": names, "failed": failed, "refusal": refusal}))
"""


def last_line(printed: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
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
    assert {"numpy", "bqplot", "mlsys-widgets"} <= packages.keys()
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


def test_what_need_not_be_a_file_is_imported_from_the_archive_of_the_standard_library(runtime):
    """Python unpacks wheels one file after the other, which took a fifth of a start."""
    (stdlib,) = runtime.glob("python_stdlib-*.zip")
    names = set(files_of(stdlib.read_bytes()))
    assert {"os.pyc", "ipywidgets/__init__.pyc", "IPython/__init__.pyc"} <= names
    wheels = [files_of(wheel.read_bytes()) for wheel in runtime.glob("*.whl")]
    assert sum(len(each) for each in wheels) <= MOST_UNPACKED


def test_every_room_of_a_student_imports_and_nothing_can_be_installed(
    in_node: Browserless, tmp_path: Path
):
    told = last_line(in_node(IMPORT_ALL, tmp_path))
    assert not told["failed"]
    assert "Nothing can be installed here" in told["refusal"]
    rooms = {name.split(".")[1] for name in told["names"]}
    assert LAW.keys() - NOT_FOR_STUDENTS <= rooms


TIME_IN_PAGE = """
import json
from mlsys_widgets.measured import in_page
in_page._SIZES = (64, 128)
document = in_page.time_in_page()
print(json.dumps({"document": document}))
"""


def test_a_page_times_copies_and_products_of_webassembly(in_node: Browserless, tmp_path: Path):
    document = last_line(in_node(TIME_IN_PAGE, tmp_path))["document"]
    assert document["device"]["name"] == "WebAssembly in a web page"
    assert document["device"]["units"] == 1
    # Neither a load nor a number of cores is known there, so none is told.
    assert "notes" not in document["method"]
    best = ceilings(document)
    assert (best.bandwidth or 0) > 0
    assert best.peaks["fp32"] > 0
    assert list(product_rates(document)) == [64, 128]
    assert document["skipped"] == []
