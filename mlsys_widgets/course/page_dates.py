"""The dates of labs on the page where students start: a list between two marks.

When labs are built, the list holds the dates. A Jupyter server replaces it with what holds now for
its student, and changes nothing else on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from mlsys_widgets.course.due_words import due_words, long_time
from mlsys_widgets.course.own_dates import OwnDates

_BEGIN: Final = "<!-- when labs are due; your Jupyter server keeps this up to date -->"
_END: Final = "<!-- end of when labs are due -->"
_BLOCK: Final = re.compile(f"{re.escape(_BEGIN)}\\n.*?{re.escape(_END)}\\n", re.S)
#: Marks without anything between them, for a page that gets dates later.
EMPTY: Final = f"{_BEGIN}\n{_END}\n"


def page_dates(known: Iterable[OwnDates], now: datetime | None = None) -> str:
    """Return the list, with its marks.

    Without ``now`` there are only dates, and not how much time is left.
    """
    lines = [line for dates in known for line in _lines(dates, now)]
    if not lines:
        return EMPTY
    return "\n".join([_BEGIN, "", "## When labs are due", "", *lines, "", _END, ""])


def with_page_dates(page: str, block: str) -> str:
    r"""Return a page with this list in place of its own; one without marks stays as it is."""
    return _BLOCK.sub(lambda _: block, page, count=1)


def _lines(dates: OwnDates, now: datetime | None) -> Iterator[str]:
    for lab, of in dates.labs.items():
        name = dates.titles.get(lab) or lab.replace("_", " ").capitalize()
        if now is None:
            times = (("opens", of.release), ("due", of.due), ("closes", of.close))
            words = [f"{what} {long_time(at, dates.zone)}" for what, at in times if at]
            yield f"- **{name}**: {'; '.join(words)}."
        elif due := due_words(dates, lab, now):
            yield f"- **{name}**: {due.text}"
