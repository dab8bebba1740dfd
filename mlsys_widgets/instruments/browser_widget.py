"""The base of our widgets: where their side in the browser comes from.

Cards and control panels share one module for the browser. It is part of the Lab extension, in
labextension/src/widgets, and travels with no widget.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import ipywidgets
import traitlets

_ABOUT: Final = json.loads(
    (Path(__file__).parents[1] / "labextension" / "package.json").read_text("utf-8")
)
MODULE: Final[str] = _ABOUT["name"]
#: What a page may have, as ipywidgets writes it: this version, or one that only adds to it.
VERSIONS: Final = f"^{_ABOUT['version']}"


class BrowserWidget(ipywidgets.DOMWidget):
    """A widget whose model and view are in our module; subclasses say which they are."""

    _model_module = traitlets.Unicode(MODULE).tag(sync=True)
    _model_module_version = traitlets.Unicode(VERSIONS).tag(sync=True)
    _view_module = traitlets.Unicode(MODULE).tag(sync=True)
    _view_module_version = traitlets.Unicode(VERSIONS).tag(sync=True)
