"""The measurement beside a notebook, and whether it is of this machine."""

from __future__ import annotations

import json

from mlsys_widgets.measured import load, machine_file
from mlsys_widgets.measured.machine_file import read_machine_file, this_machine

DOCUMENT = load("cpu-2core-server")


def test_a_file_of_this_machine_is_told_from_one_of_another(tmp_path, monkeypatch):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(DOCUMENT))
    found = read_machine_file(path)
    device = DOCUMENT["device"]
    assert found.machine == f"{device['name']}, 2 cores"
    assert found.date == found.document["date"]
    for name, cores, same in (
        (device["name"], 2, True),
        (device["name"], 8, False),
        ("Another CPU", 2, False),
    ):
        monkeypatch.setattr(machine_file, "name", lambda name=name: name)
        monkeypatch.setattr(machine_file, "cores", lambda cores=cores: cores)
        assert read_machine_file(path).is_of_this_machine is same


def test_a_gpu_is_never_taken_for_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_file, "name", lambda: load("h200-sxm")["device"]["name"])
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(load("h200-sxm")))
    found = read_machine_file(path)
    assert found.machine == load("h200-sxm")["device"]["name"]
    assert not found.is_of_this_machine


def test_what_cannot_be_used_says_why(tmp_path, monkeypatch):
    path = tmp_path / "machine.json"
    path.write_text('{"schema": "mlsys')
    found = read_machine_file(path)
    assert found.document is None
    assert "machine.json: not a JSON document" in found.problem
    assert not found.is_of_this_machine
    path.unlink()
    path.mkdir()
    assert "cannot be read" in read_machine_file(path).problem
    path.rmdir()
    path.write_bytes(b"x" * 11)
    monkeypatch.setattr(machine_file, "MOST_BYTES", 10)
    assert "too large" in read_machine_file(path).problem


def test_this_machine_has_a_name_and_cores():
    assert "core" in this_machine()
