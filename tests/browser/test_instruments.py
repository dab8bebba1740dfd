"""Every instrument in a real browser: drawn, moved by keyboard and mouse, light and dark."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import mlsys_widgets
from mlsys_widgets.instruments.controls import Slider, controls_of
from mlsys_widgets.instruments.instrument import Instrument
from tests.browser.contrast import contrasts
from tests.browser.pages import in_theme, no_serious_violation, settled
from tests.browser.pictures import difference
from tests.sampling import sample
from tests.waiting import wait_for

pytestmark = pytest.mark.needs("chromium")

NAMES = [
    name
    for name in mlsys_widgets.__all__
    if isinstance(kind := getattr(mlsys_widgets, name), type) and issubclass(kind, Instrument)
    if kind is not Instrument
]
THEMES = ("Light", "Dark")


@pytest.fixture(autouse=True)
def usual_window(gallery):
    """A test that fails leaves its own window to nobody."""
    gallery.set_viewport_size({"width": 1400, "height": 1000})


def instrument(page: Page, title: str) -> Locator:
    return page.locator(".mlsys-instrument").filter(
        has=page.get_by_role("heading", name=title, exact=True)
    )


def has_height(place: Locator, least: float, most: float) -> None:
    """Plots follow a new width after a moment."""
    wait_for(
        lambda: (box := place.bounding_box()) and least <= box["height"] <= most,
        lambda: f"{place}: {place.bounding_box()}, not {least} to {most} high",
    )


def show(board: Locator) -> None:
    """Look at each plot for a moment: one that nobody sees keeps its width."""
    for plot in board.locator(".mlsys-plot:visible").all():
        plot.evaluate("plot => plot.scrollIntoView({ block: 'center' })")
        board.page.wait_for_timeout(400)


def comes_to_have_nothing(board: Locator, *scripts: str) -> None:
    """Wait until none of some scripts finds anything on an instrument that is looked at."""

    def found() -> list[str]:
        return [each for script in scripts for each in board.evaluate(script)]

    def nothing() -> bool:
        show(board)
        return found() == []

    wait_for(nothing, lambda: f"{board}: {found()}")


def titles() -> list[str]:
    return [getattr(mlsys_widgets, name).title for name in NAMES]


def test_every_instrument_is_drawn(gallery):
    for title in titles():
        board = instrument(gallery, title)
        expect(board).to_have_count(1)
        expect(board.locator(".mlsys-plot svg").first).to_be_attached()
        expect(board.locator(".mlsys-sentence")).not_to_be_empty()


# Numbers that some width of a sentence parts from what belongs to them.
PARTED = r"""() => [...document.querySelectorAll('.mlsys-sentence')].flatMap(sentence => {
  const found = new Set(), texts = [], walk = document.createTreeWalker(sentence, 4);
  while (walk.nextNode()) texts.push(walk.currentNode);
  const place = at => {
    for (const node of texts) { if (at < node.length) return [node, at]; at -= node.length; }
  };
  const range = document.createRange();
  for (let width = 120; width <= 400; width += 7) {
    sentence.style.width = `${width}px`;
    const known = /\d (FLOP\/B|ms|GB|TFLOPS)\b/g;
    for (const { 0: words, index } of sentence.textContent.matchAll(known)) {
      range.setStart(...place(index));
      range.setEnd(...place(index + words.length - 1));
      const lines = [...range.getClientRects()].map(box => Math.round(box.top));
      if (new Set(lines).size > 1) found.add(words);
    }
  }
  sentence.style.width = '';
  return [...found];
})"""


def test_a_sentence_ends_no_line_between_a_number_and_its_unit(gallery):
    settled(gallery)
    said = gallery.locator(".mlsys-sentence").all_text_contents()
    assert any(re.search(r"\d (FLOP/B|ms|GB|TFLOPS)\b", each) for each in said)
    assert gallery.evaluate(PARTED) == []


# Where an instrument stands depends on the heights of all others, which are no whole pixels.
ON_WHOLE_PIXELS = """board => {
  board.style.position = 'relative';
  const top = board.getBoundingClientRect().top - parseFloat(board.style.top || '0');
  board.style.top = `${Math.round(top) - top}px`;
}"""


#: Both themes and both widths in each run, and all pairs of them where references are made anew.
PICTURES = [("Light", 1400), ("Dark", 600), ("Light", 600), ("Dark", 1400)]
FEW = len(PICTURES) if os.environ.get("UPDATE_PICTURES") else 2


@pytest.mark.parametrize(("theme", "width"), sample(PICTURES, FEW))
def test_pictures(gallery, theme, width, tmp_path):
    in_theme(gallery, theme)
    # Taller than any instrument, or the picture would hold parts of the window around it.
    gallery.set_viewport_size({"width": width + 120, "height": 2600})
    gallery.evaluate("jupyterapp.shell.collapseLeft()")
    settled(gallery)
    for name, title in zip(NAMES, titles(), strict=True):
        board = instrument(gallery, title)
        board.scroll_into_view_if_needed()
        board.evaluate(ON_WHOLE_PIXELS)
        path = tmp_path / f"{name}.png"
        # A busy machine redraws its plots late; a new reference must not catch it half-way.
        waits = (4000,) if os.environ.get("UPDATE_PICTURES") else (250, 500, 1000, 2000, 4000, 8000)
        for wait in waits:
            gallery.wait_for_timeout(wait)
            board.screenshot(path=path)
            found = difference(path, f"{name}-{theme.lower()}-{width}")
            if not found:
                break
        assert not found


def test_help_of_a_control_never_stands_in_the_way(gallery):
    """It comes to whoever points at the label or tabs to the control, until the first key."""
    board = instrument(gallery, mlsys_widgets.IronLaw.title)
    control = board.locator(".mlsys-control").filter(has=gallery.locator("input[type=range]")).first
    said, slider = control.locator(".mlsys-help"), control.locator("input[type=range]")
    settled(gallery)  # a label that moves away from under the mouse is not pointed at
    control.locator("label").first.hover()
    expect(said).to_be_visible()
    control.locator("input[type=text]").click()
    expect(said).to_be_hidden()
    gallery.keyboard.press("Shift+Tab")
    expect(slider).to_be_focused()
    expect(said).to_be_visible()
    gallery.keyboard.press("ArrowRight")
    expect(said).to_be_hidden()
    # Hidden, it takes no room, or the last control's would give the instrument a scroll bar.
    assert not gallery.evaluate(OUTPUTS_THAT_SCROLL)


#: Instruments whose place in the notebook is lower than they are.
OUTPUTS_THAT_SCROLL = """() => [...document.querySelectorAll('.jp-OutputArea-output')]
  .filter(e => e.querySelector('.mlsys-board') && e.scrollHeight > e.clientHeight + 1)
  .map(e => [e.textContent.trim().slice(0, 40), e.scrollHeight - e.clientHeight])"""


BEYOND = """board => {
  const edge = board.getBoundingClientRect();
  return [...board.querySelectorAll('button, label, select, .mlsys-card, text, p')]
    .filter(e => e.textContent.trim() && e.getClientRects().length)
    .filter(e => getComputedStyle(e).visibility !== 'hidden' && !e.closest('.mlsys-scroll'))
    .filter(e => { const r = e.getBoundingClientRect();
                   return r.left < edge.left - 2 || r.right > edge.right + 2; })
    .map(e => e.textContent.trim().slice(0, 40));
}"""


def in_words(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


#: Narrow and wide, in high windows and in low ones; the last is 1,280 × 720 at a zoom of 200%.
WINDOWS = [(720, 720), (720, 2600), (1520, 2600), (880, 720), (640, 360)]
SIDEWAYS = """() => [...document.querySelectorAll('.jp-WindowedPanel-outer, .mlsys-board')]
  .filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => `${e.querySelector('h3')?.textContent}: ${e.scrollWidth} > ${e.clientWidth}`)"""


@pytest.mark.parametrize("window", sample(WINDOWS, 1), ids=in_words)
def test_no_text_is_cut_off(gallery, window):
    """Nothing sticks out of its instrument, and nothing needs scrolling sideways."""
    gallery.set_viewport_size({"width": window[0], "height": window[1]})
    gallery.evaluate("jupyterapp.shell.collapseLeft()")
    settled(gallery)
    for title in titles():
        comes_to_have_nothing(instrument(gallery, title), BEYOND)
    comes_to_have_nothing(gallery.locator(".jp-NotebookPanel"), SIDEWAYS)


#: Words of plots that stick out of their instrument or are cut at the axes, and pairs that meet.
SPOILED = """board => [...board.querySelectorAll('.mlsys-plot')].flatMap(plot => {
  const edge = board.getBoundingClientRect();
  const area = plot.querySelector('.plotarea_events').getBoundingClientRect();
  const words = [...plot.querySelectorAll('text')]
    .filter(e => e.textContent.trim() && e.getBoundingClientRect().width)
    .filter(e => !e.matches('.mlsys-left-out'))
    .map(e => ({ text: e.textContent, box: e.getBoundingClientRect(),
                 clipped: Boolean(e.closest('g[clip-path]'))
                   && getComputedStyle(e.closest('g[clip-path]')).clipPath !== 'none' }));
  const beyond = (a, b) => a.left < b.left - 2 || a.right > b.right + 2;
  const cut = words
    .filter(({ box, clipped }) => beyond(box, edge) || (clipped && beyond(box, area)));
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;  // letters are lower than lines
  const pairs = words.flatMap((a, k) => words.slice(k + 1).filter(b => meet(a.box, b.box))
    .map(b => `${a.text} on ${b.text}`));
  return [...cut.map(({ text }) => `${text} is cut`), ...pairs];
})"""


@pytest.mark.slow
def test_words_of_plots_are_whole_and_apart_on_a_phone(gallery):
    gallery.set_viewport_size({"width": 390, "height": 844})
    gallery.evaluate("jupyterapp.shell.collapseLeft()")
    settled(gallery)
    for title in titles():
        comes_to_have_nothing(instrument(gallery, title), SPOILED, BEYOND)


ROOM = "document.querySelector('.jp-WindowedPanel-outer').clientHeight"


#: A laptop with and without the panel of the lab, a larger screen, and a desk.
SCREENS = [(1280, 720), (880, 720), (1440, 900), (1920, 1080)]


@pytest.mark.parametrize("screen", sample(SCREENS, 1), ids=in_words)
def test_an_instrument_and_its_readout_fit_on_one_screen(gallery, screen):
    """Whatever plot is chosen where one is shown at a time."""
    gallery.set_viewport_size({"width": screen[0], "height": screen[1]})
    gallery.evaluate("jupyterapp.shell.collapseLeft()")
    settled(gallery)
    room = gallery.evaluate(ROOM)
    for title in titles():
        board = instrument(gallery, title)
        board.scroll_into_view_if_needed()
        plots = board.locator(".mlsys-plot")
        tabs = board.locator(".mlsys-tabs button")
        are_tabs = tabs.first.is_visible() if tabs.count() else False
        for k in range(plots.count()):
            if are_tabs:
                tabs.nth(k).press("Enter")
                expect(tabs.nth(k)).to_have_attribute("aria-pressed", "true")
                settled(gallery)
                has_height(plots.nth(k), 170, room)
            show(board)
            expect(board.locator(".mlsys-leading")).to_be_visible()
            has_height(board, 170, room)
        if are_tabs:
            tabs.first.press("Enter")


def test_two_numbers_are_large_and_the_others_on_demand(gallery):
    board = instrument(gallery, "Iron law")
    large = board.locator(".mlsys-leading .mlsys-card")
    expect(large).to_contain_text(["Batch time", "Binding term"])
    other = board.locator(".mlsys-cards .mlsys-card", has_text="Throughput")
    fold = board.locator("summary", has_text="All numbers")
    board.get_by_role("button", name="Reset").press("Enter")  # another test may have moved it
    expect(other).to_be_hidden()
    # Compared with a pinned state they say what they were.
    board.get_by_role("button", name="Pin").press("Enter")
    expect(board.get_by_role("button", name="Unpin")).to_be_visible()
    board.get_by_role("slider", name="Latency").first.press("PageUp")
    expect(large.first.locator("em")).to_have_text(re.compile("^was 48.1 µs"))
    fold.press("Enter")
    expect(other).to_be_visible()
    expect(other.locator("em")).to_have_text(re.compile("^was "))
    board.get_by_role("button", name="Unpin").press("Enter")
    board.get_by_role("button", name="Reset").press("Enter")
    expect(large.first.locator("em")).to_be_hidden()
    fold.press("Enter")
    expect(other).to_be_hidden()


#: Which texts are wider than the box beside a slider; the box keeps its own.
TOO_WIDE = """(box, texts) => {
  const own = box.value;
  const fits = text => { box.value = text; return box.scrollWidth <= box.clientWidth; };
  const found = texts.filter(text => !fits(text));
  box.value = own;
  return found;
}"""


def shown_along(slider: Slider) -> list[str]:
    """What the box shows at forty places of a slider, rounded as the browser does."""
    places = np.linspace(0, 1, 41)
    along = (
        slider.low * (slider.high / slider.low) ** places
        if slider.log
        else (slider.low + (slider.high - slider.low) * places)
    )
    values = [float(f"{value:.3g}") for value in along]
    return [slider.shown(round(each) if slider.whole else each) for each in values]


def test_a_box_holds_every_value_of_its_slider(gallery):
    for name, title in zip(NAMES, titles(), strict=True):
        sliders = {
            control.label: shown_along(control)
            for control in controls_of(getattr(mlsys_widgets, name)).values()
            if isinstance(control, Slider)
        }
        boxes = instrument(gallery, title).locator(".mlsys-row input[type=text]:visible")
        for k in range(boxes.count()):
            label, typed, _ = boxes.nth(k).get_attribute("aria-label").partition(", typed (")
            assert typed
            assert boxes.nth(k).evaluate(TOO_WIDE, sliders[label]) == [], (title, label)


@pytest.mark.slow
def test_keyboard_moves_every_slider(gallery):
    for title in titles():
        board = instrument(gallery, title)
        for k in range(board.locator("input[type=range]").count()):
            slider = board.locator("input[type=range]").nth(k)
            if not slider.is_visible():
                continue
            before = slider.get_attribute("aria-valuetext")
            at_end = float(slider.input_value()) >= 1000
            slider.focus()
            slider.press("ArrowLeft" if at_end else "ArrowRight")
            expect(slider).not_to_have_attribute("aria-valuetext", before or "")
    for title in titles():
        reset = instrument(gallery, title).get_by_role("button", name="Reset", exact=True)
        reset.focus()
        reset.press("Enter")
        expect(instrument(gallery, title).get_by_role("button", name="Undo reset")).to_be_visible()


def test_mouse_and_typing(gallery):
    board = instrument(gallery, "Roofline")
    box = board.get_by_label(re.compile("^N, typed"))
    box.fill("4k")
    box.press("Enter")
    expect(box).to_have_value("4,000")
    expect(board.locator(".mlsys-card", has_text="Regime")).to_contain_text("compute-bound")
    slider = board.locator("input[type=range]:visible").first
    where = slider.bounding_box()
    gallery.mouse.click(where["x"] + where["width"] * 0.3, where["y"] + where["height"] / 2)
    expect(box).not_to_have_value("4,000")


def test_nonsense_gets_a_sentence_and_loses_nothing(gallery):
    board = instrument(gallery, "Roofline")
    sentence = board.locator(".mlsys-sentence")
    before = sentence.inner_text()
    box = board.get_by_label(re.compile("^N, typed"))
    box.fill("a few")
    box.press("Enter")
    expect(board.locator(".mlsys-error", has_text="is not a number")).to_be_visible()
    assert sentence.inner_text() == before
    box.fill("512")
    box.press("Enter")
    expect(board.locator(".mlsys-error", has_text="is not a number")).to_have_count(0)
    expect(sentence).to_contain_text("170.7 FLOP/B")


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_accessibility(gallery, theme):
    """As instruments are when a lab opens; test_touch.py looks at them unfolded in every run."""
    in_theme(gallery, theme)
    no_serious_violation(gallery, ".mlsys-instrument")


@pytest.mark.parametrize("theme", THEMES)
def test_a_slider_has_the_colors_of_its_theme(gallery, theme):
    """Its track is the browser's, and is white unless it may draw a dark one."""
    in_theme(gallery, theme)
    style = "slider => [getComputedStyle(slider).colorScheme, getComputedStyle(slider).accentColor]"
    scheme, accent = gallery.locator(".mlsys-row input[type=range]").first.evaluate(style)
    assert (scheme, accent == "auto") == (theme.lower(), theme == "Dark")


@pytest.mark.slow
@pytest.mark.parametrize("theme", sample(THEMES[::-1], 1))
def test_words_of_plots_stand_out(gallery, theme):
    """At least 4.5 : 1, as WCAG asks of text of this size."""
    in_theme(gallery, theme)
    gallery.set_viewport_size({"width": 1400, "height": 2600})
    settled(gallery)
    pale = {}
    for title in titles():
        board = instrument(gallery, title)
        board.scroll_into_view_if_needed()
        gallery.wait_for_timeout(300)
        found = contrasts(board)
        assert found, title
        if found[0][0] < 4.5:
            pale[title] = [each for each in found if each[0] < 4.5]
    assert pale == {}
