"""A real server keeps what is typed, below its root and for nobody who is not logged in."""

from __future__ import annotations

import shutil

import pytest

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.drafts import LONGEST_DRAFT

CHANGE = {
    "item": "essay",
    "box": "answer",
    "window": "w1",
    "draft": {
        "window": "w1",
        "value": "Fusing saves",
        "over": "",
        "at": 1.0,
        "ledger": "01J",
        "meanwhile": False,
    },
}


@pytest.fixture
def lab(server):
    folder = server.folder / "lab"
    folder.mkdir()
    (folder / "lab.ipynb").write_text("{}")
    yield folder
    shutil.rmtree(folder)


def put(server, changes, path="lab/lab.ipynb"):
    body = {"path": path, "changes": changes}
    return server.ask("mlsys/drafts", method="PUT", body=body)


def test_what_is_typed_is_there_again_without_any_kernel(server, lab):
    assert put(server, [CHANGE]).status == 200
    kept = server.ask("mlsys/drafts?path=lab/lab.ipynb").json["drafts"]
    assert kept == {"essay": {"answer": [CHANGE["draft"]]}}
    assert (lab / "drafts.json").is_file()


def test_what_is_recorded_is_told_as_boxes_show_it(server, lab):
    """A page without cards compares it with what drafts were typed over."""
    told = server.ask("mlsys/drafts?path=lab/lab.ipynb").json
    assert (told["ledger"], told["recorded"]) == ("", {})
    ledger = Ledger.open(lab / "ledger.jsonl", lab="lab", student="ann")
    ledger.record_answer("power", 1234.5, unit="watts")
    ledger.record_answer("quiz.1", "B", confidence=4)
    ledger.record_reflection("why", {"b": "x", "a": "y"}, correct=False)
    told = server.ask("mlsys/drafts?path=lab/lab.ipynb").json
    assert told["ledger"] == ledger.state().ledger_id
    recorded = told["recorded"]
    assert {name: recorded[name] for name in ("power", "quiz.1", "quiz.1-confidence", "why")} == {
        "power": "1,234.5",
        "quiz.1": "B",
        "quiz.1-confidence": 4,
        "why": {"a": "y", "b": "x"},
    }
    (lab / "ledger.jsonl").write_text("no events\n")
    told = server.ask("mlsys/drafts?path=lab/lab.ipynb").json
    assert (told["ledger"], told["recorded"]) == (None, {})


def test_a_stranger_and_a_path_outside_are_refused(server, lab):
    assert server.ask("mlsys/drafts?path=lab/lab.ipynb", token=False).status == 403
    assert put(server, [CHANGE], "../lab.ipynb").status == 403
    assert put(server, [CHANGE], "lab/none.ipynb").status == 404
    assert not (lab / "drafts.json").exists()


@pytest.mark.parametrize(
    "changes",
    [None, "x", [3], [{**CHANGE, "item": 3}],
     [{**CHANGE, "draft": {**CHANGE["draft"], "value": "x" * LONGEST_DRAFT}}]],
)  # fmt: skip
def test_what_is_no_draft_is_refused_in_a_sentence(server, lab, changes):
    answer = put(server, changes)
    assert answer.status in {400, 409}
    assert answer.json["message"].endswith(".")
    assert not (lab / "drafts.json").exists()


@pytest.mark.parametrize("address", ["drafts", "hand-in", "begin-again", "second-look", "version"])
def test_a_body_that_is_no_text_is_a_bad_request(server, address):
    for method in ("PUT", "POST"):
        answer = server.ask(f"mlsys/{address}", method=method, body=b'{"path": "\xff"}')
        assert answer.status < 500, address


def test_whoever_begins_again_begins_with_empty_boxes(server, lab):
    ledger = Ledger.open(lab / "ledger.jsonl", lab="lab", student="ann")
    ledger.record_answer("busy", 33.0)
    put(server, [CHANGE])
    body = {"path": "lab/lab.ipynb"}
    assert server.ask("mlsys/begin-again", method="POST", body=body).status == 200
    assert server.ask("mlsys/drafts?path=lab/lab.ipynb").json["drafts"] == {}
