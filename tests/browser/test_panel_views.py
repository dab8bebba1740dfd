"""How a lab is laid out: reading view, the instrument beside its task, and the side bars."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import READY, Lab, closed
from tests.browser.pages import in_theme, no_serious_violation, settled
from tests.browser.profile import new_window
from tests.browser.test_start import INSTRUMENT, NOTEBOOK, SCRATCH, cell, made, run_to_end
from tests.sampling import sample

pytestmark = pytest.mark.needs("chromium")

SECOND_INSTRUMENT = 7
#: The notebook, whichever of the two documents has the focus.
IN_FRONT = "[...jupyterapp.shell.widgets('main')].find(each => each.content?.widgets)"


@pytest.fixture
def lab(tmp_path) -> Path:
    return made(tmp_path)


@pytest.fixture
def opened_at(lab_server: Lab, browser: Browser, lab: Path):
    """Open the lab in a window of a given size."""
    pages: list[Page] = []

    def open_(width: int, height: int) -> Page:
        folder = lab_server.folder / secrets.token_hex(4)
        folder.mkdir()
        shutil.copy(lab, folder)
        page = new_window(browser, width, height)
        pages.append(page)
        page.goto(
            f"{lab_server.url}lab/workspaces/{folder.name}/tree/{folder.name}/lab.ipynb"
            f"?token={lab_server.token}"
        )
        expect(page.locator(".mlsys-Banner")).to_be_visible(timeout=READY)
        return page

    yield open_
    for page in pages:
        closed(lab_server, page)


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Lab panel")


def beside(page: Page) -> Locator:
    return page.locator("#mlsys-instrument-beside")


def toolbar(page: Page, name: str) -> Locator:
    return page.locator(".jp-NotebookPanel-toolbar").get_by_role("button", name=name)


def becomes_wide(place: Locator, least: int, most: int = 10_000) -> None:
    """Wait until a part of the page is as wide as it should be: JupyterLab lays out later."""
    place.page.wait_for_function(
        """([node, least, most]) => {
             const { width } = node.getBoundingClientRect();
             return least <= width && width <= most;
           }""",
        arg=[place.element_handle(), least, most],
    )


def code_of(page: Page, index: int) -> Locator:
    return cell(page, index).locator(".jp-Cell-inputWrapper")


@pytest.mark.slow
def test_reading_view_hides_the_labs_code_and_changes_nothing(open_notebook, lab, screenshot):
    page = open_notebook(lab)
    run_to_end(page, "Start")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function(f"!{NOTEBOOK}.context.model.dirty")
    metadata = f"JSON.stringify({NOTEBOOK}.content.model.toJSON().cells.map(c => c.metadata))"
    before = page.evaluate(metadata)
    expect(code_of(page, INSTRUMENT)).to_be_hidden()
    expect(code_of(page, SCRATCH)).to_be_visible()
    screenshot(page, "reading")

    # It is remembered: the workspace is saved a moment later.
    with page.expect_response(
        lambda answer: (
            "api/workspaces/" in answer.url
            and answer.request.method == "PUT"
            and "code-shown" in (answer.request.post_data or "")
        )
    ):
        toolbar(page, "Show code").click()
    expect(code_of(page, INSTRUMENT)).to_contain_text("roof = RooflineWidget()")
    expect(panel(page).get_by_role("button", name="Reading view")).to_be_visible()
    screenshot(page, "code")
    assert not page.evaluate(f"{NOTEBOOK}.context.model.dirty")
    assert page.evaluate(metadata) == before

    page.reload()
    expect(toolbar(page, "Reading view")).to_be_visible(timeout=READY)
    panel(page).get_by_role("button", name="Reading view").click()
    expect(toolbar(page, "Show code")).to_be_visible()
    expect(code_of(page, INSTRUMENT)).to_be_hidden()


@pytest.mark.slow
def test_a_scratch_cell_is_a_line_until_somebody_wants_it(open_notebook, lab):
    book = nbformat.read(lab, 4)
    empty = nbformat.v4.new_code_cell("# Here.\n", metadata={"mlsys": {"kind": "scratch"}})
    book.cells.insert(1, empty)
    nbformat.write(book, lab)
    page = open_notebook(lab)
    run_to_end(page, "Start")
    line = cell(page, 1).get_by_role("button", name="Compute here")
    code = cell(page, 1).locator(".cm-content")
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(code).to_be_hidden()
    # What somebody has written before is in sight.
    expect(code_of(page, SCRATCH + 1)).to_be_visible()
    metadata = f"JSON.stringify({NOTEBOOK}.content.model.toJSON().cells.map(c => c.metadata))"
    before = page.evaluate(metadata)
    line.click()
    expect(line).to_have_attribute("aria-expanded", "true")
    page.keyboard.type("2 + 3")
    expect(code).to_contain_text("2 + 3")
    line.click()
    expect(code).to_be_hidden()
    # By keyboard, as any cell: Enter begins to edit it.
    page.evaluate(
        f"{{ const {{ content }} = {NOTEBOOK}; content.mode = 'command'; content.activate() }}"
    )
    page.keyboard.press("Enter")
    expect(code).to_be_visible()
    expect(code).to_contain_text("2 + 3")
    assert page.evaluate(metadata) == before


@pytest.mark.slow
def test_presenting_is_large_and_has_nothing_around_it(open_notebook, lab, screenshot):
    page = open_notebook(lab)
    text = page.locator(".jp-MarkdownOutput p").first
    expect(text).to_have_css("font-size", "16px")
    panel(page).get_by_role("button", name="Present").click()
    expect(text).to_have_css("font-size", "26px")
    around = [
        panel(page),
        *map(page.locator, (".jp-NotebookPanel-toolbar", "#jp-menu-panel", "#jp-bottom-panel")),
        page.locator(".jp-SideBar.jp-mod-left"),
        page.get_by_role("tab", name=lab.name),
    ]
    for each in around:
        expect(each).to_be_hidden()
    settled(page)
    screenshot(page, "presenting")
    page.keyboard.press("Escape")
    expect(text).to_have_css("font-size", "16px")
    for each in around:
        expect(each).to_be_visible()
    # The same with a button, where there is no key.
    panel(page).get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Stop presenting").click()
    expect(panel(page)).to_be_visible()


def test_the_instrument_beside_is_alive_and_follows(opened_at, screenshot):
    page = opened_at(1280, 720)
    run_to_end(page, "Start")
    # By keyboard: the button in the toolbar, then the chooser has the focus.
    toolbar(page, "Instrument beside").focus()
    page.keyboard.press("Enter")
    copy = beside(page)
    expect(copy.get_by_label("Instrument", exact=True)).to_be_focused()
    expect(copy.locator(".mlsys-instrument")).to_be_visible()
    # It takes the place of the Lab panel.
    expect(panel(page)).to_be_hidden()
    settled(page)
    screenshot(page, "light")
    no_serious_violation(page, ".mlsys-Beside-chooser")

    # Moved there, both move; moved here, both move.
    original = cell(page, INSTRUMENT)
    for moved, other in ((copy, original), (original, copy)):
        readout = other.locator(".mlsys-readout")
        before = readout.text_content() or ""
        points = other.locator(".mlsys-plot svg.svg-figure").first
        drawn = points.inner_html()
        moved.locator("input[type=range]").first.press("PageUp")
        expect(readout).not_to_have_text(before)
        expect(moved.locator(".mlsys-readout")).to_have_text(readout.text_content() or "")
        page.wait_for_function(
            "([svg, before]) => svg.innerHTML !== before", arg=[points.element_handle(), drawn]
        )

    # It follows to the next act, and back.
    chooser = copy.get_by_label("Instrument", exact=True)
    expect(chooser).to_have_value(str(INSTRUMENT))
    page.evaluate(f"{IN_FRONT}.content.scrollToItem({SECOND_INSTRUMENT + 1}, 'start')")
    expect(chooser).to_have_value(str(SECOND_INSTRUMENT))
    page.evaluate("jupyterapp.commands.execute('mlsys:go-to-next-step')")
    expect(chooser).to_have_value(str(INSTRUMENT))
    in_theme(page, "Dark")
    screenshot(page, "dark")

    toolbar(page, "Instrument beside").click()
    expect(copy).to_have_count(0)
    expect(panel(page)).to_be_visible()
    panel(page).get_by_role("button", name="Instrument beside").click()
    expect(copy).to_be_visible()


@pytest.mark.slow
def test_a_question_brings_the_instruments_that_it_names_and_those_of_its_act(opened_at):
    page = opened_at(1280, 720)
    run_to_end(page, "Start")
    # The one of another act that it names, and the one above it in its own; else there is no link.
    page.evaluate(f"{NOTEBOOK}.content.scrollToItem({SECOND_INSTRUMENT + 2}, 'start')")
    expect(cell(page, SECOND_INSTRUMENT - 1).locator(".mlsys-QuestionBeside")).to_have_count(0)
    link = cell(page, SECOND_INSTRUMENT + 2).locator(".mlsys-QuestionBeside button")
    expect(link).to_have_text(["Roofline", "Again"])
    link.last.press("Enter")
    expect(beside(page).get_by_label("Instrument", exact=True)).to_have_value(
        str(SECOND_INSTRUMENT)
    )
    expect(beside(page).locator(".mlsys-instrument")).to_be_visible()


@pytest.mark.slow
def test_a_restart_is_seen_beside_too(opened_at):
    page = opened_at(1280, 720)
    run_to_end(page, "Start")
    page.evaluate("jupyterapp.commands.execute('mlsys:toggle-instrument-beside')")
    expect(beside(page).locator(".mlsys-instrument")).to_be_visible()
    page.evaluate(f"{IN_FRONT}.sessionContext.restartKernel()")
    copy = beside(page).locator(".jp-OutputArea").first
    expect(copy).to_have_js_property("inert", True)
    run_to_end(page, "Resume")
    expect(copy).to_have_js_property("inert", False)
    expect(beside(page).locator(".mlsys-instrument")).to_be_visible()


@pytest.mark.slow
def test_a_laptop_has_room_for_the_lab(opened_at, screenshot):
    page = opened_at(1280, 720)
    expect(panel(page)).to_be_visible()
    # The file browser is folded once; whoever opens it again keeps it.
    page.wait_for_function("jupyterapp.shell.leftCollapsed")
    column = page.locator(".jp-NotebookPanel:visible")
    becomes_wide(column, 560)
    page.evaluate("jupyterapp.commands.execute('filebrowser:activate')")
    expect(page.locator("#filebrowser")).to_be_visible()
    run_to_end(page, "Start")
    expect(page.locator("#filebrowser")).to_be_visible()
    becomes_wide(column, 560)
    screenshot(page, "both")

    # The panel can be dragged as narrow as 200 pixels.
    handle = page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:visible").last
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(1270, box["y"] + 300, steps=5)
    page.mouse.up()
    becomes_wide(panel(page), 195, 210)


#: A narrow window, and a laptop zoomed to 200 percent.
SMALL = [(640, 360), (600, 720)]


@pytest.mark.parametrize("size", sample(SMALL, 1))
def test_a_small_page_belongs_to_the_lab(size, opened_at, screenshot):
    page = opened_at(*size)
    page.wait_for_function("jupyterapp.shell.leftCollapsed && jupyterapp.shell.rightCollapsed")
    becomes_wide(page.locator(".jp-NotebookPanel:visible"), 500)
    expect(toolbar(page, "Instrument beside")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    run_to_end(page, "Start")
    screenshot(page, "started")
    # A window that becomes small folds what is in the way.
    page.set_viewport_size({"width": 1280, "height": 720})
    page.evaluate("jupyterapp.commands.execute('mlsys:show-panel')")
    expect(panel(page)).to_be_visible()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    expect(panel(page)).to_be_hidden()
