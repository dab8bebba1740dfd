"""The panel says when a lab is due, and what handing in now costs, in both themes."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mlsys_widgets.course.calendar import LabDates, LatePolicy
from mlsys_widgets.course.own_dates import LAB_DATES, OwnDates
from tests.browser.pages import in_theme, no_serious_violation

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LAB = "lab_07_kernel_fusion"
ROOT = Path(__file__).parents[2]
HOURS = timedelta(hours=1)


@pytest.mark.slow  # tests/server/test_due_reports.py has the words
def test_the_panel_follows_the_dates_of_the_lab(lab_server, open_notebook, screenshot):
    folder = Path(shutil.copytree(ROOT / "release" / LAB, lab_server.folder / "due" / LAB))

    def write(due: timedelta, close: timedelta | None = None) -> None:
        now = datetime.now(UTC)
        dates = LabDates(
            due=now + due, close=now + close if close else None, late=LatePolicy(10, 15, 50)
        )
        (folder / LAB_DATES).write_text(OwnDates({LAB: dates}).as_text())

    write(49 * HOURS)
    page = open_notebook(folder / f"{LAB}.ipynb")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.evaluate("jupyterapp.commands.execute('mlsys:show-panel')")
    panel = page.get_by_role("region", name="Lab panel")
    expect(panel).to_contain_text(re.compile(r"Due \w+, .* UTC \(in 2 days\)"))
    screenshot(page, "open")

    # The instructor changes the date while the lab is open.
    write(-3 * HOURS)
    expect(panel).to_contain_text(re.compile(r"Was due .*\(3 hours ago\)"), timeout=90_000)
    expect(panel).to_contain_text("Handing in now costs 10% of what you earn")
    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        no_serious_violation(page, ".mlsys-Lab")
        screenshot(page, f"late-{theme.lower()}")

    write(-3 * HOURS, -HOURS)
    expect(panel).to_contain_text(re.compile("[Cc]losed"), timeout=90_000)
    screenshot(page, "closed")
