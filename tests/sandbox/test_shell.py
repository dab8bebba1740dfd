"""Cells in a child: their outputs are what a kernel would have sent."""

from __future__ import annotations

import sys

import pytest
from IPython.core.inputtransformer2 import TokenTransformBase, TransformerManager

from mlsys_widgets.sandbox.shell import _Transformers
from tests.sandbox.children import report, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_runs(server):
    printed, ended = run(server, "while True: pass", "print('next')", cell=1)
    assert printed == ["CellTimeoutError: No reply from kernel before timeout", "next\n"]
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
    printed, ended = run(server, "input('name? ')", "print('next')")
    assert printed[0].startswith("StdinNotImplementedError: ")
    assert (printed[1], ended) == ("next\n", "finished")


def test_widgets_open_without_a_browser(server):
    code = (
        "import ipywidgets\nslider = ipywidgets.IntSlider()\nslider.value = 7\nprint(slider.value)"
    )
    assert run(server, code) == (["7\n"], "finished")


CELLS = (
    "x = 1\ny = x % 2\nprint(f'{y!r}', x != y)",
    "%timeit 1",
    "x = %who_ls",
    "x = !ls",
    "x=!ls",
    "if True:\n    !ls\n    %cd /tmp",
    "abs?",
    "x = 'Why?'\nprint(x)",
    "# How busy is the GPU?\nprint(1)",
    ",abs 1",
    ";abs 1",
    "/abs 1",
    ">>> 1 + 1\n2",
    "In [1]: x = 1",
    "    x = 1\n    y = 2",
    "\n\nx = 1",
    "%%bash\necho $HOME",
    "!!ls",
    "x = (1,\n    %2)",
    "a = [1\n, 2]\n",
    "'''\n!ls\n'''",
    "x = 5 \\\n  % 2",
    "f(x\n /y)",
    "not python at all",
    "x = ",
)


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_as_ipython_reads_it(cell):
    assert _Transformers().transform_cell(cell) == TransformerManager().transform_cell(cell)


def test_transformers_of_a_student_are_asked():
    mine = _Transformers()
    mine.token_transformers = [*mine.token_transformers, Shout]
    assert mine.transform_cell("shout\n") == "print('SHOUT')\n"


class Shout(TokenTransformBase):
    @classmethod
    def find(cls, tokens_by_line):
        found = [line[0] for line in tokens_by_line if line[0].string == "shout"]
        return cls(found[0].start) if found else None

    def transform(self, lines):
        return ["print('SHOUT')\n"]


def test_a_semicolon_at_the_end_hides_the_value_and_no_other(server):
    (hidden, shown, also), _ = report(server, "1;", "x = 1; x", "';'")
    assert hidden == []
    assert [each["data"]["text/plain"] for each in (*shown, *also)] == ["1", "';'"]


def test_a_cell_may_await(server):
    cell = "import asyncio\nawait asyncio.sleep(0)\nprint('waited')"
    inside = "async def f():\n    return 3\nprint(await f())"
    assert run(server, cell, inside) == (["waited\n", "3\n"], "finished")


def test_the_first_cell_is_number_one_and_its_names_are_the_student_s_alone(server):
    (first, second), _ = report(server, "sorted(n for n in globals() if n.startswith('_i'))", "_")
    assert [each["execution_count"] for each in (*first, *second)] == [1, 2]
    assert first[0]["data"]["text/plain"] == "['_i', '_i1', '_ih', '_ii', '_iii']"


def test_cards_and_instruments_show_their_still_twins_and_make_no_widgets(server):
    count = "import ipywidgets\nmade = []\nipywidgets.Widget.on_widget_constructed(made.append)"
    (_, roof, card, made), _ = report(
        server,
        count,
        "import mlsys_widgets\nmlsys_widgets.RooflineWidget()",
        "mlsys_widgets.KeyTakeaways('Measure first.')",
        "len(made)",
    )
    view = "application/vnd.jupyter.widget-view+json"
    assert set(roof[0]["data"]) == {"text/plain", "image/svg+xml", view}
    assert set(card[0]["data"]) == {"text/plain", "text/html", view}
    assert len(roof[0]["data"][view]["model_id"]) == 32
    assert made[0]["data"]["text/plain"] == "2"


def test_an_instrument_that_cannot_be_drawn_shows_why_and_its_name(server):
    cell = """
from mlsys_widgets import IronLaw
class Torn(IronLaw):
    def scenes(self, result):
        raise RuntimeError("no ink")
Torn()
"""
    ((error, result),), _ = report(server, cell)
    assert (error["ename"], error["evalue"]) == ("RuntimeError", "no ink")
    assert result["data"] == {"text/plain": "<Torn: Iron law>"}
