"""What a hub remembers, and files that it refuses."""

from __future__ import annotations

import pytest

from mlsys_widgets.hub.hub_state import Account, HubState


def test_what_is_remembered_comes_back_and_a_broken_file_is_named(places):
    state = HubState.new("hub", "instructor", "student")
    state.accounts["student"] = Account("student", 1001, 1001, "student")
    state.write(places.state)
    assert HubState.read(places.state) == state
    places.state.write_text("{")
    with pytest.raises(ValueError, match=r"hub\.json cannot be read"):
        HubState.read(places.state)
    places.state.write_text('{"format": 99}')
    with pytest.raises(ValueError, match="another version"):
        HubState.read(places.state)
