"""How a hub is: each part can be well, and each can fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from mlsys_widgets.hub.services import health
from mlsys_widgets.hub.services.health import Surroundings, examine_parts, facts, services_alive


@pytest.fixture
def answering():
    """A hub and a proxy that answer; the proxy knows its token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            well = self.path == "/hub/health" or self.headers["Authorization"] == "token t"
            self.send_response(200 if well else 403)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def around(places, answering):
    (places.secrets / "configproxy_auth_token").write_text("t\n")
    return Surroundings(places, "mlsys", answering, answering, {}, os.getpid())


def failing(around):
    return {part.name for part in examine_parts(around) if not part.well}


def test_a_hub_can_be_well(around):
    assert failing(around) == set()


def test_each_part_can_fail(around, monkeypatch):
    nobody = Surroundings(around.places, "mlsys", "http://127.0.0.1:1", "http://127.0.0.1:1", {}, 1)
    assert failing(nobody) == {"hub", "proxy"}
    (around.places.secrets / "configproxy_auth_token").write_text("another")
    assert failing(around) == {"proxy"}
    (around.places.secrets / "configproxy_auth_token").write_text("t")
    around.places.exchange.chmod(0o777)
    assert failing(around) == {"exchange"}
    around.places.exchange.rmdir()
    assert failing(around) == {"exchange"}
    around.places.exchange.mkdir()
    around.places.exchange.chmod(0o1777)
    monkeypatch.setattr(health, "LEAST_FREE", 1 << 60)
    assert failing(around) == {"disk"}


def test_a_service_that_ended_is_noticed(around):
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        # Its command begins with a program that replaces itself.
        looked = Surroundings(
            around.places, "mlsys", "", "", {"watch": ["setpriv", "--x", *command]}, os.getpid()
        )
        assert services_alive(looked) == {"watch": True}
        process.kill()
        process.wait()
        assert services_alive(looked) == {"watch": False}


def test_last_release_and_backup(around):
    assert facts(around)["last_release"] is None
    assert facts(around)["last_backup"] is None
    lab = around.places.exchange / "mlsys" / "outbound" / "lab"
    lab.mkdir(parents=True)
    (around.places.database / "last_backup.json").write_text(json.dumps({"finished": 5}))
    assert facts(around)["last_release"] == lab.stat().st_mtime
    assert facts(around)["last_backup"] == 5
    (around.places.database / "last_backup.json").write_text("broken")
    assert facts(around)["last_backup"] is None
