"""No file names one machine or one registry, pins are plain, and pages name files that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
def texts(root, tracked) -> dict[Path, str]:
    """Every text file that is tracked or about to be."""
    found = {}
    for name in tracked:
        path = root / name
        content = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in content:
            found[name] = content.decode()
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


def test_constraints_are_plain_pins(root, tool):
    text = (root / "constraints.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == tool("constraints").pins(lines)


def test_every_package_that_the_wheel_asks_for_is_pinned(root):
    """Or two people who install on different days would have different versions of it."""
    with (root / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    asked = [*project["dependencies"]]
    for extra in ("student", "ta", "hub", "postgres"):
        asked += project["optional-dependencies"][extra]
    pins = {
        canonicalize_name(pin.name): pin.specifier
        for line in (root / "constraints.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
        for pin in [Requirement(line)]
    }
    wanted = [each for each in map(Requirement, asked) if each.name != project["name"]]
    assert len(wanted) > 25
    for each in wanted:
        (pin,) = pins[canonicalize_name(each.name)]
        assert each.specifier.contains(pin.version), f"{each} and {pin}"


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
