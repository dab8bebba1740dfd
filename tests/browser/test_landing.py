"""What `make lab` opens: the page that tells a newcomer which lab comes first."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from mlsys_widgets.labs import load

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]


def test_make_lab_lands_on_a_page_with_a_link_to_the_first_lab(
    root, tool, tmp_path, run_server, browser, screenshot
):
    shutil.copytree(root / "release", tmp_path / "release")
    folder = tmp_path / "my_labs"
    tool("my_labs").lay_out(tmp_path, folder)
    first = load(min(folder.glob("lab_*")))
    environment = {name: v for name, v in os.environ.items() if not name.startswith("MAKE")}
    plan = subprocess.run(
        ["make", "-n", "lab", 'ARGS="$$@"'],
        cwd=root, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    # As make would start it, below another folder and with the Python that is there.
    recipe = plan[plan.index("PATH=") :].replace(".venv/bin/python", sys.executable)
    with run_server(["sh", "-c", recipe, "sh"], tmp_path, folder, cwd=tmp_path) as lab:
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        page = context.new_page()
        # The address that is printed for ssh; twice, because a workspace is saved in between.
        printed = re.search(r"http://127\S+", lab.log.read_text())
        assert printed
        address = printed[0].replace("token=...", f"token={lab.token}")
        for when in ("first", "again"):
            page.goto(address)
            shown = page.locator(".jp-MarkdownViewer:visible")
            expect(shown.get_by_role("heading", name="Start here")).to_be_visible(timeout=60_000)
            screenshot(page, when)
            shown.get_by_role("link", name=first.title).first.click()
            opened = page.get_by_role("region", name="Lab panel").get_by_role("heading")
            expect(opened.first).to_have_text(first.title, timeout=30_000)
            page.wait_for_timeout(1500)  # the workspace is saved a second later

        # The labs are also offered by name.
        offered = page.request.get(f"{lab.url}mlsys/labs?token={lab.token}").json()["labs"]
        assert {each["path"].split("/")[0] for each in offered} == {
            path.parent.name for path in folder.glob("*/asks.py")
        }
        context.close()
