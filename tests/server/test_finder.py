"""Labs and ledgers are found cheaply, near ones first, and the walk ends."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.server import finder as module
from mlsys_widgets.server.finder import Finder, walk
from mlsys_widgets.server.paths import Root


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def notebook(path, metadata):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [], "metadata": metadata}))


def test_labs_are_known_by_their_metadata(tmp_path):
    notebook(tmp_path / "deep" / "b.ipynb", {"mlsys": {"lab": "lab_b"}})
    notebook(tmp_path / "a.ipynb", {"mlsys": {"lab": "lab_a", "title": "A"}})
    notebook(tmp_path / "plain.ipynb", {})
    for name, text in {
        "broken.ipynb": '{"mlsys"',
        "list.ipynb": '["mlsys"]',
        "text.ipynb": '{"metadata": {"mlsys": "lab"}}',
        "number.ipynb": '{"metadata": {"mlsys": {"lab": 7}}}',
        "deep.ipynb": '{"mlsys":' + "[" * 100_000,
        "bytes.ipynb": '"mlsys" \udcff',
    }.items():
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    labs, complete = Finder(Root(tmp_path)).labs()
    assert [(lab.path, lab.title) for lab in labs] == [("a.ipynb", "A"), ("deep/b.ipynb", "lab_b")]
    assert complete


def test_a_walk_is_kept_for_a_while_and_a_notebook_read_once(tmp_path, monkeypatch):
    clock, read = Clock(), []
    monkeypatch.setattr(
        module,
        "lab_of",
        lambda path, root, real=module.lab_of: read.append(path) or real(path, root),
    )
    finder = Finder(Root(tmp_path), clock)
    notebook(tmp_path / "a.ipynb", {"mlsys": {"lab": "lab_a"}})
    assert len(finder.labs()[0]) == 1
    notebook(tmp_path / "b.ipynb", {"mlsys": {"lab": "lab_b"}})
    assert len(finder.labs()[0]) == 1
    clock.now += module.FRESH + 1
    assert len(finder.labs()[0]) == 2
    assert len(read) == 2
    (tmp_path / "a.ipynb").unlink()
    clock.now += module.FRESH + 1
    assert [lab.lab for lab in finder.labs()[0]] == ["lab_b"]


def test_a_ledger_made_since_the_last_walk_is_there(tmp_path):
    finder = Finder(Root(tmp_path))
    assert finder.ledgers() == ([], True)
    made = tmp_path / "ledger.jsonl"
    assert finder.ledgers(made) == ([], True)
    made.touch()
    assert finder.ledgers(made) == ([made], True)


@pytest.mark.parametrize("folder", [".git", "node_modules", "__pycache__", "venv"])
def test_folders_that_hold_no_labs_are_left_out(tmp_path, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "ledger.jsonl").touch()
    if folder == "venv":
        (tmp_path / folder / "pyvenv.cfg").touch()
    assert walk(Root(tmp_path)).ledgers == ()


def test_hidden_folders_are_walked_where_the_server_shows_them(tmp_path):
    (tmp_path / ".mine").mkdir()
    (tmp_path / ".mine" / "ledger.jsonl").touch()
    assert len(walk(Root(tmp_path, hidden=True)).ledgers) == 1


def test_a_link_to_the_root_is_no_endless_walk(tmp_path):
    (tmp_path / "ledger.jsonl").touch()
    (tmp_path / "again").symlink_to(tmp_path)
    found = walk(Root(tmp_path))
    assert (len(found.ledgers), found.complete) == (1, True)


@pytest.mark.parametrize("limit", ["MOST_ENTRIES", "LONGEST_WALK", "DEEPEST"])
def test_a_walk_that_gives_up_has_found_what_is_near(tmp_path, monkeypatch, limit):
    (tmp_path / "ledger.jsonl").touch()
    far = tmp_path / "a" / "b" / "c"
    far.mkdir(parents=True)
    (far / "ledger.jsonl").touch()
    monkeypatch.setattr(module, limit, -1 if limit == "LONGEST_WALK" else 1)
    found = walk(Root(tmp_path))
    assert (found.ledgers, found.complete) == ((tmp_path / "ledger.jsonl",), False)
