"""The Dask of dask.yaml: its commands start, find each other, and answer the probes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.waiting import wait_for

from .cluster import KUBERNETES, free_ports


def container(name: str) -> dict[str, Any]:
    """What a deployment of dask.yaml runs."""
    for each in yaml.safe_load_all((KUBERNETES / "dask.yaml").read_text("utf-8")):
        if each["kind"] == "Deployment" and each["metadata"]["name"] == name:
            return dict(each["spec"]["template"]["spec"]["containers"][0])
    raise AssertionError(f"dask.yaml has no deployment {name}")


@contextmanager
def running(name: str, places: dict[str, str], folder: Path) -> Iterator[None]:
    """Run what a deployment runs, on the loopback: its own ports become those of this test."""

    def here(text: str) -> str:
        return re.sub("|".join(map(re.escape, places)), lambda found: places[found[0]], text)

    said = container(name)
    program, *words = (here(word) for word in said["args"])
    assert program == "dask"
    environment = {each["name"]: here(each["value"]) for each in said.get("env", ())}
    command = [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1"]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=os.environ | environment, stdout=log, stderr=log, cwd=folder
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def answers(port: int, path: str) -> bool:
    def once() -> bool:
        with suppress(requests.RequestException):
            return requests.get(f"http://127.0.0.1:{port}{path}", timeout=5).ok
        return False

    return wait_for(once, f"{path} does not answer")


def test_the_commands_of_the_manifest_make_a_cluster(tmp_path: Path) -> None:
    from distributed import Client

    scheduler, first, second = free_ports(3)
    places = {
        "tcp://dask-scheduler:8786": f"tcp://127.0.0.1:{scheduler}",
        ":8787": f"127.0.0.1:{first}",
        ":8788": f"127.0.0.1:{second}",
        "8786": str(scheduler),
    }
    with running("dask-scheduler", places, tmp_path):
        assert answers(first, container("dask-scheduler")["livenessProbe"]["httpGet"]["path"])
        with running("dask-worker", places, tmp_path):
            assert answers(second, container("dask-worker")["livenessProbe"]["httpGet"]["path"])
            with Client(f"tcp://127.0.0.1:{scheduler}", timeout=30, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=60)
                assert list(client.nthreads().values()) == [2]


def test_a_core_for_each_thread() -> None:
    said = container("dask-worker")
    (threads,) = [word for word in said["args"] if word.startswith("--nthreads")]
    assert threads == f"--nthreads={said['resources']['requests']['cpu']}"
