"""Each lab's cover has a picture that moves, is small, and tells nothing that is predicted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsys_widgets import MovingPicture
from mlsys_widgets.labs import Prediction
from tests.labs.opened_lab import open_lab_of
from tests.labs.rehearsal import ROOT

LABS = sorted(path.parent.name for path in ROOT.glob("assignments/*/asks.py"))
#: Bytes of a picture that travels with the cover.
SMALL = 16_384


@pytest.mark.parametrize("name", LABS)
def test_the_cover_of_a_lab_moves_and_gives_nothing_away(name: str, tmp_path: Path) -> None:
    opened = open_lab_of(name, "student-01", tmp_path / name)
    cover = opened.names["cover"]
    assert isinstance(cover, MovingPicture)
    assert "@keyframes" in cover.svg
    assert "<text" not in cover.svg
    assert not re.search(r"\d|half|twice|times", cover.words)
    assert len(cover.svg.encode()) <= SMALL
    # It shows an instrument of the lab, and never where a prediction is about it.
    made = cover._instrument(**cover._inputs)
    assert any(type(each) is type(made) for each in opened.instruments)
    for title, item in opened.lab.items.items():
        if not isinstance(item, Prediction) or not item.settings:
            continue
        ours = {key: value for key, value in item.settings.items() if key in made.controls}
        differs = [
            key
            for key, value in ours.items()
            if (
                not min(cover._sweep[key]) <= value <= max(cover._sweep[key])
                if key in cover._sweep
                else made.inputs[key] != value
            )
        ]
        about = item.quantity in made.predictable
        assert differs or not about, f"{title} is about what the cover shows"
