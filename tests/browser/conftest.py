"""A real JupyterLab and a real browser, for tests that look at what a student sees.

``open_notebook`` gives a page with the notebook open and its kernel ready, ``run_all`` runs all of
its cells, and ``screenshot`` keeps a picture in build/screenshots where somebody wants pictures.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mlsys_widgets.labs.identity import VARIABLE
from tests.browser.pages import draw_all
from tests.browser.profile import close_window, new_window
from tests.jupyter_servers import wait_until_serving
from tests.sampling import keeps_pictures

SETTINGS = {
    # Asks on first start whether to fetch news, over everything else.
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
#: Milliseconds, the unit of playwright: as long as a busy machine may need for anything.
READY = 240_000
expect.set_options(timeout=READY)


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where it serves, the folder it serves, and who works there."""

    url: str
    token: str
    folder: Path
    log: Path
    student: str = "student-01"


@contextmanager
def running(command: Sequence[str | Path], home: Path, folder: Path, **more: Any) -> Iterator[Lab]:
    """Start JupyterLab on a free port of the loopback, apart from the user's own settings.

    ``command`` starts it, without options; ``folder`` is what it will serve.
    """
    runtime, log, token = home / "runtime", home / "log.txt", secrets.token_hex(16)
    places = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": runtime,
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        VARIABLE: Lab.student,
    }
    options = [
        f"--IdentityProvider.token={token}",
        "--LabApp.expose_app_in_browser=True",  # as window.jupyterapp
        "--JupyterNotebookApp.expose_app_in_browser=True",  # the same in Notebook 7
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",  # the system picks a free one; read back below
        "--ServerApp.open_browser=False",
        "--KernelRestarter.time_to_dead=0.5",  # seconds until a killed kernel is missed
    ]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *options],
            env={**os.environ, **{name: str(place) for name, place in places.items()}},
            stdout=output,
            stderr=subprocess.STDOUT,
            **more,
        )
    try:
        yield Lab(wait_until_serving(process, runtime, log), token, folder, log)
    finally:
        process.terminate()  # stops its kernels too
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab for all tests."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    (home / "config" / "labconfig").mkdir(parents=True)
    (home / "config" / "labconfig" / "default_setting_overrides.json").write_text(
        json.dumps(SETTINGS)
    )
    folder.mkdir()
    root = ["--ServerApp.allow_root=True", f"--ServerApp.root_dir={folder}"]
    with running([sys.executable, "-m", "jupyterlab", *root], home, folder) as lab:
        yield lab


@pytest.fixture
def run_server() -> Callable[..., AbstractContextManager[Lab]]:
    """Start a JupyterLab of one's own, as ``running`` does."""
    return running


KERNEL_IS_IDLE = """() =>
  jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'
"""


def opened(lab_server: Lab, browser: Browser, notebook: Path, script: str = "") -> Page:
    """Open a notebook in JupyterLab and wait for its kernel; a copy, unless it lies there.

    ``script`` runs before anything of the page does.
    """
    # A folder and a workspace for each page, so that no test meets another's tabs or files.
    name = secrets.token_hex(4)
    if not notebook.is_relative_to(lab_server.folder):
        (lab_server.folder / name).mkdir()
        notebook = Path(shutil.copy(notebook, lab_server.folder / name))
    path = notebook.relative_to(lab_server.folder).as_posix()
    page = new_window(browser)
    page.set_default_timeout(READY)
    page.add_init_script(script)
    page.goto(f"{lab_server.url}lab/workspaces/{name}/tree/{path}?token={lab_server.token}")
    # Cells run before the kernel is there are lost without a word.
    kernel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-KernelName")
    expect(kernel).to_have_text(re.compile("^Python 3"), timeout=READY)
    page.wait_for_function(KERNEL_IS_IDLE, timeout=READY)
    return page


def closed(lab: Lab, page: Page) -> None:
    """Close a page and free what it has started: by itself it would leave its kernel running."""
    sessions = f"{lab.url}api/sessions"
    key = {"Authorization": f"token {lab.token}"}
    request = page.context.request
    for session in request.get(sessions, headers=key).json():
        request.delete(f"{sessions}/{session['id']}", headers=key)
    close_window(page)


@pytest.fixture
def open_notebook(lab_server: Lab, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a copy of a notebook in JupyterLab; the page comes back with its kernel ready."""
    pages: list[Page] = []

    def open_(notebook: Path, script: str = "") -> Page:
        pages.append(opened(lab_server, browser, notebook, script))
        return pages[-1]

    yield open_
    for page in pages:
        closed(lab_server, page)


# What the menu's Run All Cells runs, because a command tells when it is done. Errors are read from
# the notebook itself: on the page they look like any other text on stderr.
RUN_ALL = """async () => {
  const complete = await jupyterapp.commands.execute('notebook:run-all-cells');
  const cells = jupyterapp.shell.currentWidget.content.model.toJSON().cells;
  const errors = cells.flatMap(cell => cell.outputs ?? [])
    .filter(output => output.output_type === 'error')
    .map(error => `${error.ename}: ${error.evalue}`);
  return complete ? errors : [...errors, 'not all cells were run'];
}"""


def run_cells(page: Page) -> None:
    """Run all cells, wait for the last, and fail with the text of any error."""
    errors = page.evaluate(RUN_ALL)
    assert not errors, errors


@pytest.fixture
def run_all() -> Callable[[Page], None]:
    """Run all cells, wait for the last, and fail with the text of any error."""
    return run_cells


@pytest.fixture(scope="module")
def gallery(lab_server: Lab, browser: Browser) -> Iterator[Page]:
    """The gallery of instruments, opened and run once for all tests of a module."""
    notebook = Path(__file__).parents[2] / "docs" / "tutorials" / "gallery.ipynb"
    page = opened(lab_server, browser, notebook)
    draw_all(page)
    run_cells(page)
    yield page
    closed(lab_server, page)


@pytest.fixture
def screenshot(root: Path, request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keep a picture of a page in build/screenshots, named after the test, if any are kept."""

    def take(page: Page, name: str = "page") -> None:
        if not keeps_pictures():
            return
        test = re.sub(r"\W+", "-", request.node.name).strip("-")
        path = root / "build" / "screenshots" / f"{test}-{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path)

    return take
