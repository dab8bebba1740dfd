"""What JupyterLab in a browser asks a server while a lab is open.

Written down from a real one: Chromium was watched while somebody opened Lab 07, ran all cells,
committed a prediction, moved a slider and saved.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import uuid
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse

from classroom.widgets import Models
from classroom.wire import PATIENCE, Gone, Message, Sent, Wire

#: How often JupyterLab looks whether kernels, terminals, workspaces and files have changed.
POLL = 10.0
#: How often JupyterLab tries to reach a kernel again, after up to 2, 4, 8 … s less one.
RECONNECTS = 7
#: For how long the Lab panel keeps a request open.
PANEL = 25
OUTPUTS = {"execute_result", "display_data", "stream", "error"}


@dataclass(frozen=True)
class Place:
    """Where a student works: an address that ends with a slash, a key, and the server's process."""

    address: str
    token: str
    process: int
    #: By which the server's own processes know the student.
    student: str


class Browser:
    """A tab of JupyterLab with a notebook in it."""

    def __init__(self, client: AsyncHTTPClient, place: Place, path: str) -> None:
        self._client, self.place, self.path = client, place, path
        self._chance = random.Random(place.student)
        self.models = Models()
        self.book: dict[str, Any] = {}
        self.troubles: Counter[str] = Counter()
        self._wire: Wire | None = None
        self.reconnected = 0
        self._kernel = self._session = ""
        self._subshell: str | None = None
        self._outputs: defaultdict[str, list[Message]] = defaultdict(list)
        self._runs: dict[int, str] = {}
        self._background: list[asyncio.Task[None]] = []

    # Requests.

    async def ask(
        self, address: str, method: str = "GET", body: Any = None, **headers: str
    ) -> HTTPResponse:
        """A request with the student's key; other answers than 2xx and 304 are errors."""
        what = f"{method} {address.partition('?')[0]}"
        request = HTTPRequest(
            self.place.address + address,
            method=method,
            body=None if body is None else json.dumps(body),
            allow_nonstandard_methods=True,
            headers={"Authorization": f"token {self.place.token}", **headers},
            connect_timeout=PATIENCE,
            request_timeout=PATIENCE,
        )
        try:
            response = await self._client.fetch(request, raise_error=False)
        except HTTPClientError as problem:  # of the connection: too late, or closed
            raise OSError(f"{what}: {problem.message}") from None
        if response.code >= 400:
            raise OSError(f"{what} answers {response.code}")
        return response

    async def fetch_lab(self, course: str, lab: str) -> None:
        """Fetch a lab with nbgrader's Assignment List."""
        await self.ask("assignments/fetch", "POST", {"course_id": course, "assignment_id": lab})

    async def open(self) -> None:
        """Load the page, and what JupyterLab asks for before it shows a notebook."""
        page = (await self.ask(f"lab/tree/{quote(self.path)}")).body.decode()
        base = re.search(r'"baseUrl":\s*"([^"]*)"', page)
        prefix = base.group(1) if base else "/"
        scripts = re.findall(r'<script[^>]*\ssrc="([^"]+)"', page)
        loaded = re.findall(r'"load":\s*"([^"]+)"[^}]*"name":\s*"([^"]+)"', page)
        scripts += [f"{prefix}lab/extensions/{name}/{file}" for file, name in loaded]
        folder = quote(self.path.rpartition("/")[0])
        for address in (
            *(script.removeprefix(prefix) for script in scripts),
            "api/me",
            "lab/api/settings",
            "api/kernelspecs",
            "api/kernels",
            "api/terminals",
            "api/sessions",
            "lab/api/workspaces",
            "lab/api/translations/default",
            "api/nbconvert",
            "api/contents?content=1",
            f"api/contents/{folder}?content=1",
            f"api/contents/{quote(self.path)}/checkpoints",
        ):
            await self.ask(address)
        answer = await self.ask(f"api/contents/{quote(self.path)}?type=notebook&content=1")
        self.book = json.loads(answer.body)["content"]

    async def start_kernel(self) -> None:
        """Start a kernel for the notebook and greet it as the widget manager does."""
        answer = await self.ask(
            "api/sessions", "POST",
            {"path": self.path, "type": "notebook", "name": self.path.rpartition("/")[2],
             "kernel": {"name": "python3"}},
        )  # fmt: skip
        session = json.loads(answer.body)
        self._session, self._kernel = session["id"], session["kernel"]["id"]
        self.models, self._runs = Models(), {}
        self._outputs.clear()
        for attempt in range(RECONNECTS + 1):
            await asyncio.sleep(self._chance.uniform(0, 2**attempt - 1))
            try:
                self._wire = await self._connected()
                break
            except Gone:
                if attempt == RECONNECTS:
                    raise
                self.reconnected += 1
        self._send("history_request",
                   {"output": False, "raw": True, "hist_access_type": "tail", "n": 10})  # fmt: skip
        control = uuid.uuid4().hex
        self._send(
            "comm_open",
            {"comm_id": control, "target_name": "jupyter.widget.control", "data": {}},
        )
        self._send("comm_msg", {"comm_id": control, "data": {"method": "request_states"}})
        self._send("comm_info_request", {"target_name": "jupyter.widget"})
        # Widgets speak to a thread of their own in the kernel, beside the one that runs cells.
        await self._send(
            "create_subshell_request", {}, channel="control", until=("create_subshell_reply",)
        ).done
        if not self._background:
            self._background = [
                asyncio.ensure_future(each) for each in (self._poll(), self._watch())
            ]

    async def _connected(self) -> Wire:
        """A connection to the kernel, over which it has answered."""
        wire = Wire(self._hear)
        await wire.connect(f"{self.place.address}api/kernels/{self._kernel}", self.place.token)
        await wire.send("kernel_info_request", {}, until=("kernel_info_reply",)).done
        return wire

    async def end_kernel(self) -> None:
        """Shut the notebook's kernel down."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
            await self.ask(f"api/sessions/{self._session}", "DELETE")

    async def begin_again(self) -> None:
        """Put the ledger aside, as the Lab panel's command does, and forget all outputs."""
        await self.end_kernel()
        with suppress(OSError):  # there may be no ledger yet
            await self.ask("mlsys/begin-again", "POST", {"path": self.path})

    async def leave(self) -> None:
        """Close the tab. The kernel keeps running, as it does behind a real tab."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._background = []
        if self._wire is not None:
            self._wire.close()

    # The notebook.

    def code_cells(self) -> list[int]:
        """Where the code cells are."""
        return [k for k, cell in enumerate(self.book["cells"]) if cell["cell_type"] == "code"]

    def run(self, cell: int) -> Sent:
        """Run a cell."""
        source = self.book["cells"][cell]["source"]
        code = source if isinstance(source, str) else "".join(source)
        sent = self._send(
            "execute_request",
            {"code": code, "silent": False, "store_history": True, "user_expressions": {},
             "allow_stdin": True, "stop_on_error": True},
            until=("idle", "execute_reply"),
        )  # fmt: skip
        self._runs[cell] = sent.name
        return sent

    async def save(self) -> None:
        """Save the notebook with its outputs, and what JupyterLab asks before and after that."""
        for index, run in self._runs.items():
            self.book["cells"][index]["outputs"] = [_output(each) for each in self._outputs[run]]
        about = f"api/contents/{quote(self.path)}"
        await self.ask(f"{about}?content=0&hash=1")
        await self.ask(about, "PUT",
                       {"type": "notebook", "format": "json", "content": self.book})  # fmt: skip
        await self.ask(f"{about}?content=0&hash=1")
        await self.ask(f"{about}/checkpoints", "POST")

    async def submit(self, course: str, lab: str) -> None:
        """Hand in with nbgrader's Assignment List."""
        answer = await self.ask(
            "assignments/submit", "POST", {"course_id": course, "assignment_id": lab}
        )
        said = json.loads(answer.body)
        if not said["success"]:
            raise OSError(f"nbgrader does not take the submission: {said['value'][-200:]}")

    # Widgets.

    def update(self, comm: str, state: dict[str, Any]) -> Sent:
        """A widget's new state, as it comes from a slider."""
        data = {"method": "update", "state": state, "buffer_paths": []}
        return self._send("comm_msg", {"comm_id": comm, "data": data}, subshell=self._subshell)

    def click(self, comm: str, action: str, values: dict[str, Any]) -> Sent:
        """A button of a card, with the values of all its inputs."""
        content = {"action": action, "values": values, "stamp": 1e3 * time.perf_counter()}
        data = {"method": "custom", "content": content}
        return self._send("comm_msg", {"comm_id": comm, "data": data}, subshell=self._subshell)

    def _send(self, kind: str, content: dict[str, Any], **more: Any) -> Sent:
        if self._wire is None:
            raise OSError("no kernel was started")
        return self._wire.send(kind, content, **more)

    def _hear(self, message: Message) -> None:
        if message.kind == "create_subshell_reply":
            self._subshell = message.content.get("subshell_id")
        elif message.kind in OUTPUTS:
            self._outputs[message.parent].append(message)
            if message.kind == "error":
                self.troubles[f"cell: {message.content['ename']}"] += 1
        elif message.kind == "status":
            # Sent by the server, not by the kernel, which is no more.
            if message.content["execution_state"] in ("restarting", "dead"):
                self.troubles["kernel died"] += 1
        else:
            self.models.hear(message)

    # What happens behind a page that is only being looked at.

    async def _poll(self) -> None:
        folder = quote(self.path.rpartition("/")[0])
        while True:
            await asyncio.sleep(POLL)
            for address in (
                "api/kernels",
                "api/sessions",
                "api/terminals",
                "lab/api/workspaces",
                f"api/contents/{folder}?content=1",
            ):
                await self._quietly(address)

    async def _watch(self) -> None:
        """The Lab panel: a request that is answered when the ledger changes."""
        tag = ""
        while True:
            answer = await self._quietly(
                f"mlsys/lab?path={quote(self.path, safe='')}&wait={PANEL}",
                **({"If-None-Match": tag} if tag else {}),
            )
            if answer is None:
                await asyncio.sleep(1)
            elif answer.code == 200:
                tag = answer.headers.get("ETag", "")
                await self._quietly(f"mlsys/ledgers?path={quote(self.path, safe='')}")

    async def _quietly(self, address: str, **headers: str) -> HTTPResponse | None:
        try:
            return await self.ask(address, **headers)
        except OSError:
            self.troubles[f"no answer: {address.partition('?')[0]}"] += 1
            return None


def _output(message: Message) -> dict[str, Any]:
    """An output as a notebook keeps it."""
    kept = {key: value for key, value in message.content.items() if key != "transient"}
    return {"output_type": message.kind, **kept}
