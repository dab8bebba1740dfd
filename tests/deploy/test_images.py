"""The images: linted, pinned, and what they install installed by the steps of their Dockerfiles."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .dockerfile import read, stages

IMAGES = ("student", "grader", "exchange")
#: Its metadata asks for a jupyter_core of 2022; test_exchange.py runs it with today's.
COMPLAINT = "ngshare-exchange 0.5.3 has requirement jupyter-core<4.11.2, but you have jupyter-core"
Image = Callable[[str], Path]


def _pins(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    pairs = (line.split("==") for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", IMAGES)
def test_hadolint_has_nothing_to_say(root: Path, hub: Path, name: str) -> None:
    file = root / "deploy" / "images" / name / "Dockerfile"
    done = subprocess.run(
        [hub / "hadolint", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.timeout(1800)
def test_hadolint_would_say_something(root: Path, hub: Path) -> None:
    text = (root / "deploy" / "images" / "student" / "Dockerfile").read_text("utf-8")
    careless = text.replace("ARG BASE=python:3.11.14-slim-bookworm", "ARG BASE=python:latest")
    careless = careless.replace("FROM ${BASE}\n", "FROM python:latest\n").replace("USER 1000", "")
    done = subprocess.run(
        [hub / "hadolint", "-"], input=careless, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert "DL3007" in done.stdout


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_pinned_small_and_not_root(root: Path, name: str) -> None:
    folder = root / "deploy" / "images" / name
    instructions = read(folder / "Dockerfile")
    build, last = stages(instructions)
    base = next(each.words for each in instructions if each.name == "ARG")
    assert re.fullmatch(r"BASE=python:3\.11\.\d+-slim-bookworm", base)
    names = [each.name for each in last]
    assert [each.words for each in last if each.name == "USER"] == ["1000"]
    assert {"HEALTHCHECK", "LABEL", "CMD"} <= set(names)
    # What builds stays behind: only the environment is taken over.
    assert [each.words for each in last if each.name == "COPY"] == [
        "--from=build /opt/mlsys /opt/mlsys"
    ]
    # No compiler was needed, and nothing is resolved while an image is built.
    (install,) = [
        each.words for each in build if "requirements.txt" in each.words and each.name == "RUN"
    ]
    assert "--only-binary :all: --no-deps -r requirements.txt" in install


@pytest.mark.parametrize("name", ["student", "grader"])
def test_an_image_has_the_versions_that_were_tested(root: Path, name: str) -> None:
    listed = _pins(root / "deploy" / "images" / name / "requirements.txt")
    tested = _pins(root / "constraints.txt")
    differ = {each for each in listed if each in tested and listed[each] != tested[each]}
    assert differ == {"jupyterhub"}, "run deploy/images/lock.py: constraints.txt has changed"
    assert set(listed) - set(tested) == {"ngshare-exchange", "setuptools"}


@pytest.mark.parametrize("name", IMAGES)
def test_no_lab_and_no_key_is_near_an_image(root: Path, name: str) -> None:
    folder = root / "deploy" / "images" / name
    ignored = (folder / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*"
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        word
        for each in stages(read(folder / "Dockerfile"))[0]
        if each.name == "COPY"
        for word in each.words.split()[:-1]
    }
    assert not {"assignments", "source", "release", "tests", "gradebook.db"} & (let_in | copied)
    for path in copied:
        assert any(path == each or path.startswith(f"{each}/") for each in let_in), path


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", IMAGES)
def test_what_an_image_installs_fits_together(image: Image, name: str) -> None:
    python = image(name) / "bin" / "python"
    program = "import importlib.metadata as m; print(len(list(m.distributions())))"
    subprocess.run([python, "-c", program], check=True, timeout=60)
    missing = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False)
    assert missing.returncode, "the image must not contain pip"
    # pip is gone from the environment, so another one looks at it.
    checked = subprocess.run(
        [image(name).parent / "tools" / "bin" / "python" if name != "exchange" else "python3",
         "-m", "pip", "--python", python, "check"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = [line for line in checked.stdout.splitlines() if line and "No broken" not in line]
    assert [line for line in said if not line.startswith(COMPLAINT)] == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_student_has_the_widgets_and_no_formgrader(image: Image) -> None:
    programs = image("student") / "bin"
    listed = subprocess.run(
        [programs / "jupyter", "labextension", "list", "--verbose"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    said = listed.stdout + listed.stderr
    for name in ("mlsys-widgets-lab", "bqplot", "@jupyter/nbgrader"):
        assert re.search(rf"{re.escape(name)} v\S+ .*enabled.*OK", said), said
    for name in ("formgrader", "create-assignment", "course-list"):
        assert f"@jupyter/nbgrader:{name}" in said
    extensions = subprocess.run(
        [programs / "jupyter", "server", "extension", "list"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    said = extensions.stdout + extensions.stderr
    assert re.search(r"formgrader.*disabled", said)
    assert re.search(r"jupyter_lsp.*disabled", said)
    assert re.search(r"assignment_list.*enabled", said)
    assert re.search(r"mlsys_widgets\S* .*enabled", said)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_student_image_holds_no_key_and_is_as_small_as_the_page_says(
    root: Path, image: Image
) -> None:
    prefix = image("student")
    labs = {path.name for path in (root / "assignments").iterdir() if path.is_dir()}
    keys = {path.read_bytes() for path in (root / "assignments").glob("*/checks.py")}
    assert labs
    assert keys
    for path in prefix.rglob("*"):
        assert path.name not in labs
        assert path.name != "checks.py" or path.read_bytes() not in keys
    size = sum(path.lstat().st_size for path in prefix.rglob("*") if not path.is_symlink()) / 1e6
    (said,) = re.findall(
        r"student image.*?(\d+) MB",
        (root / "docs" / "administrators" / "deploy.md").read_text("utf-8"),
    )
    # The page gives the size on x86-64; compiled libraries are larger or smaller elsewhere.
    assert size == pytest.approx(float(said), rel=0.1 if platform.machine() == "x86_64" else 0.5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_lab_runs_with_what_the_student_image_has(
    root: Path, image: Image, tmp_path: Path
) -> None:
    program = (
        "import mlsys_widgets as mw\n"
        "instrument = mw.RooflineWidget(device='h200-sxm', n=2048)\n"
        "print(type(instrument.result).__name__)"
    )
    done = subprocess.run(
        [image("student") / "bin" / "python", "-c", program],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_files_that_are_json_are(root: Path) -> None:
    for path in (root / "deploy").rglob("*.json"):
        json.loads(path.read_text("utf-8"))
