"""The page where newcomers start says what the released labs say."""

from __future__ import annotations

import json
import re

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.authoring.start_page import start_page, write_start_page
from mlsys_widgets.files import START_PAGE
from mlsys_widgets.labs import load


@pytest.fixture
def release(tmp_path):
    """Two labs as in release/, where the page reads what they ask."""
    for name in ("lab_02_caches", "lab_01_first"):
        new_lab(tmp_path, name)
        (tmp_path / "assignments" / name).rename(tmp_path / name)
    return tmp_path


def test_it_names_the_first_lab_and_lists_all_in_order_with_what_they_are_worth(release):
    page = start_page(release)
    links = re.findall(r"\]\((.+?)\)", page)
    first, second = "lab_01_first/lab_01_first.ipynb", "lab_02_caches/lab_02_caches.ipynb"
    assert links == [first, first, second]
    assert "1. **[Lab 01 first]" in page
    # Neither is built, so nobody has counted.
    assert "minutes" not in page
    assert "lab_01_first.ipynb)**, 100 points." in page
    assert "*Do we need faster GPUs?* Find out what limits the products, and" in page
    assert "mlsys whoami NAME" in page


def test_points_and_minutes_are_those_of_the_lab(release):
    asks = release / "lab_02_caches" / "asks.py"
    text = asks.read_text().replace("points=40", "points=41")
    asks.write_text(text.replace("chapter=0,", 'chapter=0,\n    minutes="50",'))
    assert "about 50 minutes, 101 points" in start_page(release)


def test_minutes_are_those_that_were_counted_when_the_notebook_was_built(release):
    notebook = release / "lab_01_first" / "lab_01_first.ipynb"
    counted = {"sittings": [[1, 33], [2, 41]], "deeper": [[1, 20]]}
    notebook.write_text(json.dumps({"metadata": {"mlsys": {"minutes": counted}}}))
    said = "**, about 75 minutes, and about 20 more if you go deeper, 100 points."
    assert said in start_page(release)
    # Of an earlier version, or half written.
    for content in ('{"metadata": {"mlsys": {}}}', '{"metadata": {', "[]"):
        notebook.write_text(content)
        assert "minutes" not in start_page(release)


def test_a_lab_without_a_message_is_told_by_its_acts(release):
    asks = release / "lab_01_first" / "asks.py"
    asks.write_text(asks.read_text().replace("@lab.asks\ndef opening", "def opening"))
    assert "100 points.  \n   *What limits a matrix product?*" in start_page(release)


def test_it_is_the_same_to_the_byte_every_time(release):
    before = write_start_page(release).read_bytes()
    assert write_start_page(release).read_bytes() == before


def test_the_page_in_release_is_that_of_the_labs_in_release(root):
    page = (root / "release" / START_PAGE).read_text("utf-8")
    assert page == start_page(root / "release")
    for path in re.findall(r"\]\((.+?)\)", page):
        assert (root / "release" / path).is_file()
        assert load((root / "release" / path).parent).title in page
