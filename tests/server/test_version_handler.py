"""The panel is told of a corrected version, and takes it over on a real server, with real work."""

from __future__ import annotations

import json
import os
import shutil

import nbformat
import pytest
from nbclient import NotebookClient

from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.files import LEDGER
from mlsys_widgets.labs.identity import VARIABLE
from mlsys_widgets.ledger import Ledger
from tests.courses.fixed_lab import LAB, NOTE, FixedLab, fixed_lab
from tests.labs.rehearsal import answer_cell, work_through

PATH = f"{LAB}/{LAB}.ipynb"
ADDRESS = "mlsys/new-version"


@pytest.fixture(scope="module")
def fixed(server, tmp_path_factory) -> FixedLab:
    made = fixed_lab(tmp_path_factory.mktemp("fixed"))
    shutil.copy(made.root / "nbgrader_config.py", server.folder)
    return made


@pytest.fixture
def notebook(server, fixed):
    """A student's copy of the old version, with work in it."""
    for name in (LAB, ".mlsys_versions"):
        shutil.rmtree(server.folder / name, ignore_errors=True)
    path = fixed.copy(0, server.folder / LAB)
    lab = work_through(path.parent, "ann", fixed.course)
    lab.ledger.record_answer("intensity_flop_per_byte", 40.0)
    lab.ledger.record_answer("limit", "memory")
    book = nbformat.read(path, 4)
    answer_cell(book, "intensity_flop_per_byte").source += "\nmine = 5"
    answer_cell(book, "limit").source += "\nalso_mine = 6"
    next(c for c in book.cells if c.id == "answer_advice").source = "My advice"
    book.cells.append(nbformat.v4.new_code_cell("print('my own')", id="own"))
    nbformat.write(book, path)
    return path


def ask(server, path=PATH):
    return server.ask(f"{ADDRESS}?path={path}")


def post(server, what, path=PATH):
    return server.ask(ADDRESS, method="POST", body={"path": path, "do": what})


def test_there_and_back_with_a_real_kernel(server, fixed, notebook):
    old, new = fixed.versions
    ledger = notebook.parent / LEDGER
    before = ledger.read_bytes()
    said = ask(server).json
    assert (said["mine"], said["offered"]["version"], said["back"]) == (old, new, None)
    assert said["offered"]["notes"] == [NOTE]
    remarks = " ".join(said["offered"]["remarks"])
    assert "What you wrote for limit_answer has no place" in remarks
    assert "“Would twice the side do?” is no longer asked" in remarks
    assert "“Would half the side do?” is new" in remarks
    assert notebook.parent.joinpath("asks.py").read_text().count("def limit") == 1
    done = post(server, "take")
    assert done.status == 200, done.body
    assert done.json["version"] == new
    assert done.json["remarks"] == said["offered"]["remarks"]
    assert ledger.read_bytes() == before
    book = nbformat.read(notebook, 4)
    nbformat.validate(book)
    assert answer_cell(book, "intensity_flop_per_byte").source.endswith("mine = 5")
    assert next(c for c in book.cells if c.id == "answer_advice").source == "My advice"
    assert "also_mine = 6" in {
        c.source.splitlines()[-1] for c in book.cells if c.cell_type == "raw"
    }
    assert "def waits" in notebook.parent.joinpath("asks.py").read_text()
    # The new version runs with the ledger of the old one, and counts what it still asks.
    with environment_variables({VARIABLE: "ann", "NBGRADER_EXECUTION": None}):
        resources = {"metadata": {"path": str(notebook.parent)}}
        NotebookClient(book, timeout=120, resources=resources).execute()
    shown = {c.id: "".join(o.get("text", "") for o in c.get("outputs", ())) for c in book.cells}
    assert "40" in shown["check_intensity_flop_per_byte"]
    assert shown["own"] == "my own\n"
    assert Ledger.open(ledger).state().answers["limit"].value == "memory"
    # And back.
    said = ask(server).json
    assert (said["mine"], said["offered"], said["back"]["version"]) == (new, None, old)
    assert post(server, "undo").json["version"] == old
    assert "def limit" in notebook.parent.joinpath("asks.py").read_text()
    book = nbformat.read(notebook, 4)
    assert answer_cell(book, "limit").source.endswith("also_mine = 6")
    assert [c.source for c in book.cells].count("print('my own')") == 1
    assert ask(server).json["offered"]["version"] == new


def test_what_cannot_be_done_is_a_sentence(server, fixed, notebook):
    assert post(server, "undo").status == 409
    assert post(server, "dance").json["message"].startswith("What to do is missing")
    assert server.ask(ADDRESS, method="POST", body={"do": "take"}).status == 400
    for path, status in (("../x.ipynb", 403), ("nothing.ipynb", 404)):
        assert ask(server, path).status == post(server, "take", path).status == status
    assert server.ask(f"{ADDRESS}?path={PATH}", token=False).status in (401, 403)
    # A release that is being copied is not what its stamp says.
    asks = fixed.outbound / "asks.py"
    kept = asks.read_bytes()
    try:
        asks.write_bytes(kept[:100])
        refused = post(server, "take")
        assert (refused.status, "being released" in refused.json["message"]) == (409, True)
    finally:
        asks.write_bytes(kept)
    notebook.write_text("{")
    refused = post(server, "take")
    assert refused.status == 409
    assert refused.json["message"].endswith(".")
    assert "def limit" in notebook.parent.joinpath("asks.py").read_text()


def test_who_has_the_new_version_is_not_told(server, fixed, notebook):
    shutil.rmtree(notebook.parent)
    fixed.copy(1, notebook.parent)
    assert ask(server).json["offered"] is None
    assert "already" in post(server, "take").json["message"]
    # A copy of an earlier package says nothing; its questions tell.
    book = json.loads(notebook.read_bytes())
    del book["metadata"]["mlsys"]["lab_version"]
    notebook.write_text(json.dumps(book))
    assert ask(server).json["offered"] is None
    notebook.parent.joinpath("asks.py").write_text("lab = 1")
    assert ask(server).json["offered"]["version"] == fixed.versions[1]
    # Where there is no exchange, there is nothing to tell.
    aside = fixed.outbound.with_name("aside")
    os.rename(fixed.outbound, aside)  # noqa: PTH104
    try:
        assert ask(server).json["offered"] is None
        assert "no exchange" in post(server, "take").json["message"]
    finally:
        os.rename(aside, fixed.outbound)  # noqa: PTH104
