"""A checklist: checked off, saved as often as wanted, with advice by score."""

from __future__ import annotations

import pytest

from mlsys_widgets import SelfAssessment
from mlsys_widgets.labs import Checklist

BANDS = [(0, "Early days", "Read again."), (2, "Nearly", "Look up the gaps."), (3, "Ready", "On.")]
ITEMS = {"ridge": "find a **ridge**", "fuse": "fuse kernels", "trace": "read a trace"}


def test_a_checklist(led, open_ledger, browser_of):
    can = SelfAssessment(
        "can", ITEMS, bands=BANDS, review={"trace": "Days 8–11", "fuse": "Day 13"}, ledger=led
    )
    page = browser_of(can)
    assert can.band is None
    page.ask("save", items=["fuse", "ridge"])
    assert page.said == "2 of 3. Nearly. Look up the gaps."
    assert page.parts["gaps"]["points"] == [["read a trace", "Days 8–11"]]
    again = SelfAssessment("can", ITEMS, bands=BANDS, ledger=open_ledger())
    assert again.ticked == ("ridge", "fuse")
    assert again.save(list(ITEMS)) == (3, "Ready", "On.")
    assert "[x] find a ridge" in again.text()
    assert again.save([])[1] == "Early days"
    with pytest.raises(ValueError, match="ticked names 'x'"):
        can.save(["x"])


@pytest.mark.parametrize("bands", [[], [(1, "a", "b")], [(0, "a", "b"), (9, "c", "d")]])
def test_bands_that_leave_a_gap(led, bands):
    with pytest.raises(ValueError, match="must begin at 0"):
        SelfAssessment("can", ITEMS, bands=bands, ledger=led)


def test_the_item_itself_makes_the_card(led, browser_of):
    can = SelfAssessment("can", Checklist(ITEMS, BANDS, title="Without notes"), ledger=led)
    assert can.title == "Without notes"
    assert not can.is_open
    browser_of(can).ask("save", items=[])
    assert can.is_open
    assert can.band == (0, "Early days", "Read again.")
