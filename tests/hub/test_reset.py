"""A reset says what is lost, asks, and removes what the hub has made and nothing else."""

from __future__ import annotations

import pwd
import subprocess
import sys

import pytest

from tests.hub.people import hub_without_server, needs_root

pytestmark = needs_root


def reset(places, *options, answer=None):
    return subprocess.run(
        [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(places.root), "--reset",
         *options],
        input=answer, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


@pytest.mark.parametrize("answer", ["", "y\n"])
def test_it_asks_and_takes_no_for_an_answer(answer):
    with hub_without_server() as (places, state):
        done = reset(places, answer=answer)
        assert done.returncode == 1
        assert "2 users of this machine and all files in their homes" in done.stdout
        assert "gradebook" in done.stdout
        assert places.home(state.student).exists()
        assert pwd.getpwnam(state.student)


@pytest.mark.parametrize(("options", "answer"), [((), "yes\n"), (("--yes",), None)])
def test_it_removes_what_the_hub_has_made_and_nothing_else(options, answer):
    with hub_without_server() as (places, state):
        stranger = places.root / "notes.txt"
        stranger.write_text("of somebody else")
        outside = places.root.parent / "outside"
        outside.mkdir()
        (outside / "kept").touch()
        (places.home(state.student) / "link").symlink_to(outside)
        done = reset(places, *options, answer=answer)
        assert done.returncode == 0, done.stderr
        assert list(places.root.iterdir()) == [stranger]
        assert (outside / "kept").exists()
        for name in state.accounts:
            with pytest.raises(KeyError):
                pwd.getpwnam(name)


def test_where_there_is_no_hub_there_is_nothing_to_remove(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(tmp_path), "--reset",
         "--yes"],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 1
    assert "there is no hub" in done.stderr
    assert tmp_path.exists()
