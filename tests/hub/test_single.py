"""A course for one person without root: fetch, submit and collect in one JupyterLab."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
import websocket

from mlsys_widgets.hub.hub_state import Account
from tests.hub.people import needs_root, somebody
from tests.hub.running import SERVER, START, bundle, environment, executed, free_port
from tests.waiting import wait_for

pytestmark = needs_root  # to become somebody else
LAB = "lab_07_kernel_fusion"


@dataclass
class Alone:
    """Somebody who has started a course for themselves."""

    account: Account
    home: Path
    python: Path
    output: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def course(self) -> Path:
        return self.home / "mine" / "course"

    def mlsys(self, *words: str) -> subprocess.Popen[bytes]:
        with self.output.open("ab") as output:
            return subprocess.Popen(
                [str(self.python), "-m", "mlsys_widgets", *words],
                user=self.account.uid, group=self.account.gid, extra_groups=[], cwd=self.home,
                env={"HOME": str(self.home), "USER": self.account.name, "PATH": "/usr/bin:/bin"},
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def start(self) -> str:
        """Start it; returns the address that it says."""
        before = self.output.stat().st_size if self.output.exists() else 0
        self.process = self.mlsys(
            "hub", "--single", "--folder", "mine", "--from", "bundle.tar.gz",
            "--port", str(free_port()),
        )  # fmt: skip

        def address() -> re.Match[str] | None:
            output = self.output.read_bytes()[before:].decode()
            found = re.search(r"Open +(http\S+)", output)
            assert found or self.process.poll() is None, output
            return found

        return wait_for(address, self.output.read_text, START)[1]

    def stop(self) -> int:
        assert self.process
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def run(self, address: str, code: str) -> str:
        """Run code in a new kernel; what it printed."""
        kernel = self.ask(address, "POST", "api/kernels", json={"name": "python3"}).json()["id"]
        base, token = re.fullmatch(r"http(://[^/]+/).*token=(\S+)", address).groups()
        line = websocket.create_connection(
            f"ws{base}api/kernels/{kernel}/channels", header=[f"Authorization: token {token}"],
            timeout=SERVER, http_no_proxy=["127.0.0.1"],
        )  # fmt: skip
        try:
            return executed(line, code)
        finally:
            line.close()

    def ask(self, address: str, method: str, path: str, **more: object) -> requests.Response:
        base, token = re.fullmatch(r"(http://[^/]+/).*token=(\S+)", address).groups()
        return requests.request(
            method, f"{base}{path}", headers={"Authorization": f"token {token}"}, timeout=60,
            proxies={"http": ""}, **more,
        )  # fmt: skip


@pytest.fixture(scope="module")
def alone() -> Iterator[Alone]:
    python = environment()
    with somebody() as (account, home):
        place = Path(shutil.copy(bundle(), home / "bundle.tar.gz"))
        place.chmod(0o644)
        person = Alone(account, home, python, home.parents[1] / "output.txt")
        yield person
        if person.process and person.process.poll() is None:
            person.stop()


def test_without_root_a_hub_says_what_it_needs_and_what_there_is_instead(alone):
    process = alone.mlsys("hub", "--folder", "hub")
    assert process.wait(100) == 1
    output = alone.output.read_text()
    assert "sudo mlsys hub" in output
    assert "mlsys hub --single" in output
    assert "Traceback" not in output
    assert not (alone.home / "hub").exists()


def test_one_person_fetches_hands_in_and_collects(alone):
    address = alone.start()
    name = alone.account.name
    listed = alone.ask(address, "GET", "assignments?course_id=mlsys").json()["value"]
    assert {each["assignment_id"]: each["status"] for each in listed}[LAB] == "released"
    form = {"course_id": "mlsys", "assignment_id": LAB}
    for action in ("fetch", "submit"):
        answer = alone.ask(address, "POST", f"assignments/{action}", data=form)
        assert answer.json()["success"], answer.text
    assert (alone.course / "tried" / LAB / f"{LAB}.ipynb").is_file()
    answer = alone.ask(address, "POST", f"formgrader/api/assignment/{LAB}/collect")
    assert answer.json()["success"], answer.text
    assert (alone.course / "submitted" / name / LAB / f"{LAB}.ipynb").is_file()
    assert alone.ask(address, "GET", "formgrader/").status_code == 200
    (student,) = alone.ask(address, "GET", "formgrader/api/students").json()
    assert student["id"] == name
    # Others on this machine could join a kernel's ports, so what is said there is encrypted.
    output = alone.run(address, "import ipykernel.connect as c; print(c.get_connection_info())")
    assert json.loads(output)["curve_publickey"]
    stranger = requests.get(address.split("?")[0], timeout=30, proxies={"http": ""})
    assert "/login" in stranger.url

    assert alone.stop() == 0
    again = alone.start()
    listed = alone.ask(again, "GET", "assignments?course_id=mlsys").json()["value"]
    assert "submitted" in {each["status"] for each in listed if each["assignment_id"] == LAB}
    assert alone.stop() == 0
    words = subprocess.run(
        ["ps", "-u", name, "-o", "stat=,args="], capture_output=True, text=True, check=False
    )
    # Dead ones may wait for a parent that never asks: somebody else's, with the same number.
    assert [line for line in words.stdout.splitlines() if not line.startswith("Z")] == []


def test_its_folder_is_closed_to_others_and_is_no_hub(alone):
    folder = alone.home / "mine"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert os.geteuid() == 0
    done = subprocess.run(
        [str(alone.python), "-m", "mlsys_widgets", "hub", "--folder", str(folder)],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 1
    assert "--folder" in done.stderr


def test_it_is_removed_without_root(alone):
    process = alone.mlsys("hub", "--folder", "mine", "--reset", "--yes")
    assert process.wait(100) == 0
    assert not (alone.home / "mine").exists()
