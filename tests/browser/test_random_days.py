"""Days at random: type, record, restart, kill, reload, a second window, hand in, in any order.

After every step the page, the ledger, the notebook, the file that was handed in and the grader
agree; see random_days.py. A day is told by its seed.
"""

from __future__ import annotations

import pytest

from tests.browser.expected_day import Disagreement
from tests.browser.profile import close_window, new_window
from tests.browser.random_days import Classroom
from tests.grading.classroom import classroom
from tests.sampling import takes_everything

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

#: One day otherwise, and a bad one: messages are late, and some are lost.
DAYS, STEPS = (range(200), 12) if takes_everything() else ([3], 6)


@pytest.fixture(scope="module")
def room(lab_server, browser, tmp_path_factory):
    course = classroom(tmp_path_factory.mktemp("days") / "course")
    made = Classroom(course, lab_server, new_window(browser).context)
    yield made
    close_window(made.windows[0].page)


@pytest.mark.parametrize("seed", DAYS)
def test_everything_tells_the_same_after_every_step_of_a_day(room, seed):
    day = room.day(seed)
    try:
        day.go_on(STEPS)
    except Disagreement:
        room.open_windows_again()
        raise
    day.end()
