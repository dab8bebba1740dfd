"""What a bad day does to a page: a slow processor, and messages that are late or lost."""

from __future__ import annotations

import os
import signal
import threading
import time

from playwright.sync_api import Page

# Run before anything of the page does. Messages of a kernel that hold a state of an instrument or a
# card, or what is in a box, pass through `window.tamper(message, deliver)` if there is one, and its
# answers to the question what is newest through `window.answers`; all of them are `window.late`
# milliseconds late. They are caught where JupyterLab assigns `onmessage`.
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
      else if (window.answers && text.includes('"newest": ')) window.answers(event, deliver);
      else if (window.late) setTimeout(deliver, window.late);
      else deliver();
    });
  } });
})()"""

# Run first, it remembers how a page sends its messages; run again, nobody tampers with any.
HONEST = """() => {
  window.honest ??= WebSocket.prototype.send;
  WebSocket.prototype.send = window.honest;
  window.tamper = window.held = null;
  window.late = window.caught = 0;
}"""

#: How much slower than here a page runs, and by how many milliseconds its messages are late.
SLOW, LATE = 6, 300


def slow_down(page: Page, rate: float = SLOW) -> None:
    """Let the page run as on a slower machine, until it is closed.

    Its process is stopped again and again, for as long as it had run and `rate` - 1 times that.
    Chromium's own throttling has the page spin in between, even while it rests, so that every test
    with a slow page would take a processor from those beside it.
    """
    over = threading.Event()
    page.on("close", lambda _: over.set())
    threading.Thread(target=_slow_down, args=(process_of(page), rate, over), daemon=True).start()


def _slow_down(process: int, rate: float, over: threading.Event) -> None:
    """Stop a process whenever it has run for a moment, and let it go on later."""
    try:
        before = processor_time(process)
        while not over.wait(0.005):
            now = processor_time(process)
            if now - before < 0.005:
                continue
            os.kill(process, signal.SIGSTOP)
            try:
                over.wait((now - before) * (rate - 1))
            finally:
                os.kill(process, signal.SIGCONT)
            before = now
    except OSError:
        pass  # it has ended, with its page


def processor_time(process: int) -> float:
    """Return the seconds that a process has run for, with all of its threads."""
    return time.clock_gettime((~process << 3) | 2)  # as clock_getcpuclockid does


def process_of(page: Page) -> int:
    """Return the process that runs a page: the one that has run for as long as the page says."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    (told,) = (each["value"] for each in metrics if each["name"] == "ProcessTime")
    session.detach()
    assert page.context.browser
    browser = page.context.browser.new_browser_cdp_session()
    processes = browser.send("SystemInfo.getProcessInfo")["processInfo"]
    browser.detach()
    renderers = [each["id"] for each in processes if each["type"] == "renderer"]
    return min(renderers, key=lambda each: abs(processor_time(each) - told))


def have_a_bad_day(page: Page) -> None:
    """Let a page that was opened with `INTERCEPT` be slow, and get every message late."""
    slow_down(page)
    page.evaluate("late => { window.late = late; }", LATE)


def lose_one(page: Page) -> None:
    """Have the next state of a card or an instrument never arrive at such a page."""
    page.evaluate("() => { window.tamper = () => { window.tamper = null; }; }")
