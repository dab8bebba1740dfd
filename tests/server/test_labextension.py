"""The panel that is committed is the one its sources make, and an environment shows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib

import pytest


@pytest.fixture
def labextension(tool):
    return tool("labextension")


def test_the_committed_panel_is_not_stale(labextension):
    recorded = (labextension.BUILT / labextension.DIGEST).read_text("utf-8").strip()
    assert recorded == labextension.digest(), "labextension/ has changed: run make labextension"


def test_the_digest_sees_names_and_contents_and_no_line_ends(labextension, tmp_path):
    for name in (*labextension.TOP, "src/a.ts", "style/index.css"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"one\ntwo\n")
    before = labextension.digest(tmp_path)
    (tmp_path / "src" / "a.ts").write_bytes(b"one\r\ntwo\r\n")
    assert labextension.digest(tmp_path) == before
    (tmp_path / "src" / "a.ts").rename(tmp_path / "src" / "b.ts")
    assert labextension.digest(tmp_path) != before


def test_the_committed_panel_is_small_and_whole(labextension):
    files = [path for path in labextension.BUILT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 238_000
    assert not [path for path in files if path.suffix == ".map"]
    about = json.loads((labextension.BUILT / "package.json").read_text("utf-8"))
    assert (labextension.BUILT / about["jupyterlab"]["_build"]["load"]).exists()
    assert about["name"] == labextension.PANEL_PLACE.name


def test_what_is_linked_is_what_the_wheel_installs(labextension, root):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {
        source.relative_to(root).as_posix(): place.as_posix()
        for source, place in labextension.PLACES
    }


def identity_of(link):
    """What replacing a link would change; following one changes its access time, too."""
    status = link.lstat()
    return status.st_ino, status.st_mode, status.st_mtime_ns, link.readlink()


def test_linking_twice_changes_nothing_and_replaces_what_is_in_the_way(labextension, tmp_path):
    panel, config = tmp_path / labextension.PANEL_PLACE, tmp_path / labextension.CONFIG_PLACE
    assert labextension.link(tmp_path) == 0
    before = identity_of(panel), identity_of(config)
    assert labextension.link(tmp_path) == 0
    assert (identity_of(panel), identity_of(config)) == before
    assert (panel / "package.json").exists()

    # An old copy from a wheel, and a link that leads nowhere.
    panel.unlink()
    (panel / "static").mkdir(parents=True)
    config.unlink()
    config.symlink_to(tmp_path / "gone")
    labextension.link(tmp_path)
    assert (panel / "package.json").exists()
    assert json.loads(config.read_text())["ServerApp"]["jpserver_extensions"]


def test_where_links_are_not_allowed_copies_are_made(labextension, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError("a privilege is not held")

    monkeypatch.setattr(labextension.Path, "symlink_to", refuse)
    for _ in range(2):
        assert labextension.link(tmp_path) == 0
        assert (tmp_path / labextension.PANEL_PLACE / "package.json").exists()
        assert (tmp_path / labextension.CONFIG_PLACE).is_file()


def test_without_npm_one_sentence_says_so(labextension, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(labextension.shutil, "which", lambda _: None)
    assert labextension.build(tmp_path, tmp_path / "built", tmp_path / "classic") == 1
    assert capsys.readouterr().out.startswith("npm is missing: ")
    assert labextension.main(["neither"]) == 2


@pytest.mark.slow
def test_a_new_build_is_the_committed_one(labextension, tmp_path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is missing: building the Lab panel needs it")
    source = tmp_path / "labextension"
    for path in labextension.sources():
        target = source / path.relative_to(labextension.SOURCE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    fetched = labextension.SOURCE / "node_modules"
    if fetched.exists():
        # A link to the folder would not do: the bundler numbers modules by where they really are.
        shutil.copytree(fetched, source / "node_modules", symlinks=True, copy_function=link_or_copy)
    built = tmp_path / "mlsys_widgets" / "labextension"
    classic = tmp_path / "mlsys_widgets" / "nbextension"
    built.parent.mkdir()
    try:
        labextension.build(source, built, classic)
    except subprocess.CalledProcessError as error:
        if not (source / "node_modules").exists():
            pytest.skip(f"the packages of the panel cannot be fetched here: {error}")
        raise
    assert contents(built) == contents(labextension.BUILT)
    assert contents(classic) == {"index.js": (labextension.CLASSIC / "index.js").read_bytes()}


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_jupyterlab_finds_the_panel(labextension, tmp_path):
    """As `make lab` leaves an environment, tried with an empty one."""
    labextension.link(tmp_path)
    code = (
        "import sys; from jupyter_core.paths import jupyter_path;"
        "from jupyterlab_server.config import get_federated_extensions;"
        "found = get_federated_extensions(jupyter_path('labextensions'));"
        "print(found['mlsys-widgets-lab']['jupyterlab']['_build']['load'])"
    )
    share = tmp_path / "share" / "jupyter"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "", "HOME": str(tmp_path), "JUPYTER_PATH": str(share)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("static/remoteEntry.")
