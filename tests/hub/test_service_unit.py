"""The unit of a hub: what systemd reads, and what is done with the file."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys

import pytest

from mlsys_widgets.cli import command_parser
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.service_unit import hub_command, install, notify, remove, unit_text


def parsed(*words):
    return command_parser(measuring=False).parse_args(["hub", *words, "service", "show"])


def test_the_command_is_the_one_that_was_typed_with_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = Places(tmp_path / "hub")
    words = ("--from", "b.tar.gz", "--roster", "r.csv", "--ip", "0.0.0.0", "--behind-proxy",
             "--instructor", "kim", "--idle", "0", "--memory", "1.5")  # fmt: skip
    command = hub_command(places, parsed(*words))
    assert command[:4] == [sys.executable, "-m", "mlsys_widgets", "hub"]
    again = command_parser(measuring=False).parse_args(command[3:])
    assert again.folder == places.root
    assert again.bundle == tmp_path / "b.tar.gz"
    assert again.roster == tmp_path / "r.csv"
    assert (again.ip, again.behind_proxy, again.instructor, again.idle) == (
        "0.0.0.0", True, "kim", 0,
    )  # fmt: skip
    assert (again.memory, again.cores, again.disk) == (1.5, 2, 5)
    # Once the hub exists, what counts the first time alone is left out.
    places.root.mkdir()
    HubState.new("hub", "kim", "student").write(places.state)
    later = hub_command(places, parsed(*words))
    assert not {"--from", "--instructor"} & set(later)
    assert "--roster" in later


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="apt-get install systemd")
@pytest.mark.parametrize("name", ["hub", "a hub with spaces", "100%", 'with "quotes" and $HOME'])
def test_systemd_understands_the_unit(tmp_path, name):
    places = Places(tmp_path / name)
    places.root.mkdir()
    unit = tmp_path / "mlsys-hub.service"
    unit.write_text(unit_text(places, hub_command(places, parsed())))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "mlsys-hub" not in done.stderr, done.stderr
    unit.write_text(unit.read_text().replace("Restart=on-failure", "Restart=sometimes"))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert "sometimes" in done.stderr, "the check can fail"


def test_the_line_survives_quoting(tmp_path):
    places = Places(tmp_path / 'a "strange" folder')
    text = unit_text(places, hub_command(places, parsed()))
    (line,) = [each for each in text.splitlines() if each.startswith("ExecStart=")]
    assert str(places.root) in shlex.split(line.removeprefix("ExecStart="))
    with pytest.raises(ValueError, match="more than one line"):
        unit_text(places, ["two\nlines"])


@pytest.fixture
def systemctl(tmp_path, monkeypatch):
    """A systemctl that notes what it was asked; this machine's first process is another."""
    tools, asked = tmp_path / "bin", tmp_path / "asked"
    tools.mkdir()
    (tools / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    (tools / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    return asked


def test_it_is_installed_and_removed_where_systemd_runs(tmp_path, systemctl, capsys):
    units, running = tmp_path / "units", tmp_path
    text = unit_text(Places(tmp_path / "hub"), ["mlsys", "hub"])
    install("course", text, units=units, running=running)
    assert (units / "course.service").read_text() == text
    install("course", text, units=units, running=running)  # replaces its own
    remove("course", units=units, running=running)
    assert list(units.iterdir()) == []
    assert systemctl.read_text().splitlines() == [
        *["daemon-reload", "enable course.service", "restart course.service"] * 2,
        "disable --now course.service", "daemon-reload",
    ]  # fmt: skip
    assert "journalctl -u course" in capsys.readouterr().out


def test_elsewhere_it_says_what_to_do_and_foreign_units_stay(tmp_path, capsys):
    units, nothing = tmp_path / "units", tmp_path / "nothing"
    install("course", unit_text(Places(tmp_path), ["mlsys"]), units=units, running=nothing)
    assert "systemctl enable --now course" in capsys.readouterr().out
    (units / "other.service").write_text("[Unit]\n")
    with pytest.raises(ValueError, match="not written by mlsys"):
        install("other", "x", units=units, running=nothing)
    with pytest.raises(ValueError, match="not written by mlsys"):
        remove("other", units=units, running=nothing)
    with pytest.raises(ValueError, match="there is no"):
        remove("missing", units=units, running=nothing)
    with pytest.raises(ValueError, match="cannot be called"):
        install("../etc/x", "x", units=units, running=nothing)


def test_systemd_is_told_when_it_listens(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "s"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "s"))
        assert notify("READY=1")
        assert listening.recv(100) == b"READY=1"
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    assert not notify("READY=1")
