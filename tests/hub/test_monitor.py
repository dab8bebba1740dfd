"""The monitor without a hub: what it says to whom. With one, test_hub_service asks it."""

from __future__ import annotations

import json
import os

import pytest

from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.services import monitor as module
from mlsys_widgets.hub.services.health import HubPart
from mlsys_widgets.hub.services.monitor import Monitor, surroundings
from mlsys_widgets.hub.services.monitoring import monitor_role, monitor_service


@pytest.fixture
def monitor(places):
    state = HubState.new("hub", "kim", "student")
    state.course_id, state.hub_port, state.api_port = "mlsys", 1, 1
    service = monitor_service(places, ["python", "-m"], 1234)
    configuration = {"JupyterHub": {"services": [service]}}
    (places.secrets / "jupyterhub_config.json").write_text(json.dumps(configuration))
    around = surroundings(places, state, os.getpid())
    assert list(around.services) == ["monitor"]
    return Monitor(around, {"kim"}, "http://127.0.0.1:1/hub/api", "token")


def test_one_word_for_all_and_the_parts_for_who_has_the_token(monitor):
    assert monitor.report(whole=False) == {"status": "failing"}
    whole = monitor.report(whole=True)
    assert whole["parts"]["hub"] == {"well": False, "says": "does not answer"}


def test_a_hub_that_does_not_answer_has_numbers_all_the_same(monitor):
    text = monitor.metrics().decode()
    assert 'mlsys_part_up{part="hub"} 0.0' in text
    assert "mlsys_students " not in text


def test_however_often_somebody_asks_it_looks_rarely(monitor, monkeypatch):
    looks = []

    def look(around):
        looks.append(around)
        return [HubPart("hub", True, "")]

    monkeypatch.setattr(module, "examine_parts", look)
    for _ in range(50):
        assert monitor.report(whole=False) == {"status": "well"}
    assert len(looks) == 1


def test_the_service_may_read_and_change_nothing():
    assert all(scope.startswith(("read:", "list:")) for scope in monitor_role()["scopes"]), (
        monitor_role()
    )
