"""A missing system package is installed, or named in one sentence; it never fails a build."""

from __future__ import annotations

import pytest


@pytest.fixture
def packages(tool):
    return tool("system_packages")


@pytest.fixture
def absent(packages):
    return packages.Requirement(
        "thing", "thing-package", "the thing tests", command="no-such-thing"
    )


class Apt:
    """Stands in for apt-get; `brings` happens when something is installed."""

    def __init__(self, brings=lambda: None):
        self.calls = []
        self.brings = brings

    def __call__(self, *arguments):
        self.calls.append(arguments)
        if arguments[0] == "install":
            self.brings()
        return True


@pytest.mark.parametrize(("uid", "apt"), [(1000, "apt-get"), (0, None)], ids=["user", "not Debian"])
def test_where_we_may_not_install_one_sentence_names_the_package(
    packages, absent, monkeypatch, capsys, uid, apt
):
    monkeypatch.setattr(packages.os, "geteuid", lambda: uid)
    monkeypatch.setattr(packages.shutil, "which", lambda name: name if name == apt else None)
    monkeypatch.setattr(packages, "apt_get", lambda *_: pytest.fail("must not be called"))
    assert packages.provide([absent]) == [absent]
    assert capsys.readouterr().out.splitlines() == [absent.sentence]
    assert "thing-package" in absent.sentence
    assert "the thing tests" in absent.sentence


def test_root_on_debian_installs_after_an_update(packages, absent, monkeypatch, capsys):
    installed = []
    apt = Apt(brings=lambda: installed.append("no-such-thing"))
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    known = {"apt-get"}
    monkeypatch.setattr(
        packages.shutil, "which", lambda name: name if name in known.union(installed) else None
    )
    monkeypatch.setattr(packages, "apt_get", apt)
    assert packages.provide([absent]) == []
    assert [call[0] for call in apt.calls] == ["update", "install"]
    assert "thing-package" in apt.calls[1]
    assert capsys.readouterr().out == ""


def test_an_install_that_fails_ends_in_the_sentence(packages, absent, capsys):
    assert packages.provide([absent], install=lambda *_: False) == [absent]
    assert capsys.readouterr().out.splitlines() == [absent.sentence]


def test_nothing_is_done_when_nothing_is_missing(packages, capsys):
    present = packages.Requirement("python", "python3", "everything", module="sys")
    apt = Apt()
    assert packages.provide([present], install=apt) == []
    assert apt.calls == []
    assert capsys.readouterr().out == ""


def test_apt_get_asks_no_questions(packages, monkeypatch, capsys):
    seen = {}

    def run(command, env, check):
        seen.update(command=command, env=env)
        return packages.subprocess.CompletedProcess(command, 100)

    monkeypatch.setattr(packages.subprocess, "run", run)
    assert packages.apt_get("update") is False
    assert seen["env"]["DEBIAN_FRONTEND"] == "noninteractive"
    assert capsys.readouterr().out.startswith("+ apt-get")


def test_the_command_line_succeeds_even_when_something_stays_missing(
    packages, absent, monkeypatch, capsys
):
    monkeypatch.setattr(packages, "can_install", lambda: False)
    monkeypatch.setattr(packages, "FOR_TESTS", [absent])
    assert packages.main([]) == 0
    assert absent.sentence in capsys.readouterr().out
    assert packages.main(["no such requirement"]) == 2


SUITE = """
import pytest

@pytest.mark.needs("chromium")
@pytest.mark.parametrize("n", [1, 2])
def test_browser(n):
    raise AssertionError("must not run")

def test_plain():
    pass
"""


def test_a_test_that_needs_something_missing_is_skipped_counted_and_shown(run_pytest, tmp_path):
    done = run_pytest(SUITE, PATH=str(tmp_path))  # where no browser can be found
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    summary = done.stdout.split("skipped for want of a system package")[1]
    assert "2 tests skipped: chromium is missing" in summary
    assert "apt-get install chromium" in summary
