"""A lab as its ``asks.py`` declares it: name, acts, parameters, design entry, what it asks."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final, overload

from mlsys_widgets.course.student_codes import drawn_from
from mlsys_widgets.files import ASKS
from mlsys_widgets.labs.asked import AUTOGRADED
from mlsys_widgets.labs.items import Essay, Item
from mlsys_widgets.labs.lab_modules import importable, modules_beside
from mlsys_widgets.labs.option_order import in_drawn_order
from mlsys_widgets.labs.variants import Parameter, Parameters, draw

Asks = Callable[[Parameters], Item]
#: For how many students a lab remembers what it asked.
_KEPT: Final = 4


class Lab:
    """A lab: its name and title, and what it asks.

    Parameters
    ----------
    name
        The name of the assignment's folder: ``lab_07_kernel_fusion``.
    title
        What people call it.
    chapter
        Its chapter in the Design Ledger.
    acts
        Titles of the acts.
    question
        What the lab is about, as a question that it answers: the headline of its cover. It must
        give nothing away that is predicted. The title, if omitted.
    parameters
        What differs from student to student, by name.
    minutes
        How long it takes, such as ``"50"`` or ``"35–40"``, if you know better than the count of
        what is read and done (`mlsys_widgets.labs.lab_minutes`), which is built into the notebook.
    examples
        Files that a student creates during the lab, by name, each with a function that returns an
        example: the solution is run with them beside it.
    design
        The fields of the design entry that the lab hands on, by name, made with the functions of
        ``mlsys_widgets.ledger.designs``. Saving checks the entry against them, and the Lab panel
        shows what they say about themselves.
    materials
        Anything else that the lab's instruments need, by name, as a concept graph.
    deeper
        Names of the items beyond the core. The core fits into one class and needs none of them;
        whether they count is for a course to say. ``lab.py`` has them in deeper sections.

    Examples
    --------
    >>> from mlsys_widgets.labs import Choice, Number, steps
    >>> lab = Lab(
    ...     "lab_02_caches",
    ...     title="Caches",
    ...     chapter=2,
    ...     acts=("What fits?",),
    ...     parameters={"side": Parameter(256, steps(128, 384, 8), "elements", "side of a tile")},
    ... )
    >>> @lab.asks
    ... def tile_bytes(p):
    ...     return Number(f"How many bytes has a {p.side} by {p.side} tile in fp16?", "bytes", 6)
    >>> @lab.asks
    ... def level(p):
    ...     return Choice("Where does it live?", {"l1": "in L1", "hbm": "in HBM"}, points=4, act=1)
    >>> p = lab.draw("ann", variants=False)  # what a student's notebook has as lab.p
    >>> lab.items(p)["tile_bytes"].ask
    'How many bytes has a 256 by 256 tile in fp16?'
    >>> lab.points(p)
    {'tile_bytes': 6, 'level': 4}
    """

    def __init__(
        self,
        name: str,
        *,
        title: str,
        chapter: int,
        acts: Sequence[str],
        question: str = "",
        parameters: Mapping[str, Parameter] | None = None,
        minutes: str | None = None,
        examples: Mapping[str, Callable[[], bytes]] | None = None,
        design: Mapping[str, Any] | None = None,
        materials: Mapping[str, Any] | None = None,
        deeper: Sequence[str] = (),
    ) -> None:
        self.name, self.title, self.chapter = name, title, chapter
        self.acts, self.question, self.minutes = tuple(acts), question, minutes
        self.parameters = dict(parameters or {})
        self.examples = dict(examples or {})
        self.design = dict(design or {})
        self.materials = dict(materials or {})
        self.deeper = frozenset(deeper)
        #: By the item's id: the question that it asks, or the pool that one is drawn from.
        self._asks: dict[str, dict[str, Asks]] = {}
        self._made: dict[tuple[str, str], dict[str, Item]] = {}

    @overload
    def asks(self, function: Asks) -> Asks: ...

    @overload
    def asks(self, *, instead_of: str) -> Callable[[Asks], Asks]: ...

    def asks(
        self, function: Asks | None = None, *, instead_of: str | None = None
    ) -> Asks | Callable[[Asks], Asks]:
        """Declare an item: a function of the parameters, whose name is the item's id.

        With ``instead_of`` it declares another question of that item's pool. One of them is drawn
        for each student, like a number: the parameter with the item's id holds the name of the one
        that is asked. Where a course has no variants, everybody is asked the first.

        Raises
        ------
        ValueError
            When the name is taken, or there is no such item to ask something instead of.

        Examples
        --------
        >>> from mlsys_widgets.labs import Number
        >>> lab = Lab("lab_02_caches", title="Caches", chapter=2, acts=())
        >>> @lab.asks
        ... def tile_bytes(p):
        ...     return Number("How many bytes has a tile of 256 by 256 in fp16?", "bytes", 6)
        >>> @lab.asks(instead_of="tile_bytes")
        ... def row_bytes(p):
        ...     return Number("How many bytes has a row of such a tile?", "bytes", 6)
        >>> p = lab.draw("ann")
        >>> p.tile_bytes, lab.items(p)["tile_bytes"].ask
        ('row_bytes', 'How many bytes has a row of such a tile?')
        """
        if function is None:
            return lambda given: self._declare(given, instead_of or given.__name__)
        return self._declare(function, function.__name__)

    def _declare(self, function: Asks, item: str) -> Asks:
        name = function.__name__
        if name in {*self._asks, *(each for pool in self._asks.values() for each in pool)}:
            raise ValueError(f"{self.name} asks {name} twice; each id can be used once")
        if item != name and item not in self._asks:
            raise ValueError(
                f"{self.name} asks {name} instead of {item}, which it does not ask before that"
            )
        pool = self._asks.setdefault(item, {})
        if len(pool) == 1 and item in self.parameters:
            raise ValueError(
                f"{self.name} has a parameter {item}; an item with several questions must have a"
                " name of its own"
            )
        pool[name] = function
        if len(pool) > 1:
            self.parameters[item] = Parameter(item, tuple(pool), "", "the question that is asked")
        self._made.clear()
        return function

    def draw(
        self, student: str, *, edition: str = "", variants: bool = True, again: int = 0
    ) -> Parameters:
        """Return the parameters of a student; the defaults where a course has no variants.

        Parameters
        ----------
        again
            The number of a fresh draw; `labs.attempts` says which one an attempt has.
        """
        return draw(
            self.parameters, lab=self.name, student=student, edition=drawn_from(edition, student),
            variants=variants, again=again,
        )  # fmt: skip

    def items(self, parameters: Parameters) -> dict[str, Item]:
        """Return everything the lab asks, in order, with these parameters.

        Options are in the order that was drawn for the student.
        """
        # Items are made once for each of the last few students: grading asks for them often.
        key = (repr(parameters), parameters.order_seed)
        if key not in self._made:
            while len(self._made) >= _KEPT:
                del self._made[next(iter(self._made))]
            if strangers := self.deeper - self._asks.keys():
                listed = ", ".join(sorted(strangers))
                raise ValueError(f"{self.name} calls deeper what it never asks: {listed}")
            self._made[key] = {name: self.item(name, parameters) for name in self._asks}
        return dict(self._made[key])

    def item(self, name: str, parameters: Parameters) -> Item:
        """Return one item with these parameters; see `items`."""
        question = parameters.asked(name) if len(self._asks[name]) > 1 else name
        return in_drawn_order(self._ask(name, question, parameters), name, parameters.order_seed)

    def _ask(self, item: str, question: str, parameters: Parameters) -> Item:
        asked = self._asks[item][question](parameters)
        return replace(asked, deeper=True) if item in self.deeper else asked

    @property
    def pools(self) -> dict[str, tuple[str, ...]]:
        """The names of the questions of every item that has several, by the item's id."""
        return {item: tuple(pool) for item, pool in self._asks.items() if len(pool) > 1}

    def questions(self, item: str, parameters: Parameters) -> dict[str, Item]:
        """Return every question that an item may ask, by name, with these parameters."""
        return {name: self._ask(item, name, parameters) for name in self._asks[item]}

    def points(self, parameters: Parameters) -> dict[str, float]:
        """Return the points of each graded item, by id."""
        return points_of(self.items(parameters))


def points_of(items: Mapping[str, Item]) -> dict[str, float]:
    """Return the points of each graded item, by id."""
    return {n: i.points for n, i in items.items() if isinstance(i, (*AUTOGRADED, Essay))}


def load(folder: str | os.PathLike[str]) -> Lab:
    r"""Load the lab whose ``asks.py`` is in a folder.

    Parameters
    ----------
    folder : path
        Where the notebook is, or the lab's folder in ``assignments/``.

    Returns
    -------
    Lab
        The object that the file calls ``lab``.

    Raises
    ------
    ValueError
        With a sentence, when the file is missing or declares no lab.

    Examples
    --------
    >>> _ = (folder / "asks.py").write_text(
    ...     "from mlsys_widgets.labs import Lab\n"
    ...     "lab = Lab('lab_02_caches', title='Caches', chapter=2, acts=('What fits?',))\n"
    ... )
    >>> load(folder).title
    'Caches'
    >>> load("nowhere")
    Traceback (most recent call last):
    ...
    ValueError: asks.py is not beside the notebook; the lab cannot open without it: fetch the lab
    again, or copy that file into the notebook's folder
    """
    path = Path(folder).resolve() / ASKS
    if not path.is_file():
        raise ValueError(
            f"{ASKS} is not beside the notebook; the lab cannot open without it: fetch the lab"
            " again, or copy that file into the notebook's folder"
        )
    beside = modules_beside(path.parent, ASKS).values()
    return _declared(path, *(each.read_bytes() for each in (path, *beside)))


@functools.lru_cache(maxsize=16)
def _declared(path: Path, *_contents: bytes) -> Lab:
    """Read what a file declares, once: the hidden test of every cell asks for it."""
    lab = getattr(module_at(path), "lab", None)
    if not isinstance(lab, Lab):
        raise ValueError(f"{path} declares no lab; it must have a line: lab = Lab(…)")
    return lab


class LabMistake(ValueError):
    """What an author wrote cannot be run; a sentence says where, and what is wrong."""


def module_at(path: Path) -> ModuleType:
    """Load a file of a lab as a module.

    It is loaded by its path and under a name of its own, and can import the modules beside it. No
    file there shadows anything, and no cache is left in folders where nothing should be written,
    such as a submission's. A mistake of its author is a `LabMistake`.
    """
    spec = importlib.util.spec_from_file_location(f"_mlsys_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with importable(path.parent):
            spec.loader.exec_module(module)
    except (ValueError, OSError):  # these say in a sentence what is wrong with the lab
        raise
    except Exception as problem:
        raise LabMistake(mistake_in(path.parent, problem)) from problem
    finally:
        sys.dont_write_bytecode = writes
    return module


def mistake_in(folder: Path, problem: Exception) -> str:
    """Say what is wrong in an author's file, and in which line, not where we noticed it."""
    if isinstance(problem, SyntaxError):
        file = folder / Path(problem.filename or "").name
        return f"{file}, line {problem.lineno}: {problem.msg}"
    calls = extract_tb(problem.__traceback__)
    theirs = [call for call in calls if Path(call.filename).parent == folder.resolve()]
    where = (
        f"{folder / Path(theirs[-1].filename).name}, line {theirs[-1].lineno}: " if theirs else ""
    )
    return f"{where}{type(problem).__name__}: {problem}"
