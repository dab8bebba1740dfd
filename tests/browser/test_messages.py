"""One state, one message: what is shown when messages are late, lost or out of order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lab, closed, opened, run_cells
from tests.browser.tampering import HONEST, INTERCEPT
from tests.made_notebooks import write_notebook

pytestmark = pytest.mark.needs("chromium")

# For how many frames card and plot disagreed at most: both are drawn in one turn, and the plot's
# text is there with the next frame. Frames and not seconds, because a busy machine draws fewer.
WATCH = """() => {
  const card = () => [...document.querySelectorAll('.mlsys-card')]
    .find(c => c.textContent.startsWith('Utilization')).querySelector('strong').textContent;
  const plot = () => [...document.querySelectorAll('.mlsys-plot text')]
    .map(t => /computing (.*) of the time/.exec(t.textContent)?.[1]).find(Boolean);
  let frames = 0;
  window.apart = 0;
  window.both = () => [card(), plot()];
  const look = () => {
    frames = card() === plot() ? 0 : frames + 1;
    window.apart = Math.max(window.apart, frames);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.fixture(scope="module")
def page(lab_server: Lab, browser: Browser, tmp_path_factory) -> Iterator[Page]:
    """A page whose messages can be tampered with, with a notebook for a dispatch waterfall."""
    code = "import mlsys_widgets as mw\nw = mw.DispatchWaterfall()\nw"
    path = write_notebook(tmp_path_factory.mktemp("messages") / "waterfall.ipynb", code)
    page = opened(lab_server, browser, path, INTERCEPT)
    page.evaluate(HONEST)
    yield page
    closed(lab_server, page)


@pytest.fixture
def waterfall(page: Page) -> Iterator[Page]:
    """A dispatch waterfall that is new to the page; whoever tampers with messages ends with it."""
    run_cells(page)
    expect(page.locator(".mlsys-plot text", has_text="computing 32.3% of the time")).to_be_visible()
    page.get_by_text("More", exact=True).click()
    page.evaluate(WATCH)
    yield page
    page.evaluate(HONEST)


def press(page: Page, key: str) -> None:
    slider = page.locator(".mlsys-controls").get_by_label("Eager kernels", exact=True).first
    slider.focus()
    slider.press(key)


def settles_on(page: Page, kernels: str) -> None:
    """The slider's value is shown everywhere, in card and plot alike."""
    slider = page.locator(".mlsys-controls").get_by_label("Eager kernels", exact=True).first
    expect(slider).to_have_attribute("aria-valuetext", kernels)
    expect(page.locator(".mlsys-card", has_text="Kernels launched")).to_contain_text(kernels)
    page.wait_for_function("() => both()[0] === both()[1]")
    # Whatever happened on the way, card and plot never told two stories for more than a moment:
    # a fifth of a second at sixty frames a second.
    assert page.evaluate("apart") < 12


def test_late_messages(waterfall):
    waterfall.evaluate("tamper = (_, deliver) => setTimeout(deliver, 700)")
    for _ in range(3):
        press(waterfall, "ArrowLeft")
    settles_on(waterfall, "904")
    assert waterfall.evaluate("caught") >= 1


def test_messages_out_of_order(waterfall):
    """Every second message overtakes the one before it."""
    waterfall.evaluate(
        """tamper = (_, deliver) => {
             if (window.held) { const late = window.held; window.held = null; deliver();
                                setTimeout(late, 200); }
             else { window.held = deliver; }
           }"""
    )
    press(waterfall, "ArrowLeft")
    waterfall.wait_for_function("() => window.held")
    press(waterfall, "ArrowLeft")
    waterfall.wait_for_function("() => !window.held")
    waterfall.evaluate("tamper = null")
    settles_on(waterfall, "935")


def test_lost_messages(waterfall):
    """An answer that never comes is asked for again; nothing is half shown until then."""
    waterfall.evaluate(
        "shown = []; tamper = () => { shown.push(both()); if (shown.length === 2) tamper = null; }"
    )
    press(waterfall, "ArrowLeft")
    settles_on(waterfall, "968")
    assert waterfall.evaluate("shown") == [["32.3%", "32.3%"]] * 2


def test_lost_requests(waterfall):
    """Moves that never reach the kernel, as many as may be under way, are sent again."""
    waterfall.evaluate(
        """() => {
             window.lost = 0;
             const send = WebSocket.prototype.send;
             const text = data =>
               typeof data === 'string' ? data : new TextDecoder('latin1').decode(data);
             WebSocket.prototype.send = function (data) {
               if (text(data).includes('"moved"') && lost < 2) lost += 1;
               else send.call(this, data);
             };
           }"""
    )
    for _ in range(2):
        press(waterfall, "ArrowLeft")
    settles_on(waterfall, "935")
    assert waterfall.evaluate("lost") == 2
    press(waterfall, "ArrowLeft")
    settles_on(waterfall, "904")


def test_the_math_is_whole_for_whoever_missed_the_state_before(waterfall):
    """What is unfolded comes with every state, not only with the one that unfolds it."""
    waterfall.evaluate("lost = false; tamper = () => { lost = true; tamper = null; }")
    waterfall.get_by_text("The math", exact=True).click()
    waterfall.wait_for_function("() => lost")
    press(waterfall, "ArrowLeft")
    settles_on(waterfall, "968")
    expect(waterfall.locator(".mlsys-derivation li").first).to_contain_text("968")


def test_a_state_is_whole_for_whoever_missed_the_one_before(waterfall):
    """The first message is lost for good; the second alone has all that changed."""
    waterfall.evaluate("lost = false; tamper = () => { lost = true; tamper = null; }")
    press(waterfall, "ArrowLeft")
    waterfall.wait_for_function("() => lost")
    faster = waterfall.locator(".mlsys-controls").get_by_label("Faster GPU", exact=True).first
    faster.focus()
    faster.press("ArrowRight")
    settles_on(waterfall, "968")
