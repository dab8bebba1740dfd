"""The folders of a hub: who may pass through them."""

from __future__ import annotations

import stat
from pathlib import Path

from mlsys_widgets.hub.places import closed_parent


def test_a_closed_folder_on_the_way_is_found(tmp_path):
    tmp_path.chmod(0o700)
    assert closed_parent(tmp_path / "hub" / "deeper") is not None
    assert closed_parent(Path("/usr")) is None


def test_each_folder_is_open_only_to_those_who_need_it(places):
    places.make()  # a second time changes nothing
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in places.root.iterdir()}
    assert modes == {
        "homes": 0o711, "settings": 0o755, "exchange": 0o1777, "database": 0o700,
        "secrets": 0o700, "logs": 0o700, "hand_ins": 0o750, "dates": 0o711,
    }  # fmt: skip
    assert set(places.root.iterdir()) <= set(places.ours)  # what a reset removes
