"""The base of our widgets: where their side in the browser comes from, and what it may have missed.

Cards and control panels share one module for the browser. It is part of the Lab extension, in
labextension/src/widgets, and travels with no widget.

What a widget shows has a number that only grows. Messages can be lost on their way, so a page tells
us the numbers that it shows, and gets what is newer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Final
from weakref import WeakValueDictionary

import ipywidgets
import traitlets

from mlsys_widgets.instruments.lazy_widget import LazyBox

_ABOUT: Final = json.loads(
    (Path(__file__).parents[1] / "labextension" / "package.json").read_text("utf-8")
)
MODULE: Final[str] = _ABOUT["name"]
#: What a page may have, as ipywidgets writes it: this version, or one that only adds to it.
VERSIONS: Final = f"^{_ABOUT['version']}"


class BrowserWidget(ipywidgets.DOMWidget):
    """A widget whose model and view are in our module; subclasses say which they are."""

    #: The trait that holds what is shown, under its ``number``.
    SHOWN: ClassVar[str]

    _open: ClassVar[WeakValueDictionary[str, BrowserWidget]] = WeakValueDictionary()

    _model_module = traitlets.Unicode(MODULE).tag(sync=True)
    _model_module_version = traitlets.Unicode(VERSIONS).tag(sync=True)
    _view_module = traitlets.Unicode(MODULE).tag(sync=True)
    _view_module_version = traitlets.Unicode(VERSIONS).tag(sync=True)

    def open(self) -> None:
        super().open()
        BrowserWidget._open[self.model_id] = self

    @property
    def number(self) -> int:
        """The number of what is shown now."""
        shown: dict[str, Any] = getattr(self, self.SHOWN)
        return int(shown.get("number", 0))

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and "have" in content:
            self._catch_up(content["have"], content.get("stamp"))
        else:
            super()._handle_custom_msg(content, buffers)

    def _catch_up(self, have: Any, stamp: Any) -> None:
        """Send again what a page has older, and answer with the numbers of that."""
        LazyBox.tell_again()
        newest = {}
        for name, number in have.items() if isinstance(have, dict) else ():
            widget = BrowserWidget._open.get(name)
            if widget is None or widget.comm is None or not isinstance(number, int):
                continue
            if number < widget.number:
                widget.send_state(widget.SHOWN)
                newest[name] = widget.number
        self.send({"newest": newest, "stamp": stamp})
