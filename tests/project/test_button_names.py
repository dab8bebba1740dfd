"""Pages call a button what the button says, down to the three dots of one that asks first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PANEL = ROOT / "labextension" / "src"
#: Where buttons of the panel are named; pages that a server or a build writes are among them.
PAGES = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "mlsys_widgets").rglob("START_HERE.md"),
        ROOT / "mlsys_widgets" / "authoring" / "start_page.py",
        *(ROOT / "assignments").glob("*/*.py"),
        ROOT / "README.md",
    ]
)


@pytest.fixture(scope="module")
def asking() -> set[str]:
    """The names of buttons that ask something before they act, without their dots."""
    text = "\n".join(path.read_text("utf-8") for path in PANEL.rglob("*.ts*"))
    return set(re.findall(r"(?:^\s*|label: ')([A-Z][\w ]+)…(?:$|')", text, re.M))


def test_the_names_are_found(asking):
    assert {"Hand in", "Hand in again", "Restart the lab", "Hand in the Lab"} <= asking


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_them_as_they_are(asking, page):
    marked = re.findall(r"(?<!\*)\*{1,2}([^*\n]+?)\*{1,2}(?!\*)", page.read_text("utf-8"))
    wrong = {name for name in marked if name in asking}
    assert not wrong, f"{page.name} names buttons without their dots: {sorted(wrong)}"
