"""A lab that was published again is offered, and taken over with what a student wrote."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.journal import in_folder, keep_with
from mlsys_widgets.lite.page import new_release
from mlsys_widgets.lite.page.new_release import (
    BACKUPS,
    OLD,
    SILENT,
    Releases,
    objection,
    outlook,
    take,
)
from mlsys_widgets.lite.page.stored_journal import StoredJournal
from mlsys_widgets.lite.page.tab import ELSEWHERE, Tab
from mlsys_widgets.lite.page.visitor import introduce
from mlsys_widgets.server.carry_over import CannotTakeOver
from tests.server.test_carry_over import cell

LAB, ONE, TWO, NOTE = "lab_02_demo", "1" * 12, "2" * 12, "The unit is another one."
NAME = f"{LAB}.ipynb"


def book(version: str, *cells: dict[str, Any]) -> dict[str, Any]:
    about = {"lab": LAB, "title": "A demo", "lab_version": version}
    about["changes"] = [[ONE, ""], [TWO, NOTE]][: 1 + (version == TWO)]
    question = cell("markdown", f"The question of {version}", id="question")
    question["metadata"]["editable"] = False
    cells = (question, *cells, cell("code", "# your code", "advice_answer"))
    return {"cells": list(cells), "metadata": {"mlsys": about}, "nbformat": 4, "nbformat_minor": 5}


class Site:
    """A site that has a lab in a version."""

    def __init__(self) -> None:
        self.files = {NAME: json.dumps(book(TWO)).encode(), "asks.py": b"two = 2\n"}
        self.version = TWO
        self.asked: list[str] = []

    def __call__(self, address: str) -> bytes | None:
        self.asked.append(address)
        name = address.partition("?")[0]
        if name == "labs.json":
            digests = {each: hashlib.sha256(data).hexdigest() for each, data in self.files.items()}
            about = {"version": self.version, "files": digests}
            row = {"path": f"{LAB}/{NAME}", "lab": LAB, "title": "A demo", **about}
            return json.dumps({"labs": [row], "complete": True}).encode()
        return self.files.get(name.removeprefix(f"files/{LAB}/"))


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook of the version before, with work in it, in the drive of a browser."""
    (tmp_path / LAB).mkdir()
    old = book(ONE, cell("code", "print('my own')", id="own"))
    old["cells"][-1]["source"] = "# your code\nmine = 5"
    path = tmp_path / LAB / NAME
    path.write_text(json.dumps(old), "utf-8")
    Ledger.open(path.with_name("ledger.jsonl"), lab=LAB, student="ann").record_answer("ridge", 1)
    return path


def sources(path: Path) -> list[str]:
    return [each["source"] for each in json.loads(path.read_bytes())["cells"]]


def test_another_version_is_offered_with_what_changed(site, notebook):
    said = outlook(notebook, ONE, Releases(site))
    assert (said.mine, said.back) == (ONE, None)
    assert said.offered
    assert (said.offered.version, said.offered.notes) == (TWO, [NOTE])
    assert outlook(notebook, TWO, Releases(site)).offered is None


def test_a_page_that_was_loaded_before_is_asked_for_its_own_version(site, notebook):
    """Nothing is stored of a notebook that was only opened: the drive has the new one by then."""
    notebook.write_bytes(site.files[NAME])
    assert outlook(notebook, ONE, Releases(site)).offered


def test_a_cell_that_is_run_by_hand_opens_no_lab_in_a_notebook_of_another_version(site, notebook):
    """The page says what it shows: the drive may have the new one, and the kernel its questions."""
    folder = notebook.parent
    assert objection(folder, ONE, Releases(site)) == OLD
    assert "Press Start" in OLD
    assert objection(folder, TWO, Releases(site)) is None
    # A notebook of the student's own has no questions that could be others.
    assert objection(folder, "", Releases(site)) is None
    assert objection(folder, None, Releases(site)) == SILENT
    assert objection(folder.with_name("other"), ONE, Releases(site)) is None
    said = objection(folder, TWO, Releases(lambda address: None))
    assert said == "The site does not say which labs it has; try again in a minute."


def test_a_tab_that_reads_is_told_that_another_took_it_over(site, notebook):
    assert not outlook(notebook, ONE, Releases(site)).elsewhere
    take(notebook, Releases(site))
    said = outlook(notebook, ONE, Releases(site))
    assert (said.elsewhere, said.offered) == (True, None)
    assert not outlook(notebook, TWO, Releases(site)).elsewhere
    # And once more, with the next version: that one is offered.
    site.version, site.files[NAME] = "3" * 12, json.dumps(book("3" * 12)).encode()
    said = outlook(notebook, TWO, Releases(site))
    assert not said.elsewhere
    assert said.offered


def test_it_is_taken_over_with_what_was_written_and_the_old_one_is_kept(site, notebook):
    old, ledger = notebook.read_bytes(), notebook.with_name("ledger.jsonl").read_bytes()
    done = take(notebook, Releases(site))
    assert (done["version"], done["cells"], done["fresh"]) == (TWO, 2, True)
    assert sources(notebook) == [
        f"The question of {TWO}",
        "print('my own')",
        "# your code\nmine = 5",
    ]
    assert notebook.with_name("asks.py").read_bytes() == b"two = 2\n"
    assert notebook.with_name("ledger.jsonl").read_bytes() == ledger
    kept = notebook.parents[1] / done["backup"]
    assert kept == notebook.parents[1] / BACKUPS / LAB / "1.ipynb"
    assert json.loads(kept.read_bytes()) == json.loads(old)
    assert outlook(notebook, TWO, Releases(site)).offered is None
    assert take(notebook, Releases(site))["backup"].endswith("2.ipynb")


def test_only_what_this_browser_hides_is_stored(site, notebook):
    """A file of the site is better read from the site: it is the newest."""
    asks = notebook.with_name("asks.py")
    asks.write_bytes(site.files["asks.py"])
    before = asks.stat()
    take(notebook, Releases(site))
    assert (asks.stat().st_ino, asks.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    asks.write_bytes(b"one = 1\n")
    take(notebook, Releases(site))
    assert asks.read_bytes() == site.files["asks.py"]


@pytest.mark.parametrize("name", [NAME, "asks.py"])
def test_a_site_that_is_published_just_now_changes_nothing(site, notebook, name):
    old = notebook.read_bytes()

    def half(address: str) -> bytes | None:
        content = site(address)
        return content and content[:-1] if f"/{name}?" in address else content

    for answer in (half, lambda address: None):
        with pytest.raises(CannotTakeOver, match="in a minute"):
            take(notebook, Releases(answer))
        assert notebook.read_bytes() == old
        assert not notebook.with_name("asks.py").exists()


def test_a_browser_that_keeps_something_else_is_caught_and_offers_it_again(
    site, notebook, monkeypatch
):
    store = new_release.write_behind

    def lose(path: Path, before: bytes, lines: bytes) -> None:
        if path != notebook:
            store(path, before, lines)

    monkeypatch.setattr(new_release, "write_behind", lose)
    with pytest.raises(CannotTakeOver, match="so your notebook is what it was"):
        take(notebook, Releases(site))
    monkeypatch.undo()
    assert sources(notebook)[0] == f"The question of {ONE}"
    assert outlook(notebook, ONE, Releases(site)).offered
    assert take(notebook, Releases(site))["version"] == TWO


def test_a_shorter_notebook_covers_a_longer_one(site, notebook):
    old = json.loads(notebook.read_bytes())
    old["cells"][0]["outputs"] = ["x" * 5000]
    notebook.write_text(json.dumps(old), "utf-8")
    take(notebook, Releases(site))
    assert sources(notebook)[0] == f"The question of {TWO}"


def test_a_tab_that_only_reads_takes_nothing_over(site, notebook, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    introduce("ann")
    tab, old = Tab(), notebook.read_bytes()
    tab.folder = notebook.parent
    keep_with(lambda path, patience: StoredJournal(path, tab, patience=patience))
    try:
        with pytest.raises(CannotTakeOver, match="open in another tab") as refused:
            take(notebook, Releases(site))
        assert str(refused.value) == ELSEWHERE
        assert notebook.read_bytes() == old
        tab.writes = True
        assert take(notebook, Releases(site))["version"] == TWO
    finally:
        keep_with(in_folder)


def test_a_lab_that_the_site_lost_stays_as_it_is(site, notebook):
    other = notebook.with_name("other.ipynb")
    other.write_text(json.dumps(copy.deepcopy(book(ONE))), "utf-8")
    assert outlook(other, ONE, Releases(site)).offered is None
    with pytest.raises(CannotTakeOver, match="no longer has"):
        take(other, Releases(site))
