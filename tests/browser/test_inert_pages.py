"""Pages that graders and students open run nothing of what a student handed in."""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions import formgrader
from traitlets.config import Config

from mlsys_widgets import PredictionLock
from mlsys_widgets import physics as ph
from mlsys_widgets.grading.feedback.inert import make_inert
from mlsys_widgets.ledger import Ledger
from tests.made_notebooks import notebook_of

pytestmark = pytest.mark.needs("chromium")

GO = "window.ran = (window.ran || 0) + 1"
#: Each would run in a page that shows it as it is.
MARKDOWN = (
    f"<script>{GO}</script>",
    f'<img src="x" onerror="{GO}">',
    f'<svg><g onload="{GO}"></g></svg><svg onload="{GO}"></svg>',
    f'<iframe srcdoc="<script>parent.{GO}</script>"></iframe>',
    f"| a |\n|---|\n| <img src=x onerror='{GO}'> |",
    f"$$ x $$ <details open ontoggle='{GO}'>",
)
OUTPUTS = (
    {"text/html": f"<script>{GO}</script><b>kept</b>"},
    {"text/html": f'<img src="x" onerror="{GO}">'},
    {"application/javascript": GO},
    {"image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg"><script>{GO}</script></svg>'},
    {"text/markdown": f'<img src="x" onerror="{GO}">'},
    {"text/html": '<img src="https://a.invalid/seen.png">'},
)


def hostile():
    cells = [nbformat.v4.new_markdown_cell(each) for each in MARKDOWN]
    outputs = [nbformat.v4.new_output("display_data", data) for data in OUTPUTS]
    cells.append(nbformat.v4.new_code_cell("1", outputs=outputs, execution_count=1))
    cells[0].metadata.tags = [f'"><img src=x onerror="{GO}">']
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata.title = f"</title><script>{GO}</script>"
    return book


def page_of(template: str, book) -> str:
    """The page as nbgrader makes it, without what it reads from a gradebook."""
    config = Config()
    config.HTMLExporter.template_name = template
    home = Path(formgrader.__file__).parent
    config.HTMLExporter.extra_template_basedirs = [str(home / "templates")]
    styles = home / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    text = dict.fromkeys(
        ("student", "base_url", "mathjax_url", "first_name", "last_name", "submission_id",
         "notebook_id", "assignment_id", "notebook_path"), ""
    )  # fmt: skip
    points = {f"{which}score": 0 for kind in ("", "code_", "written_", "task_")
              for which in (kind, f"max_{kind}")}  # fmt: skip
    about = {**text, **points, "late_penalty": 0, "index": 0, "total": 1, "toc": []}
    html, _ = HTMLExporter(config=config).from_notebook_node(
        book, resources={**about, "nbgrader": about, "metadata": {"name": "lab"}}
    )
    return html


@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_nothing_that_was_handed_in_runs_or_loads(browser, tmp_path, template):
    raw, safe = hostile(), copy.deepcopy(hostile())
    make_inert(safe)
    found = {}
    for name, book in (("raw", raw), ("safe", safe)):
        (tmp_path / f"{name}.html").write_text(page_of(template, book), "utf-8")
        page = browser.new_page()
        asked = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((tmp_path / f"{name}.html").as_uri(), wait_until="load")
        page.mouse.move(5, 5)
        found[name] = page.evaluate("window.ran || 0"), any("a.invalid" in url for url in asked)
        kept = page.get_by_text("kept", exact=True).count()
        page.close()
    # As it was handed in, the page does run it: a check that could not fail would say nothing.
    assert found["raw"][0] >= 2
    assert found["raw"][1]
    assert found["safe"] == (0, False)
    assert kept == 1


def a_reveal(folder: Path) -> str:
    led = Ledger.open(folder / "ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
    lock = PredictionLock("act1", question="How busy is the GPU?", unit="%", ledger=led)
    lock.commit("70", 4)
    run = ph.forward_pass(1000, 5e-6, 10e-6)
    return lock.reveal(model=run.utilization, worked=run)._repr_mimebundle_()["text/html"]


def reads_as_it_should(page, area: str) -> None:
    """The picture is drawn, and a formula that is not typeset is still a formula."""
    drawn = page.locator(area).get_by_role("img", name="You predicted 70%, The model says 33.3%")
    assert (
        drawn.evaluate("async image => { await image.decode(); return image.naturalWidth }") > 300
    )
    text = " ".join(page.locator(area).inner_text().split())
    assert "Your prediction is 36.7 percentage points above the model." in text
    assert "33.3% (U = tcompute / T = 5 ms / 15 ms)" in text


def test_a_reveal_is_read_on_pages_that_clean_what_they_show(browser, open_notebook, tmp_path):
    output = nbformat.v4.new_output("display_data", {"text/html": a_reveal(tmp_path)})
    book = notebook_of(nbformat.v4.new_code_cell("1", outputs=[output]))
    nbformat.write(book, tmp_path / "lab.ipynb")
    # JupyterLab trusts no output that it has not seen computed.
    reads_as_it_should(open_notebook(tmp_path / "lab.ipynb"), ".jp-OutputArea")
    make_inert(book)
    (tmp_path / "lab.html").write_text(page_of("feedback", book), "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "lab.html").as_uri(), wait_until="load")
    reads_as_it_should(page, "body")
    page.close()
