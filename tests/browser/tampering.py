"""What a bad day does to a page: a slow processor, and messages that are late or lost."""

from __future__ import annotations

from playwright.sync_api import Page

# Run before anything of the page does. Messages of a kernel that hold a state of an instrument or a
# card, or what is in a box, pass through `window.tamper(message, deliver)` if there is one; all of
# them are `window.late` milliseconds late. They are caught where JupyterLab assigns `onmessage`.
INTERCEPT = """(() => {
  window.caught = 0;
  window.late = 0;
  Object.defineProperty(WebSocket.prototype, 'onmessage', { set(given) {
    const first = !this.handler;
    this.handler = given;
    if (first) this.addEventListener('message', event => {
      const handler = this.handler;
      const text = typeof event.data === 'string'
        ? event.data : new TextDecoder('latin1').decode(event.data);
      const isState = text.includes('"method": "update"')
        && /"(readout|view|children)": /.test(text);
      const deliver = () => handler.call(this, event);
      if (isState) window.caught += 1;
      if (isState && window.tamper) window.tamper(event, deliver);
      else if (window.late) setTimeout(deliver, window.late);
      else deliver();
    });
  } });
})()"""

#: How much slower than here a page runs, and by how many milliseconds its messages are late.
SLOW, LATE = 6, 300


def slow_down(page: Page, rate: float = SLOW) -> None:
    """Let the page run as on a slower machine, until it is closed."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})


def have_a_bad_day(page: Page) -> None:
    """Let a page that was opened with `INTERCEPT` be slow, and get every message late."""
    slow_down(page)
    page.evaluate("late => { window.late = late; }", LATE)


def lose_one(page: Page) -> None:
    """Have the next state of a card or an instrument never arrive at such a page."""
    page.evaluate("() => { window.tamper = () => { window.tamper = null; }; }")
