"""A notebook is saved with how its widgets look now."""

from __future__ import annotations

import copy
import json
import os
import time

import pytest

from mlsys_widgets.server.saved_pages import SavedPages

VIEW = "application/vnd.jupyter.widget-view+json"
MODEL = "a" * 32


def notebook(model_id=MODEL, **data):
    shown = {VIEW: {"model_id": model_id, "version_major": 2}, "text/html": "<p>before</p>", **data}
    cells = [
        {"cell_type": "markdown", "source": "words"},
        {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "x"}]},
        {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": shown}]},
    ]
    content = {"cells": cells, "metadata": {"mlsys": {"lab": "lab_11"}}}
    return {"type": "notebook", "content": content}


def data_of(model):
    return model["content"]["cells"][2]["outputs"][0]["data"]


@pytest.fixture
def pages(tmp_path):
    return SavedPages(tmp_path)


def write(pages, said, name=MODEL):
    path = pages.folder / f"{name}.json"
    path.write_text(said if isinstance(said, str) else json.dumps(said))
    return path


def test_the_page_of_a_widget_takes_the_place_of_the_old_one(pages):
    write(pages, {"text/html": "<p>answered</p>", "image/svg+xml": "<svg/>"})
    model = notebook()
    pages.put_into(model=model, path="lab.ipynb", contents_manager=None)
    assert data_of(model) == {
        VIEW: {"model_id": MODEL, "version_major": 2},
        "text/html": "<p>answered</p>",
        "image/svg+xml": "<svg/>",
    }


@pytest.mark.parametrize(
    "said", ["{", "[]", "3", json.dumps({"text/html": 3, "application/javascript": "alert(1)"})]
)
def test_what_is_no_page_changes_nothing(pages, said):
    write(pages, said)
    model = notebook()
    before = copy.deepcopy(model)
    pages.put_into(model=model)
    assert model == before


def test_no_name_leads_elsewhere(pages, tmp_path):
    outside = tmp_path.parent / "outside.json"
    outside.write_text(json.dumps({"text/html": "secret"}))
    for name in ("../outside", "A" * 32, "", 3, None):
        assert pages.page({"model_id": name}) == {}
    assert pages.page([]) == {}
    (pages.folder / f"{MODEL}.json").symlink_to(outside)
    assert pages.page({"model_id": MODEL}) == {}
    outside.unlink()


def test_what_is_not_a_lab_is_left_alone(pages):
    write(pages, {"text/html": "<p>answered</p>"})
    for change in ({"type": "file"}, {"content": None}, {"content": {"metadata": {}}}):
        model = {**notebook(), **change}
        before = copy.deepcopy(model)
        pages.put_into(model=model)
        assert model == before


def test_a_page_that_is_too_large_is_left_out(pages):
    write(pages, {"text/html": "x" * (1 << 20)})
    assert pages.page({"model_id": MODEL}) == {}


def test_pages_of_long_ago_are_removed(pages):
    old, new = write(pages, {}), write(pages, {}, "b" * 32)
    os.utime(old, (time.time() - 8 * 86_400,) * 2)
    pages.forget()
    assert not old.exists()
    assert new.exists()
    SavedPages(pages.folder / "none").forget()


def test_a_real_server_saves_them(server):
    """Through the same request that JupyterLab sends."""
    folder = server.folder.parent / "runtime" / "mlsys-pages"
    folder.mkdir(parents=True)
    write(SavedPages(folder), {"text/html": "<p>answered</p>"})
    book = notebook()["content"] | {"nbformat": 4, "nbformat_minor": 5}
    book["cells"] = [
        {
            "cell_type": "code", "id": "one", "metadata": {}, "source": "", "execution_count": 1,
            "outputs": [
                {"output_type": "execute_result", "execution_count": 1, "metadata": {},
                 "data": {VIEW: {"model_id": MODEL}, "text/html": "<p>before</p>"}}
            ],
        }
    ]  # fmt: skip
    body = {"type": "notebook", "format": "json", "content": book}
    saved = server.ask("api/contents/pages.ipynb", method="PUT", body=body)
    assert saved.status in (200, 201), saved.body
    text = (server.folder / "pages.ipynb").read_text()
    assert "<p>answered</p>" in text
    assert "<p>before</p>" not in text
    page = server.ask("nbconvert/html/pages.ipynb").body.decode()
    assert "<p>answered</p>" in page
