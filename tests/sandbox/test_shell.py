"""Cells in a child: their outputs are what a kernel would have sent."""

from __future__ import annotations

import sys

import pytest

from tests.sandbox.children import report, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_runs(server):
    said, ended = run(server, "while True: pass", "print('next')", cell=1)
    assert said == ["CellTimeoutError: No reply from kernel before timeout", "next\n"]
    assert ended == "finished"


def test_neighbors_of_one_stream_are_one_output(server):
    code = "import sys\nprint('a', end='')\nprint('b')\nprint('!', file=sys.stderr)\nprint('c')"
    ((first, second, third),), _ = report(server, code)
    assert [each["name"] for each in (first, second, third)] == ["stdout", "stderr", "stdout"]
    assert [each["text"] for each in (first, second, third)] == ["ab\n", "!\n", "c\n"]


def test_a_display_can_be_updated_and_cleared(server):
    show = "from IPython.display import clear_output, display\n"
    update = show + "shown = display('old', display_id=True)\nshown.update('new')"
    clear = show + "display('gone')\nclear_output()\n3"
    wait = show + "print('gone')\nclear_output(wait=True)\nprint('stays')"
    (updated, cleared, waited), _ = report(server, update, clear, wait)
    assert [each["data"]["text/plain"] for each in updated] == ["'new'"]
    assert [each["data"]["text/plain"] for each in cleared] == ["3"]
    assert [each["text"] for each in waited] == ["stays\n"]


def test_nobody_answers_a_question(server):
    said, ended = run(server, "input('name? ')", "print('next')")
    assert said[0].startswith("StdinNotImplementedError: ")
    assert (said[1], ended) == ("next\n", "finished")


def test_widgets_open_without_a_browser(server):
    code = (
        "import ipywidgets\nslider = ipywidgets.IntSlider()\nslider.value = 7\nprint(slider.value)"
    )
    assert run(server, code) == (["7\n"], "finished")
