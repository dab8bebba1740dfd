"""The control panel of an instrument: one widget for its controls and everything it says.

All text of an update travels as one message, formatted in Python, so a slider move costs one
message here and one for each mark that changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

_STATIC = Path(__file__).parent / "static"


class ControlPanel(anywidget.AnyWidget):
    """Controls and readout. The instrument writes ``readout`` and watches the other traits."""

    STYLE = _STATIC / "control_panel.css"
    _esm = _STATIC / "control_panel.js"
    _css = STYLE

    #: Title and controls, sent once.
    spec = traitlets.Dict().tag(sync=True)
    #: What is shown: values, cards, sentence, table, legend, errors.
    readout = traitlets.Dict().tag(sync=True)
    # From the browser; nothing needs them echoed.
    moved = traitlets.Dict().tag(sync=True, echo_update=False)
    typed = traitlets.Dict().tag(sync=True, echo_update=False)
    command = traitlets.Dict().tag(sync=True, echo_update=False)

    def since(self, change: Any) -> dict[str, Any]:
        """The controls that moved in a change, with their new values."""
        old = change["old"] or {}
        return {name: sent[0] for name, sent in change["new"].items() if old.get(name) != sent}
