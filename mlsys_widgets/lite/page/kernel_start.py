"""How a kernel of the site starts: prepared for ledgers first, then for its page.

`prepare` runs while the kernel is imported, before anything else can run in it. `begin` comes from
the Lab panel as soon as the kernel answers; until then nothing is written to a ledger.
"""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.labs.opening import object_with
from mlsys_widgets.ledger.journal import Journal, keep_with
from mlsys_widgets.lite.page.asking import published, version_shown
from mlsys_widgets.lite.page.stored_journal import StoredJournal
from mlsys_widgets.lite.page.tab import Tab

#: Where a kernel has the files of the site, and those that its visitor keeps here.
DRIVE: Final = Path("/drive")
#: In there: what is no lab's, such as who the visitor is.
OWN: Final = DRIVE / ".mlsys"
#: The comm that the Lab panel opens.
TARGET: Final = "mlsys-panel"

_TAB: Final = Tab()
_SITES: Final[list[str]] = []
_NOTEBOOKS: Final[list[str]] = []
_PANELS: Final[list[Any]] = []


def prepare() -> None:
    """Have ledgers kept as this browser can keep them, and the panel answered."""
    import comm
    from IPython.core.getipython import get_ipython

    os.environ["XDG_CONFIG_HOME"] = str(OWN)

    def stored(path: Path, patience: float) -> Journal:
        return StoredJournal(path, _TAB, patience=patience)

    keep_with(stored)
    object_with(_objection)
    comm.get_comm_manager().register_target(TARGET, _answer_panel)
    # The kernel asks for jedi, which a site does without.
    shell = get_ipython()
    if shell:
        shell.Completer.use_jedi = False


async def begin(page: str, notebook: str) -> None:
    """Connect the files with the page, and ask to be the one that writes in this folder.

    Parameters
    ----------
    page
        The name under which the page answers for files.
    notebook
        Where the notebook of this kernel is now, in the drive.
    """
    if _TAB.folder is not None:
        _NOTEBOOKS[:] = [notebook]
        return
    from pyodide.code import run_js
    from pyodide_js import FS

    connect = resources.files(__package__).joinpath("drive.js").read_text("utf-8")
    site = run_js(connect)(FS, page)
    _SITES.append(str(site))
    _NOTEBOOKS[:] = [notebook]
    await _TAB.hold(Path.cwd(), str(site), run_js)


def _answer_panel(comm: Any, message: Any) -> None:
    """Answer the question with which the page has opened a comm; each question has its own."""
    # Not before somebody asks: it brings along what the first cell of a lab loads anyway.
    from mlsys_widgets.lite.page.new_release import Releases
    from mlsys_widgets.lite.page.panel import PagePanel

    if not _PANELS:
        _PANELS.append(PagePanel(DRIVE, Releases(_from_site)))
    # As text: on their way between Python and the page, data lose what is null.
    request = json.loads(message["content"]["data"]["request"])
    comm.send({"reply": json.dumps(_PANELS[0].reply(request), allow_nan=False)})
    comm.close()


def _objection(folder: Path) -> str | None:
    """Why the lab in a folder must not open in this kernel: its notebook is of another version."""
    if not _NOTEBOOKS:
        return None  # no page has connected this kernel, which keeps nothing then
    from mlsys_widgets.lite.page.new_release import Releases, objection

    return objection(folder, version_shown(_NOTEBOOKS[0]), Releases(_from_site))


def _from_site(address: str) -> bytes | None:
    return published(_SITES[0] + address) if _SITES else None
