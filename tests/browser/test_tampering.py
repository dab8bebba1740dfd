"""A slow page is slow, and costs no more than a fast one."""

from __future__ import annotations

import pytest

from tests.browser.profile import close_window, new_window
from tests.browser.tampering import SLOW, process_of, processor_time, slow_down
from tests.waiting import wait_for

pytestmark = pytest.mark.needs("chromium")

#: Works for a while, and returns for how many seconds by the page's own clock.
WORK = """() => {
  const begun = performance.now();
  let sum = 0;
  for (let k = 0; k < 3e8; k++) sum += k % 7;
  return (performance.now() - begun) / 1000 + 0 * sum;
}"""


@pytest.fixture
def pages(browser):
    two = [new_window(browser) for _ in range(2)]
    for each in two:
        each.goto("data:text/html,<title>A page</title>")
    yield two
    for each in reversed(two):
        close_window(each)


def test_a_slow_page_waits_and_burns_nothing(pages):
    page, other = pages
    page.evaluate(WORK)
    process = process_of(page)
    assert process != process_of(other)
    slow_down(page)

    def is_slow() -> bool:
        before = processor_time(process)
        took = page.evaluate(WORK)
        # Half is room for how coarsely it is stopped; on a busy machine the first round may be over
        # before it is stopped at all.
        return took > (processor_time(process) - before) * SLOW / 2

    wait_for(is_slow, "the page is as fast as ever")
    before = processor_time(process)
    page.wait_for_timeout(1000)
    assert processor_time(process) - before < 0.5  # of the second in which it had nothing to do
