"""Kernel websockets that send at once.

Jupyter's server leaves Nagle's algorithm on for them. The answer to a slider move is a dozen small
messages: the first leaves, and the others wait until the browser acknowledges it, which takes it
40 ms. That is most of the time a student waits for a slider.
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
        self.websocket_handler.set_nodelay(True)
        return super().connect()


def send_at_once(serverapp: ServerApp) -> None:
    """Make a server's kernel websockets send at once, unless somebody installed their own."""
    settings = serverapp.web_app.settings
    if settings.get(SETTING) is ZMQChannelsWebsocketConnection:
        settings[SETTING] = PromptConnection
