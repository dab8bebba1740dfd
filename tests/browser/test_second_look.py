"""A student asks for a second look above the feedback page, in a real JupyterLab."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.handin.second_look import read_request, write_answer

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
LAB = "lab_07_kernel_fusion"
BUTTON = "Ask for a second look…"
TIME = "2026-11-16 10:00:00.000000 UTC"


def test_from_the_page_to_the_box_and_back(lab_server, browser, tmp_path, screenshot):
    folder = lab_server.folder / tmp_path.name / LAB
    shutil.copytree(ROOT / "release" / LAB, folder)
    feedback = folder / "feedback" / TIME / f"{LAB}.html"
    feedback.parent.mkdir(parents=True)
    feedback.write_text("<h1>7 of 8</h1>")
    (folder.parent / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.CourseDirectory.course_id = 'demo'\nc.Exchange.root = {str(tmp_path)!r}\n"
    )
    exchange = tmp_path / "demo"
    for name in (BOX, ANSWERS):
        (exchange / name).mkdir(parents=True)
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    path = quote(feedback.relative_to(lab_server.folder).as_posix())
    page.goto(f"{lab_server.url}lab/workspaces/{LAB}/tree/{path}?token={lab_server.token}")
    page.get_by_role("button", name=BUTTON).click(timeout=90_000)
    dialog = page.locator(".jp-Dialog")
    dialog.get_by_label("Question").select_option("launch_budget_us")
    dialog.get_by_label("What should be looked at").fill("<b>Both</b> launches?")
    screenshot(page)
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog).to_contain_text("<b>Both</b> launches?")
    expect(dialog).to_contain_text("Not answered yet.")
    (file,) = (exchange / BOX).iterdir()
    request = read_request(file.read_bytes())
    assert (request.student, request.question) == (lab_server.student, "launch_budget_us")

    # Asked again, it is refused with a sentence, and what was typed is still there.
    dialog.get_by_label("Question").select_option("launch_budget_us")
    dialog.get_by_label("What should be looked at").fill("And?")
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog).to_contain_text("You have asked about this question already")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog.get_by_label("What should be looked at")).to_have_value("And?")
    dialog.get_by_role("button", name="Close").click()

    write_answer(exchange, request.ticket, "You are right.", "2026-11-16T12:00:00+00:00")
    page.get_by_role("button", name=BUTTON).click()
    expect(dialog).to_contain_text("Answer: You are right.")
    page.context.close()
