"""Due times in a running server: in the panel's report, on the start page, and at the hand-in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.course.calendar import LabDates, LatePolicy
from mlsys_widgets.course.own_dates import LAB_DATES, VARIABLE, OwnDates
from mlsys_widgets.course.page_dates import EMPTY
from mlsys_widgets.files import START_PAGE
from mlsys_widgets.server.dated_exchange import why_not_to_fetch
from mlsys_widgets.server.due_reports import DueReports
from mlsys_widgets.server.start_page_dates import refresh_start_page
from mlsys_widgets.server.submit import refuse_closed

LAB = "lab_01_first"
NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


def dates(own: bool = False, **of) -> str:
    titles = {LAB: "Orders of magnitude"}
    return OwnDates({LAB: LabDates(**of)}, own=own, titles=titles).as_text()


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    folder = tmp_path / LAB
    folder.mkdir()
    path = folder / f"{LAB}.ipynb"
    about = {"lab": LAB, "title": "Orders of magnitude"}
    path.write_text(json.dumps({"metadata": {"mlsys": about}, "cells": []}))
    return path


def test_words_and_tag_change_with_the_time_and_the_file(notebook, monkeypatch):
    monkeypatch.setattr("mlsys_widgets.server.due_reports.FRESH", -1.0)
    clock = [NOW]
    reports = DueReports(lambda: clock[0])
    assert (reports.of(notebook), reports.tag(notebook)) == (None, "")
    (notebook.parent / LAB_DATES).write_text(dates(due=NOW + timedelta(days=2)))
    first = reports.tag(notebook)
    assert reports.of(notebook)["headline"].endswith("(in 2 days).")
    clock[0] += timedelta(minutes=5)
    second = reports.tag(notebook)
    assert reports.of(notebook)["headline"].endswith("(in 1 day).")
    clock[0] += timedelta(minutes=5)
    assert first != second == reports.tag(notebook)
    (notebook.parent / LAB_DATES).write_text(dates(due=NOW + timedelta(days=9)))
    assert reports.tag(notebook) != second
    notebook.write_text("{}")
    assert reports.of(notebook) is None


def test_the_start_page_says_how_much_time_is_left_and_keeps_the_rest(notebook):
    root = notebook.parents[1]
    assert not refresh_start_page(root, NOW)
    page = root / START_PAGE
    page.write_text(f"# Labs\n\n{EMPTY}\nMy notes.\n")
    assert not refresh_start_page(root, NOW)  # nothing has dates
    (notebook.parent / LAB_DATES).write_text(
        dates(due=NOW - timedelta(hours=3), late=LatePolicy(10))
    )
    assert refresh_start_page(root, NOW)
    said = page.read_text()
    assert "**Orders of magnitude**: Was due Monday, November 2, 09:00 UTC (3 hours ago)." in said
    assert "Handing in now costs 10%" in said
    assert said.endswith("My notes.\n")
    assert not refresh_start_page(root, NOW)
    page.write_text("All mine.\n")
    assert not refresh_start_page(root, NOW)
    page.unlink()
    page.symlink_to(notebook)
    assert not refresh_start_page(root, NOW)


def test_a_hub_decides_for_its_student_what_is_open(notebook, tmp_path, monkeypatch):
    assert why_not_to_fetch(LAB) is None
    own = tmp_path / "own.json"
    monkeypatch.setenv(VARIABLE, str(own))
    assert why_not_to_fetch(LAB) is None
    now = datetime.now(UTC)
    own.write_text(dates(own=True, release=now + timedelta(days=1)))
    assert why_not_to_fetch(LAB).startswith("Opens ")
    own.write_text(dates(own=True, close=now - timedelta(days=1)))
    assert why_not_to_fetch(LAB).startswith("Closed since ")
    own.write_text(dates(own=True, due=now - timedelta(days=1)))
    assert why_not_to_fetch(LAB) is None  # late work can still be begun


def test_only_the_hubs_word_closes_a_lab(notebook, tmp_path, monkeypatch):
    from nbgrader.exchange import ExchangeError

    closed = {"close": datetime.now(UTC) - timedelta(days=1)}
    (notebook.parent / LAB_DATES).write_text(dates(**closed))
    refuse_closed(LAB, notebook.parent)  # the copy may be older than an extension
    own = tmp_path / "own.json"
    monkeypatch.setenv(VARIABLE, str(own))
    own.write_text(dates(own=True, **closed))
    with pytest.raises(ExchangeError, match=r"Closed since .* ask your instructor"):
        refuse_closed(LAB, notebook.parent)


def test_a_server_tells_the_panel_and_the_hand_in(server):
    folder = server.folder / "due" / LAB
    folder.mkdir(parents=True)
    about = {"lab": LAB, "title": "Orders of magnitude"}
    (folder / f"{LAB}.ipynb").write_text(json.dumps({"metadata": {"mlsys": about}, "cells": []}))
    path = f"due/{LAB}/{LAB}.ipynb"
    first = server.ask(f"mlsys/lab?path={path}")
    assert first.json["due"] is None
    due = datetime.now(UTC) - timedelta(hours=30)
    (folder / LAB_DATES).write_text(dates(due=due, late=LatePolicy(10)))
    tag = first.headers["ETag"]
    # The request that is open anyway brings the news.
    second = server.ask(f"mlsys/lab?path={path}&wait=20", If_None_Match=tag)
    assert second.status == 200
    assert second.json["due"]["state"] == "late"
    same = server.ask(f"mlsys/lab?path={path}", If_None_Match=second.headers["ETag"])
    assert same.status == 304
    assert server.ask(f"mlsys/hand-in?path={path}").json["due"]["state"] == "late"
    done = server.ask("mlsys/hand-in", method="POST", body={"path": path}).json
    assert done["lateness"] == "1 day 6 hours late: it costs 20% of what you earn."
