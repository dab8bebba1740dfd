"""What the hub looks at in a student's home before it starts a server there."""

from __future__ import annotations

import pytest

from mlsys_widgets.hub.running.spawner import lies_below


@pytest.fixture
def home(tmp_path):
    """A home beside a folder that is not the student's."""
    (tmp_path / "secret" / "workspaces").mkdir(parents=True)
    (tmp_path / "secret" / "page.md").touch()
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_what_lies_there_is_seen(home):
    assert not lies_below(home, "lab", "workspaces")
    (home / "lab" / "workspaces").mkdir(parents=True)
    (home / "page.md").touch()
    assert lies_below(home, "lab", "workspaces")
    assert lies_below(home, "page.md")


def test_no_link_tells_what_is_behind_it(home):
    """The hub asks as root, and where the server opens would be the answer."""
    (home / "lab").symlink_to(home.parent / "secret")
    (home / "page.md").symlink_to(home.parent / "secret" / "page.md")
    assert not lies_below(home, "lab", "workspaces")
    assert not lies_below(home, "page.md")
    (home / "lab").unlink()
    (home / "lab").mkdir()
    (home / "lab" / "workspaces").symlink_to(home.parent / "secret" / "workspaces")
    assert not lies_below(home, "lab", "workspaces")
