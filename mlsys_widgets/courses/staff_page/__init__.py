"""The page on which staff run a course in the browser: a Jupyter server extension.

It runs in the server of whoever teaches, with that person's rights, in the folder of the course.
Whatever it changes, it changes with the commands of the package (`actions`), which it starts as
other processes (`running_commands`); it only reads for itself (`views`). Essays are the exception:
they are saved at once, with the function that the command calls (`essays_handler`). It has no
script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__: list[str] = []


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell Jupyter which module to load."""
    return [{"module": "mlsys_widgets.courses.staff_page"}]


def _load_jupyter_server_extension(serverapp: ServerApp) -> None:
    """Add the page to a server. Called by Jupyter."""
    from mlsys_widgets.courses.staff_page.essays_handler import EssaysHandler
    from mlsys_widgets.courses.staff_page.staff_handlers import add_page

    add_page(serverapp, {"essays": EssaysHandler})
