"""A log within its bound, with writers that keep it open."""

from __future__ import annotations

import os

import pytest

from mlsys_widgets.hub.running.log_rotation import LogRotation


@pytest.fixture
def log(tmp_path):
    return tmp_path / "hub.log"


def test_writers_continue_and_nothing_of_the_bound_is_lost(log):
    rotation = LogRotation(log, 1000, kept=2)
    with log.open("ab", buffering=0) as writer:
        for number in range(300):
            writer.write(b"line %06d\n" % number)
            rotation.look()
    files = [log.with_name("hub.log.2"), log.with_name("hub.log.1"), log]
    lines = "".join(each.read_text() for each in files).splitlines()
    assert lines == [f"line {number:06}" for number in range(300 - len(lines), 300)]
    assert len(lines) > 150
    assert sorted(each.name for each in log.parent.iterdir()) == [
        "hub.log", "hub.log.1", "hub.log.2",
    ]  # fmt: skip


def test_a_log_made_endless_costs_twice_the_bound_at_most(log):
    log.write_bytes(b"begin\n")
    os.truncate(log, 1 << 42)
    assert LogRotation(log, 1000).look()
    assert log.stat().st_size == 0
    assert log.with_name("hub.log.1").stat().st_size == 2000


def test_a_link_is_not_followed_and_a_missing_log_is_no_problem(log, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"x" * 5000)
    assert not LogRotation(log, 1000).look()
    log.symlink_to(other)
    assert not LogRotation(log, 1000).look()
    assert other.stat().st_size == 5000


def test_what_is_kept_is_for_root_alone(log):
    log.write_bytes(b"x" * 2000)
    LogRotation(log, 1000).look()
    assert log.with_name("hub.log.1").stat().st_mode & 0o777 == 0o600
