"""A lab starts on a page where everything comes late, or not at all the first time."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, expect

from tests.grading.classroom import LAB
from tests.lite.serving import READY, Tab

#: The service worker is registered after all else of the page is there, and the first two answers
#: of the page to a kernel are lost.
TROUBLE = """
const register = ServiceWorkerContainer.prototype.register;
ServiceWorkerContainer.prototype.register = async function (...asked) {
  await new Promise(done => {
    const look = () => document.querySelector('.mlsys-Banner .mlsys-Start-button')
      ? setTimeout(done, 3000) : setTimeout(look, 100);
    look();
  });
  return register.apply(this, asked);
};
const post = BroadcastChannel.prototype.postMessage;
window.answersLost = 0;
BroadcastChannel.prototype.postMessage = function (message) {
  const isOurs = message?.response && message.browsingContextId.includes('#');
  if (isOurs && window.answersLost < 2) window.answersLost += 1;
  else post.call(this, message);
};
"""
#: Has the second cell fail; the first sets the lab up. JupyterLite drops what was sent behind it.
BREAK = """() => {
  const { widgets } = window.jupyterapp.shell.currentWidget.content;
  const cells = widgets.filter(each => each.model.type === 'code');
  cells[1].model.sharedModel.setSource('raise ValueError(1)');
}"""


def test_a_start_comes_to_an_end_whatever_is_late_lost_or_fails(demo: str, context: BrowserContext):
    context.add_init_script(TROUBLE)
    tab = Tab(context, demo, LAB)
    banner = tab.page.locator(".mlsys-Banner")
    tab.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content.model")
    expect(banner.locator(".mlsys-Start-button")).to_be_visible(timeout=READY)
    tab.page.evaluate(BREAK)
    tab.press_start()
    tab.page.get_by_label("Name or login").fill("ann")
    tab.page.get_by_role("button", name="That is me").click()
    expect(banner).to_contain_text("Everything else has run.", timeout=READY)
    expect(banner).to_contain_text("1 of ")
    assert tab.page.evaluate("answersLost") == 2
    assert tab.run("print(lab.student.name)") == ("ann\n", "")
