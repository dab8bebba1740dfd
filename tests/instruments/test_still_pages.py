"""Pages of widgets are written when they have come to rest, and never disturb anybody."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
import threading

import pytest

from mlsys_widgets import RooflineWidget
from mlsys_widgets.instruments import still_pages
from mlsys_widgets.instruments.still_pages import SESSION, StillPages
from tests.instruments.locks import Lock


class Widget:
    """Something to show."""

    model_id = "0" * 32

    def __init__(self):
        self.pages = 0
        self.words = "first"

    def still(self):
        self.pages += 1
        return {"text/plain": self.words}


@pytest.fixture
def pages(tmp_path):
    return StillPages(tmp_path / "pages", rest=0.05)


def written(pages, name="0" * 32):
    path = pages.folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


async def appears(pages, name, before=None):
    """Wait until there is another page."""
    deadline = asyncio.get_running_loop().time() + 20
    while written(pages, name) == before and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.02)
    return written(pages, name)


def test_many_changes_make_one_page_once_they_have_come_to_rest(tmp_path):
    # Long enough that a busy machine does not take a pause for rest.
    pages, widget = StillPages(tmp_path / "pages", rest=1.5), Widget()

    async def work():
        pages.follow(widget)
        for k in range(30):
            widget.words = f"change {k}"
            pages.changed(widget)
            await asyncio.sleep(0)
        assert written(pages) is None, "while somebody drags, nothing is written"
        await appears(pages, widget.model_id)

    asyncio.run(work())
    assert written(pages) == {"text/plain": "change 29"}
    assert widget.pages == 1
    (path,) = pages.folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_never_shown_is_not_written(pages):
    widget = Widget()

    async def work():
        pages.changed(widget)
        pages.follow(Widget())
        pages.changed(widget)
        await asyncio.sleep(0.2)

    asyncio.run(work())
    assert not pages.folder.exists()


def test_a_thread_may_change_a_widget(pages):
    widget = Widget()

    async def work():
        pages.follow(widget)
        thread = threading.Thread(target=pages.changed, args=(widget,))
        thread.start()
        thread.join()
        await appears(pages, widget.model_id)

    asyncio.run(work())
    assert written(pages) == {"text/plain": "first"}


def test_a_page_that_cannot_be_made_or_written_disturbs_nobody(tmp_path):
    class Broken(Widget):
        def still(self):
            raise ValueError("odd")

    (tmp_path / "file").write_text("in the way")

    async def work(pages, widget):
        pages.follow(widget)
        pages.changed(widget)
        await asyncio.sleep(0.1)

    broken = StillPages(tmp_path / "pages", rest=0.01)
    asyncio.run(work(broken, Broken()))
    assert written(broken) is None
    asyncio.run(work(StillPages(tmp_path / "file", rest=0.01), Widget()))


def test_without_a_notebook_server_nothing_is_kept(monkeypatch):
    assert still_pages._pages is None, "no grader, builder or test writes pages"
    monkeypatch.delenv(SESSION, raising=False)
    assert still_pages._of_this_kernel() is None


def test_an_instrument_tells_when_it_looks_different(monkeypatch, pages):
    monkeypatch.setattr(still_pages, "_pages", pages)
    lock = Lock()
    chart = RooflineWidget(n=128, lock=lock)

    async def work():
        first = chart._repr_mimebundle_()
        assert "image/svg+xml" not in first
        lock.open()
        opened = await appears(pages, chart.model_id)
        assert "image/svg+xml" in opened
        chart.set(n=4096)
        return opened, await appears(pages, chart.model_id, before=opened)

    opened, moved = asyncio.run(work())
    assert opened["image/svg+xml"] != moved["image/svg+xml"]
    assert moved == chart.still()
    assert "compute-bound" in moved["text/plain"]


def test_a_kernel_of_a_server_keeps_pages(tmp_path):
    code = "from mlsys_widgets.instruments import still_pages; print(still_pages._pages.folder)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"JUPYTER_RUNTIME_DIR": str(tmp_path), SESSION: "lab.ipynb", "PATH": "",
             "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.stdout.strip() == str(tmp_path / "mlsys-pages")
