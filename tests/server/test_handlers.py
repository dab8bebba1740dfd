"""The server extension in a real server: what it says, and what it never serves."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from mlsys_widgets.labs.identity import student
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.server.handlers import LONGEST_WAIT
from tests.waiting import wait_for

LAB = "lab_11_roofline"
ABOUT = {"mlsys": {"lab": LAB, "title": "Lab 11: The roofline"}}


def notebook(path, metadata=ABOUT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [], "metadata": metadata, "nbformat": 4}))
    return path


def commit(folder, name="act1_bound", value="memory", lab=LAB, student="student-01"):
    led = Ledger.open(folder / "ledger.jsonl", lab=lab, student=student)
    led.commit_prediction(name, value, confidence=4)
    return led


@pytest.fixture
def lab(server, request):
    """A lab of its own for each test; gives its folder and its path on the server."""
    name = request.node.name.partition("[")[0]
    path = notebook(server.folder / name / "lab.ipynb")
    return path.parent, f"{name}/lab.ipynb"


def lab_address(path, **query):
    more = "".join(f"&{key}={value}" for key, value in query.items())
    return f"mlsys/lab?path={quote(path, safe='')}{more}"


def test_a_lab_says_what_was_committed(server, lab):
    folder, path = lab
    empty = server.ask(lab_address(path))
    assert empty.status == 200
    assert (empty.json["exists"], empty.json["events"], empty.json["ok"]) == (False, 0, True)

    led = commit(folder)
    led.record_reflection("act1_why", ["A", "B"], correct=False)
    led.record_answer("ridge", 295.25, unit="FLOP/byte")
    said = server.ask(lab_address(path)).json
    assert (said["lab"], said["student"], said["events"]) == (LAB, "student-01", 4)
    assert said["predictions"]["act1_bound"]["value"] == "memory"
    assert said["predictions"]["act1_bound"]["confidence"] == 4
    assert said["reflections"]["act1_why"]["value"] == ["A", "B"]
    assert said["answers"]["ridge"]["unit"] == "FLOP/byte"
    assert said["last"]["id"] == "ridge"
    assert said["problem"] is None
    assert said["ledger"] == path.replace("lab.ipynb", "ledger.jsonl")


def test_a_lab_says_whose_labs_these_are_here(server, lab):
    """The panel names a ledger that belongs to somebody else."""
    folder, path = lab
    assert server.ask(lab_address(path)).json["you"] == student(folder).name


def test_an_edit_is_named(server, lab):
    folder, path = lab
    commit(folder)
    ledger = folder / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace("memory", "compute"))
    said = server.ask(lab_address(path)).json
    assert not said["ok"]
    assert "not intact" in said["problem"]


def test_what_is_no_ledger_is_a_problem_and_no_error(server, lab):
    folder, path = lab
    (folder / "ledger.jsonl").mkdir()
    answer = server.ask(lab_address(path))
    assert answer.status == 200
    assert "is not a file" in answer.json["problem"]


def test_nothing_new_costs_no_answer(server, lab):
    folder, path = lab
    commit(folder)
    first = server.ask(lab_address(path))
    again = server.ask(lab_address(path), If_None_Match=first.headers["ETag"])
    assert (again.status, again.body) == (304, b"")
    commit(folder, "act2_bound")
    assert server.ask(lab_address(path), If_None_Match=first.headers["ETag"]).status == 200


@pytest.fixture
def waiting(server, lab, request):
    """Somebody who waits for news of a lab, as long as one can, in a thread."""
    folder, path = lab
    known = server.ask(lab_address(path)).headers["ETag"]
    with ThreadPoolExecutor(1) as thread:
        asked = lab_address(path, wait=LONGEST_WAIT)
        yield thread.submit(server.ask, asked, If_None_Match=known)
        commit(folder, request.node.name)


def test_who_waits_hears_of_a_commit_at_once(server, lab, waiting):
    folder, path = lab
    known = server.ask(lab_address(path)).headers["ETag"]
    assert server.ask(lab_address(path, wait=1), If_None_Match=known).status == 304
    assert not waiting.done()
    commit(folder)
    news = server.ask(lab_address(path)).headers["ETag"]
    # Long before the time is up: while somebody else waits for two seconds.
    assert server.ask(lab_address(path, wait=2), If_None_Match=news).status == 304
    assert waiting.done()
    assert waiting.result().json["predictions"]


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "soon", ""])
def test_a_wait_that_is_none_is_no_wait(server, lab, waiting, wait):
    _, path = lab
    known = server.ask(lab_address(path)).headers["ETag"]
    assert server.ask(lab_address(path, wait=wait), If_None_Match=known).status == 304
    assert not waiting.done()


def test_a_panel_that_looks_keeps_no_idle_server_alive(server, lab):
    _, path = lab
    before = server.ask("api/status?no_track_activity=1").json["last_activity"]
    server.ask(lab_address(path))
    server.ask("mlsys/ledgers")
    assert server.ask("api/status?no_track_activity=1").json["last_activity"] == before


# What is never served.

REFUSED = [
    "../outside/lab.ipynb",
    "sub/../../outside/lab.ipynb",
    "..",
    "/etc/passwd",
    "/etc/lab.ipynb",
    "//host/share/lab.ipynb",
    "C:/lab.ipynb",
    "C:\\lab.ipynb",
    "..\\outside\\lab.ipynb",
    "sub\\lab.ipynb",
    ".hidden/lab.ipynb",
    "sub/.hidden.ipynb",
    "",
    ".",
    "linked/lab.ipynb",
    "linked.ipynb",
    "to_hidden/lab.ipynb",
    "notes.txt",
    "lab.ipynb\0.txt",
]


@pytest.fixture(scope="module")
def outside(server):
    """A lab beside the root, a hidden one below it, and links to both."""
    folder = server.folder.parent / "outside"
    notebook(folder / "lab.ipynb")
    commit(folder, value="secret")
    notebook(server.folder / ".hidden" / "lab.ipynb")
    commit(server.folder / ".hidden", value="secret")
    notebook(server.folder / "sub" / ".hidden.ipynb")
    (server.folder / "notes.txt").write_text("notes")
    (server.folder / "linked").symlink_to(folder)
    (server.folder / "linked.ipynb").symlink_to(folder / "lab.ipynb")
    (server.folder / "to_hidden").symlink_to(server.folder / ".hidden")
    # A notebook that may be served, with a ledger that may not.
    notebook(server.folder / "ledger_linked" / "lab.ipynb")
    (server.folder / "ledger_linked" / "ledger.jsonl").symlink_to(folder / "ledger.jsonl")
    return folder


@pytest.mark.parametrize("path", [*REFUSED, "ledger_linked/lab.ipynb"])
def test_what_lies_elsewhere_is_refused(server, outside, path):
    before = sorted(outside.iterdir())
    for answer in (
        server.ask(lab_address(path)),
        server.ask(f"mlsys/ledgers?path={quote(path or '..', safe='')}"),
        server.ask("mlsys/begin-again", method="POST", body={"path": path}),
    ):
        assert answer.status in {400, 403}, answer.body
        assert b"secret" not in answer.body
    assert sorted(outside.iterdir()) == before


def test_double_encoding_leads_nowhere(server, outside):
    answer = server.ask("mlsys/lab?path=%252e%252e%2Foutside%2Flab.ipynb")
    assert answer.status == 404
    assert b"secret" not in answer.body


def test_lists_hold_nothing_from_elsewhere(server, outside, lab):
    folder, path = lab
    commit(folder)
    ledger = path.replace("lab.ipynb", "ledger.jsonl")

    def complete() -> set[str]:
        """The result of an earlier walk is kept for a while, and a walk may give up."""
        ledgers = server.ask("mlsys/ledgers").json
        listed = {each["ledger"] for each in ledgers["ledgers"]}
        return listed if ledgers["complete"] and ledger in listed else set()

    found = wait_for(complete)
    labs = server.ask("mlsys/labs").json["labs"]
    assert {"path": path, "lab": LAB, "title": "Lab 11: The roofline"} in labs
    for each in [*found, *(lab["path"] for lab in labs)]:
        assert not each.startswith((".", "linked", "to_hidden", "ledger_linked/ledger")), each


def test_a_missing_notebook_is_not_found(server):
    answer = server.ask(lab_address("nowhere/lab.ipynb"))
    assert answer.status == 404
    assert answer.json["message"] == "There is no notebook nowhere/lab.ipynb."


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "mlsys/lab?path=lab.ipynb"),
        ("GET", "mlsys/ledgers"),
        ("GET", "mlsys/labs"),
        ("POST", "mlsys/begin-again"),
    ],
)
def test_who_is_not_logged_in_gets_nothing(server, method, address):
    body = {"path": "lab.ipynb"} if method == "POST" else None
    assert server.ask(address, method=method, body=body, token=False).status == 403
    wrong = server.ask(address, method=method, body=body, token=False, Authorization="token no")
    assert wrong.status == 403


def test_a_page_of_somebody_else_cannot_begin_a_lab_again(server, lab):
    """A browser sends its cookie along with a foreign page's request, but not the XSRF token."""
    folder, path = lab
    commit(folder)
    login = server.ask(f"api/me?token={server.token}", token=False)
    cookies = [each.split(";")[0] for each in login.headers.get_all("Set-Cookie")]
    session = "; ".join(cookies)
    assert server.ask(lab_address(path), token=False, Cookie=session).status == 200
    request = {"method": "POST", "body": {"path": path}, "token": False}
    assert server.ask("mlsys/begin-again", **request, Cookie=session).status == 403
    assert (folder / "ledger.jsonl").exists()

    page = server.ask("login", token=False)
    xsrf = page.headers["Set-Cookie"].split(";")[0]
    assert xsrf.startswith("_xsrf=")
    own = {"Cookie": f"{session}; {xsrf}", "X_XSRFToken": xsrf.removeprefix("_xsrf=")}
    done = server.ask("mlsys/begin-again", **request, **own)
    assert done.status == 200


# Beginning again.


def test_begin_again_keeps_the_old_ledger(server, lab):
    folder, path = lab
    nothing = server.ask("mlsys/begin-again", method="POST", body={"path": path})
    assert nothing.json == {"aside": None}
    commit(folder)
    kept = (folder / "ledger.jsonl").read_bytes()
    done = server.ask("mlsys/begin-again", method="POST", body={"path": path})
    assert (server.folder / done.json["aside"]).read_bytes() == kept
    said = server.ask(lab_address(path)).json
    assert (said["exists"], said["earlier"]) == (False, 1)


@pytest.mark.parametrize("body", [{}, {"path": 7}, [], "lab.ipynb", None])
def test_begin_again_of_nothing(server, body):
    assert server.ask("mlsys/begin-again", method="POST", body=body).status == 400


def test_begin_again_says_why_it_could_not(server, lab):
    folder, path = lab
    (folder / "ledger.jsonl").mkdir()
    answer = server.ask("mlsys/begin-again", method="POST", body={"path": path})
    assert answer.status == 409
    assert "is not a file" in answer.json["message"]
    assert (folder / "ledger.jsonl").is_dir()
