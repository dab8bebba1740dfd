"""JupyterHub's configuration: no secret is in it, and only the loopback is the loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.preparation import make_keys
from mlsys_widgets.hub.running.configuration import Address, hub_configuration
from mlsys_widgets.hub.running.student_limits import StudentLimits


def test_no_secret_is_in_the_configuration(places):
    state = HubState.new("hub", "instructor", "student")
    keys = make_keys(places)
    made = hub_configuration(
        places, state, Address("127.0.0.1", 8000), python=Path("/x/python"), proxy=["p"], idle=60,
        limits=StudentLimits(),
    )  # fmt: skip
    text = json.dumps(made)
    assert not any(key in text for key in keys.values())


@pytest.mark.parametrize(
    ("ip", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.0.2.7", False), ("", False), ("host", False)],
)  # fmt: skip
def test_only_the_loopback_is_the_loopback(ip, loopback):
    assert Address(ip, 8000).loopback is loopback


def test_an_address_has_the_scheme_of_its_connection():
    assert Address("127.0.0.1", 8000).url == "http://127.0.0.1:8000"
    everywhere = Address("0.0.0.0", 443, cert=Path("c"), key=Path("k"))
    assert (everywhere.bind, everywhere.url) == ("https://0.0.0.0:443", "https://127.0.0.1:443")
