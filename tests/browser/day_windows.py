"""A window of the browser in which a student's day happens, and what it says."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from playwright.sync_api import BrowserContext, Locator
from playwright.sync_api import TimeoutError as Late

from tests.browser.conftest import Lab
from tests.browser.expected_day import Box, Disagreement, same
from tests.browser.pages import DRAW_ALL
from tests.browser.tampering import INTERCEPT, LATE, SLOW, lose_one

#: Milliseconds in which a page must say what is true, on a machine that others use too.
SOON: Final = 240_000

#: What a window says, in the words of `Expected`; cards only where they are wanted.
_SEEN: Final = r"""({ boxes, cards }) => {
  const each = say => Object.fromEntries(
    Object.entries(boxes).map(([name, box]) => [name, say(box)]));
  const clean = text => (text ?? '').replace(/\s+/g, ' ');
  const region = name => [...document.querySelectorAll('section[aria-labelledby]')].find(each =>
    each.checkVisibility()
    && clean(document.getElementById(each.getAttribute('aria-labelledby'))?.textContent)
      .startsWith(name));
  const card = ({ title, words }) => {
    const shown = region(title);
    if (!shown) return null;
    const text = clean(shown.textContent);
    const written = shown.querySelector('textarea, input:not([type=radio])');
    return {
      'box': written ? written.value : shown.querySelector('input:checked')?.value ?? null,
      'recorded': words.find(each => text.includes(`Recorded: ${each}`)) ?? '',
      'not recorded yet': [...shown.querySelectorAll('[role=status]')].some(each =>
        each.checkVisibility() && each.textContent.includes('not recorded yet')),
      'in the file': text.includes('In the file to hand in of'),
      'changed since': text.includes('Changed since you made the file to hand in'),
    };
  };
  const panel = document.querySelector('[role=region][aria-label="Lab panel"]');
  const steps = [...panel.querySelectorAll('button')].map(each => clean(each.textContent));
  const file = clean(region('File to hand in')?.textContent);
  const status = clean(document.querySelector('.mlsys-Status')?.textContent);
  return {
    ...(cards ? { cards: each(card) } : {}),
    panel: {
      steps: each(({ title }) =>
        steps.find(line => line.includes(`: ${title} (`))?.match(/ \(([^()]*)\)$/)?.[1] ?? null),
      'file': Boolean(file),
      'is whole': file.includes('holds everything that you have recorded'),
      'is older': file.includes('older than your work'),
      'status': status.includes('changed since') ? 'changed since'
        : status.includes('file to hand in made') ? 'made' : '',
    },
  };
}"""
_SORTED: Final = """const sorted = each => each && typeof each === 'object' && !Array.isArray(each)
  ? Object.fromEntries(Object.keys(each).sort().map(key => [key, sorted(each[key])])) : each;"""
_AGREES: Final = f"""({{ ask, expected }}) => {{
  {_SORTED}
  return JSON.stringify(sorted(({_SEEN})(ask))) === JSON.stringify(sorted(expected));
}}"""
#: Whether a lab that was opened has decided: it waits for its button, or its cards are alive.
_DECIDED: Final = """path => {
  const panel = window.jupyterapp?.shell.currentWidget;
  if (panel?.context?.path !== path || !panel.content.widgets) return false;
  const banner = panel.node.querySelector('[aria-label="Start or resume the lab"]');
  if (banner?.checkVisibility() && banner.querySelector('button')) return 'waits';
  const live = [...panel.node.querySelectorAll('section[aria-labelledby]')].filter(each =>
    each.checkVisibility() && !each.closest('.jupyter-widgets-disconnected'));
  return live.length > 3 ? 'lives' : false;
}"""
_OPEN: Final = f"""async path => {{
  const panel = await jupyterapp.commands.execute('docmanager:open', {{ path }});
  await panel.revealed;
  await ({DRAW_ALL})(panel.content);
}}"""
_CLOSE: Final = """async () => {
  for (const widget of jupyterapp.shell.widgets('main')) {
    if (widget.context?.model) widget.context.model.dirty = false;
  }
  await jupyterapp.commands.execute('application:close-all');
}"""
_PID: Final = """async () => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const asked = kernel.requestExecute({ code: '', silent: true, store_history: false,
    user_expressions: { pid: "__import__('os').getpid()" } });
  return Number((await asked.done).content.user_expressions.pid.data['text/plain']);
}"""
#: What the page and the server know of a kernel that does not answer.
_KERNEL: Final = """async () => {
  const { serviceManager, shell } = jupyterapp;
  const { id, status, connectionStatus, _pendingMessages, _futures, _msgChain } =
    shell.currentWidget.sessionContext.session.kernel;
  const handled = await Promise.race([
    _msgChain.then(() => true), new Promise(done => setTimeout(() => done(false), 2000))]);
  await serviceManager.kernels.refreshRunning();
  const known = [...serviceManager.kernels.running()].find(each => each.id === id);
  return JSON.stringify({ status, connectionStatus, handled,
    pending: _pendingMessages.length, futures: _futures.size, known });
}"""
_SAVE: Final = """() => {
  window.saved = false;
  void jupyterapp.shell.currentWidget.context.save().then(() => { window.saved = true; });
}"""


class Window:
    """A window of the browser in which JupyterLab is open for many days, with a lab of today."""

    def __init__(self, context: BrowserContext, lab: Lab) -> None:
        self.lab, self.name = lab, secrets.token_hex(4)
        self.page = context.new_page()
        self.page.add_init_script(INTERCEPT)
        self._processor = context.new_cdp_session(self.page)
        self._rate, self._late = 1, 0
        self.page.goto(f"{lab.url}lab/workspaces/{self.name}?token={lab.token}")
        self.page.wait_for_function("window.jupyterapp?.commands.hasCommand('docmanager:open')")
        #: Whether the cards that it shows have a kernel.
        self.lives = False
        self.path = ""

    def have_a_day(self, *, late: bool, slow: bool) -> None:
        """Get messages late, as from far away, and be as slow as an old machine, or neither."""
        self._late, self._rate = LATE if late else 0, SLOW if slow else 1

    def _run_at(self, rate: float) -> None:
        """Let the page run so many times slower than here.

        Chromium fills the time with work, even while the page rests: only what is looked at is
        slow, and only while it is.
        """
        self._processor.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def lose_a_message(self) -> None:
        """Have the next news about a card never arrive."""
        lose_one(self.page)

    def open(self, path: str) -> None:
        self.path = path
        self._run_at(self._rate)
        self.page.evaluate("late => { window.late = late; window.tamper = null; }", self._late)
        self.page.evaluate(_OPEN, path)
        self._decide()

    def load(self) -> None:
        """Load the page again, as a student does who closes the browser and comes back.

        It is slow once JupyterLab runs: reading its code, which is not ours, would take longer
        than everything else in a day.
        """
        self._run_at(1)
        address = f"{self.lab.url}lab/workspaces/{self.name}/tree/{self.path}?reset"
        self.page.goto(address, wait_until="commit")
        self.page.wait_for_function("window.jupyterapp", timeout=SOON)
        self._run_at(self._rate)
        ready = "window.jupyterapp?.shell.currentWidget?.content?.notebookConfig"
        self.page.wait_for_function(ready, timeout=SOON)
        self.open(self.path)

    def _decide(self) -> None:
        found = self.page.wait_for_function(_DECIDED, arg=self.path, timeout=SOON).json_value()
        self.lives = found == "lives"

    def start(self) -> None:
        """Press Start or Resume, and wait until everything has run."""
        banner = self.page.get_by_role("region", name="Start or resume the lab")
        banner.get_by_role("button", name=re.compile("^(Start|Resume)$")).click(timeout=SOON)
        try:
            banner.wait_for(state="hidden", timeout=SOON)
        except Late as late:
            said, kernel = banner.inner_text(), self.page.evaluate(_KERNEL)
            raise Disagreement(f"the banner still says {said!r}; the kernel: {kernel}") from late
        self.lives = True

    def waits_for_resume(self) -> None:
        """Wait until it says that its kernel is gone."""
        banner = self.page.get_by_role("region", name="Start or resume the lab")
        banner.get_by_role("button", name="Resume").wait_for(timeout=SOON)
        self.lives = False

    def card(self, title: str) -> Locator:
        return self.page.get_by_role("region", name=title)

    def enter(self, box: Box, entry: str) -> None:
        card = self._whole(box)
        if box.empty is None:
            card.locator(f"input[value='{entry}']").check()
        else:
            card.get_by_role("textbox").fill(entry)

    def _whole(self, box: Box) -> Locator:
        """Open a card that is short because it is recorded."""
        card = self.card(box.title)
        if card.get_attribute("data-state") == "short":
            card.get_by_role("button", name=re.compile("^Change")).click()
        return card

    def press_record(self, box: Box) -> Locator:
        card = self._whole(box)
        card.get_by_role("button", name=re.compile("^Record ")).click()
        return card

    def pid(self) -> int:
        """The process of the kernel."""
        return int(self.page.evaluate(_PID))

    def save(self) -> None:
        """Save the notebook, whatever another window has saved."""
        self.page.evaluate(_SAVE)
        asked = "() => saved || document.querySelector('.jp-Dialog')"
        self.page.wait_for_function(asked, timeout=SOON)
        # Where both windows save one file, Jupyter asks the second one whether it means it.
        conflict = self.page.get_by_role("dialog").get_by_role("button", name="Overwrite")
        if conflict.count():
            conflict.click()
        self.page.wait_for_function("() => saved", timeout=SOON)

    def comes_to_say(self, about: str, boxes: Any, expected: Mapping[str, Any]) -> None:
        """Wait until it says what is expected; fail with the differences."""
        ask = {"boxes": boxes, "cards": "cards" in expected}
        try:
            arg = {"ask": ask, "expected": expected}
            self.page.wait_for_function(_AGREES, arg=arg, timeout=SOON, polling=50)
        except Late:
            same(about, self.page.evaluate(_SEEN, ask), expected)
            raise

    def close(self) -> None:
        self._run_at(1)
        self.page.evaluate(_CLOSE)
        self.lives, self.path = False, ""
