"""The Makefile's promises, tried in a folder with a stand-in for Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

# Stands in for every Python: writes down how it was called, makes a virtual environment by
# linking itself, and refuses to install while a file named `offline` is there.
STAND_IN = """\
#!/bin/sh
echo "$@" >> calls
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *"pip install"*) test ! -e offline ;;
esac
"""


@pytest.fixture
def checkout(root, tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, tmp_path)
    stand_in = tmp_path / "stand-in"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    return tmp_path


def make(folder, *arguments):
    # A make above this one must not pass its flags on.
    own = ("MAKE", "ARGS")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(own)}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def calls(folder):
    path = folder / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def installs(folder):
    return [re.search(r"\[\w+\]", call).group() for call in calls(folder) if "pip install" in call]


def targets(folder):
    return re.findall(r"^  make ([a-z-]+) ", make(folder).stdout, flags=re.M)


def test_help_is_the_default_and_lists_every_target(root, checkout):
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (root / "Makefile").read_text("utf-8"), flags=re.M)
    assert set(targets(checkout)) == set(phony.split()) - {"system-packages"}
    assert make(checkout).stdout == make(checkout, "help").stdout


def test_every_target_can_be_planned(checkout):
    for target in targets(checkout):
        done = make(checkout, "-n", target, "PYTHON=./stand-in")
        assert done.returncode == 0, done.stderr
    assert calls(checkout) == []


def test_test_checks_style_and_types_before_it_runs_the_tests(checkout):
    assert make(checkout, "test", "PYTHON=./stand-in", "ARGS=-k roofline").returncode == 0
    modules = [call.split()[1] for call in calls(checkout) if call.startswith("-m ")]
    assert {"ruff", "codespell_lib", "mypy"} < set(modules[:-1])
    assert modules[-1] == "pytest"


def test_a_second_run_installs_nothing_until_what_is_pinned_changes(checkout):
    assert make(checkout, "lint", "PYTHON=./stand-in").returncode == 0
    assert installs(checkout) == ["[dev]"]
    make(checkout, "lint")
    assert installs(checkout) == []
    later = (checkout / ".venv" / ".dev").stat().st_mtime + 10
    os.utime(checkout / "constraints.txt", (later, later))
    make(checkout, "lint")
    assert installs(checkout) == ["[dev]"]


def test_each_target_installs_only_its_extra(checkout):
    make(checkout, "lab", "PYTHON=./stand-in")
    assert installs(checkout) == ["[student]"]
    make(checkout, "wheel")
    assert installs(checkout) == ["[dev]"]


def test_constraints_travel_with_the_wheel(checkout):
    (checkout / "dist").mkdir()
    done = make(checkout, "wheel", "PYTHON=./stand-in")
    assert done.returncode == 0, done.stderr
    pins = (checkout / "constraints.txt").read_text("utf-8")
    assert (checkout / "dist" / "constraints.txt").read_text("utf-8") == pins


def test_an_install_that_breaks_is_tried_again(checkout):
    (checkout / "offline").touch()
    assert make(checkout, "lint", "PYTHON=./stand-in").returncode != 0
    assert installs(checkout) == ["[dev]"]
    (checkout / "offline").unlink()
    assert make(checkout, "lint").returncode == 0
    assert installs(checkout) == ["[dev]"]


@pytest.mark.parametrize("python", ["no-such-python", "false"])
def test_without_a_python_one_sentence_says_so(checkout, python):
    done = make(checkout, "lint", f"PYTHON={python}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert not (checkout / ".venv").exists()


def test_lab_lays_out_a_copy_and_lands_on_its_first_page(checkout):
    done = make(checkout, "lab", "PYTHON=./stand-in", "ARGS=--no-browser")
    assert done.returncode == 0, done.stderr
    laid_out, opened = calls(checkout)[-2:]
    assert laid_out == "tools/my_labs.py my_labs"
    assert "jupyterlab" in opened
    assert "root_dir=my_labs" in opened
    assert "default_url=/lab/tree/START_HERE.md" in opened
    assert opened.endswith("--no-browser")
    assert ("--allow-root" in opened) == (os.geteuid() == 0)
    # The page is shown as a page, and mlsys is found in a terminal.
    assert f'JUPYTER_CONFIG_PATH="{checkout}/tools/jupyter' in done.stdout
    assert f'PATH="{checkout}/.venv/bin:' in done.stdout


def test_nothing_is_opened_when_the_labs_cannot_be_laid_out(checkout):
    stand_in = checkout / "stand-in"
    stand_in.write_text(stand_in.read_text().replace("esac", "  *my_labs.py*) exit 1 ;;\nesac"))
    assert make(checkout, "lab", "PYTHON=./stand-in").returncode != 0
    assert not any("jupyterlab" in call for call in calls(checkout))


def test_only_a_gallery_has_pages_that_run_their_instruments(checkout):
    def built(target):
        assert make(checkout, target, "PYTHON=./stand-in", "ARGS=-q").returncode == 0
        return [each for each in calls(checkout) if "-m sphinx" in each or "gallery" in each]

    (pages,) = built("docs")
    assert pages.endswith("build/html -q")
    assert built("gallery") == [f"{pages} -t app", "tools/gallery.py"]


def test_clean_leaves_what_make_found(checkout):
    before = sorted(path.name for path in checkout.iterdir())
    make(checkout, "lint", "PYTHON=./stand-in")
    calls(checkout)
    assert make(checkout, "clean").returncode == 0
    assert sorted(path.name for path in checkout.iterdir()) == before
