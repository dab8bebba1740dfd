"""A site as any static host serves it, and a lab of it in a tab."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, expect

#: Milliseconds, as long as a busy machine may need until Python has started in a page.
READY = 600_000
#: Before each line that a kernel has printed, in the console of its page.
_PRINTED = "kernel: "
#: Where sites are and were served by this process.
_SERVED: set[str] = set()
_SESSION = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a site on this machine, as long as it is needed."""
    serve = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"127.0.0.1:{server.server_port}"
        _SERVED.add(address)
        yield f"http://{address}"
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def asking_nobody_else(context: BrowserContext) -> Iterator[None]:
    """Fail if any page of a browser, or any worker of one, asks somebody who is not a site."""
    elsewhere: list[str] = []

    def note(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("blob", "data") and address.netloc not in _SERVED:
            elsewhere.append(request.url)

    context.on("request", note)
    yield
    assert elsewhere == []


def expose(site: Path) -> None:
    """Have the pages of a site give tests the app, as `window.jupyterapp`."""
    settings = site / "jupyter-lite.json"
    told = json.loads(settings.read_text("utf-8"))
    told["jupyter-config-data"]["exposeAppInBrowser"] = True
    settings.write_text(json.dumps(told), "utf-8")


#: Runs code in the kernel of the open notebook; gives what it printed, and its error.
_RUN = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
  let printed = '';
  future.onIOPub = ({ content }) => {
    printed += content.text ?? '';
    if (content.text) { console.log('kernel: ' + content.text); }
  };
  const reply = await future.done;
  return [printed, reply.content.evalue ?? ''];
}"""


class Tab:
    """A tab with one lab of a site."""

    def __init__(self, context: BrowserContext, site: str, lab: str) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(READY)
        self.site, self.lab = site, lab
        #: What kernels have printed, also those that never came to an end.
        self.told: list[str] = []
        self.page.on("console", self._listen)
        self.open()

    def _listen(self, message: ConsoleMessage) -> None:
        if message.text.startswith(_PRINTED):
            self.told.extend(message.text.removeprefix(_PRINTED).splitlines())

    def open(self) -> None:
        self.page.goto(f"{self.site}/lab/index.html?path={self.lab}/{self.lab}.ipynb")

    def press_start(self) -> None:
        self.page.locator(".mlsys-Banner .mlsys-Start-button").click()

    def start(self, name: str = "", code: str = "") -> None:
        """Press Start or Resume, say who works here if that is asked, and wait for the lab."""
        page = self.page
        self.press_start()
        if name:
            page.get_by_label("Name or login").fill(name)
            if code:
                page.get_by_label("The code that your course gave to you").fill(code)
            page.get_by_role("button", name="That is me").click()
        expect(page.locator(".mlsys-Banner")).to_be_hidden(timeout=READY)

    def run(self, code: str) -> tuple[str, str]:
        """Run code in the kernel: what it printed, and its error."""
        printed, error = self.page.evaluate(_RUN, code)
        return printed, error

    def begin(self, code: str) -> None:
        """Have the kernel run code, and do not wait for its end."""
        self.page.wait_for_function(f"{_SESSION}?.kernel")
        self.page.evaluate(f"code => {{ ({_RUN})(code).catch(() => undefined); }}", code)

    def wait_until_told(self, word: str, times: int) -> None:
        """Wait until the kernels have printed so many lines with a word."""
        while sum(word in line for line in self.told) < times:
            self.page.wait_for_event("console")

    def _worked(self) -> dict[int, float]:
        """The processes of the browser that draw pages, and how long each has worked."""
        assert self.page.context.browser
        session = self.page.context.browser.new_browser_cdp_session()
        told = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return {each["id"]: each["cpuTime"] for each in told if each["type"] == "renderer"}

    def process(self) -> int:
        """Find which process has this tab: the one that has worked as long as the page says."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable")
        found: list[int] = []
        while len(found) != 1:
            before = self._worked()
            metrics = session.send("Performance.getMetrics")["metrics"]
            (own,) = (each["value"] for each in metrics if each["name"] == "ProcessTime")
            after = self._worked()
            found = [each for each in before.keys() & after if before[each] <= own <= after[each]]
        session.detach()
        return found[0]

    def kill(self, process: int) -> None:
        """End the process of this tab, whatever it does, as a system short of memory does."""
        with self.page.expect_event("crash"):
            os.kill(process, signal.SIGKILL)
        self.page.close()

    def restart(self) -> None:
        """Restart the kernel, as the menu does."""
        self.page.evaluate(f"async () => {{ await {_SESSION}.kernel.restart(); }}")

    def content(self, path: str) -> Any:
        """A file as the browser has stored it, or else the site has it; empty if there is none."""
        self.page.wait_for_function("window.jupyterapp?.serviceManager")
        return self.page.evaluate(
            """path => window.jupyterapp.serviceManager.contents
              .get(path, { content: true }).then(({ content }) => content, () => '')""",
            path,
        )

    def text(self) -> str:
        """The file of the ledger as the browser has stored it; empty if there is none."""
        content: str = self.content(f"{self.lab}/ledger.jsonl")
        return content

    def events(self) -> list[dict[str, Any]]:
        """The ledger as the browser has stored it."""
        return [json.loads(line) for line in self.text().splitlines()]

    def recorded(self, name: str) -> list[Any]:
        """What the stored ledger has as values of an answer, in order."""
        return [each["value"]["value"] for each in self.events() if each["id"] == name]
