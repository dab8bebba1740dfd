"""Pages quote what benchmarks kept; nobody types what was measured."""

from __future__ import annotations

import json
import re

import pytest

#: "takes 3.2 s", "in the median 40 ms": a time or a size that somebody must have measured.
MEASURED = re.compile(
    r"\b(?:took|takes?|median|measured|seen)\b[^.|\n]*?\b(\d[\d.,]* ?(?:s|ms|µs|minutes|MB|MiB))\b"
)


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


def prose(text: str) -> str:
    """A page without code, and without the parts that are filled in."""
    text = re.sub(r"<!-- [\w-]+ -->\n.*?<!-- end -->", "", text, flags=re.DOTALL)
    return re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)


def test_nobody_types_what_was_measured(root):
    """Decisions are left out: they are records of their day."""
    folders = ("students", "instructors", "administrators", "authors", "contributors")
    pages = [path for name in folders for path in sorted((root / "docs" / name).glob("*.md"))]
    typed = [
        f"{page.relative_to(root)}: {match[0]}"
        for page in [root / "README.md", *sorted((root / "docs").glob("*.md")), *pages]
        for match in MEASURED.finditer(prose(page.read_text("utf-8")))
    ]
    assert not typed, "\n".join(typed)
    assert MEASURED.search("A start takes about 3.2 s of processor time")
    assert not MEASURED.search("at most 300 s")
