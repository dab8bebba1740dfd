"""The Python of users: tried as a user, made where there is none."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from mlsys_widgets.hub import interpreter
from mlsys_widgets.hub.interpreter import STAMP, interpreter_for, is_fresh, make_environment, runs
from tests.hub.people import needs_root, open_folder, somebody
from tests.hub.running import ENVIRONMENT, environment

pytestmark = needs_root


def nothing(words: str) -> None:
    raise AssertionError(words)


def test_what_users_cannot_reach_does_not_run_for_them():
    python = environment()
    with somebody() as (account, home), open_folder() as folder:
        assert runs(python, account, home)
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        (closed / "python").symlink_to(python)
        assert not runs(closed / "python", account, home)
        bare = shutil.which("python3", path="/usr/bin")
        assert not runs(Path(bare), account, home), "the system's own has no JupyterHub"


def test_an_environment_that_is_there_is_used_as_it_is(monkeypatch):
    environment()
    assert is_fresh(ENVIRONMENT)
    assert make_environment(ENVIRONMENT, Path("/nowhere"), nothing) == ENVIRONMENT / "bin/python"
    with somebody() as (account, home):
        python = interpreter_for(account, home, ENVIRONMENT, nothing)
        assert runs(python, account, home)
        assert interpreter.clone() is None or python != Path(sys.executable)


@pytest.mark.parametrize("what", ["package", "version", "unfinished"])
def test_a_change_is_noticed(what, tmp_path, monkeypatch):
    environment()
    shutil.copy(ENVIRONMENT / STAMP, tmp_path)
    assert is_fresh(tmp_path)
    if what == "unfinished":
        (tmp_path / STAMP).unlink()
    elif what == "package":
        monkeypatch.setattr(interpreter, "_digest", lambda: "another")
    else:
        here = interpreter._versions() | {"jupyterhub": "0.1"}
        monkeypatch.setattr(interpreter, "_versions", lambda path=None: here)
    assert not is_fresh(tmp_path)


def test_a_failure_of_pip_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="the environment of users could not be created"):
        make_environment(tmp_path / "env", Path("/bin/false"), lambda words: None)
