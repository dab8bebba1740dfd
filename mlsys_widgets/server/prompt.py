"""Kernel websockets that send at once.

Jupyter's server leaves Nagle's algorithm on for them. An answer to a slider is a dozen small
messages: the first leaves, the others wait until the browser has acknowledged it, and it waits for
40 ms with that. Most of what a student waits for a slider is this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

SETTING: Final = "kernel_websocket_connection_class"


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's own connection to a kernel, without the delay."""

    def connect(self) -> Any:
        """Begin to pass messages on."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()


def send_at_once(serverapp: ServerApp) -> None:
    """Have a server's kernel websockets send at once, unless somebody has put in their own."""
    settings = serverapp.web_app.settings
    if settings.get(SETTING) is ZMQChannelsWebsocketConnection:
        settings[SETTING] = PromptConnection
