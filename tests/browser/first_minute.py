"""The moving picture of the first minute: a prediction, a roofline, a surprise.

A student reads a message, commits a prediction, drags a matrix product along the roof of a real
GPU, and compares. Everything is done with a mouse in the real lab. The pointer is drawn, because a
browser without a screen has none.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import KERNEL_IS_IDLE, READY
from tests.browser.pages import draw_all, in_theme, settled
from tests.browser.studio import LAB, PICTURES, Studio
from tests.waiting import wait_for

GIF = PICTURES / "first_minute.gif"
#: Of a frame; below it, the window has its status bar, where a clock runs.
SIZE = (960, 576)
#: Colors that all frames share, so that what stands still is stored once.
COLORS = 64
#: Where the pointer is before it moves.
REST = (820.0, 520.0)

_POINTER = """([x, y]) => {
  const arrow = document.createElement('div');
  arrow.innerHTML = `<svg width="22" height="30" viewBox="0 0 22 30"><path fill="#111"
    stroke="#fff" stroke-width="2" stroke-linejoin="round" d="M2 2v22l6-5 4 9 4-2-4-9h8z"/></svg>`;
  arrow.style.cssText = 'position:fixed;z-index:99999;pointer-events:none';
  const put = (x, y) => { arrow.style.left = `${x - 2}px`; arrow.style.top = `${y - 2}px`; };
  put(x, y);
  document.body.append(arrow);
  for (const kind of ['mousemove', 'pointermove']) {
    document.addEventListener(kind, event => put(event.clientX, event.clientY), true);
  }
}"""
# The time of a commitment is real, and would be another one in every picture.
_WITHOUT_CLOCKS = ".mlsys-lab-sealed time { visibility: hidden }"
_TOP = "place => Math.round(place.getBoundingClientRect().top)"
_SCROLL_TO = f"place => {{ place.scrollIntoView({{block: 'start'}}); return ({_TOP})(place); }}"
_INDEX = """name => jupyterapp.shell.currentWidget.content.model.toJSON().cells
  .findIndex(each => each.id === name)"""


class Film:
    """Frames of a page, each with the milliseconds for which it is shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []
        self._at = REST
        page.evaluate(_POINTER, list(REST))

    def show(self, milliseconds: int) -> None:
        """Take a frame; one like the frame before only makes that one last longer."""
        clip = {"x": 0, "y": 0, "width": SIZE[0], "height": SIZE[1]}
        png = self.page.screenshot(clip=clip, caret="hide", animations="disabled")
        frame = Image.open(BytesIO(png)).convert("RGB")
        if self.frames and self.frames[-1].tobytes() == frame.tobytes():
            self.times[-1] += milliseconds
        else:
            self.frames.append(frame)
            self.times.append(milliseconds)

    def move(self, x: float, y: float, steps: int = 4) -> None:
        """Move the pointer somewhere, a few frames long."""
        (x0, y0), self._at = self._at, (x, y)
        for k in range(1, steps + 1):
            self.page.mouse.move(x0 + (x - x0) * k / steps, y0 + (y - y0) * k / steps)
            self.show(80)

    def click(self, place: Locator, milliseconds: int = 500) -> None:
        """Go to a place, click it once it takes a click, and look at what it does."""
        box = place.bounding_box()
        assert box, place
        at = {"x": min(box["width"] / 2, 90), "y": box["height"] / 2}
        self.move(box["x"] + at["x"], box["y"] + at["y"])
        place.click(position=at)
        settled(self.page)
        self.show(milliseconds)

    def drag(self, handle: Locator, ways: tuple[int, ...]) -> None:
        """Drag a handle sideways, from where it is to these distances, one after the other."""
        box = handle.bounding_box()
        assert box, handle
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.move(x, y)
        self.page.mouse.down()
        for way in ways:
            self.page.mouse.move(x + way, y, steps=3)
            self.page.wait_for_timeout(150)  # the point follows when the kernel has answered
            self.page.wait_for_function(KERNEL_IS_IDLE)
            settled(self.page)
            if box := handle.bounding_box():  # as a hand does, stay on the point
                y = box["y"] + box["height"] / 2
                self.page.mouse.move(x + way, y)
            self.show(260)
        self.page.mouse.up()
        self._at = (x + ways[-1], y)

    def scroll_to(self, place: Locator, milliseconds: int) -> None:
        """Bring a place to the top of the page."""

        def stays() -> bool:  # what is drawn above it moves it
            top = place.evaluate(_SCROLL_TO)
            settled(self.page)
            return bool(top == place.evaluate(_TOP))

        wait_for(stays, f"{place} does not stay at the top of the page")
        self.show(milliseconds)

    def save(self, path: Path) -> None:
        """Write the frames with one palette, so that only what changes is written again."""
        width, height = SIZE
        chosen = self.frames[:: max(1, len(self.frames) // 8)]
        tall = Image.new("RGB", (width, height * len(chosen)))
        for k, frame in enumerate(chosen):
            tall.paste(frame, (0, k * height))
        palette = tall.quantize(COLORS)
        first, *others = (
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        first.save(
            path, save_all=True, append_images=others, duration=self.times, loop=0, optimize=True
        )


def cell(page: Page, name: str) -> Locator:
    """A cell of the lab, by its id."""
    return page.locator(".jp-Notebook .jp-Cell").nth(page.evaluate(_INDEX, name))


def opened(studio: Studio, folder: str) -> Page:
    """The lab alone in a small window, started."""
    page = studio.open(studio.served(f"lab/workspaces/film/tree/{folder}/{LAB}/{LAB}.ipynb"))
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1] + 24})
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name="Resume", exact=True).click()
    expect(banner).to_be_hidden(timeout=READY)
    page.wait_for_function(KERNEL_IS_IDLE, timeout=READY)
    draw_all(page)
    page.evaluate("jupyterapp.shell.collapseRight(); jupyterapp.shell.collapseLeft()")
    page.add_style_tag(content=_WITHOUT_CLOCKS)
    in_theme(page, "Light")
    settled(page)
    return page


def first_minute(page: Page) -> Film:
    """Do what the picture shows."""
    film = Film(page)
    film.scroll_to(cell(page, "card_opening"), 2600)
    asked = cell(page, "card_act1_real")
    film.scroll_to(asked, 1500)
    film.click(asked.locator(".mlsys-lab-options input[value='A']"))
    film.click(asked.locator(".mlsys-lab-confidence input[value='4']"))
    film.click(asked.get_by_role("button", name="Commit my prediction"))
    film.click(asked.get_by_role("button", name="Seal it"))
    expect(asked.locator(".mlsys-lab-sealed")).to_be_visible()
    film.move(*REST, steps=2)
    film.show(700)
    roofline = cell(page, "instrument_Measured-products-under-the-roof-of-an-H200")
    film.scroll_to(roofline, 1200)
    point = roofline.locator(".mlsys-handle[aria-label='N']")
    film.drag(point, (-30, -60, -90, -120, -155, -190, -155, -110, -70, -30, 0))
    compared = cell(page, "reveal_act1_real")
    film.scroll_to(compared, 600)
    film.click(compared.get_by_role("button", name="Compare with the measurement"), 300)
    expect(compared).to_contain_text("You predicted")
    film.move(*REST, steps=3)
    film.show(3600)
    return film
