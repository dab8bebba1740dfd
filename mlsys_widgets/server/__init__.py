"""The Lab panel's half in the Jupyter server: ledgers and labs under the user's own root.

A Jupyter server extension. It reads ledgers, sets one aside when a student restarts a lab, and
serves nothing that the server's own file browser would not show. Start with `handlers`, the
panel's addresses, and `reports`, which says what the panel shows about a lab; `paths` decides
what may be read at all. `drafts_handler` keeps what is typed and not recorded, `handin_handler`
hands a lab in, and `takeover` and `carry_over` bring a student's work into a new version of a lab.
With every save, `saved_pages` puts into the notebook how its widgets look, for pages without a
kernel, and `saved_records` what its ledger records, for whoever gets only the notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__: list[str] = []


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "mlsys_widgets.server"}]


def _load_jupyter_server_extension(serverapp: ServerApp) -> None:
    """Add the panel's addresses to a server, and speed up its websockets. Called by Jupyter."""
    from mlsys_widgets.server.drafts_handler import DraftsHandler
    from mlsys_widgets.server.handin_handler import HandInHandler
    from mlsys_widgets.server.handlers import PANEL, PanelServices, add_handlers
    from mlsys_widgets.server.no_delay import send_at_once
    from mlsys_widgets.server.saved_pages import save_pages
    from mlsys_widgets.server.saved_records import save_records
    from mlsys_widgets.server.second_look_handler import SecondLookHandler
    from mlsys_widgets.server.start_page_dates import keep_start_page
    from mlsys_widgets.server.takeover import recover_all
    from mlsys_widgets.server.told_handler import ToldHandler
    from mlsys_widgets.server.version_handler import VersionHandler

    services = PanelServices(serverapp)
    recover_all(services.root.folder)
    handlers = {
        **PANEL,
        "drafts": DraftsHandler,
        "hand-in": HandInHandler,
        "second-look": SecondLookHandler,
        "told": ToldHandler,
        "new-version": VersionHandler,
    }
    add_handlers(serverapp, services, handlers)
    save_pages(serverapp)
    save_records(serverapp, services.root)
    send_at_once(serverapp)
    keep_start_page(serverapp)
