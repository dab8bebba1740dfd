"""The control panel: which controls moved in a message, and what is sent once."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.cards.card import Card
from mlsys_widgets.instruments.browser_widget import MODULE, VERSIONS
from mlsys_widgets.instruments.control_panel import ControlPanel, packed, unpacked


def test_only_what_moved_since_the_last_message_counts() -> None:
    panel = ControlPanel(spec={}, readout={})
    found = []
    panel.observe(lambda change: found.append(panel.since(change)), names=["moved"])
    panel.moved = {"n": [1, 10.0]}
    panel.moved = {"n": [1, 10.0], "m": [2, 11.0]}
    panel.moved = {"n": [1, 12.0], "m": [2, 11.0]}  # the same value again is still a move
    assert found == [{"n": 1}, {"m": 2}, {"n": 1}]


_ASKED = ["moved", "dragged", "typed", "command"]


def test_a_move_that_is_pushed_counts_and_is_not_sent_back() -> None:
    panel = ControlPanel(spec={}, readout={})
    found, sent = [], []
    panel.observe(lambda change: found.append(change["name"]), names=_ASKED)
    panel._send = lambda message, buffers=None: sent.append(message)
    update = {"moved": {"n": [1, 10.0]}, "spec": {"title": "not for a browser to say"}}
    panel._handle_custom_msg({"update": update}, [])
    panel._handle_custom_msg({"update": update}, [])
    panel._handle_custom_msg({}, [])
    assert (found, sent) == (["moved"], [])  # heard twice, it is one move
    assert (panel.moved, panel.spec) == ({"n": [1, 10.0]}, {})
    later = {"command": {"list": []}, "typed": {"name": "n"}, "dragged": {"handle": "end"}}
    panel._handle_custom_msg({"update": {**later, "moved": {"n": [2, 11.0]}}}, [])
    assert (found[1:], sent) == (_ASKED, [])  # moves first, whatever the order in the message


def test_a_state_travels_whole_and_small() -> None:
    numbers = memoryview(b"\0" * 16)
    state = {"number": 3, "hidden": ["n"], "sentence": "29.9 µs. " * 100, "numbers": numbers}
    sent = packed(state)
    assert (sent["number"], sent["hidden"], sent["numbers"]) == (3, ["n"], numbers)
    assert len(sent["packed"]) < 100
    assert unpacked(sent) == state


def test_a_number_that_json_cannot_write_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        packed({"number": 1, "hidden": [], "values": {"n": float("nan")}, "numbers": b""})


def test_nothing_from_the_browser_is_echoed() -> None:
    for name in ("moved", "typed", "command"):
        assert ControlPanel.class_traits()[name].metadata["echo_update"] is False
    assert "echo_update" not in ControlPanel.class_traits()["readout"].metadata


def test_no_widget_brings_text_for_the_browser() -> None:
    """Models name their side in the browser, and none of them carries it."""
    for widget in (ControlPanel(spec={}, readout={}), Card()):
        state = widget.get_state()
        name = type(widget).__name__
        for part in ("model", "view"):
            assert state[f"_{part}_name"] == f"{name}{part.capitalize()}"
            assert state[f"_{part}_module"] == MODULE
            assert state[f"_{part}_module_version"] == VERSIONS
        assert len(json.dumps(state)) < 1000
