"""The settings of the Jupyter servers of instructors and students.

Each role has a folder that ``JUPYTER_CONFIG_PATH`` points to, so nothing is written into anybody's
home, and a new version of this package brings its own settings.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import NBGRADER_CONFIG, START_PAGE
from mlsys_widgets.hub.places import SettingsKind

#: Where instructors try labs as students do, below the course.
TRIED: Final = "tried"

#: The server extension that lets only formgrader's own scripts run in its pages.
FORMGRADER_POLICY: Final = "mlsys_widgets.hub.services.formgrader_policy"

#: The server extension that lets staff run the course in the browser, and where it is.
STAFF_PAGE: Final = "mlsys_widgets.courses.staff_page"
STAFF_ADDRESS: Final = "mlsys/course/labs"

_RELEASE: Final = "mlsys_widgets.courses.release_hook.ReleaseVersion"
_COLLECT: Final = "mlsys_widgets.grading.plugins.collect.CollectByDescriptor"

_NBGRADER: Final = "nbgrader.server_extensions"
#: The parts of nbgrader that students do not have, in the browser and in the server. Validate is
#: among them because it calls every answer that is there a success; the panel says what is left.
_IN_THE_BROWSER: Final = ("formgrader", "create-assignment", "course-list", "validate-assignment")
_IN_THE_SERVER: Final = ("formgrader", "course_list")

#: On the loopback every user of the machine can listen to a kernel unless it encrypts.
_ENCRYPTED: Final = {"transport_encryption": "auto"}


def write_settings(
    folder: Path,
    role: SettingsKind,
    *,
    course_id: str,
    exchange: Path,
    course: Path | None = None,
    cache: Path | None = None,
    idle: int = 0,
    sockets: bool = False,
    shared: bool = False,
) -> None:
    """Write the settings of a role into a folder; what is in it is replaced.

    The folder of the course is for instructors; it is `shared` by a group if several people teach.
    nbgrader keeps a student's own copies of submissions in the `cache`, or in the home. A kernel
    that nobody is connected to is stopped after `idle` seconds, unless that is 0. With `sockets`,
    servers talk to kernels over sockets in Jupyter's runtime folder, which must have a short path.
    Otherwise they use encrypted ports of the loopback, where two kernels that start at the same
    time may pick the same port.
    """
    nbgrader: dict[str, Any] = {
        "CourseDirectory.course_id": course_id,
        "Exchange.root": str(exchange),
        # Notes where the ledger ends, for the grader to check.
        "ExchangeFactory.submit": "mlsys_widgets.server.submit.SubmitWithReceipt",
        # What a student sees there opens and closes by the calendar of the course.
        "ExchangeFactory.list": "mlsys_widgets.server.dated_exchange.ListByCalendar",
        "ExchangeFactory.fetch_assignment": "mlsys_widgets.server.dated_exchange.FetchByCalendar",
        **{f"KernelManager.{name}": value for name, value in _ENCRYPTED.items()},
    }
    if cache:
        nbgrader["Exchange.cache"] = str(cache)
    shell = shutil.which("bash", path="/usr/bin:/bin") or "/bin/sh"
    server: dict[str, Any] = {
        "ServerApp": {
            # A login shell would reset the path, and mlsys would not be on it.
            "terminado_settings": {"shell_command": [shell]},
            # It looks for language servers with npm at each start; there are none.
            "jpserver_extensions": {"jupyter_lsp": False},
        },
        "MappingKernelManager": {"cull_idle_timeout": idle, "cull_interval": max(60, idle // 4)},
        "KernelManager": {"transport": "ipc"} if sockets else _ENCRYPTED,
    }
    # It runs Node with every page, to say whether JupyterLab should be built again.
    page: dict[str, Any] = {"buildCheck": False}
    if role == "instructor":
        nbgrader["CourseDirectory.root"] = str(course)
        # Notes which version of a lab students get, for the grader and for the panel.
        nbgrader["ExchangeFactory.release_assignment"] = _RELEASE
        # Follows no link that a student put into what was handed in.
        nbgrader["ExchangeFactory.collect"] = _COLLECT
        if shared:
            nbgrader["CourseDirectory.groupshared"] = True
        nbgrader["Exchange.assignment_dir"] = str((course or Path()) / TRIED)
        # The formgrader is a page in a frame of JupyterLab, which a hub forbids.
        headers = {"Content-Security-Policy": "frame-ancestors 'self'"}
        server["ServerApp"]["tornado_settings"] = {"headers": headers}
        server["ServerApp"]["jpserver_extensions"] |= {FORMGRADER_POLICY: True, STAFF_PAGE: True}
        # The launcher of JupyterLab has a card for it.
        page["mlsysStaffPage"] = STAFF_ADDRESS
    else:
        page["disabledExtensions"] = {f"@jupyter/nbgrader:{name}": True for name in _IN_THE_BROWSER}
        server["ServerApp"]["jpserver_extensions"] |= {
            f"{_NBGRADER}.{name}": False for name in _IN_THE_SERVER
        }
    overrides = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false", "checkForUpdates": False,
        },
        "@jupyterlab/docmanager-extension:plugin": {
            "defaultViewers": {"markdown": "Markdown Preview"},
        },
    }  # fmt: skip
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "labconfig").mkdir(parents=True)
    for name, content in (
        ("jupyter_server_config.json", server),
        ("labconfig/page_config.json", page),
        ("labconfig/default_setting_overrides.json", overrides),
    ):
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    # nbgrader reads JSON too, but then complains at each start that this file is missing.
    lines = [f"c.{name} = {value!r}\n" for name, value in nbgrader.items()]
    (folder / NBGRADER_CONFIG).write_text("c = get_config()\n" + "".join(lines), "utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def welcome(home: Path) -> None:
    """Put the first page into a student's home."""
    text = (Path(__file__).parent.parent / "template" / START_PAGE).read_text("utf-8")
    (home / START_PAGE).write_text(text, "utf-8")
