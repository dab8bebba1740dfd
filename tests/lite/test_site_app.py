"""The app of a site is made once, whole, and of nothing but what is named with its digest."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path

import pytest

from mlsys_widgets.lite.fetching import VERSIONS, SiteParts
from mlsys_widgets.lite.site_app import SETTINGS, runtime_in, site_app
from tests.lite.conftest import ROOT

KEPT = ROOT / "build" / "lite"
#: Bytes that a host sends at most, compressed as hosts do, if a browser asks for all of an app.
MOST_BYTES = 25_000_000


def test_an_app_is_made_once(fetched: SiteParts, monkeypatch: pytest.MonkeyPatch):
    app = site_app(KEPT)
    monkeypatch.setenv("PATH", "")
    told: list[str] = []
    assert site_app(KEPT, told.append) == app
    assert told == []


def test_python_starts_from_files_that_are_named_by_their_digest(fetched: SiteParts):
    app = site_app(KEPT)
    told = json.loads((app / SETTINGS).read_text("utf-8"))["jupyter-config-data"]
    (kernel,) = told["litePluginSettings"].values()
    options = kernel["loadPyodideOptions"]
    for address in (kernel["pyodideUrl"], options["lockFileURL"], options["stdLibURL"]):
        assert (app / address).is_file()
        assert (app / address).parent == runtime_in(app)


def test_an_app_is_no_larger_than_it_may_be(fetched: SiteParts):
    files = [each for each in site_app(KEPT).rglob("*") if each.is_file()]
    # Quickly: a host may do better.
    assert sum(len(gzip.compress(each.read_bytes(), 4)) for each in files) <= MOST_BYTES


def test_what_is_installed_for_sites_is_what_they_are_made_with():
    """The libraries of both come with these; their own bytes are those of versions.toml."""
    table = tomllib.loads(VERSIONS.read_text("utf-8"))
    made_with = {name: row["version"] for name, row in table["builder"].items()}
    kernel = "jupyterlite-pyodide-kernel"
    made_with[kernel] = table["extensions"][kernel]["version"]
    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text("utf-8"))
    installed = project["project"]["optional-dependencies"]["site"]
    assert {f"{name}=={version}" for name, version in made_with.items()} <= set(installed)
