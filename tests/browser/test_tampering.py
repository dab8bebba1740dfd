"""A slow page is slow, and costs no more than a fast one."""

from __future__ import annotations

import pytest

from tests.browser.profile import close_window, new_window
from tests.browser.tampering import SLOW, process_of, processor_time, slow_down

pytestmark = pytest.mark.needs("chromium")

#: Works for a while, and returns for how many seconds by the page's own clock.
WORK = """() => {
  const begun = performance.now();
  let sum = 0;
  for (let k = 0; k < 3e8; k++) sum += k % 7;
  return (performance.now() - begun) / 1000 + 0 * sum;
}"""


def test_a_slow_page_waits_and_burns_nothing(browser):
    page, other = new_window(browser), new_window(browser)
    for each in (page, other):
        each.goto("data:text/html,<title>A page</title>")
    page.evaluate(WORK)
    process = process_of(page)
    assert process != process_of(other)
    slow_down(page)
    before = processor_time(process)
    took = page.evaluate(WORK)
    used = processor_time(process) - before
    # On a busy machine it takes even longer; half is room for how coarsely it is stopped.
    assert took > used * SLOW / 2
    before = processor_time(process)
    page.wait_for_timeout(1000)
    assert processor_time(process) - before < used
    close_window(other)
    close_window(page)
