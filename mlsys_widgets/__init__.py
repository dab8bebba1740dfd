"""Interactive, gradable machine-learning-systems labs for Jupyter.

Importing the package loads nothing else: every public name arrives on first use, so that the
physics core never pays for the widget libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

#: Public name -> the module that holds it. A module itself is named by an empty attribute.
_HOMES: dict[str, tuple[str, str]] = {
    "measured": ("mlsys_widgets.measured", ""),
    "physics": ("mlsys_widgets.physics", ""),
}

__all__ = ["__version__", "measured", "physics"]

if TYPE_CHECKING:
    from mlsys_widgets import measured, physics


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    loaded = import_module(module)
    value = getattr(loaded, attribute) if attribute else loaded
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
