"""The proxy: found, installed, and ended when it is stale."""

from __future__ import annotations

import subprocess

import pytest

from mlsys_widgets.hub.running.proxy import end_stale_proxy, find_proxy


def test_without_npm_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="apt-get install npm"):
        find_proxy(tmp_path / "proxy", print)


def test_an_npm_that_never_ends_is_stopped_with_a_sentence(tmp_path, monkeypatch):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"after 0\.2 seconds .*npm ping"):
        find_proxy(tmp_path / "proxy", print, patience=0.2)


def test_a_process_that_has_a_stale_number_by_now_is_left_alone(tmp_path):
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        (tmp_path / "proxy.pid").write_text(str(sleeper.pid))
        assert not end_stale_proxy(tmp_path / "proxy.pid")
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()
