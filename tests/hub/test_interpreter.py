"""The Python of users: tried as a user, made where there is none."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.running import interpreter
from mlsys_widgets.hub.running.interpreter import (
    STAMP,
    interpreter_for,
    is_fresh,
    make_environment,
    runs,
)
from tests.hub.people import needs_root, open_folder, somebody
from tests.hub.running import ENVIRONMENT, environment
from tests.hub.user_environment import are_of_one_kind, required

pytestmark = needs_root


def runs_python(python, account, home) -> bool:
    return run_as(account, [python, "-c", ""], home=home).returncode == 0


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


@pytest.mark.slow
def test_one_from_nothing_has_what_the_one_of_the_tests_has():
    """All packages are fetched and installed; other tests take those that are here already."""
    python = environment()
    with somebody() as (account, home), open_folder() as folder:
        target = folder / "env"
        assert runs(make_environment(target, python.resolve(), print), account, home)
        assert _versions_in(target) == _versions_in(ENVIRONMENT)


def _versions_in(environment: Path) -> dict[str, str]:
    (packages,) = environment.glob("lib/python3*/site-packages")
    return {each.name: each.version for each in metadata.distributions(path=[str(packages)])}


def test_the_environment_of_the_tests_has_what_a_hub_requires_and_no_more():
    here = {each.name for each in metadata.distributions()}
    needed = {each.name for each in required("mlsys-widgets[hub]")}
    assert needed >= {"jupyterhub", "nbgrader", "numpy", "traitlets"}
    assert here - needed >= {"hypothesis", "mypy", "playwright"}
    if not are_of_one_kind(environment(), Path(sys.executable)):
        pytest.skip("users have another Python, for which pip chose")
    stray = {"pip", "setuptools"}  # a Python may bring them
    assert set(_versions_in(ENVIRONMENT)) - stray == {"mlsys-widgets"} | needed - stray


def test_versions_that_another_python_cannot_have_are_chosen_for_it(tmp_path, monkeypatch):
    """The package itself, without its dependencies, in an environment of the system's Python."""
    messages, asked = [], []
    monkeypatch.setattr(interpreter, "_versions", lambda path=None: {"traitlets": "99"})
    # As on a machine whose hub was installed with a Python that no user can reach.
    versions = {sys.executable: "3.11.7"}
    monkeypatch.setattr(interpreter, "_version_of", lambda p: versions.get(str(p), "3.11.2"))
    real = interpreter._pip

    def pip(python, action, *arguments):
        asked.append(arguments)
        wanted = [a for a in arguments if str(a).startswith("mlsys-widgets[hub]")]
        if wanted:  # one small dependency in place of a hundred
            arguments = ["traitlets" if a in wanted else a for a in arguments]
        real(python, action, *arguments)

    monkeypatch.setattr(interpreter, "_pip", pip)
    target = tmp_path / "env"
    python = make_environment(target, Path("/usr/bin/python3"), messages.append)
    assert python.exists()
    assert messages[-1].startswith(
        "Python 3.11.2, which users can run, cannot have the traitlets that Python 3.11.7 has here"
    )
    assert is_fresh(target), "what was chosen for it is not installed again at every start"


@pytest.mark.slow
def test_what_no_version_helps_names_package_and_pythons_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreter, "_versions", lambda path=None: {})
    versions = {sys.executable: "3.11.7"}
    monkeypatch.setattr(interpreter, "_version_of", lambda p: versions.get(str(p), "3.11.2"))
    real = interpreter._pip

    def pip(python, action, *arguments):
        arguments = [
            "mlsys-has-no-such-package" if str(a).startswith("mlsys-widgets[hub]") else a
            for a in arguments
        ]
        real(python, action, *arguments)

    monkeypatch.setattr(interpreter, "_pip", pip)
    target = tmp_path / "env"
    with pytest.raises(interpreter.CannotInstall) as problem:
        make_environment(target, Path("/usr/bin/python3"), lambda words: None)
    for words in ("mlsys-has-no-such-package", "Python 3.11.2", "Python 3.11.7", "--python"):
        assert words in str(problem.value)
    assert not target.exists()


def test_the_python_that_made_this_environment_is_preferred(monkeypatch):
    with somebody() as (account, home):
        found = interpreter._reachable_python(account, home)
        assert runs_python(found, account, home)
        monkeypatch.setattr(interpreter.sys, "base_prefix", "/usr")
        assert interpreter._reachable_python(account, home).parent == Path("/usr/bin")
