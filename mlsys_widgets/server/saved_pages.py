"""Saves in a notebook's file how its widgets look now, not how they looked when their cells ran.

Kernels write the pages; see ``instruments.still_pages``. Whoever exports the notebook, or opens it
where no kernel runs, then sees what was done.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mlsys_widgets.files import PAGES

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
#: What a page may consist of.
_STILL: Final = frozenset({"text/plain", "text/html", "image/svg+xml"})
_MODEL_ID: Final = re.compile(r"[0-9a-f]{32}")
#: A page beyond this many bytes is left out.
_LARGEST: Final = 1 << 20
#: Seconds after which a page belongs to a kernel that nobody will save any more.
_FORGOTTEN: Final = 7 * 86_400


class SavedPages:
    """Puts pages into notebooks that are about to be saved."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put_into(self, *, model: dict[str, Any], **_more: Any) -> None:
        """Update the outputs of a notebook; called by the server before it saves."""
        content = model.get("content")
        if model.get("type") != "notebook" or not isinstance(content, dict):
            return
        # Most notebooks are not labs.
        if "mlsys" not in content.get("metadata", {}):
            return
        for cell in content.get("cells", ()):
            for output in cell.get("outputs", ()):
                data = output.get("data")
                if isinstance(data, dict) and _WIDGET in data:
                    data.update(self.page(data[_WIDGET]))

    def page(self, view: Any) -> dict[str, str]:
        """Read how a widget looks now; empty if no kernel has written it."""
        name = view.get("model_id") if isinstance(view, dict) else None
        if not isinstance(name, str) or not _MODEL_ID.fullmatch(name):
            return {}
        path = self.folder / f"{name}.json"
        try:
            if path.is_symlink() or path.stat().st_size > _LARGEST:
                return {}
            kept = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return {
            kind: page for kind, page in kept.items() if kind in _STILL and isinstance(page, str)
        }

    def forget(self, now: float | None = None) -> None:
        """Remove the pages of kernels that have long ended."""
        before = (time.time() if now is None else now) - _FORGOTTEN
        for path in self.folder.glob("*.json"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < before:
                    path.unlink()


def save_pages(serverapp: ServerApp) -> None:
    """Have a server save how widgets look."""
    pages = SavedPages(Path(serverapp.runtime_dir) / PAGES)
    pages.forget()
    serverapp.contents_manager.register_pre_save_hook(pages.put_into)  # type: ignore[no-untyped-call]
