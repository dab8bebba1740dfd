"""A hub that has started: what it says, where its files are, and that there is only one."""

from __future__ import annotations

import pwd
import re
import stat
import subprocess

from tests.waiting import wait_for

LAB = "lab_07_kernel_fusion"


def test_the_start_says_where_to_go_as_whom_and_how_to_stop(hub):
    output = hub.output.read_text()
    for words in (
        f"Open      {hub.url}",
        f"{hub.names['teacher']}   {hub.password(hub.names['teacher'])}",
        f"{hub.names['trial']}   {hub.password(hub.names['trial'])}",
        f"Released {LAB}",
        f"State     {hub.places.root}",
        "Ctrl-C",
    ):
        assert words in output


def test_everything_lies_in_one_folder_and_is_open_to_whom_it_concerns(hub):
    places = hub.places
    found = {
        path.name: (stat.S_IMODE(path.stat().st_mode), pwd.getpwuid(path.stat().st_uid).pw_name)
        for path in places.root.iterdir()
    }
    assert found == {
        "course": (0o3770, hub.names["teacher"]),
        "exchange": (0o1777, "root"),
        "homes": (0o711, "root"),
        "database": (0o700, "root"),
        "secrets": (0o700, "root"),
        "logs": (0o700, "root"),
        "settings": (0o755, "root"),
        "hand_ins": (0o750, "root"),
        "dates": (0o711, "root"),
        "people": (0o750, "root"),
        "hub.json": (0o600, "root"),
        "running.lock": (0o600, "root"),
    }
    for name in hub.names.values():
        home = places.home(name)
        assert (stat.S_IMODE(home.stat().st_mode), home.owner()) == (0o700, name)
        assert pwd.getpwnam(name).pw_dir == str(home)
    for secret in places.secrets.iterdir():
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600, secret


def test_servers_that_nobody_uses_are_looked_for(hub):
    asked = re.compile(r"(\d+) GET /hub/api/users\S* \(idle-culler@")
    looked = wait_for(lambda: asked.findall(hub.places.log.read_text()))
    assert set(looked) == {"200"}


def test_a_second_hub_in_the_same_folder_is_refused(hub):
    done = subprocess.run(
        hub.command("--port", "1"), capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 1
    assert f"kill {hub.hub_pid}" in done.stderr
