"""No file names one machine or one registry, pins are plain, and pages name files that exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Homes of people and machines. A path below one of them works on one machine only, unless it is
# an example home that belongs to nobody.
FOLDERS = ("root", "work", "home", "Users")
MACHINE_PATH = re.compile(rf"(?:^|[^\w.])/(?:{'|'.join(FOLDERS)})/(?!someone/)\w")
# Which registry packages come from depends on the machine that installs them.
REGISTRY = re.compile(
    r"""index[-_]url | find[-_]links | "resolved":\s*"http
    | pypi\.org/simple | files\.pythonhosted\.org | registry\.(?:npmjs|yarnpkg)\.""",
    re.VERBOSE,
)


@pytest.fixture(scope="module")
def texts(root) -> dict[Path, str]:
    """Every text file that is tracked or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing is tracked")
    found = {}
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = root / name
        content = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in content:
            found[Path(name)] = content.decode()
    return found


def hits(pattern: re.Pattern[str], texts: dict[Path, str]) -> list[str]:
    this = Path("tests/project") / Path(__file__).name
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts.items()
        if path != this
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_file_names_a_path_of_one_machine(texts):
    assert not hits(MACHINE_PATH, texts)


def test_no_file_names_a_package_registry(texts):
    assert not hits(REGISTRY, texts)


def test_the_patterns_find_what_they_are_for():
    for folder in FOLDERS:
        assert MACHINE_PATH.search(f"open('/{folder}/ada/file')")
    assert MACHINE_PATH.search("/".join(["", "work", "main"]))
    assert not MACHINE_PATH.search("docs/home/page.md")
    assert not MACHINE_PATH.search("/home/someone/file")
    assert REGISTRY.search("pip install --" + "index-url x")
    assert REGISTRY.search('"resolved"' + ': "https://somewhere/x.tgz"')


def test_constraints_are_plain_pins(root, tool):
    text = (root / "constraints.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == tool("constraints").pins(lines)


def test_freezing_strips_what_is_no_pin(tool):
    frozen = [
        "numpy==2.4.6\n",
        "mlsys-widgets @ file:///somewhere\n",
        "-e .\n",
        "# Editable install\n",
        "Babel==2.18.0\n",
        "odd==1.0; python_version < '4'\n",
    ]
    assert tool("constraints").pins(frozen) == ["Babel==2.18.0", "numpy==2.4.6"]


def test_pages_name_files_that_exist(root, texts):
    named = {
        (str(page), name)
        for page, text in texts.items()
        if page.suffix == ".md" and "CHANGELOG" not in page.name
        for name in re.findall(r"`((?:mlsys_widgets|tests|tools|benchmarks)/[\w/]+\.\w+)`", text)
    }
    assert len(named) > 20
    missing = {pair for pair in named if not (root / pair[1]).exists()}
    # What the reader of a page is about to write.
    assert missing == {
        ("docs/contributors/developing.md", "tests/instruments/test_my_instrument.py")
    }


#: Pages that people read on the site of the repository; Sphinx checks the links of the others.
OUTSIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
LINK = re.compile(r"\]\(<?([^)\s>]+)|<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.DOTALL | re.MULTILINE)


def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+\s+(.+?)\s*$", FENCE.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def broken_links(page: Path) -> list[str]:
    text = FENCE.sub("", page.read_text("utf-8"))
    links = (markdown or html for markdown, html in LINK.findall(text))
    broken = []
    for path, _, anchor in (link.partition("#") for link in links if "://" not in link):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append(f"{path}#{anchor}".rstrip("#"))
    return broken


def test_links_of_pages_outside_the_documentation_lead_somewhere(root):
    pages = [path for pattern in OUTSIDE for path in root.glob(pattern)]
    assert {page: links for page in pages if (links := broken_links(page))} == {}


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.md").write_text("# A page\n\n## Its: part\n", "utf-8")
    page = tmp_path / "README.md"
    page.write_text(
        "[a](a.md) [b](a.md#its-part) [c](a.md#gone) ![d](gone.png) [e](https://x.org/gone)\n"
        '<img src="lost.svg">\n```\n[f](code.md)\n```\n',
        "utf-8",
    )
    assert broken_links(page) == ["a.md#gone", "gone.png", "lost.svg"]
