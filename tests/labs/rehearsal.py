"""Labs worked through and graded without a person: answers, ledgers, and real nbgrader runs.

Tests of labs, of the browser and of whole courses use the same rehearsal: a submission is the
release notebook with answers typed in, a ledger as the cards write it, and what a lab wants beside.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock
from zlib import crc32

import nbformat

from mlsys_widgets.authoring import Course
from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.cards.open_lab import OpenLab
from mlsys_widgets.classes.simulated_machine import other_machine
from mlsys_widgets.files import LEDGER
from mlsys_widgets.judging import Given, Key
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import (
    Checklist,
    Item,
    Lab,
    Measurement,
    Myths,
    Parameters,
    Prediction,
    Quiz,
    Record,
    Reflection,
    load,
)
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.identity import VARIABLE
from mlsys_widgets.ledger.designs import DesignForm, Field

ROOT = Path(__file__).resolve().parents[2]
_SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*)\n### END SOLUTION", re.S)
_HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*)\n### END HIDDEN TESTS", re.S)


# What a lab asks of somebody, and what is right.


@dataclass(frozen=True)
class Asked:
    """A lab as one student has it, with the keys."""

    lab: Lab
    p: Parameters
    items: Mapping[str, Item]
    keys: Mapping[str, Key]

    @property
    def graded(self) -> dict[str, Checked]:
        """What is typed and judged."""
        return {n: i for n, i in self.items.items() if isinstance(i, Checked)}

    def of(self, *kinds: type[Item]) -> dict[str, Any]:
        """The items of some kinds."""
        return {n: i for n, i in self.items.items() if isinstance(i, kinds)}

    def right(self) -> dict[str, Any]:
        """Every answer as the key has it."""
        return {name: self.keys[name].value for name in self.graded}

    def believing(self, k: int) -> dict[str, Any]:
        """Every answer as its k-th belief has it; the key where there are fewer."""
        held = {}
        for name in self.graded:
            beliefs = self.keys[name].beliefs
            held[name] = beliefs[k].value if k < len(beliefs) else self.keys[name].value
        return held

    @property
    def most_beliefs(self) -> int:
        """How many beliefs the answer with the most of them knows."""
        return max((len(self.keys[name].beliefs) for name in self.graded), default=0)


def asked(course: Course, name: str, student: str, *, work: Path | None = None) -> Asked:
    """What a student was asked, with the keys; ``work`` is the folder of the submission."""
    folder = course.folder("assignments", name)
    lab, checks = load(folder), load_checks(folder)
    p = lab.draw(student, variants=course.variants, edition=course.edition)
    items = lab.items(p)
    given = Given(p, work or folder)
    wanted = (n for n, i in items.items() if isinstance(i, Checked | Prediction))
    return Asked(lab, p, items, {n: checks[n](given) for n in wanted if n in checks})


# A student's notebook.


def typed(book: nbformat.NotebookNode, answers: Mapping[str, Any]) -> nbformat.NotebookNode:
    """The release notebook with plain values entered from its scratch cells."""
    book = nbformat.from_dict(book)
    for name, value in answers.items():
        shown = repr(value) if isinstance(value, str) else repr(float(value))
        answer_cell(book, name).source += f'\n{name} = {shown}\nlab.answer("{name}", {name})'
    return book


def solved(release: nbformat.NotebookNode, source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The release notebook with the instructor's solutions, right for whoever runs it."""
    book = nbformat.from_dict(release)
    solutions = {c.id: m[1] for c in source.cells if (m := _SOLUTION.search(c.source))}
    for cell in book.cells:
        if cell.id in solutions:
            cell.source = solutions.pop(cell.id)
    assert not solutions, f"the release has no cells {', '.join(solutions)}"
    return book


def answer_cell(book: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Where an answer can be computed."""
    (cell,) = (c for c in book.cells if c.id == f"answer_{name}")
    return cell


def hidden_test(source: nbformat.NotebookNode, name: str) -> str:
    """The hidden test of a graded cell of the instructor's notebook."""
    (cell,) = (c for c in source.cells if c.id == f"check_{name}")
    found = _HIDDEN.search(cell.source)
    assert found, f"{name} has no hidden test"
    return found[1]


def run_hidden(code: str, folder: Path, namespace: dict[str, Any]) -> tuple[float, str]:
    """Run a hidden test as nbgrader would, here: the points, and what it printed."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    printed = io.StringIO()
    with (
        environment_variables({"NBGRADER_EXECUTION": "autograde"}),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        # A kernel finds what is beside its notebook; here the questions of other labs came before.
        mock.patch.object(sys, "path", [str(folder), *sys.path]),
        mock.patch.dict(sys.modules),
    ):
        sys.modules.pop("asks", None)
        with contextlib.suppress(FileNotFoundError):
            sys.modules["asks"] = _questions(folder, (folder / "asks.py").stat().st_mtime_ns)
        exec(compile(tree, "<hidden test>", "exec"), namespace)
        points = eval(compile(ast.Expression(last.value), "<hidden test>", "eval"), namespace)
    return points, in_one_line(printed.getvalue())


@lru_cache(8)
def _questions(folder: Path, _changed: int) -> ModuleType:
    """The questions beside a notebook; to import them takes longer than a hidden test."""
    return importlib.import_module("asks")


# A student's ledger.


class StudyHours:
    """The clock of a student who takes most of a minute for everything, each at another time.

    It shows the days before the submissions of tests are handed in.
    """

    def __init__(self, student: str) -> None:
        begun = datetime(2026, 10, 30, 9, tzinfo=UTC)
        self.moment = begun + timedelta(milliseconds=crc32(student.encode()) % 36_000_000)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=41)
        return self.moment


def work_through(folder: Path, student: str, course: Course, *, design: bool = True) -> OpenLab:
    """Do everything that a ledger keeps, through the cards: commit, reflect, answer, save."""
    with environment_variables({VARIABLE: student, "NBGRADER_EXECUTION": None}):
        name = load(folder).name
        lab = OpenLab(
            name,
            variants=course.variants,
            edition=course.edition,
            deeper=course.deeper_in(name),
            folder=folder,
        )
    lab.ledger._clock = StudyHours(student)
    for each, item in lab.items.items():
        match item:
            case Prediction():
                lab.card(each).commit(_prediction(item), 3)
            case Reflection():
                lab.card(each).answer(_reflection(item))
            case Quiz():
                lab.card(each).answer({q.key: (q.right, 4) for q in item.questions})
            case Myths():
                for myth in item.myths:
                    lab.card(each).commit(myth.key, "doubt")
            case Checklist():
                lab.card(each).save(item.skills)
            case Measurement():
                if lab.card(each).document is not None:
                    lab.card(each).adopt()
    if design and any("design" in r.of for r in lab.items.values() if isinstance(r, Record)):
        form = DesignForm(name, lab.lab.chapter, lab.lab.design)
        lab.ledger.save_design(some_design(form), form)
    return lab


def _prediction(item: Prediction) -> Any:
    if item.options:
        return next(iter(item.options))
    return max(item.low, min(item.high, 1.0))


def _reflection(item: Reflection) -> Any:
    if item.options:
        return item.right or next(iter(item.options))
    if item.blanks:
        right = item.right if isinstance(item.right, Mapping) else {}
        return {gap: right.get(gap, next(iter(words))) for gap, words in item.blanks.items()}
    return "Bytes set the pace here, and launches do the rest of the time."


def some_design(form: DesignForm) -> dict[str, Any]:
    """An entry that the form accepts."""
    return {name: _some(each) for name, each in form.fields.items() if each.required}


def _some(each: Field) -> Any:
    tried = (*each.schema.get("enum", ()), True, each.schema.get("minimum", 1.0), "a kernel", None)
    return next(value for value in tried if each.accepts(value))


# A course, and nbgrader in it.


@dataclass
class Workshop:
    """A course with one lab, in a folder of its own."""

    root: Path
    lab: str
    #: Files with which the lab was built, before nbgrader touched anything.
    built: dict[str, bytes] = field(default_factory=dict)
    problem: str = ""

    @property
    def course(self) -> Course:
        """The course and its settings."""
        return Course.at(self.root)

    def notebook(self, step: str) -> nbformat.NotebookNode:
        """The notebook of a step: source or release."""
        return nbformat.read(self.root / step / self.lab / f"{self.lab}.ipynb", 4)

    def work(self, student: str) -> Path:
        """The folder of a submission."""
        return self.root / "submitted" / student / self.lab

    def give(self, folder: Path, *, beside: bool = True) -> Path:
        """Put the release into a folder, and what the lab wants beside it."""
        shutil.copytree(self.root / "release" / self.lab, folder)
        if beside:
            put_examples(folder)
        return folder

    def begin(self, student: str, *, beside: bool = True) -> Path:
        """The same as a submission that nbgrader will find."""
        return self.give(self.work(student), beside=beside)

    def hand_in(self, student: str, book: nbformat.NotebookNode) -> None:
        """Put a notebook where nbgrader collects it."""
        nbformat.write(book, self.work(student) / f"{self.lab}.ipynb")

    def withdraw(self, student: str) -> None:
        """Take a submission back."""
        shutil.rmtree(self.work(student).parent)

    def graded_work(self, student: str) -> nbformat.NotebookNode:
        """The notebook as nbgrader ran it."""
        folder = self.root / "autograded" / student / self.lab
        return nbformat.read(folder / f"{self.lab}.ipynb", 4)

    def asked(self, student: str) -> Asked:
        """What a student was asked, with the keys for what is in the submission."""
        work = self.work(student)
        return asked(self.course, self.lab, student, work=work if work.is_dir() else None)


def put_examples(folder: Path, *, home: Path | None = None) -> None:
    """Put beside a notebook what its lab wants there, as a student would."""
    for name, example in load(home or folder).examples.items():
        # A measurement of one's own: no two of those who hand in have the same.
        owner = folder.parent.name if "submitted" in folder.parts else "somebody"
        (folder / name).write_bytes(other_machine(example(), random.Random(owner)))


def workshop(root: Path, lab: str, *, origin: Path = ROOT) -> Workshop:
    """A course with one lab of another course, and its settings."""
    shutil.copytree(origin / "assignments" / lab, root / "assignments" / lab)
    settings = origin / "assignments" / "course.toml"
    if settings.is_file():
        shutil.copyfile(settings, root / "assignments" / "course.toml")
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    return Workshop(root, lab)


def committed(root: Path, lab: str) -> Workshop:
    """A course with one of our labs, as it is committed."""
    made = workshop(root, lab)
    for step in ("source", "release"):
        kept = shutil.ignore_patterns(LEDGER)
        shutil.copytree(ROOT / step / lab, root / step / lab, ignore=kept)
    return _noted(made)


def _noted(made: Workshop) -> Workshop:
    for step in ("source", "release"):
        folder = made.root / step / made.lab
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            made.built[f"{step}/{made.lab}/{path.name}"] = path.read_bytes()
    return made


def build(made: Workshop) -> Workshop:
    """Build its lab as its author does; what goes wrong is kept for the tests to say."""
    done = run_tool(made.root, "mlsys_widgets", "build", made.lab)
    made.problem = done.stderr if done.returncode else ""
    return _noted(made)


def run_tool(
    folder: Path, module: str, *arguments: str, said: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a module as a program, apart from the user's own settings; ``said`` is its input."""
    kept = {n: v for n, v in os.environ.items() if n not in (VARIABLE, "NBGRADER_EXECUTION")}
    # nbgrader looks for alembic on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {
        "JUPYTER_CONFIG_DIR": str(folder / ".jupyter"), "PATH": path, "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**kept, **settings, **variables},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


def nbgrader(folder: Path, *commands: list[str], **variables: str) -> list[Any]:
    """Run nbgrader commands in a course as a TA would; what ``validated`` said, for each."""
    told = run_tool(folder, "tests.labs.several_commands", said=json.dumps(commands), **variables)
    # What went wrong stands far above the end, between hundreds of lines about what went well.
    said = [line for line in told.stderr.splitlines() if "| INFO]" not in line]
    assert told.returncode == 0, "\n".join(said)[-8000:]
    results: list[Any] = json.loads(told.stdout)
    return results


@dataclass(frozen=True)
class Grade:
    """What nbgrader's gradebook says about one cell."""

    score: float
    most: float
    by_hand: bool


def autograde(
    made: Workshop, *more: list[str], **variables: str
) -> tuple[dict[str, dict[str, Grade]], list[Any]]:
    """Generate and autograde: grades by student and cell, and the results of more commands."""
    from nbgrader.api import Gradebook

    generate = ["generate_assignment", made.lab, "--force"]
    _, _, *results = nbgrader(made.root, generate, ["autograde", made.lab], *more, **variables)
    found = {}
    with Gradebook(f"sqlite:///{made.root / 'gradebook.db'}") as book:
        for submission in book.assignment_submissions(made.lab):
            grades = submission.notebooks[0].grades
            found[submission.student.id] = {
                g.name: Grade(float(g.score), float(g.max_score), bool(g.needs_manual_grade))
                for g in grades
            }
    return found, results


def outputs(cell: nbformat.NotebookNode) -> str:
    """All that a cell printed, in one line."""
    streams = (o.text for o in cell.get("outputs", ()) if o.output_type == "stream")
    return in_one_line("".join(streams))


def in_one_line(words: str) -> str:
    """Words without their line breaks: printed sentences are broken to fit a page."""
    return " ".join(words.split())
