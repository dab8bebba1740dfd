"""What is fetched for a site is what was meant, or one sentence says why not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mlsys_widgets.lite import fetching
from mlsys_widgets.lite.fetching import VERSIONS, FetchError, SiteParts, fetch


def kept_copy(fetched: SiteParts, folder: Path) -> dict[str, Path]:
    """Copy what was fetched, so that a test can spoil it."""
    paths = {**fetched.npm, **fetched.wheels, **fetched.extensions, "builder": fetched.builder}
    return {name: Path(shutil.copy(path, folder)) for name, path in paths.items()}


def test_what_lies_there_is_not_fetched_again(fetched, tmp_path, monkeypatch):
    kept_copy(fetched, tmp_path)
    monkeypatch.setenv("PATH", "")
    told: list[str] = []
    again = fetch(tmp_path, told.append)
    assert again.wheels.keys() == fetched.wheels.keys()
    assert told == []


def test_a_changed_wheel_is_fetched_again(fetched, tmp_path):
    small = kept_copy(fetched, tmp_path)["mdurl"]
    right = small.read_bytes()
    small.write_bytes(right[:-1])
    small.rename(small.with_name(small.name.replace("-py3-", "-py4-")))
    assert fetch(tmp_path).wheels["mdurl"].read_bytes() == right


def test_a_wheel_that_is_not_what_was_meant_is_refused(fetched, tmp_path, monkeypatch):
    small = kept_copy(fetched, tmp_path)["mdurl"]
    small.unlink()
    digest = "84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8"
    text = VERSIONS.read_text("utf-8")
    assert digest in text
    (tmp_path / "versions.toml").write_text(text.replace(digest, "0" * 64), "utf-8")
    monkeypatch.setattr(fetching, "VERSIONS", tmp_path / "versions.toml")
    with pytest.raises(FetchError, match="the wheels of the site"):
        fetch(tmp_path)
    assert not small.exists()


def test_without_npm_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FetchError, match="npm is missing, which fetches Pyodide"):
        fetch(tmp_path)
