"""The control panel of an instrument: one widget for its controls and everything it says.

All of an update travels as one message: text, formatted in Python, and the data of the plots. The
message is compressed, because it travels whole with every move.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import traitlets

from mlsys_widgets.instruments.browser_widget import BrowserWidget

#: Quick, and nearly as small as the best.
_LEVEL = 1


def packed(state: dict[str, Any], _: Any = None) -> dict[str, Any]:
    """Return a state as it travels: its text as compressed JSON, and the numbers of its plots.

    Its number and the names of hidden controls stay readable for whoever looks at messages.
    """
    if not state:
        return state
    readable = {name: state[name] for name in ("number", "hidden")}
    content = {name: value for name, value in state.items() if name != "numbers"}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    deflated = memoryview(zlib.compress(text.encode(), _LEVEL))
    return {**readable, "packed": deflated, "numbers": state["numbers"]}


def unpacked(sent: dict[str, Any]) -> dict[str, Any]:
    """Return the state that was packed, as the browser reads it."""
    content: dict[str, Any] = json.loads(zlib.decompress(sent["packed"]))
    return {**content, "numbers": sent["numbers"]}


class ControlPanel(BrowserWidget):
    """Controls and readout. The instrument writes ``readout`` and watches the other traits."""

    SHOWN = "readout"
    _model_name = traitlets.Unicode("ControlPanelModel").tag(sync=True)
    _view_name = traitlets.Unicode("ControlPanelView").tag(sync=True)

    #: Title and controls, sent once.
    spec = traitlets.Dict().tag(sync=True)
    #: What is shown, whole: values, cards, sentence, table, legends, plots, under a number that
    #: only grows.
    readout = traitlets.Dict().tag(sync=True, to_json=packed)
    # From the browser; nothing needs them echoed.
    moved = traitlets.Dict().tag(sync=True, echo_update=False)
    typed = traitlets.Dict().tag(sync=True, echo_update=False)
    dragged = traitlets.Dict().tag(sync=True, echo_update=False)
    command = traitlets.Dict().tag(sync=True, echo_update=False)

    def __init__(self, **state: Any) -> None:
        super().__init__(**state)
        self.on_msg(self._pushed)

    def _pushed(self, _: Any, content: Any, __: Any) -> None:
        """Do what the browser asks for, without waiting for its turn among changes of ipywidgets.

        Moves come first: whoever moves and then resets means that order.
        """
        update = content.get("update", {})
        for name in ("moved", "dragged", "typed", "command"):
            if name in update:
                self.set_state({name: update[name]})

    def since(self, change: Any) -> dict[str, Any]:
        """Return the controls that moved in a change, with their new values."""
        old = change["old"] or {}
        return {name: sent[0] for name, sent in change["new"].items() if old.get(name) != sent}
