"""The fixtures themselves: a failing cell must fail a test, and tests must not meet."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.made_notebooks import write_notebook

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture
def notebook(tmp_path):
    def write(*cells: str):
        return write_notebook(tmp_path / "sample.ipynb", *cells)

    return write


def test_run_all_waits_for_the_last_cell_and_widgets_are_drawn(notebook, open_notebook, run_all):
    slider = "import ipywidgets\nipywidgets.IntSlider(description='batch')"
    page = open_notebook(notebook(slider, "import time; time.sleep(1)", "", "print('the', 'end')"))
    run_all(page)
    expect(page.locator(".jp-OutputArea-output", has_text="the end")).to_be_visible()
    expect(page.locator(".widget-slider", has_text="batch")).to_be_visible()


def test_run_all_fails_with_the_text_of_an_error(notebook, open_notebook, run_all):
    page = open_notebook(notebook("1 + 1", "1 / 0", "print('never reached')"))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_all(page)
