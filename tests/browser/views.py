"""The views that the pages show, one function for each place where somebody works.

Each yields names and pictures; what a view looks like in the other theme comes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import KERNEL_IS_IDLE, READY
from tests.browser.pages import in_theme, settled
from tests.browser.studio import (
    LAB,
    ROOT,
    SHOWN,
    SIZE,
    THEMES,
    Picture,
    Studio,
    around,
    submission,
    take,
)

#: Where the text of the lab is shown: the cell above this heading begins its first act.
ACT = "# %% [markdown]\n# ## Act 1"
COMMENT = "Which number on the dashboard would you change, and to what?"
Views = Iterator[tuple[str, Picture]]
_OPEN = """async ([path, factory, mode]) => {
  await jupyterapp.commands.execute('docmanager:open', { path, factory, options: { mode } });
}"""
# Until nothing has moved for a while.
_STILL = """() => new Promise(done => {
  let last = -1, same = 0;
  const look = () => {
    same = scrollY === last ? same + 1 : 0;
    last = scrollY;
    if (same > 60) done(); else requestAnimationFrame(look);
  };
  look();
})"""
_BESIDE = "jupyterapp.commands.execute('mlsys:toggle-instrument-beside')"
# Twice, because the heights of lines that were never drawn are only estimated.
_TO_LINE = """async line => {
  const view = jupyterapp.shell.currentWidget.content.editor.editor;
  for (const turn of [1, 2]) {
    view.scrollDOM.scrollTop = view.lineBlockAt(view.state.doc.line(line).from).top;
    await new Promise(done => setTimeout(done, 100));
  }
}"""
_SAVED = "() => !jupyterapp.shell.currentWidget.context.model.dirty"
_CLOSE = (
    "title => [...jupyterapp.shell.widgets('main')].find(w => w.title.label === title)?.close()"
)


def student(studio: Studio, folder: str) -> Views:
    """What a student sees: the page to start from, the Lab panel, a lab; then what its author sees.

    All of it in one window, because opening JupyterLab takes longer than everything else.
    """
    page = studio.open(studio.served(f"lab/tree/{folder}/START_HERE.md"))
    expect(page.locator(".jp-RenderedMarkdown:visible h1").first).to_be_visible(timeout=READY)
    yield from in_both_themes(page, "hub")

    open_beside(page, f"{folder}/{LAB}/{LAB}.ipynb", "Notebook", "tab-after")
    page.evaluate(_CLOSE, "START_HERE.md")
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name="Resume", exact=True).click()
    expect(banner).to_be_hidden(timeout=READY)
    page.wait_for_function(KERNEL_IS_IDLE, timeout=READY)
    # A lab saves itself once it has run, and Jupyter says so for some seconds.
    page.wait_for_function(_SAVED, timeout=READY)
    expect(page.get_by_text("Saving completed")).to_be_hidden(timeout=READY)
    yield from in_both_themes(page, "panel")

    page.evaluate(_BESIDE)
    expect(page.locator("#mlsys-instrument-beside .mlsys-instrument")).to_be_visible()
    sealed = page.locator(".jp-Notebook .mlsys-lab-sealed").first
    # Down to the first row of the instrument's cards: the second one is cut by the window.
    shown = {"x": 0, "y": 0, "width": SIZE["width"], "height": 660}

    def end_with_prediction() -> None:
        bring(sealed, "end")
        page.mouse.move(400, 400)
        page.mouse.wheel(0, 44)

    yield from in_both_themes(page, "lab", end_with_prediction, shown)

    page.evaluate(_BESIDE)
    page.evaluate("jupyterapp.shell.collapseRight()")
    text = (ROOT / "assignments" / LAB / "lab.py").read_text("utf-8")
    (studio.lab.folder / folder / "lab.py").write_text(text, "utf-8")
    open_beside(page, f"{folder}/lab.py", "Editor", "split-left")
    line = 1 + text[: text.index(ACT)].count("\n")
    card = page.locator(".jp-Notebook .jp-Cell", has=page.locator(".mlsys-lab-sealed")).first

    def arrange() -> None:
        bring(card, "start")
        page.evaluate(_TO_LINE, line)

    page.set_viewport_size({**SIZE, "height": 684})  # the next card would begin below
    yield from in_both_themes(page, "author", arrange)


def in_both_themes(
    page: Page,
    name: str,
    arrange: Callable[[], None] = lambda: None,
    clip: dict[str, float] | None = None,
) -> Views:
    """The page as it is, once in each theme of JupyterLab."""
    for theme in THEMES:
        in_theme(page, theme.title())
        arrange()
        settled(page)
        yield f"{name}-{theme}", take(page, clip)


def open_beside(page: Page, path: str, factory: str, mode: str) -> None:
    """Open a file in a viewer of JupyterLab."""
    page.evaluate(_OPEN, [path, factory, mode])
    settled(page)


def bring(place: Locator, block: str) -> None:
    """Bring a place into view, and wait until what is drawn above it has moved it for good."""
    for _ in range(2):
        place.evaluate("(place, block) => place.scrollIntoView({block})", block)
        settled(place.page)


def grader(studio: Studio, course: Path) -> Views:
    """An autograded submission, as a TA reads it in formgrader. nbgrader has one theme."""
    page = studio.open(studio.served("formgrader/manage_assignments"))  # which logs in
    page.goto(f"{studio.lab.url}formgrader/submissions/{submission(course)}/")
    essay = page.locator(".nbgrader_cell", has=page.locator("#advice")).first
    # Points of the autograder arrive after the page.
    expect(page.locator("#commitments").first).to_have_attribute("placeholder", "6")
    essay.locator(".score").fill("3")
    essay.locator("textarea.comment").fill(COMMENT)
    # Formgrader glides to whatever has the focus, and would glide on under the picture.
    page.evaluate("document.activeElement?.blur()")
    page.evaluate(_STILL)
    bring(essay, "end")
    page.evaluate("scrollBy(0, 16)")
    page.evaluate(_STILL)
    yield "formgrader", take(page)


def report(studio: Studio, course: Path) -> Views:
    """The first screen of the report on a class, as somebody has it before a lecture."""
    for theme in THEMES:
        page = studio.open((course / "report.html").as_uri(), theme)
        page.set_viewport_size({**SIZE, "height": 900})
        yield f"report-{theme}", take(page, around(page.locator("h1"), page.locator(".lecture")))


def feedback(studio: Studio, course: Path) -> Views:
    """The feedback on a submission, from its score to an answer that earned some of its points."""
    for theme in THEMES:
        page = studio.open((course / "feedback" / SHOWN / LAB / f"{LAB}.html").as_uri(), theme)
        page.set_viewport_size({**SIZE, "height": 2000})
        partly = page.locator("article", has=page.locator('[data-sign="◐"]')).first
        yield f"feedback-{theme}", take(page, around(page.locator("h1"), partly))
