"""The page where newcomers start: which lab comes first, and how to work on one.

It is made only from what is released, so it never promises a lab that is missing, and its points
and minutes are those of the labs themselves; minutes were counted when the notebook was built.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.own_dates import LAB_DATES, read_dates
from mlsys_widgets.course.page_dates import page_dates
from mlsys_widgets.files import START_PAGE
from mlsys_widgets.labs import Lab, Message, load
from mlsys_widgets.labs.about_lab import about_lab
from mlsys_widgets.labs.deeper import as_counted
from mlsys_widgets.labs.lab import points_of
from mlsys_widgets.labs.lab_minutes import LabMinutes
from mlsys_widgets.labs.practice import PRACTICE, WAY
from mlsys_widgets.wording.units import format_quantity

_PAGE: Final = """\
# Start here

{way}In these labs you predict first and look second: once you commit a prediction, the instruments
open.

**Open this one first: {first}.** Later labs build on what you decide in earlier ones.

## The labs, in order

{labs}

{dates}
## Before your first lab

Your work carries your name, and your numbers are drawn from it. If your course knows you by a
different name than this computer does, choose *File → New → Terminal* and type this, with the name
that your course uses:

```
mlsys whoami NAME
```

## In a lab

1. Open it with its link and press *Start*. Whatever is still locked says so.
2. Go from top to bottom. Where you are asked what you expect, choose an answer and how sure you
   are, and commit. You cannot change a prediction afterward, but being wrong costs nothing.
3. Answer each question in its card: `33%`, `1,000`, `3.94 µs` and `1e3` can all be read. What the
   card calls recorded is saved; you can change it {judged}

On the right, the **Lab panel** lists the steps of the lab and which of them are done; click a step
to go there. What you commit is kept in your **ledger**, the file `ledger.jsonl` beside the
notebook. {ledger}

## Stuck?

Restart the kernel and press *Resume*; everything you committed and recorded is still there. To
start a lab over from scratch, use *Restart the lab…* in the Lab panel.
"""

_ASSIGNMENT: Final = {
    "way": "",
    "judged": """\
until you hand in. Whether it is right, you
   learn from the feedback.
4. When you are done, press *Hand in…* in the Lab panel. It names what is missing first.""",
    "ledger": "You submit it together with the notebook, so leave it where it is.",
}
_PRACTICE: Final = {
    "way": """\
**This is practice.** Each answer is judged at once and explained, and you can ask for another
question like it, on new numbers, as often as you want. Nothing is graded, and the checks lie beside
each notebook in `checks.py`, for whoever wants to read them.

""",
    "judged": """\
whenever you
   like. The card says at once whether it is right, why, and how it is solved with your numbers.
4. Press *Another one like this* until a question is mastered (●●): two right at the first try.""",
    "ledger": "It belongs to the notebook, so leave it where it is.",
}


def write_start_page(release: Path) -> Path:
    """Write the page for the labs that are released."""
    path = release / START_PAGE
    path.write_text(start_page(release), "utf-8")
    return path


def start_page(release: Path) -> str:
    """Return the page, as Markdown with links that JupyterLab follows."""
    found = [load(path.parent) for path in sorted(release.glob("*/asks.py"))]
    books = [about_lab(release / lab.name / f"{lab.name}.ipynb") for lab in found]
    lines = [_line(number, *each) for number, each in enumerate(zip(found, books, strict=True), 1)]
    first = _link(found[0]) if found else "none is released yet"
    known = [read_dates(release / lab.name / LAB_DATES) for lab in found]
    dates = page_dates(filter(None, known))
    practice = bool(books) and all(each.get(WAY) == PRACTICE for each in books)
    words = _PRACTICE if practice else _ASSIGNMENT
    return _PAGE.format(labs="\n\n".join(lines), first=first, dates=dates, **words)


def _how_long(lab: Lab, built: Mapping[str, Any]) -> str:
    """How long a lab takes, as its author says or as it was counted; empty if neither is known."""
    if lab.minutes:
        return f"about {lab.minutes} minutes, "
    return f"{LabMinutes.from_plain(built['minutes']).in_words}, " if "minutes" in built else ""


def _line(number: int, lab: Lab, built: Mapping[str, Any]) -> str:
    parameters = lab.draw("", variants=False)
    items = as_counted(lab.items(parameters), built.get("deeper", "optional"))
    counts = format_quantity(sum(points_of(items).values()), "points")
    points = PRACTICE if built.get(WAY) == PRACTICE else counts
    how_long = _how_long(lab, built)
    messages = [each for each in lab.items(parameters).values() if isinstance(each, Message)]
    if messages:
        subject, task = messages[0].subject, messages[0].task
        about = f"*{subject}{'' if subject[-1:] in '.?!' else '.'}* {task}"
    else:
        about = " ".join(f"*{act}*" for act in lab.acts)
    return f"{number}. **{_link(lab)}**, {how_long}{points}.  \n   {about}"


def _link(lab: Lab) -> str:
    return f"[{lab.title}]({lab.name}/{lab.name}.ipynb)"
