"""Pages quote what benchmarks kept; nobody types what was measured."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture(scope="module")
def quoted(tool):
    return tool("quoted_numbers")


def test_the_pages_are_current(quoted, root):
    stale = "is stale: run .venv/bin/python tools/quoted_numbers.py"
    for path, text in quoted.pages().items():
        assert (root / path).read_text("utf-8") == text, f"{path} {stale}"


def test_a_page_without_its_part_is_refused(quoted):
    with pytest.raises(ValueError, match="must have one part <!-- stock -->, and has 0"):
        quoted.findings.fill("# A page", {"stock": "3 s"})


def test_what_is_kept_says_when_and_where(quoted, tmp_path):
    findings = quoted.findings
    under = findings.conditions()
    findings.keep("speed", "first", {"seconds": 2.0}, under, tmp_path)
    findings.keep("speed", "second", {"seconds": 3.0}, under, tmp_path)
    findings.keep("speed", "first", {"seconds": 1.0}, under, tmp_path)
    found = findings.found("speed", tmp_path)
    assert found["first"]["seconds"] == 1.0
    assert found["second"]["seconds"] == 3.0
    assert {"date", "machine", "cores", "load_before"} <= set(found["first"])


def test_every_finding_is_quoted_and_says_when_it_was_made(quoted, root):
    benchmarks = {of for parts in quoted.PARTS.values() for of, _ in parts.values()}
    kept = {path.stem for path in (root / "benchmarks" / "findings").glob("*.json")}
    assert kept == benchmarks
    for name in kept:
        text = (root / "benchmarks" / "findings" / f"{name}.json").read_text("utf-8")
        for part in json.loads(text).values():
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", part["date"])
            assert part["load_before"] >= 0
