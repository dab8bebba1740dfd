"""A notebook is saved with what its ledger records."""

from __future__ import annotations

import copy
import json

import pytest

from mlsys_widgets.labs.identity import VARIABLE, student
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.carried_record import carried, record_of
from mlsys_widgets.server.paths import Root
from mlsys_widgets.server.saved_records import SavedRecords

LAB = "lab_11"
PATH = f"{LAB}/{LAB}.ipynb"


def notebook(**about):
    content = {"cells": [], "metadata": {"mlsys": {"lab": LAB, **about}}}
    return {"type": "notebook", "content": content}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "ann")
    made = tmp_path / LAB
    made.mkdir()
    (made / f"{LAB}.ipynb").write_text("{}")
    return made


@pytest.fixture
def records(tmp_path):
    return SavedRecords(Root(tmp_path))


def ledger_in(folder, owner="ann", lab=LAB):
    led = Ledger.open(folder / "ledger.jsonl", lab=lab, student=owner)
    led.commit_prediction("act1_bound", "B", 3)
    return led.path.read_bytes()


def test_every_save_has_the_lines_of_the_ledger(folder, records):
    first = ledger_in(folder)
    model = notebook()
    records.put_into(model=model, path=PATH, contents_manager=None)
    assert carried(model["content"]) == first
    Ledger.open(folder / "ledger.jsonl").record_answer("ridge", 295)
    records.put_into(model=model, path=f"/{PATH}")
    assert carried(model["content"]) == (folder / "ledger.jsonl").read_bytes() != first


@pytest.mark.parametrize("owner", [("bob", LAB), ("ann", "lab_03")])
def test_what_is_not_this_students_work_on_this_lab_changes_nothing(folder, records, owner):
    """Somebody else's ledger, or another lab's, beside a notebook that carries a friend's."""
    friends = ledger_in(folder, "eve")
    (folder / "ledger.jsonl").unlink()
    for beside in (lambda: None, lambda: ledger_in(folder, *owner)):
        beside()
        for model in (notebook(), notebook(record=record_of(friends))):
            before = copy.deepcopy(model)
            records.put_into(model=model, path=PATH)
            assert model == before, "it still says whose it is"


def test_a_ledger_that_cannot_be_read_changes_nothing(folder, records, tmp_path):
    content = ledger_in(folder)
    path, model = folder / "ledger.jsonl", notebook(record=record_of(content))
    before = copy.deepcopy(model)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    for change in (lambda: None, path.unlink, path.mkdir):
        change()
        records.put_into(model=model, path=PATH)
        assert model == before
    path.rmdir()
    path.write_bytes(b"\xff" * 100)
    records.put_into(model=model, path=PATH)
    assert model == before


@pytest.mark.parametrize(
    "change",
    [{"type": "file"}, {"content": None}, {"content": {}}, {"content": {"metadata": []}},
     {"content": {"metadata": {"mlsys": 3}}}, {"content": {"metadata": {"mlsys": {"lab": [3]}}}}],
)  # fmt: skip
def test_what_is_not_a_lab_is_left_alone(folder, records, change):
    ledger_in(folder)
    model = {**notebook(), **change}
    before = copy.deepcopy(model)
    records.put_into(model=model, path=PATH)
    assert model == before


@pytest.mark.parametrize("path", ["", "../x.ipynb", "/etc/passwd", "none/none.ipynb", ".x/y.ipynb"])
def test_no_path_leads_elsewhere(folder, records, path):
    ledger_in(folder)
    model = notebook()
    records.put_into(model=model, path=path)
    assert model == notebook()


def test_a_name_that_cannot_be_a_students_changes_nothing(folder, records, monkeypatch):
    ledger_in(folder)
    monkeypatch.setenv(VARIABLE, "a/b")
    model = notebook()
    records.put_into(model=model, path=PATH)
    assert model == notebook()


@pytest.mark.parametrize("step", ["source", "release"])
def test_a_notebook_that_students_get_copies_of_carries_nothing(tmp_path, monkeypatch, step):
    monkeypatch.setenv(VARIABLE, "ann")
    (tmp_path / "nbgrader_config.py").write_text("")
    folder = tmp_path / step / LAB
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text("{}")
    model = notebook(record=record_of(ledger_in(folder)))
    SavedRecords(Root(tmp_path)).put_into(model=model, path=f"{step}/{PATH}")
    assert model == notebook()


def test_the_notebooks_of_this_repository_carry_nothing(root):
    built = [*root.glob("source/*/*.ipynb"), *root.glob("release/*/*.ipynb")]
    assert len(built) >= 8
    for path in built:
        assert carried(json.loads(path.read_bytes())) is None, path


def test_a_real_server_saves_the_record(server):
    """Through the same requests that JupyterLab sends: open, save, look whether it has changed."""
    folder = server.folder / LAB
    folder.mkdir()
    book = notebook()["content"] | {"nbformat": 4, "nbformat_minor": 5}
    (folder / f"{LAB}.ipynb").write_text(json.dumps(book))
    content = ledger_in(folder, student(folder).name)
    opened = server.ask(f"api/contents/{PATH}?type=notebook&content=1&hash=1").json
    body = {"type": "notebook", "format": "json", "content": opened["content"]}
    saved = server.ask(f"api/contents/{PATH}", method="PUT", body=body)
    assert saved.status == 200, saved.body
    assert carried(json.loads((folder / f"{LAB}.ipynb").read_bytes())) == content
    now = server.ask(f"api/contents/{PATH}?content=0").json
    # What JupyterLab compares before it saves again.
    assert now["last_modified"] == saved.json["last_modified"]
    again = server.ask(f"api/contents/{PATH}?type=notebook&content=1").json["content"]
    assert carried(again) == content
