"""People with a browser on a hub: what they click, type and read in JupyterLab and nbgrader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, Locator, WebSocket, expect

from tests.browser.lab_path import Student
from tests.hub.running import Hub
from tests.waiting import PATIENCE, wait_for

LAB = "lab_07_kernel_fusion"
PICTURES = Path(__file__).parents[2] / "build" / "screenshots" / "hub"
#: Milliseconds: a server that starts, a kernel, a page of nbgrader, on a busy machine.
READY = 240_000
#: Colors and cursor moves.
_CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07|\r")


class BrowserUser:
    """A user of the hub with a browser window of their own.

    Parameters
    ----------
    browser, hub
        The browser, and the hub it opens.
    who
        As tests call the person.
    """

    def __init__(self, browser: Browser, hub: Hub, who: str) -> None:
        self.hub, self.who, self.name = hub, who, hub.names[who]
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.set_default_timeout(READY)
        self.page = context.new_page()
        self.screen = ""  # what terminals showed: JupyterLab draws them as a picture
        self.page.on("websocket", self._listen)

    def _listen(self, line: WebSocket) -> None:
        if "/terminals/websocket/" in line.url:
            line.on("framereceived", self._shown)

    def _shown(self, frame: str | bytes) -> None:
        kind, *rest = json.loads(frame)
        if kind == "stdout":
            self.screen += _CODES.sub("", rest[0])

    def wait(self, until: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
        """Wait for something that no page shows; terminal output arrives meanwhile."""

        def now() -> object:
            self.page.wait_for_timeout(200)
            return until()

        wait_for(now, what, seconds)

    def picture(self, name: str, at: Locator | None = None) -> None:
        """Save a screenshot, scrolled to some place of the page."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        for _ in range(2):  # cells are drawn when the browser has time, and move what is below them
            if at:
                at.evaluate("place => place.scrollIntoView({block: 'center'})")
            self.page.wait_for_timeout(300)
        self.page.screenshot(path=PICTURES / f"{self.who}-{name}.png")

    def log_in(self, password: str = "") -> None:
        """Fill in the login page; the server starts in the background."""
        self.page.goto(self.hub.url)
        self.page.get_by_label("Username").fill(self.name)
        self.page.get_by_label("Password").fill(password or self.hub.password(self.name))
        self.picture("login")
        self.page.get_by_role("button", name="Sign in").click()

    def lands_on(self, title: str) -> None:
        """Wait for JupyterLab with the page that says what to do."""
        expect(self.page.locator(".jp-RenderedMarkdown:visible h1").first).to_have_text(
            re.compile(rf"^{title}"), timeout=READY
        )
        assert f"/user/{self.name}/lab" in self.page.url

    def lands_in_the_course(self) -> None:
        """Wait for the page with which staff run the course."""
        waits = self.page.get_by_role("heading", name=re.compile("waits for you"))
        expect(waits).to_be_visible(timeout=READY)
        assert self.page.url == f"{self.hub.url}/user/{self.name}/mlsys/course/labs"

    def opens_jupyterlab(self) -> None:
        """Follow the link on that page."""
        self.page.get_by_role("link", name="JupyterLab").click()
        expect(self.page.get_by_text("Run the course")).to_be_visible(timeout=READY)

    def menu(self, name: str, *entries: str) -> None:
        """Choose from the menu bar."""
        self.page.get_by_role("menubar").get_by_role("menuitem", name=name, exact=True).click()
        for each in entries:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(each, exact=True).click()

    def show(self, tab: str) -> None:
        """Bring a tab to the front."""
        self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=tab).click()

    def type_into_terminal(self, command: str) -> str:
        """Type a command into the terminal in front; return its output until the next prompt."""
        self.wait(lambda: self.screen.endswith("$ "), "a prompt")
        seen = len(self.screen)
        self.page.locator(".jp-Terminal:visible").click()
        self.page.keyboard.type(f"{command}\n")

        def ended() -> bool:
            # A terminal that takes its size shows the prompt and what was typed again.
            _, typed, after = self.screen[seen:].rpartition(command)
            return bool(typed) and "$ " in after

        self.wait(ended, command, 120)
        return self.screen[seen:]

    def close(self) -> None:
        self.page.context.close()


class Assignments:
    """nbgrader's assignment list of a student."""

    def __init__(self, user: BrowserUser) -> None:
        self.user = user
        user.menu("Nbgrader", "Assignment List")

    def row(self, state: str) -> Locator:
        """The lab among those that are released, fetched or submitted."""
        listed = self.user.page.locator(f"#{state}_assignments_list > .list_item")
        return listed.filter(has_text=LAB)

    def fetch(self) -> Path:
        """Fetch the lab; returns its folder."""
        self.row("released").get_by_role("button", name="Fetch").click()
        expect(self.row("fetched")).to_be_visible(timeout=READY)
        return self.user.hub.places.home(self.user.name) / LAB

    def open_notebook(self) -> None:
        """Follow the link to the notebook and wait for its kernel."""
        self.row("fetched").locator(".assignment-notebooks-link").click()
        self.row("fetched").locator(".nested_list_item a").click()
        kernel = self.user.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-KernelName")
        expect(kernel).to_have_text(re.compile("^Python 3"), timeout=READY)
        expect(self.user.page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(
            timeout=READY
        )

    def submit(self) -> None:
        self.user.show("Assignments")
        self.row("fetched").get_by_role("button", name="Submit").click()
        expect(self.row("submitted")).to_be_visible(timeout=READY)

    def open_feedback(self) -> FrameLocator:
        """Fetch the feedback and open it; returns the page that is shown."""
        page = self.user.page
        self.user.show("Assignments")
        page.get_by_title("Refresh assignments list").click()
        expect(self.row("submitted")).to_contain_text("feedback available to fetch", timeout=READY)
        self.row("submitted").get_by_role("button", name="Fetch Feedback").click()
        self.row("submitted").get_by_text("(view feedback)").click()
        page.locator(".jp-DirListing-item", has_text=f"{LAB}.html").dblclick()
        shown = page.frame_locator(".jp-HTMLViewer iframe")
        expect(shown.locator("body")).to_contain_text("Feedback for", timeout=READY)
        return shown


def begin(user: BrowserUser, folder: Path) -> Student:
    """Run all cells of the notebook in front, and be a student in it."""
    user.menu("Run", "Run All Cells")
    keys = user.hub.places.course / "assignments" / LAB
    student = Student(user.page, keys, folder, user.name)
    cells = user.page.locator(".jp-Notebook:visible .jp-Cell")
    expect(cells).to_have_count(len(student.book.cells), timeout=READY)
    expect(student.cell(len(student.book.cells) - 1)).to_contain_text("0 of", timeout=READY)
    return student


def save(user: BrowserUser) -> None:
    """Save the notebook in front, as a person does before submitting it."""
    user.page.keyboard.press("Control+s")
    dirty = user.page.locator(".lm-TabBar-tab.lm-mod-current.jp-mod-dirty", has_text=LAB)
    expect(dirty).to_have_count(0, timeout=READY)


class Formgrader:
    """nbgrader's formgrader, in a frame of JupyterLab."""

    def __init__(self, user: BrowserUser) -> None:
        self.user = user
        user.page.keyboard.press("Control+b")  # hides the file browser, because the table is wide
        user.menu("Nbgrader", "Formgrader")
        self.frame = user.page.frame_locator(".lm-DockPanel iframe:visible")
        title = self.frame.get_by_role("heading", name="Manage Assignments")
        expect(title).to_be_visible(timeout=READY)

    def go_to(self, page: str) -> None:
        """Follow a link on the left."""
        self.user.show("Formgrader")
        self.frame.locator(".nav").get_by_role("link", name=page).click()
        expect(self.frame.get_by_role("heading", name=page)).to_be_visible(timeout=READY)

    def row(self, text: str = LAB) -> Locator:
        return self.frame.locator("tbody tr", has_text=text)

    def press(self, column: str) -> str:
        """Press a button beside the lab; returns what nbgrader says afterward."""
        self.row().locator(f"td.{column} a").click()
        said = self.frame.locator(".modal:visible")
        expect(said).to_contain_text("Log Output", timeout=READY)
        text = said.inner_text()
        ok = said.get_by_role("button", name="OK")
        ok.click()

        def closed() -> bool:
            # On a busy machine, a click that comes while the dialog fades in is lost: once more.
            ok.evaluate_all("buttons => buttons.forEach(button => button.click())")
            return said.count() == 0

        wait_for(closed, "what nbgrader says stays open")
        return text

    def open_submission(self, person: str) -> None:
        """Open somebody's notebook to grade by hand."""
        self.go_to("Manual Grading")
        # The lab, then its notebook. Both links read alike, so each page is awaited by its column:
        # a second click on the first page would go nowhere.
        for column in ("Notebook ID", "Submission ID"):
            self.frame.locator("tbody").get_by_role("link", name=LAB).click()
            header = self.frame.get_by_role("columnheader", name=column)
            expect(header).to_be_visible(timeout=READY)
        self.row(person).locator(".reveal .name-hidden").click()  # who it is
        self.row(person).get_by_role("link", name=person).click()

    def grade(self, cell: str, points: float, comment: str) -> None:
        """Give points and a comment to what somebody wrote."""
        answer = self.frame.locator(".nbgrader_cell", has=self.frame.locator(f"#{cell}"))
        # The page sets them once it has read the gradebook; what is typed before that is not kept.
        for field in (".extra-credit", "textarea.comment"):
            ready = re.compile(".")
            expect(answer.locator(field)).to_have_attribute("placeholder", ready, timeout=READY)
        for field, text in ((".score", f"{points:g}"), ("textarea.comment", comment)):
            answer.locator(field).fill(text)
            answer.locator(field).press("Tab")

    def leave_submission(self) -> None:
        """Back to the lists, by the line of links at the top."""
        self.frame.get_by_role("link", name="Manual Grading").click()
