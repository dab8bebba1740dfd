"""A new version: what is refused, which folder it gets, and that the old one stays."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from mlsys_widgets.hub.running import environments, interpreter
from mlsys_widgets.hub.running.environments import current_environment, folder_for, remove_others
from mlsys_widgets.hub.running.interpreter import STAMP, CannotInstall
from mlsys_widgets.hub.running.running_hub import uses
from mlsys_widgets.hub.start import HubOptions, _python
from mlsys_widgets.hub.upgrade import run_health, run_upgrade
from tests.hub.test_running_hub import running

root = pytest.mark.skipif(os.geteuid() != 0, reason="a hub belongs to root")


def made(folder: Path, versions: str = "{}") -> Path:
    """An environment of another version, with a program that can be run."""
    (folder / "bin").mkdir(parents=True)
    (folder / STAMP).write_text(f'{{"package": "old", "requires": null, "versions": {versions}}}')
    shutil.copy(shutil.which("sleep"), folder / "bin" / "sleep")
    return folder


OTHER = '{"numpy": "0.1"}'


def test_the_first_environment_has_the_plain_name(places):
    assert folder_for(places) == places.environment
    assert current_environment(places) is None


def test_other_versions_get_a_folder_of_their_own(places):
    made(places.environment, OTHER)
    assert folder_for(places) == places.environments[1]
    assert current_environment(places) == places.environment


def test_one_that_is_in_use_is_never_changed(places, monkeypatch):
    monkeypatch.setattr(environments, "differs_in_package_alone", lambda folder: True)
    old = made(places.environment)
    assert folder_for(places) == old, "nobody uses it, and one package is replaced in seconds"
    with running(old / "bin" / "sleep", "100") as process:
        assert uses(old) == [process.pid]
        assert folder_for(places) == places.environments[1]
        assert remove_others(places, places.environments[1] / "bin" / "python") == []
    assert remove_others(places, places.environments[1] / "bin" / "python") == [old]
    assert not old.exists()


def test_when_all_are_in_use_somebody_is_told(places):
    one, two, three = (made(each, OTHER) / "bin" / "sleep" for each in places.environments)
    with (
        running(one, "100"), running(two, "100"), running(three, "100"),
        pytest.raises(ValueError, match="in use by servers of older versions"),
    ):  # fmt: skip
        folder_for(places)


def test_a_new_version_that_cannot_be_installed_leaves_the_old_one(places, monkeypatch):
    old = made(places.environment, OTHER)
    before = sorted(str(each) for each in old.rglob("*"))

    def fail(*_):
        raise CannotInstall("no matching distribution")

    monkeypatch.setattr(interpreter, "clone", lambda: places.root)
    monkeypatch.setattr(interpreter, "_run", fail)
    monkeypatch.setattr(interpreter, "_reachable_python", lambda *_: Path(sys.executable))
    with pytest.raises(ValueError, match=f"as it was; to start with it, add --python {old}"):
        _python(places, HubOptions())
    assert sorted(str(each) for each in old.rglob("*")) == before
    assert current_environment(places) == old


@root
def test_what_does_not_run_is_neither_upgraded_nor_well(places):
    with pytest.raises(ValueError, match="no mlsys hub runs"):
        run_upgrade(places)
    with pytest.raises(ValueError, match="does not answer"):
        run_health(places)
