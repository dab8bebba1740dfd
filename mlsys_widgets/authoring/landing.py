"""The page on which a newcomer lands: which lab comes first, and how to find one's way.

It is made from what is released and from nothing else, so it never promises a lab that is not
there, and points and minutes are those of the labs themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mlsys_widgets.labs import Lab, Message, load
from mlsys_widgets.physics import format_quantity

FILE_NAME: Final = "START_HERE.md"

_PAGE: Final = """\
# Start here

You predict first and look second: commit a prediction, and the instruments open.

## The labs, in this order

{labs}

Each lab takes what you decided in the one before, so begin with **{first}**.

## Before your first lab

Your numbers are drawn from your name. If your course knows you under another name than this computer does,
choose *File → New → Terminal* and type this, with your own name:

```
mlsys whoami NAME
```

## In a lab

1. Open it with its link above and choose *Run → Run All Cells*. Everything that waits for you says so.
2. Go from top to bottom. Choose an option and how sure you are, then commit. It is sealed for good.
3. Type your numbers into the cells with `= ...` and run them together with the cell below, which says whether
   they can be graded. *Shift + Enter* runs a cell.

On the right, the **Lab panel** lists the steps of the lab and which are done; a click goes there. What you commit
is kept in your **ledger**, the file `ledger.jsonl` beside the notebook. It is handed in with the notebook, so leave
it where it is.

## Stuck?

Choose *Kernel → Restart Kernel and Run All Cells…*. What you committed is found again, and nothing is lost. To
begin a lab anew, the Lab panel has *Restart the lab…*.
"""


def write_landing(release: Path) -> Path:
    """Write the page for the labs that are released.

    Parameters
    ----------
    release
        The folder that holds a folder for each lab.
    """
    path = release / FILE_NAME
    path.write_text(landing(release), "utf-8")
    return path


def landing(release: Path) -> str:
    """The page, as Markdown with links that JupyterLab follows."""
    found = [load(path.parent) for path in sorted(release.glob("*/asks.py"))]
    lines = [_line(number, lab) for number, lab in enumerate(found, 1)]
    first = _link(found[0]) if found else "the first that is released"
    return _PAGE.format(labs="\n".join(lines) or "None is released yet.", first=first)


def _line(number: int, lab: Lab) -> str:
    parameters = lab.draw("", variants=False)
    points = format_quantity(sum(lab.points(parameters).values()), "points")
    messages = [each for each in lab.items(parameters).values() if isinstance(each, Message)]
    if messages:
        asks = messages[0]
        about = f"*{asks.subject}* {asks.task}"
    else:
        about = " ".join(f"*{act}*" for act in lab.acts)
    return f"{number}. **{_link(lab)}**, {lab.minutes} minutes, {points}.  \n   {about}"


def _link(lab: Lab) -> str:
    return f"[{lab.title}]({lab.name}/{lab.name}.ipynb)"
