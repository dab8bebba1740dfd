"""What no file of the repository may say, and what its furniture must agree on."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def targets_called(script: str) -> set[str]:
    """The targets that a shell script asks make for; variables and options are none."""
    return {
        word
        for line in script.splitlines()
        if (call := re.match(r"\s*make\s+(.*)", line))
        for word in call[1].split()
        if re.fullmatch(r"[a-z][a-z-]*", word)
    }


@pytest.fixture(scope="module")
def workflow(root) -> dict[str, Any]:
    """The jobs of the one workflow."""
    (path,) = (root / ".github" / "workflows").glob("*.yml")
    jobs: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return jobs


@pytest.fixture(scope="module")
def targets(root) -> set[str]:
    text = (root / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, flags=re.M))


def commands(job: dict[str, Any]) -> Iterator[str]:
    return (step["run"] for step in job["steps"] if "run" in step)


def test_the_workflow_asks_for_what_a_change_must_pass(root, workflow, targets):
    called = {
        target
        for job in workflow.values()
        for run in commands(job)
        for target in targets_called(run)
    }
    assert called <= targets
    assert targets_called((root / ".ci" / "run").read_text("utf-8")) <= called
    assert {"lint", "types", "test", "test-hub", "docs"} <= called
    assert any("-m build --wheel" in run for run in commands(workflow["wheel"]))


def test_the_workflow_tries_both_machines_and_every_python_that_we_promise(root, workflow):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    promised = {
        found[1]
        for classifier in project["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    }
    test = workflow["test"]
    tried = set(test["strategy"]["matrix"]["python"])
    # Others are tried too, and may fail until somebody has looked into it.
    may_fail = set(re.findall(r"3\.\d+", str(test.get("continue-on-error", ""))))
    assert tried - may_fail == promised
    assert project["requires-python"] == f">={min(tried, key=_number)}"
    assert {"3.11", "3.12", "3.13", "3.14"} <= tried
    for job in ("test", "hub"):
        machines = workflow[job]["strategy"]["matrix"]["machine"]
        assert sorted(machines) == ["ubuntu-24.04", "ubuntu-24.04-arm"]


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_every_job_ends_by_itself_and_may_change_nothing(root, workflow):
    (path,) = (root / ".github" / "workflows").glob("*.yml")
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 90 for job in workflow.values())


def test_targets_are_read_from_a_script():
    assert targets_called("set -e\nmake test-hub PYTHON=x\n  make --silent lint\n# make tea") == {
        "test-hub", "lint",
    }  # fmt: skip


def test_hooks_before_a_commit_use_the_ruff_of_the_project(root, targets):
    """A second pin of ruff would format differently from make lint one day."""
    repos = yaml.safe_load((root / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert not [each["repo"] for each in repos if "ruff" in each["repo"]]
    (local,) = (each for each in repos if each["repo"] == "local")
    called = {target for hook in local["hooks"] for target in targets_called(hook["entry"])}
    assert called == {"format", "lint"} <= targets


def test_the_citation_names_the_last_release(root):
    """The changelog says which one that is."""
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    released = re.findall(
        r"^## (\d\S*) \((\d{4}-\d\d-\d\d)\)$", (root / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    assert (cited["version"], str(cited["date-released"])) == released[0]
    assert "\n## Unreleased\n" in (root / "CHANGELOG.md").read_text("utf-8")


def test_every_form_asks_for_something(root):
    forms = sorted((root / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
    assert forms
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert form["name"]
        assert form["description"]
        assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_decisions_are_numbered_and_listed(root):
    folder = root / "docs" / "decisions"
    records = sorted(path.stem for path in folder.glob("[0-9]*.md"))
    assert [record[:2] for record in records] == [f"{n:02}" for n in range(1, len(records) + 1)]
    listed = re.findall(r"^(\d\d_\w+)$", (folder / "index.md").read_text("utf-8"), flags=re.M)
    assert listed == records
    for record in records:
        text = (folder / f"{record}.md").read_text("utf-8")
        headings = re.findall(r"^## (.*)$", text, flags=re.M)
        assert headings == ["Context", "Decision", "Consequences", "What would change our mind"]


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
