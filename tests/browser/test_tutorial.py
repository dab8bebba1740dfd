"""The tutorial as a student meets it under `make lab`."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from mlsys_widgets import physics as ph

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]


def test_the_physics_tour_runs_in_jupyterlab(root, open_notebook, run_all, screenshot):
    page = open_notebook(root / "docs" / "tutorials" / "physics_tour.ipynb")
    run_all(page)
    screenshot(page)
    # Asked of physics, not typed: the page must show what the core says today.
    ridge = f"{float(ph.devices['h100-sxm'].ridge('fp16')):.1f}"
    expect(page.locator(".jp-Notebook .jp-OutputArea-output", has_text=ridge).first).to_be_visible()
