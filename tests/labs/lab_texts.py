"""All that a lab says to a student: its items, verdicts, prose and materials, each with its place.

Left out is what nobody can list beforehand: what an instrument says when it is moved, which the
tests of the instruments read, what a cell computes with ``print`` or ``Markdown``, and the values
and headlines of a saved design.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from mlsys_widgets import measured
from mlsys_widgets.authoring import Course, templates
from mlsys_widgets.authoring.text import read
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Key
from mlsys_widgets.labs import Parameters, load
from mlsys_widgets.measured import queries
from tests.labs.rehearsal import ROOT, put_examples

_NO_TEXT = ("after", "unit", "right", "answer", "quantity", "key", "distance")


def strings(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text in an item, with its place."""
    if isinstance(value, str):
        yield where, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            if each.name not in _NO_TEXT:
                yield from strings(getattr(value, each.name), f"{where}.{each.name}")
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from strings(each, f"{where}[{name}]")
    elif isinstance(value, Sequence):
        for number, each in enumerate(value):
            yield from strings(each, f"{where}[{number}]")


class LabTexts:
    """A lab and what it says to one student after the other."""

    def __init__(self, lab: str, folder: Path) -> None:
        self._home = Course.at(ROOT).folder("assignments", lab)
        self.lab, self.checks, self._folder = load(self._home), load_checks(self._home), folder
        put_examples(folder, home=self._home)
        # A measurement is the same for everybody and is read once.
        self._load = cache(measured.load)
        for check in self.checks.values():
            for name, value in list(check.__globals__.items()):
                if value is measured.load:
                    check.__globals__[name] = self._load

    def drawn(self, student: str) -> Parameters:
        """The parameters of a student."""
        return self.lab.draw(student)

    def items(self, student: str) -> dict[str, Any]:
        """What the lab asks a student."""
        with mock.patch.object(queries, "load", self._load):
            return dict(self.lab.items(self.drawn(student)))

    def texts(self, student: str) -> Iterator[tuple[str, str]]:
        """The texts of a student's items, with their places."""
        for name, item in self.items(student).items():
            yield from strings(item, name)

    def keys(self, student: str) -> dict[str, Key]:
        """The keys of a student's answers."""
        given = Given(self.drawn(student), self._folder)
        with mock.patch.object(queries, "load", self._load):
            return {name: check(given) for name, check in self.checks.items()}

    def verdicts(self, student: str) -> Iterator[tuple[str, str]]:
        """What the checks say about a student's answers, with the belief they speak to."""
        for name, key in self.keys(student).items():
            yield f"{name} (right)", key.says
            for belief in key.beliefs:
                yield f"{name} ({belief.name})", belief.says

    def prose(self) -> Iterator[tuple[str, str]]:
        """The prose between the cards and the model answers, which are the same for everybody."""
        known = templates.names(self.lab, self.lab.draw("", variants=False))
        for cell in read(self._home / "lab.py"):
            if cell.kind in ("prose", "essay"):
                yield cell.where.rpartition("/")[2], templates.fill(cell.body, known)
        yield from self._contexts()
        for name, each in self.lab.materials.items():
            if not callable(each):
                yield from strings(each, f"materials[{name}]")

    def _contexts(self) -> Iterator[tuple[str, str]]:
        """What the cards of the contexts say: the cell that makes them runs without a lab."""
        said: dict[str, str] = {}
        asked = SimpleNamespace(
            p=self.lab.draw("", variants=False),
            materials=self.lab.materials,
            context=lambda names, about=None: said.update(about or {}),
        )
        names: dict[str, Any] = {"lab": asked}
        for cell in read(self._home / "lab.py"):
            if cell.kind == "setup" or (cell.kind == "show" and "lab.context(" in cell.body):
                exec(cell.body, names)
        yield from ((f"context.about[{name}]", text) for name, text in said.items())

    def handed_on(
        self, calls: Mapping[str, Sequence[tuple[Any, ...]]]
    ) -> Iterator[tuple[str, str]]:
        """What those materials say that put something into words, such as a design handed on.

        Each is called as ``calls`` has it, and also as if no design had been found.
        """
        for name, each in self.lab.materials.items():
            if not callable(each) or inspect.signature(each).return_annotation is not str:
                continue
            some = inspect.signature(each).parameters
            nothing = {("fields", "found"): [({}, False), ({}, True)], ("fields",): [({},)]}
            for number, values in enumerate((*nothing.get(tuple(some), ()), *calls.get(name, ()))):
                yield f"materials[{name}][{number}]", each(*values)
