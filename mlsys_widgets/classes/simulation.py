"""``mlsys simulate``: a believable class, for demonstrations, tests and benchmarks.

Everybody works through the real release notebook and leaves a real ledger. Nothing is run:
notebooks are written as data, so that a thousand students take seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mlsys_widgets.classes.simulated_work import (
    Assignment,
    Person,
    Typed,
    Work,
    solutions_of,
    steps_of,
    work,
)
from mlsys_widgets.files import LEDGER, OWN_FOLDER, TIMESTAMP, lay_out
from mlsys_widgets.grading.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.labs.course import Course

#: As nbgrader's exchange writes it.
_FORMAT: Final = "%Y-%m-%d %H:%M:%S.%f UTC"
#: When a class hands in that has no due date: fixed, so that a seed gives the same files always.
_SOME_EVENING: Final = datetime(2026, 9, 25, 22, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Kind:
    """A kind of submission: what it is, and how many of a hundred are like that."""

    about: str
    share: float
    breaks: Callable[[dict[str, Any], random.Random], bytes | None] | None = None


def _cut_off(book: dict[str, Any], chance: random.Random) -> bytes:
    text = json.dumps(book)
    return text[: int(len(text) * chance.uniform(0.3, 0.9))].encode()


def _delete(book: dict[str, Any], chance: random.Random) -> bytes:
    book["cells"].remove(chance.choice(_checks_of(book)))
    return _as_bytes(book)


def _double(book: dict[str, Any], chance: random.Random) -> bytes:
    cell = chance.choice(_checks_of(book))
    # The front end gives a pasted cell a new id and keeps what nbgrader wrote into it.
    copy = {**cell, "id": f"{chance.getrandbits(32):08x}"}
    book["cells"].insert(book["cells"].index(cell), copy)
    return _as_bytes(book)


def _turn(book: dict[str, Any], chance: random.Random) -> bytes:
    cell = chance.choice([c for c in book["cells"] if _is_answer(c)])
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    return _as_bytes(book)


def _other_kernel(book: dict[str, Any], _chance: random.Random) -> bytes:
    book["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    book["metadata"]["language_info"] = {"name": "R"}
    return _as_bytes(book)


def _checks_of(book: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for c in book["cells"] if c.get("id", "").startswith("check_")]


def _is_answer(cell: Mapping[str, Any]) -> bool:
    return cell.get("id", "").startswith("answer_") and cell["cell_type"] == "code"


def _as_bytes(book: dict[str, Any]) -> bytes:
    return (json.dumps(book, indent=1, ensure_ascii=False) + "\n").encode()


#: Every kind there is. The shares add up to a hundred.
KINDS: Final[Mapping[str, Kind]] = {
    "right": Kind("nearly everything right", 20),
    "mostly-right": Kind("most of it right", 34),
    "misconceived": Kind("answers as the checks' beliefs have them", 16),
    "partly-done": Kind("stopped somewhere in the middle", 7),
    "late": Kind("mostly right, handed in late", 6),
    "blank": Kind("the release, untouched", 4),
    "restarted": Kind("begun again half way, with the old ledger beside the new one", 4),
    "copied": Kind("somebody else's notebook and ledger", 3),
    "nonsense": Kind("texts, lists, errors and typing mistakes", 2),
    "no-json": Kind("a notebook that breaks off", 0.6, _cut_off),
    "cell-deleted": Kind("a graded cell is gone", 0.6, _delete),
    "cell-doubled": Kind("a graded cell is there twice", 0.6, _double),
    "cell-turned": Kind("an answer cell was made text", 0.6, _turn),
    "other-kernel": Kind("saved with another kernel", 0.6, _other_kernel),
    "no-notebook": Kind("everything but the notebook", 0.5, lambda *_: None),
    "renamed": Kind("the notebook has another name", 0.5),
}


@dataclass(frozen=True)
class Made:
    """A submission that was made.

    Parameters
    ----------
    student, kind
        Whose, and of which kind.
    handed_in
        When, in UTC.
    answers
        What was typed, what it earns and the belief it stands for, by the name of the answer. Of
        a copied submission it is what its owner typed.
    of
        Whose work it is, where it was copied.
    """

    student: str
    kind: str
    handed_in: str
    answers: Mapping[str, Typed] = field(default_factory=dict)
    of: str | None = None


def simulate(
    root: Path,
    lab: str,
    students: int,
    *,
    seed: int = 0,
    kinds: Sequence[str] = (),
    beside: Sequence[Path] = (),
    force: bool = False,
    on_made: Callable[[Made], None] = lambda _: None,
) -> list[Made]:
    """Make a class and hand its work in.

    Parameters
    ----------
    root
        The folder of the course.
    lab
        The lab; it must have been built.
    students
        How many.
    seed
        The same seed gives the same class.
    kinds
        Only submissions of these kinds; all if none is named.
    beside
        Files that everybody has beside the notebook, as a measurement.
    force
        Replace what these students have handed in before.
    on_made
        Called with every submission.

    Raises
    ------
    ValueError
        With a sentence, when it cannot be done; then nothing was written.
    """
    return _Class(root, lab, seed, beside).hand_in(students, kinds, on_made, force=force)


class _Class:
    def __init__(self, root: Path, lab: str, seed: int, beside: Sequence[Path]) -> None:
        self._lab, self._seed = lab, seed
        self._course = Course.at(root)
        self._release = _files_of(self._course.folder("release", lab))
        self._assignment = self._assigned(beside)
        self._due = due_date(self._course, lab)
        now = datetime.now(UTC)
        # Nothing in a ledger can be later than its verification.
        self._latest = now - timedelta(hours=1)

    def _assigned(self, beside: Sequence[Path]) -> Assignment:
        course, lab, name = self._course, self._lab, f"{self._lab}.ipynb"
        home = course.folder("assignments", lab)
        if not home.is_dir() or name not in self._release:
            missing = f"assignments/{lab}" if not home.is_dir() else f"release/{lab}/{name}"
            raise ValueError(
                f"there is no {missing} in {course.root.resolve()}; a class works on a lab that was"
                f" built: mlsys build {lab}"
            )
        asks = load(home)
        items = asks.items(asks.draw("", variants=False))
        book = json.loads(self._release[name])
        source = course.folder("source", lab) / name
        solutions = solutions_of(json.loads(source.read_text("utf-8"))) if source.is_file() else {}
        return Assignment(
            asks,
            load_checks(home),
            self._release[name].decode(),
            solutions,
            {path.name: path.read_bytes() for path in beside},
            steps_of(book, items),
            course.variants,
            course.edition,
        )

    def hand_in(
        self,
        count: int,
        only: Sequence[str],
        on_made: Callable[[Made], None],
        *,
        force: bool,
    ) -> list[Made]:
        if count < 1:
            raise ValueError(f"--students is {count}; it must be at least 1")
        for kind in only:
            if kind not in KINDS:
                raise ValueError(f"there is no kind {kind!r}; there are: {', '.join(KINDS)}")
        digits = max(3, len(str(count)))
        names = [f"student-{k:0{digits}}" for k in range(1, count + 1)]
        folders = {n: self._course.work("submitted", n, self._lab) for n in names}
        there = [name for name, folder in folders.items() if folder.exists()]
        if there and not force:
            raise ValueError(
                f"{len(there)} of these students have handed in {self._lab} already, {there[0]} the"
                " first; nothing was written. --force replaces what they handed in"
            )
        made = []
        for each, files in self._made(names, allot(count, only, self._seed)):
            lay_out(folders[each.student], files)
            made.append(each)
            on_made(each)
        self._note(made)
        return made

    def _made(
        self, names: Sequence[str], kinds: Sequence[str]
    ) -> Iterator[tuple[Made, dict[str, bytes]]]:
        who = dict(zip(names, kinds, strict=True))
        honest = [n for n, kind in who.items() if kind in ("right", "mostly-right")]
        # Ledgers wait for the disk with every event; in memory that costs nothing.
        memory = Path("/dev/shm")
        with TemporaryDirectory(dir=memory if memory.is_dir() else None) as aside:
            for name, kind in who.items():
                owner, moment = name, self._handed_in(name, kind)
                if kind == "copied":
                    # Nobody to copy from: then it was somebody of another course.
                    owner = self._chance(name, "copies").choice(honest or [f"{name}-friend"])
                    moment = self._a_little_later(owner, name)
                folder = Path(aside) / name
                folder.mkdir()
                done = self._worked(owner, who.get(owner, "right"), folder)
                shutil.rmtree(folder)
                told = moment.strftime(_FORMAT)
                yield (
                    Made(name, kind, told, done.answers, None if owner == name else owner),
                    self._files(kind, done, told, self._chance(name, "breaks")),
                )

    def _chance(self, name: str, what: str) -> random.Random:
        """Everybody has luck of their own, whatever becomes of the others."""
        return random.Random(f"{self._seed}/{name}/{what}")

    def _worked(self, name: str, kind: str, folder: Path) -> Work:
        if kind == "blank":
            return Work(json.loads(self._assignment.notebook))
        last = min(self._handed_in(name, kind) - timedelta(minutes=4), self._latest)
        return work(self._assignment, self._person(name, kind), last, folder)

    def _person(self, name: str, kind: str) -> Person:
        chance = self._chance(name, "person")
        somebody = Person(name, str(self._seed), skill=chance.gauss(1.0, 0.6))
        match kind:
            case "right":
                return replace(somebody, skill=chance.uniform(2.8, 4.0))
            case "misconceived":
                return replace(somebody, skill=chance.gauss(-1.2, 0.4), believes=0.92)
            case "partly-done":
                return replace(somebody, does=chance.uniform(0.25, 0.75))
            case "restarted":
                return replace(somebody, again=True)
            case "nonsense":
                return replace(somebody, skill=-2.0, nonsense=True)
        return somebody

    def _handed_in(self, name: str, kind: str) -> datetime:
        """Most hand in during the last evening, some days before."""
        due, chance = self._due or _SOME_EVENING, self._chance(name, "time")
        if kind == "late":
            return due + timedelta(hours=chance.lognormvariate(1.5, 1.2))
        early = chance.gammavariate(0.8, 18)
        return due - timedelta(hours=early, minutes=1)

    def _a_little_later(self, owner: str, name: str) -> datetime:
        """When somebody hands in who waited for somebody else to do so."""
        wait = timedelta(minutes=self._chance(name, "time").uniform(5, 90))
        last = (self._due or _SOME_EVENING) - timedelta(seconds=30)
        return min(self._handed_in(owner, "right") + wait, last)

    def _files(self, kind: str, done: Work, told: str, chance: random.Random) -> dict[str, bytes]:
        name = f"{self._lab}.ipynb"
        files = {**self._release, **self._assignment.beside, **done.files}
        files[TIMESTAMP] = told.encode()
        del files[name]
        breaks = KINDS[kind].breaks
        content = breaks(done.book, chance) if breaks else _as_bytes(done.book)
        if content is not None:
            files[f"{self._lab} (1).ipynb" if kind == "renamed" else name] = content
        return files

    def _note(self, made: Sequence[Made]) -> None:
        """Keep what was made, for whoever wants to hold grades against it."""
        path = noted_at(self._course.home, self._lab)
        path.parent.mkdir(exist_ok=True)
        said = {"lab": self._lab, "seed": self._seed, "students": [asdict(each) for each in made]}
        path.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")


def noted_at(root: Path, lab: str) -> Path:
    """The file that says what was made."""
    return root / OWN_FOLDER / f"simulated-{lab}.json"


def allot(count: int, only: Sequence[str], seed: int) -> list[str]:
    """The kinds of so many submissions, by their shares and in no order.

    A class that is large enough has one of each.
    """
    kinds = list(only) or list(KINDS)
    whole = sum(KINDS[kind].share for kind in kinds)
    least = 1 if count >= 2 * len(kinds) or (only and count >= len(kinds)) else 0
    free = count - least * len(kinds)
    exact = {kind: least + free * KINDS[kind].share / whole for kind in kinds}
    given = {kind: int(number) for kind, number in exact.items()}
    rest = sorted(kinds, key=lambda kind: given[kind] - exact[kind])[: count - sum(given.values())]
    found = [kind for kind in kinds for _ in range(given[kind] + (kind in rest))]
    random.Random(f"{seed}/kinds").shuffle(found)
    return found


def due_date(course: Course, lab: str) -> datetime | None:
    """When a lab is due, by the gradebook; none if there is no gradebook or no date in it."""
    from mlsys_widgets.classes.gradebook_reader import due

    found = due(course, lab)
    return found.replace(tzinfo=UTC) if found else None


def _files_of(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    # What is tried out in the release folder leaves a ledger there, which is nobody's here.
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(LEDGER)
    }


def run(arguments: argparse.Namespace) -> int:
    """Make a class, and say what it is made of."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    kinds = [kind for kind in (arguments.kinds or "").split(",") if kind]
    with console.status("Working") as status:
        count = 0

        def tell(_made: Made) -> None:
            nonlocal count
            count += 1
            status.update(f"{count} of {arguments.students} have handed in")

        made = simulate(
            arguments.course, arguments.lab, arguments.students, seed=arguments.seed, kinds=kinds,
            beside=arguments.beside or (), force=arguments.force, on_made=tell,
        )  # fmt: skip
    table = Table("kind", "students", "what it is", box=None, header_style="bold")
    found = Counter(each.kind for each in made)
    for kind in sorted(found, key=lambda kind: -found[kind]):
        table.add_row(kind, str(found[kind]), KINDS[kind].about)
    console.print(table)
    where = Course(arguments.course).work("submitted", "*", arguments.lab)
    console.print(f"{len(made)} submissions in {where}", highlight=False, soft_wrap=True)
    return 0
