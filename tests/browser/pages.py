"""What several browser tests do with a page: wait until it stands still, change themes, look."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

# Plots follow a new width or theme after a moment of their own, which is longer on a busy machine:
# a page stands still when nothing on it has moved or changed for a quarter of a second of frames.
_SETTLED = """() => new Promise(done => {
  const seen = () => [...document.querySelectorAll(
      '.mlsys-lab, .mlsys-instrument, .mlsys-plot svg, .jp-Cell, #mlsys-lab-panel')]
    .map(e => { const r = e.getBoundingClientRect();
                return [r.x, r.y, r.width, r.height].map(Math.round) + '' + e.children.length; })
    .join('|') + getComputedStyle(document.body).backgroundColor;
  let last = seen(), since = performance.now();
  const look = () => {
    const now = seen();
    if (now !== last) { last = now; since = performance.now(); }
    if (performance.now() - since > 250) done(); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""

#: Has a notebook draw cells that are out of sight too. JupyterLab leaves some out if it is told so
#: while it is drawing, as on a busy machine; then it is told again.
DRAW_ALL = """async content => {
  const draw = windowingMode => {
    content.notebookConfig = { ...content.notebookConfig, windowingMode };
  };
  for (let round = 0; round < 100; round++) {
    draw('none');
    for (let frame = 0; frame < 60; frame++) {
      await new Promise(requestAnimationFrame);
      if (content.widgets.every(cell => cell.isAttached)) return;
    }
    draw('full');
    await new Promise(requestAnimationFrame);
  }
  throw new Error('the notebook does not draw all of its cells');
}"""


def settled(page: Page) -> None:
    """Wait until nothing on the page moves any more."""
    page.evaluate(_SETTLED)


def in_theme(page: Page, theme: str) -> None:
    """Switch JupyterLab to its ``Light`` or ``Dark`` theme and wait until it is drawn."""
    name = f"JupyterLab {theme}"
    page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
    page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=name)
    settled(page)


def draw_all(page: Page) -> None:
    """Have the notebook draw all of its cells, also those out of sight or in a folded section."""
    page.evaluate("jupyterapp.commands.execute('notebook:expand-all-headings')")
    page.evaluate(f"({DRAW_ALL})(jupyterapp.shell.currentWidget.content)")


def cards_come_up(page: Page) -> None:
    """Wait for the cards of a notebook whose page was just loaded, and have all cells drawn."""
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content?.notebookConfig")
    draw_all(page)
    page.locator(".mlsys-lab-frame").first.wait_for()


def open_again(card: Locator) -> None:
    """Open a card that is short because it is recorded; one that is whole stays so."""
    if card.locator("[data-state=short]").count():
        card.locator(".mlsys-lab-link").click()


def no_serious_violation(page: Page, context: str) -> None:
    """Fail with what axe finds serious or critical inside of a selector."""
    found = Axe().run(page, context=context).response["violations"]
    serious = [
        f"{v['id']}: {v['help']} ({len(v['nodes'])}×, e.g. {v['nodes'][0]['html'][:160]})"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert not serious, serious


#: What is sent while Jupyter's server connects to a restarted kernel may be lost, and whoever waits
#: for an answer waits forever. So a first message is repeated until it is answered.
_RESTART = """async () => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const within = (seconds, answer) => Promise.race([
    answer.then(() => true),
    new Promise(done => setTimeout(() => done(false), 1000 * seconds)),
  ]);
  await kernel.restart();
  for (let tried = 0; tried < 60; tried++) {
    const first = kernel.requestExecute({ code: '', store_history: false });
    if (await within(2, first.done)) {
      return within(300, jupyterapp.commands.execute('notebook:run-all-cells'));
    }
    first.dispose();
  }
  return false;
}"""


def restart_and_run_all(page: Page) -> None:
    """Restart the kernel of the notebook in front, and run all of its cells."""
    assert page.evaluate(_RESTART), "the cells were not run to their end after a restart"
