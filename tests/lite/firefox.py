"""Debian's Firefox, driven over WebDriver BiDi, which it speaks by itself.

Playwright drives a Firefox of its own only. Nothing here is more than a test of a site needs: a
page is opened, looked at, clicked and typed into as a person does.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import websocket

from tests.lite.serving import READY

#: Firefox asks its maker about many things, which are not there.
_SETTINGS = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.serviceWorkers.enabled": True,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "",
    "toolkit.telemetry.enabled": False,
}
#: Resolves with what a function returns, as soon as that is something.
_UNTIL = """async (ready, given) => {
  for (;;) {
    const found = await ready(given);
    if (found) return found;
    await new Promise(done => setTimeout(done, 100));
  }
}"""
#: Finds what a selector and some words name, once it has stood still for a moment and a click on
#: its middle would reach it: a notebook draws cells, and moves what is below them.
_FIND = """async ([selector, words]) => {
  const found = [...document.querySelectorAll(selector)]
    .find(each => each.textContent.includes(words) && each.getClientRects().length);
  if (!found) return null;
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const place = () => { const { x, y } = found.getBoundingClientRect(); return `${x} ${y}`; };
  const before = place();
  await new Promise(done => setTimeout(done, 500));
  if (place() !== before) return null;
  const { x, y, width, height } = found.getBoundingClientRect();
  const hit = document.elementFromPoint(x + width / 2, y + height / 2);
  return hit && (found.contains(hit) || hit.contains(found)) ? found : null;
}"""
_HAS = """([selector, words]) => [...document.querySelectorAll(selector)]
  .some(each => each.textContent.includes(words))"""


class Firefox:
    """A Firefox with one tab, and a profile that forgets nothing until it is closed.

    Parameters
    ----------
    home
        An empty folder for its profile and what it prints.
    """

    def __init__(self, home: Path) -> None:
        profile, log = home / "profile", home / "log.txt"
        profile.mkdir()
        lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in _SETTINGS.items())
        (profile / "user.js").write_text("".join(lines), "utf-8")
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", str(profile)]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*command, "--remote-debugging-port", "0", "about:blank"],
                env={**os.environ, "HOME": str(home), "MOZ_CRASHREPORTER_DISABLE": "1"},
                stdout=output,
                stderr=output,
            )
        self._count = itertools.count(1)
        #: What pages and workers asked for, and what they wrote to the console.
        self.asked: list[str] = []
        self.told: deque[str] = deque(maxlen=50)
        address = _address(log, self._process)
        # One answer has the picture of a page in it; the time is that of a page that starts Python.
        self._socket = websocket.create_connection(
            f"{address}/session", timeout=READY / 1000, suppress_origin=True
        )
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        # The tab that Firefox begins with has no focus, whatever is done, and without a focus
        # JupyterLab has no current notebook.
        self._tab: str = self.send("browsingContext.create", type="tab")["context"]

    def send(self, method: str, **parameters: Any) -> Any:
        """Send a command of WebDriver BiDi, and return its result."""
        number = next(self._count)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message["type"] == "event":
                self._note(message["method"], message["params"])
            elif message["id"] == number:
                assert message["type"] == "success", (message, list(self.told))
                return message["result"]

    def _note(self, method: str, about: dict[str, Any]) -> None:
        if method == "network.beforeRequestSent":
            self.asked.append(about["request"]["url"])
        else:
            self.told.append(str(about["text"]))

    def open(self, address: str) -> None:
        """Open an address in the tab, or load it again."""
        self.send("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def _call(self, code: str, *given: Any) -> Any:
        """Call a function in the page with data, and return what comes back as BiDi has it."""
        arguments = [{"type": "string", "value": json.dumps(each)} for each in given]
        parsed = f"(...given) => ({code})(...given.map(each => JSON.parse(each)))"
        done = self.send(
            "script.callFunction",
            functionDeclaration=parsed,
            arguments=arguments,
            awaitPromise=True,
            target={"context": self._tab},
        )
        assert done["type"] == "success", (done, list(self.told))
        return done["result"]

    def evaluate(self, code: str, *given: Any) -> Any:
        """Call a function in the page, and return what it returns."""
        text = self._call(f"async (...given) => JSON.stringify(await ({code})(...given))", *given)
        return json.loads(text.get("value", "null"))

    def wait_until(self, code: str, given: Any = None) -> Any:
        """Wait until a function returns something in the page."""
        until = f"given => ({_UNTIL})({code}, given).then(found => JSON.stringify(found))"
        return json.loads(self._call(until, given)["value"])

    def wait_for(self, selector: str, words: str = "") -> None:
        """Wait for something on the page, by a selector and some of its words."""
        self.wait_until(_HAS, [selector, words])

    def click(self, selector: str, words: str = "") -> None:
        """Click on something, by a selector and some of its words, once a click reaches it."""
        found = self._call(f"given => ({_UNTIL})({_FIND}, given)", [selector, words])
        middle = {"type": "element", "element": {"sharedId": found["sharedId"]}}
        self._act(
            "pointer",
            {"type": "pointerMove", "x": 0, "y": 0, "origin": middle},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        )

    def type(self, text: str) -> None:
        """Press keys, one after the other, where the focus is."""
        steps = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._act("key", *steps)

    def _act(self, kind: str, *steps: dict[str, Any]) -> None:
        source = {"type": kind, "id": kind, "actions": list(steps)}
        self.send("input.performActions", context=self._tab, actions=[source])

    def close(self) -> None:
        """End it, whatever it does."""
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where a Firefox that was just started listens, as it prints it."""
    while process.poll() is None:
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text("utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"Firefox ended at once: {log.read_text('utf-8')}")


@contextlib.contextmanager
def firefox(home: Path) -> Iterator[Firefox]:
    """Run a Firefox as long as it is needed."""
    running = Firefox(home)
    try:
        yield running
    finally:
        running.close()
