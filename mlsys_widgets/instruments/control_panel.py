"""The control panel of an instrument: one widget for its controls and everything it says.

All of an update travels as one message: text, formatted in Python, and the data of the plots.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

_STATIC = Path(__file__).parent / "static"
#: One module for the browser, made of parts that each hold one idea.
_PARTS = ("elements.js", "controls.js", "handles.js", "player.js", "control_panel.js")


class ControlPanel(anywidget.AnyWidget):
    """Controls and readout. The instrument writes ``readout`` and watches the other traits."""

    STYLE = _STATIC / "control_panel.css"
    _esm = "\n".join((_STATIC / part).read_text("utf-8") for part in _PARTS)
    _css = STYLE

    #: Title and controls, sent once.
    spec = traitlets.Dict().tag(sync=True)
    #: What is shown, whole: values, cards, sentence, table, legends, plots, under a number that
    #: only grows.
    readout = traitlets.Dict().tag(sync=True)
    # From the browser; nothing needs them echoed.
    moved = traitlets.Dict().tag(sync=True, echo_update=False)
    typed = traitlets.Dict().tag(sync=True, echo_update=False)
    dragged = traitlets.Dict().tag(sync=True, echo_update=False)
    command = traitlets.Dict().tag(sync=True, echo_update=False)

    def since(self, change: Any) -> dict[str, Any]:
        """The controls that moved in a change, with their new values."""
        old = change["old"] or {}
        return {name: sent[0] for name, sent in change["new"].items() if old.get(name) != sent}
