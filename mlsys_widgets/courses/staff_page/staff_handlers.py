"""The addresses of the page: ``mlsys/course/PAGE`` shows something, ``mlsys/course/do`` does it.

``mlsys/course/file/NAME`` gives a file that a command has made.
"""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.lab_releases import lab_titles
from mlsys_widgets.courses.staff_page.actions import ACTIONS, ALL, FILES, Words, undoing
from mlsys_widgets.courses.staff_page.running_commands import CommandRun, CommandRuns
from mlsys_widgets.courses.staff_page.views import PAGES, Shown, may_change
from mlsys_widgets.drawing.whole_page import whole_page
from mlsys_widgets.files import open_folder, open_regular
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

_HERE: Final = Path(__file__).parent / "templates"
#: Seconds that a browser waits for an answer to a form, before it is shown how far the command is.
_PATIENCE: Final = 8.0
#: Seconds after which a page that shows a running command is loaded again.
_AGAIN: Final = 2
#: No script, whoever may have put one into a name; forms go to this server only.
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'self'"
)
#: A file may come from a colleague: what it holds is shown, and can do nothing here.
_FILE_POLICY: Final = f"{POLICY}; img-src data:; sandbox allow-downloads"
#: Pages that are about one lab if one is named.
_OF_A_LAB: Final = ("labs", "course")
#: Actions that may be about all labs.
_FOR_ALL_LABS: Final = ("extend", "report", "export")


class StaffHandler(JupyterHandler):
    """A request for the page: of whoever's server this is."""

    auth_resource = "contents"

    def initialize(self, root: Path, runs: CommandRuns) -> None:
        """Receive the folder of the course, and what runs in it."""
        self.root, self.runs = root, runs

    @property
    def content_security_policy(self) -> str:
        return POLICY

    def address(self, page: str = "", **query: str) -> str:
        """Return the address of a page."""
        place = url_path_join(self.base_url, "mlsys", "course", page)
        return f"{place}?{urlencode(query)}" if query else place

    def show(self, template: str, title: str, **shown: Any) -> None:
        """Answer with a page; what is not marked as safe in it is text."""
        words: dict[str, Any] = {
            "base": self.base_url, "address": self.address, "here": template, "run": None,
            "pages": {name: title for name, (title, _) in PAGES.items()},
            "xsrf": self.xsrf_form_html, "who": who_runs(),
        }  # fmt: skip
        body = _templates().get_template(f"{template}.html").render({**words, **shown})
        self.set_header("Cache-Control", "no-store")
        styles = [_HERE / "page.css", *_HERE.glob(f"{template}.css")]
        self.finish(whole_page(title, body, "".join(each.read_text("utf-8") for each in styles)))


class PageHandler(StaffHandler):
    """Shows one of the pages."""

    @web.authenticated
    @authorized
    async def get(self, page: str) -> None:
        if not page:
            self.redirect(self.address("labs"))
            return
        run = self.runs.get(self.get_query_argument("run", ""))
        lab = self.get_query_argument("lab", "")
        name, view = PAGES[page]
        if run is not None and run.state == "running":
            self.set_header("Refresh", str(_AGAIN))
            self.show("base", name, here=page, lab=lab, run=run)
            return
        try:
            shown = await asyncio.to_thread(_read, self.root, view, lab)
        except (OSError, ValueError) as problem:
            self.set_status(HTTPStatus.CONFLICT)
            self.show("base", name, problem=problem, here=page)
            return
        self.show(page, f"{name} · {self.root.name}", lab=lab, run=run, **shown)


class DoHandler(StaffHandler):
    """Runs a command, and shows the page again from which it was sent."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        form = {name: self.get_body_argument(name) for name in self.request.body_arguments}
        form.pop("_xsrf", None)
        page = form.get("page", "")
        try:
            run, commands = self.asked_for(form)
        except PermissionError as problem:
            raise web.HTTPError(HTTPStatus.FORBIDDEN, str(problem)) from None
        except ValueError as problem:
            raise web.HTTPError(HTTPStatus.BAD_REQUEST, str(problem)) from None
        await self.runs.start(run, commands, _PATIENCE)
        query = {"lab": form["lab"]} if page in _OF_A_LAB and "lab" in form else {}
        self.redirect(self.address(page, run=run.name, **query), status=HTTPStatus.SEE_OTHER)

    def asked_for(self, form: dict[str, str]) -> tuple[CommandRun, list[Words]]:
        """Return what a form asks for, and the commands that do it; refused if it is none of ours.

        `ValueError` says why it is none of ours, `PermissionError` that it is not for whoever sent
        it.
        """
        name, course = form.get("action", ""), Course(self.root)
        if form.get("page") not in PAGES:
            raise ValueError("this form belongs to no page")
        if name != "undo" and name not in ACTIONS:
            raise ValueError("there is no such action")
        if (name == "undo" or not ACTIONS[name].for_tas) and not may_change(course):
            raise PermissionError("only an instructor can do that")
        if name == "undo":
            return CommandRun("Undo"), undoing(self.get_body_arguments("word"))
        action = ACTIONS[name]
        labs = [*labs_of(course), *([ALL] if name in _FOR_ALL_LABS else [])]
        if "lab" in action.values and form.get("lab") not in labs:
            raise ValueError("this course has no such lab")
        goes_ahead = bool(action.asks and form.get(action.asks))
        typed = form.get(action.typed, "").strip()
        if goes_ahead and typed != form.get("typed", "").strip():
            raise ValueError(f"nothing was changed: to go ahead, type {typed}")
        if action.writes:
            with suppress(OSError):  # then the command says why it cannot write there
                (self.root / FILES).mkdir(exist_ok=True)
        again = {**form, action.asks: "1"} if action.asks and not goes_ahead else None
        sent = ExitStack()
        # Commands read files, so what a browser sent lies in one until they have ended.
        for field in self.request.files.keys() & set(action.values):
            folder = sent.enter_context(tempfile.TemporaryDirectory())
            form[field] = str(Path(folder, f"{field}.csv"))
            Path(form[field]).write_bytes(self.request.files[field][0]["body"])

        def when_ended(done: bool) -> None:
            sent.close()
            if done and action.notes and not again:
                ChangeHistory(course.home).note(action.notes.format_map(form))

        run = CommandRun(action.label, again, typed=typed, fails=action.fails,
                         when_ended=when_ended)  # fmt: skip
        return run, action.words(form)


class FileHandler(StaffHandler):
    """Gives a file that a command has made: pages to read, everything else to keep."""

    @property
    def content_security_policy(self) -> str:
        return _FILE_POLICY

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        try:
            if "/" in name:
                raise FileNotFoundError
            with (
                open_folder(self.root / FILES) as folder,
                open_regular(name, dir_fd=folder) as file,
            ):
                content = file.read()
        except (OSError, ValueError):
            raise web.HTTPError(HTTPStatus.NOT_FOUND, "there is no such file") from None
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        if name.endswith(".html"):
            self.set_header("Content-Type", "text/html; charset=utf-8")
        else:
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name)}")
        self.finish(content)


def _read(root: Path, view: Any, lab: str) -> Shown:
    course = Course.at(root)
    zone = course.calendar.zone

    def shown_time(at: Any) -> str:
        return local_time(at if isinstance(at, str) else at.isoformat(), zone) if at else "–"

    shared = {"may_change": may_change(course), "titles": lab_titles(course), "time": shown_time}
    return {**shared, **view(course, lab)}


@functools.cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["counted"] = counted
    return made


def add_page(serverapp: ServerApp, more: Mapping[str, type[StaffHandler]]) -> None:
    """Add the page to a server whose folder is a course."""
    root = Path(getattr(serverapp.contents_manager, "root_dir", "") or serverapp.root_dir)
    place = url_path_join(serverapp.web_app.settings["base_url"], "mlsys", "course")
    shared = {"root": root, "runs": CommandRuns(root)}
    serverapp.web_app.add_handlers(
        ".*$",
        [
            *((rf"{place}/{name}", handler, shared) for name, handler in more.items()),
            (rf"{place}/do", DoHandler, shared),
            (rf"{place}/file/([^/]+)", FileHandler, shared),
            (rf"{place}/?({'|'.join(PAGES)}|)", PageHandler, shared),
        ],
    )
