"""The arrows of the house, read from the imports themselves.

The law is the table in docs/architecture.md: a row for each room, what it may use, and which
libraries it may use when that is restricted. Page, picture and code are held to that one table.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "mlsys_widgets"
ROOT = Path(__file__).resolve().parent.parent
# The doors: they tie the rooms together, so they may use all of them and no room uses them.
DOORS = {"__init__", "__main__", "cli"}


class Room(NamedTuple):
    uses: frozenset[str]
    libraries: frozenset[str] | None  # None: any
    banned: frozenset[str] = frozenset()


def read_law(page: str) -> dict[str, Room]:
    """Read the rows ``| `room` | what it is | `a`, `b` | libraries |`` of the page.

    The last column says ``any``, ``any but `a`, `b```, ``standard`` for Python's own alone, or
    names the libraries that are allowed.
    """
    law = {}
    for row in re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", page, flags=re.M):
        name, uses, said = (column.strip() for column in row)
        named = frozenset(re.findall(r"`(\w+)`", said))
        law[name] = Room(
            uses=frozenset(re.findall(r"`(\w+)`", uses)),
            libraries=None if said.startswith("any") else named,
            banned=named if said.startswith("any but") else frozenset(),
        )
    return law


LAW = read_law((ROOT / "docs" / "architecture.md").read_text("utf-8"))


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Everything in a module's syntax tree; several tests look at all of the package."""
    return tuple(ast.walk(ast.parse(source)))


def imports(source: str, module: str, *, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything a module imports, at whatever depth.

    ``from a import b`` gives ``a.b``: whether b is a module is for the reader of the name.
    """
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in nodes(source):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name
            case ast.ImportFrom(module=origin, names=names, level=level):
                parts = package[: len(package) - level + 1] if level else []
                base = ".".join([*parts, *([origin] if origin else [])])
                for alias in names:
                    yield node.lineno, f"{base}.{alias.name}"
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ) if not name.startswith("."):
                yield node.lineno, name


def wrong_arrows(
    source: str, module: str, law: dict[str, Room] = LAW, *, is_package: bool = False
) -> list[str]:
    """Say, in one sentence each, which imports of a module break the law."""
    here = module.split(".")[1] if "." in module else "__init__"
    if here in DOORS:
        return []
    if here not in law:
        return [f"{module}: {here} is no room of docs/architecture.md"]
    room, found = law[here], []
    for line, name in imports(source, module, is_package=is_package):
        top, *rest = name.split(".")
        where = f"{module}:{line}"
        if top != PACKAGE:
            allowed = top not in room.banned and (room.libraries is None or top in room.libraries)
            if not allowed and top not in sys.stdlib_module_names:
                found.append(f"{where}: {here} may not use the library {top}")
        elif not rest:
            # Any room could be reached through the bare package, unseen.
            found.append(f"{where}: {here} imports {PACKAGE} itself; name the room")
        elif rest[0] != here and rest[0] not in room.uses and rest[0] != "__version__":
            found.append(f"{where}: {here} may not use {rest[0]}")
    return found


def modules() -> Iterator[tuple[Path, str, bool]]:
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield path, ".".join(parts[:-1] if is_package else parts), is_package


def test_every_arrow_points_the_right_way():
    wrong = [
        sentence
        for path, module, is_package in modules()
        for sentence in wrong_arrows(path.read_text("utf-8"), module, is_package=is_package)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_law_has_every_room_and_no_circle():
    folders = {path.name for path in (ROOT / PACKAGE).iterdir() if (path / "__init__.py").exists()}
    modules = {path.stem for path in (ROOT / PACKAGE).glob("*.py")} - DOORS
    assert set(LAW) == folders | modules
    assert LAW["wording"] == LAW["files"] == Room(frozenset(), frozenset())
    assert LAW["physics"] == Room(frozenset({"wording"}), frozenset({"numpy"}))
    assert LAW["ledger"].uses == {"files"}
    assert not LAW["grading"].uses & {"instruments", "cards"}
    assert "IPython" in LAW["grading"].banned
    built: set[str] = set()
    while rest := {name: room for name, room in LAW.items() if name not in built}:
        free = {name for name, room in rest.items() if room.uses <= built}
        assert free, f"a circle among {sorted(rest)}"
        built |= free


def arrows_between_modules() -> dict[str, set[str]]:
    """Which modules each module imports, type-checking imports included."""
    found = {module: (path, is_package) for path, module, is_package in modules()}
    arrows: dict[str, set[str]] = {}
    for module, (path, is_package) in found.items():
        named = imports(path.read_text("utf-8"), module, is_package=is_package)
        # ``from room import name`` means the module of that name, or what the room itself offers.
        targets = (name if name in found else name.rpartition(".")[0] for _, name in named)
        arrows[module] = {target for target in targets if target in found} - {module, PACKAGE}
    return arrows


def circles(arrows: dict[str, set[str]]) -> set[str]:
    """What is left when everything that only leads out of a circle, or into one, is taken away."""
    left = {name: set(targets) for name, targets in arrows.items()}
    while True:
        used = {target for targets in left.values() for target in targets}
        free = {name for name, targets in left.items() if not targets or name not in used}
        if not free:
            return set(left)
        left = {name: targets - free for name, targets in left.items() if name not in free}


def test_no_two_modules_import_each_other():
    assert circles(arrows_between_modules()) == set()


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b", "c"}
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


#: Modules that may share a name, because each does the same job for its own room.
SAME_JOB = {
    "command": "what a room's commands do, behind the parser in cli.py",
    "timing": "how one measurement is timed, on a CPU and on a GPU",
}


def test_a_module_name_means_one_thing():
    by_stem: dict[str, list[str]] = {}
    for path, module, _ in modules():
        by_stem.setdefault(path.stem, []).append(module)
    shared = {stem: names for stem, names in by_stem.items() if len(names) > 1}
    assert {stem for stem in shared if not stem.startswith("__")} - set(SAME_JOB) == set()


def test_a_class_name_means_one_thing():
    homes: dict[str, list[str]] = {}
    for path, module, _ in modules():
        for node in nodes(path.read_text("utf-8")):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


#: Modules of more than a hundred lines without a test module of their name, and what tests them.
TESTED_ELSEWHERE = {
    "mlsys_widgets.courses.staff_page.running_commands": "asked as a page; test_staff_handlers",
    "mlsys_widgets.courses.staff_page.views": "what the pages show; test_staff_handlers",
    "mlsys_widgets.cards.practice_parts": "what a card says in practice; cards/test_practice",
    "mlsys_widgets.grading.judging.told_answers": "what was told; test_kept_answers",
    "mlsys_widgets.grading.messages": "plain data between processes; test_readers, test_marking",
    "mlsys_widgets.grading.telling.told_report": "what is told; test_hand_in_judge",
    "mlsys_widgets.hub.accounts.run_as": "programs as users of a real hub; test_isolation",
    "mlsys_widgets.instruments.concepts": "a graph as data; test_concept_map walks all of it",
    "mlsys_widgets.instruments.instrument_state": "one half of an instrument; test_instrument",
    "mlsys_widgets.instruments.roofline_machine": "parts of one picture; test_roofline_widget",
    "mlsys_widgets.instruments.roofline_marks": "parts of one picture; test_roofline_widget",
    "mlsys_widgets.server.panel_answers": "asked by HTTP and a page; test_handlers, test_panel",
    "mlsys_widgets.instruments.roofline_overlays": "parts of one picture; test_roofline_widget",
}


def test_the_tests_mirror_the_rooms():
    missing = {
        module
        for path, module, is_package in modules()
        if not is_package
        and len(path.read_text("utf-8").splitlines()) > 100
        and not [*(ROOT / "tests" / path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py"))
                 .rglob(f"test_{path.stem}.py")]
        and not (ROOT / "tests" / f"test_{path.stem}.py").exists()
    }  # fmt: skip
    assert missing == set(TESTED_ELSEWHERE)


def test_the_picture_shows_the_law(tool):
    """Fewer arrows than the law has, because paths imply the rest; never an arrow more."""
    house = tool("house")
    law = {name: set(room.uses) for name, room in LAW.items()}
    picture = (ROOT / "docs" / "house.svg").read_text("utf-8")
    assert picture == house.draw(law), "house.svg is stale: run .venv/bin/python tools/house.py"
    drawn: dict[str, set[str]] = {name: set() for name in law}
    for room, used in re.findall(r'data-arrow="(\w+) (\w+)"', picture):
        drawn[room].add(used)
    assert all(uses <= law[room] for room, uses in drawn.items())
    assert house.closure(drawn) == house.closure(law)


#: Where tests may read a clock that runs, and why; everywhere else they wait, count or compare.
CLOCKS = {
    "waiting.py": "the one way to wait for a condition",
    "effort.py": "processor time, compared within one run",
    "test_files.py": "that patience lasts at least as long as was asked for",
    "browser/test_touch.py": "the pace of a hand",
    "hub/test_isolation.py": "a program that runs on a hub and listens",
    "sandbox/test_fork_server.py": "a submission that keeps a core busy",
    "sandbox/test_usage.py": "a process that keeps a core busy",
}
CLOCK = re.compile(r"\b(?:process_time|thread_time|perf_counter|monotonic)(?:_ns)?\(")


def test_no_test_decides_by_a_clock():
    """Machines differ by a factor of three, and so would the verdict."""
    reading = {
        path.relative_to(ROOT / "tests").as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if CLOCK.search(path.read_text("utf-8"))
    }
    assert reading == set(CLOCKS)


# The checker has to be believed, so it is shown wrong code, and right code that looks similar.


@pytest.mark.parametrize(
    ("module", "source", "culprit"),
    [
        ("physics.roofline", "import pandas", "pandas"),
        ("physics.roofline", "from mlsys_widgets.measured import load", "measured"),
        ("physics.roofline", "from .. import cards", "cards"),
        ("ledger.chain", "import mlsys_widgets.physics.roofline", "physics"),
        ("ledger.chain", "if TYPE_CHECKING:\n    from ..labs import Lab", "labs"),
        ("ledger.chain", "import mlsys_widgets", "name the room"),
        ("ledger.chain", "import importlib\nimportlib.import_module('mlsys_widgets.labs')", "labs"),
        ("ledger.chain", "__import__('mlsys_widgets.labs')", "labs"),
        ("grading.runner", "from IPython.display import HTML", "IPython"),
        ("grading.runner", "from mlsys_widgets.cli import main", "cli"),
        ("attic.box", "", "attic"),
    ],
)
def test_a_wrong_arrow_is_caught(module, source, culprit):
    (sentence,) = wrong_arrows(source, f"{PACKAGE}.{module}")
    assert culprit in sentence


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("physics.roofline", "from __future__ import annotations\nimport math, numpy.linalg as la"),
        ("physics.roofline", "from . import units\nfrom .units import read"),
        ("physics.roofline", "from mlsys_widgets.physics.domain import read"),
        ("measured.load", "import pandas\nfrom ..physics import roofline"),
        ("ledger.chain", "from mlsys_widgets import __version__"),
        ("grading.runner", "from .. import ledger, labs"),
        (
            "cards.reveal",
            "import bqplot\nfrom .. import physics, measured, ledger, labs, instruments",
        ),
        ("cli", "from mlsys_widgets import grading, cards"),
        ("__main__", "from .cli import main"),
    ],
)
def test_a_right_arrow_passes(module, source):
    assert wrong_arrows(source, f"{PACKAGE}.{module}") == []


def test_relative_imports_of_a_package_start_at_the_package_itself():
    source = "from .roofline import roofline\nfrom ..ledger import Ledger"
    (sentence,) = wrong_arrows(source, f"{PACKAGE}.physics", is_package=True)
    assert "ledger" in sentence


def test_physics_is_light():
    """A student's first cell must not wait for the widget libraries."""
    heavy = ["ipywidgets", "bqplot", "pandas"]
    code = (
        "import sys; from mlsys_widgets import physics; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
