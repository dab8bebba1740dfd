"""Formgrader under its policy: a page that nobody made harmless runs nothing, and grading works."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from mlsys_widgets.hub.running.settings import FORMGRADER_POLICY, write_settings
from tests.browser.conftest import Lab, running
from tests.browser.test_inert_pages import GO, MARKDOWN, OUTPUTS
from tests.grading.classroom import classroom, grade, hand_in
from tests.labs.rehearsal import Workshop

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

#: What the pages of an inert notebook would not even contain.
SCRIPTS = (
    *MARKDOWN,
    '<script src="evil.js"></script>',
    "<script>var submission_id = 'another';</script>",
    '<script>\nvar submission_id = "another";\nvar notebook_id = "x";\nvar assignment_id = "x";\n'
    'var base_url = "https://a.invalid";\n</script>',
    f'<script type="text/x-mathjax-config">{GO}</script>',
    f'<a id="bait" href="javascript:{GO}">bait</a>',
    f'<div data-toggle="tooltip" data-html="true" title="<img src=x onerror={GO}>">tip</div>',
    '<base href="https://a.invalid/">',
    '<img src="https://a.invalid/seen.png">',
    '<link rel="stylesheet" href="https://a.invalid/style.css">',
    '<iframe src="evil.html"></iframe><object data="evil.html"></object><embed src="evil.html">',
)


@dataclass
class Grader:
    """A server with formgrader, and the course in it."""

    lab: Lab
    course: Workshop
    submission: str
    context: BrowserContext | None = None
    refused: list[str] = field(default_factory=list)

    def open(self, browser: Browser, path: str) -> Page:
        """Open a page of formgrader; what its policy refuses is kept."""
        if self.context is None:
            self.context = browser.new_context()
            first = self.context.new_page()
            first.goto(f"{self.lab.url}formgrader/manage_assignments?token={self.lab.token}")
            first.close()
        page = self.context.new_page()
        self.refused = []
        page.on("console", self._note)
        page.goto(f"{self.lab.url}formgrader/{path}", wait_until="load")
        return page

    def _note(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(f"{message.location} {message.text}")


def hostile(book: nbformat.NotebookNode) -> None:
    """Put attacks into every place that a page shows."""
    essay = next(c for c in book.cells if c.id == "answer_advice")
    essay.source = "\n\n".join(SCRIPTS)
    outputs = [nbformat.v4.new_output("display_data", data) for data in OUTPUTS]
    more = nbformat.v4.new_code_cell("1", outputs=outputs, execution_count=1)
    book.cells += [*(nbformat.v4.new_markdown_cell(each) for each in SCRIPTS), more]


@contextlib.contextmanager
def grading(home: Path, *, policy: bool) -> Iterator[Grader]:
    """An instructor's server as on our hub, whose one submission was not made harmless."""
    course = classroom(home / "course")
    hand_in(course, "ann", answers=course.asked("ann").right(), essay="An essay with $x^2$.")
    grade(course)
    work = course.root / "autograded" / "ann" / course.lab
    book = nbformat.read(work / f"{course.lab}.ipynb", as_version=4)
    hostile(book)
    nbformat.write(book, work / f"{course.lab}.ipynb")
    (work / "evil.js").write_text(GO)
    (work / "evil.html").write_text(f"<script>parent.{GO}; {GO}</script>")
    settings = home / "settings"
    write_settings(
        settings, "instructor", course_id="demo", exchange=home / "exchange", course=course.root
    )
    if not policy:
        file = settings / "jupyter_server_config.json"
        said = json.loads(file.read_text())
        del said["ServerApp"]["jpserver_extensions"][FORMGRADER_POLICY]
        file.write_text(json.dumps(said))
    (home / "config").mkdir()
    command = [
        sys.executable, "-m", "jupyterlab", "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={course.root}",
        "--ServerApp.base_url=/user/teacher/",  # as a hub has it
    ]  # fmt: skip
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as db:
        ((submission,),) = db.execute("select id from submitted_notebook").fetchall()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_CONFIG_PATH", str(settings))
        with running(command, home, course.root, cwd=course.root) as lab:
            yield Grader(lab, course, submission)


@pytest.fixture(scope="module")
def grader(tmp_path_factory) -> Iterator[Grader]:
    with grading(tmp_path_factory.mktemp("grader"), policy=True) as found:
        yield found


def ran(page: Page) -> int:
    """How often an attack has run, once everything that could start one has happened."""
    page.mouse.move(5, 5)
    page.locator("#bait").first.dispatch_event("click")
    page.wait_for_timeout(500)
    return int(page.evaluate("window.ran || 0"))


def scores(course: Workshop) -> list[float | None]:
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as db:
        return [row[0] for row in db.execute("select manual_score from grade").fetchall()]


@pytest.mark.slow
def test_without_the_policy_the_page_runs_what_was_handed_in(browser, tmp_path):
    """A check that could not fail would say nothing."""
    with grading(tmp_path, policy=False) as grader:
        page = grader.open(browser, f"submissions/{grader.submission}/")
        assert ran(page) >= 3
        page.close()
        page = grader.open(browser, f"submissions/{grader.submission}/evil.html")
        assert page.evaluate("window.ran || 0") >= 1
        page.close()


def test_a_submission_runs_nothing_and_is_graded_by_hand(grader, browser, screenshot):
    page = grader.open(browser, f"submissions/{grader.submission}/")
    assert ran(page) == 0
    assert page.evaluate("submission_id") == grader.submission
    assert any("script" in each for each in grader.refused)
    # A route is asked only for what the policy lets through.
    loaded: list[str] = []
    page.route(re.compile("a.invalid|evil"), lambda route: loaded.append(route.request.url))
    page.reload(wait_until="load")
    assert not loaded
    essay = page.locator(".nbgrader_cell", has=page.locator("#advice")).first
    for place, text, kept in (
        (".score", "7", "/formgrader/api/grade/"),
        ("textarea.comment", "Read by a person.", "/formgrader/api/comment/"),
    ):
        essay.locator(place).fill(text)
        with page.expect_response(lambda answer, kept=kept: kept in answer.url) as saved:
            essay.locator(place).press("Tab")
        assert saved.value.ok
    screenshot(page)
    assert 7 in scores(grader.course)
    page.reload(wait_until="networkidle")
    expect(page.locator("#advice").first).to_have_value("7")
    page.locator(".glyphicon-eye-open").click()
    expect(page.locator("a.name-shown")).to_be_visible()
    assert ran(page) == 0
    page.close()


def test_a_file_beside_the_notebook_is_shown_without_its_scripts(grader, browser):
    page = grader.open(browser, f"submissions/{grader.submission}/evil.html")
    assert page.evaluate("window.ran || 0") == 0
    assert page.evaluate("window.origin") == "null"
    page.close()


@pytest.mark.parametrize(
    ("path", "shows"),
    [
        ("manage_assignments", "lab_02_demo"),
        ("manage_submissions/lab_02_demo", "ann"),
        ("gradebook", "lab_02_demo"),
        ("gradebook/lab_02_demo", "lab_02_demo"),
        ("gradebook/lab_02_demo/lab_02_demo", "Submission #1"),
        ("manage_students", "ann"),
        ("manage_students/ann", "lab_02_demo"),
        ("manage_students/ann/lab_02_demo", "lab_02_demo"),
    ],
)
def test_every_other_page_works_under_its_policy(grader, browser, path, shows):
    page = grader.open(browser, path)
    expect(page.locator("#main-table")).to_contain_text(shows)
    assert grader.refused == []
    page.close()


def test_a_student_is_added_by_hand(grader, browser):
    page = grader.open(browser, "manage_students")
    page.get_by_text("Add new student").click()
    page.locator(".modal .id").fill("bob")
    page.locator(".modal .save").click()
    expect(page.locator("#main-table")).to_contain_text("bob")
    assert grader.refused == []
    page.close()


def test_all_names_are_shown_by_their_button(grader, browser):
    page = grader.open(browser, "gradebook/lab_02_demo/lab_02_demo")
    expect(page.locator("#main-table")).to_contain_text("Submission #1")
    page.locator("#toggle_names").click()
    expect(page.locator("#main-table .name-shown").first).to_be_visible()
    assert grader.refused == []
    page.close()


@pytest.mark.parametrize("kind", ["gradebook", "manage_submissions", "manage_students"])
@pytest.mark.parametrize(
    "attack", [f'";{GO};"', f"</script><script>{GO}</script>", f"<img src=x onerror='{GO}'>"]
)
def test_a_link_from_a_stranger_runs_nothing(grader, browser, kind, attack):
    """nbgrader writes what is in the address into its page as it is."""
    page = grader.open(browser, f"{kind}/{quote(attack, safe='')}")
    assert page.evaluate("typeof base_url") == "string"  # the page itself is alive
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran || 0") == 0
    page.close()


def test_formulas_are_shown_where_their_script_is_reached(grader, browser):
    page = grader.open(browser, "gradebook")
    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(status=200, content_type="text/javascript", body=GO,
                      headers={"Access-Control-Allow-Origin": "*"})  # fmt: skip

    page.route(re.compile("^https://"), answer)
    with page.expect_console_message(lambda said: "integrity" in said.text):
        page.goto(f"{grader.lab.url}formgrader/submissions/{grader.submission}/")
    assert page.evaluate("MathJax.tex.inlineMath") == [["$", "$"], ["\\(", "\\)"]]
    assert [url.rsplit("/", 1)[1] for url in asked] == ["tex-svg.js"]
    # What is not the file that we know does not run, whoever sent it.
    assert page.evaluate("window.ran || 0") == 0
    page.close()
