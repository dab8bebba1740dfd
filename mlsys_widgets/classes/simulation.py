"""``mlsys simulate``: a believable class, for demonstrations, tests and benchmarks.

Every student works through the real release notebook and leaves a real ledger. No notebook is
executed: they are written as data, so that a thousand students take seconds.
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
from typing import Final

from mlsys_widgets.classes.gradebook_reader import due
from mlsys_widgets.classes.released_lab import ReleasedLab, solutions_of, steps_of
from mlsys_widgets.classes.simulated_answers import SimulatedStudent, TypedAnswer
from mlsys_widgets.classes.simulated_chances import LATEST, told_and_again
from mlsys_widgets.classes.simulated_work import SimulatedWork, work
from mlsys_widgets.classes.submission_kinds import KINDS, allot, as_bytes
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, OWN_FOLDER, TIMESTAMP, lay_out
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import connected
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.reading.hand_in_facts import release_time
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.wording.plurals import counted

#: How nbgrader's exchange writes a time.
_FORMAT: Final = "%Y-%m-%d %H:%M:%S.%f UTC"
#: The due date of a lab that has none, fixed so that a seed always gives the same files.
_SOME_EVENING: Final = datetime(2026, 9, 25, 22, 0, tzinfo=UTC)
#: Between the last entry of a ledger and its hand-in; and how far the times of somebody in a hurry
#: lie outside the hours that are possible, which is less than grading tolerates.
_MINUTES_APART: Final = timedelta(minutes=4)
#: Kinds of students who take a second chance, in a course that has one.
_TAKE_AGAIN: Final = ("right", "mostly-right", "misconceived", "partly-done")


@dataclass(frozen=True)
class SimulatedSubmission:
    """A simulated submission."""

    #: Whose it is, and of which kind.
    student: str
    kind: str
    #: When it was handed in, in UTC.
    handed_in: str
    #: What was typed, what it earns and the belief it stands for, by the name of the answer. For a
    #: copied submission, what its owner typed.
    answers: Mapping[str, TypedAnswer] = field(default_factory=dict)
    #: Whose work it is, if it was copied.
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
    on_made: Callable[[SimulatedSubmission], None] = lambda _: None,
) -> list[SimulatedSubmission]:
    """Simulate a class and hand its work in; the same seed gives the same class.

    All `kinds` of submissions are among it unless some are named. The files `beside` are beside
    everybody's notebook, such as a measurement. With `force`, what these students handed in before
    is replaced. Raises `ValueError` if it cannot be done, in which case nothing was written.
    """
    return _Class(root, lab, seed, beside).hand_in(students, kinds, on_made, force=force)


class _Class:
    def __init__(self, root: Path, lab: str, seed: int, beside: Sequence[Path]) -> None:
        self._lab, self._seed = lab, seed
        self._course = Course.at(root)
        self._release = _files_of(self._course.folder("release", lab))
        self._assignment = self._assigned(beside)
        self._due = due_date(self._course, lab)
        # Grading flags work that is older than the lab's release, or yet to come.
        self._now = datetime.now(UTC)
        self._released = release_time(self._course.home, lab)
        usual = self._now if self._released else _SOME_EVENING
        self._end = min(self._due or usual, self._now)

    def _assigned(self, beside: Sequence[Path]) -> ReleasedLab:
        course, lab, name = self._course, self._lab, f"{self._lab}.ipynb"
        home = course.folder("assignments", lab)
        if not home.is_dir() or name not in self._release:
            missing = f"assignments/{lab}" if not home.is_dir() else f"release/{lab}/{name}"
            raise ValueError(
                f"there is no {missing} in {course.root.resolve()}; build the lab first: mlsys"
                f" build {lab}"
            )
        asks = load(home)
        items = asks.items(asks.draw("", variants=False))
        book = json.loads(self._release[name])
        source = course.folder("source", lab) / name
        solutions = solutions_of(json.loads(source.read_text("utf-8"))) if source.is_file() else {}
        return ReleasedLab(
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
        on_made: Callable[[SimulatedSubmission], None],
        *,
        force: bool,
    ) -> list[SimulatedSubmission]:
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
                f"{len(there)} of {counted(count, 'student')} already handed in {self._lab}, first"
                f" {there[0]}; nothing was written. Use --force to replace their work"
            )
        made = []
        JudgedHandIns(self._course.home, self._lab).forget(names)
        for each, files in self._made(names, allot(count, only, self._seed)):
            if (folder := folders[each.student]).exists():
                shutil.rmtree(folder)
            lay_out(folder, files)
            made.append(each)
            on_made(each)
        self._enter(names)
        self._note(made)
        return made

    def _enter(self, names: Sequence[str]) -> None:
        """Enter them into a class that is known: grading flags whoever is not in it."""
        known = ClassList.of(self._course.db_url)
        if new := [{"id": name} for name in names if known.stranger(name)]:
            with connected(self._course.db_url, write=True) as db:
                db.execute(t.student.insert(), new)

    def _made(
        self, names: Sequence[str], kinds: Sequence[str]
    ) -> Iterator[tuple[SimulatedSubmission, dict[str, bytes]]]:
        who = dict(zip(names, kinds, strict=True))
        honest = [n for n, kind in who.items() if kind in ("right", "mostly-right")]
        # A ledger waits for the disk with every event; in memory that costs nothing.
        memory = Path("/dev/shm")
        with TemporaryDirectory(dir=memory if memory.is_dir() else None) as aside:
            for name, kind in who.items():
                owner, moment = name, self._handed_in(name, kind)
                if kind == "copied":
                    # With nobody to copy from, they copy from a friend outside the course.
                    owner = self._chance(name, "copies").choice(honest or [f"{name}-friend"])
                    moment = self._a_little_later(owner, name)
                folder = Path(aside) / name
                folder.mkdir()
                done = self._worked(owner, who.get(owner, "right"), folder)
                if kind in _TAKE_AGAIN:
                    moment = self._again(name, folder, moment, done)
                shutil.rmtree(folder)
                told = moment.strftime(_FORMAT)
                yield (
                    SimulatedSubmission(
                        name, kind, told, done.answers, None if owner == name else owner
                    ),
                    self._files(kind, done, told, self._chance(name, "breaks")),
                )

    def _chance(self, name: str, what: str) -> random.Random:
        """Each student has randomness of their own, independent of the others."""
        return random.Random(f"{self._seed}/{name}/{what}")

    def _worked(self, name: str, kind: str, folder: Path) -> SimulatedWork:
        if kind == "blank":
            return SimulatedWork(json.loads(self._assignment.notebook))
        end = min(self._handed_in(name, kind), self._now) - _MINUTES_APART
        begin = self._released and self._released - _MINUTES_APART
        if begin:
            end = max(end, begin + 2 * _MINUTES_APART)
        return work(self._assignment, self._person(name, kind), end, folder, not_before=begin)

    def _again(self, name: str, folder: Path, moment: datetime, done: SimulatedWork) -> datetime:
        """Have a student take missed questions again, where a course lets them; when they end."""
        dates = self._course.calendar.dates(self._lab, name)
        setting = dates.second_chance
        if setting is None or LEDGER not in done.files:
            return moment
        latest = moment + LATEST
        if latest > self._now or not setting.is_open(dates.due, latest):
            return moment
        chance = self._chance(name, "again")
        told, last = told_and_again(self._assignment, name, folder, moment, setting.share, chance)
        JudgedHandIns(self._course.home, self._lab).add([told])
        done.files[LEDGER] = (folder / LEDGER).read_bytes()
        return last + _MINUTES_APART if told.seconds else moment

    def _person(self, name: str, kind: str) -> SimulatedStudent:
        chance = self._chance(name, "person")
        somebody = SimulatedStudent(name, str(self._seed), skill=chance.gauss(1.0, 0.6))
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
        """Most students hand in during the last evening, some of them days before."""
        chance = self._chance(name, "time")
        due = self._due or (None if self._released else _SOME_EVENING)
        if kind == "late" and due:
            return due + timedelta(hours=chance.lognormvariate(1.5, 1.2))
        early = timedelta(hours=chance.gammavariate(0.8, 18), minutes=1)
        if self._released is None:
            return self._end - early
        open_for = max(self._end - self._released, timedelta(0))
        return self._released + open_for - min(early, open_for * chance.random())

    def _a_little_later(self, owner: str, name: str) -> datetime:
        """Return when a student hands in who waited for somebody else's work."""
        wait = timedelta(minutes=self._chance(name, "time").uniform(5, 90))
        last = self._end - timedelta(seconds=30)
        return min(self._handed_in(owner, "right") + wait, last)

    def _files(
        self, kind: str, done: SimulatedWork, told: str, chance: random.Random
    ) -> dict[str, bytes]:
        name = f"{self._lab}.ipynb"
        files = {**self._release, **self._assignment.beside, **done.files}
        files[TIMESTAMP] = told.encode()
        del files[name]
        breaks = KINDS[kind].breaks
        content = breaks(done.book, chance) if breaks else as_bytes(done.book)
        if content is not None:
            files[f"{self._lab} (1).ipynb" if kind == "renamed" else name] = content
        return files

    def _note(self, made: Sequence[SimulatedSubmission]) -> None:
        """Record what was simulated, so that grades can be compared with it."""
        path = record_path(self._course.home, self._lab)
        path.parent.mkdir(exist_ok=True)
        record = {"lab": self._lab, "seed": self._seed, "students": [asdict(each) for each in made]}
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def record_path(root: Path, lab: str) -> Path:
    """Return the file that records what was simulated."""
    return root / OWN_FOLDER / f"simulated-{lab}.json"


def due_date(course: Course, lab: str) -> datetime | None:
    """Return when a lab is due by calendar or gradebook; ``None`` if neither says so."""
    if planned := course.calendar.dates(lab).due:
        return planned.astimezone(UTC)
    found = due(course, lab)
    return found.replace(tzinfo=UTC) if found else None


def _files_of(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    # Trying the lab in the release folder leaves a ledger there, which belongs to no student.
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(LEDGER)
    }


def run(arguments: argparse.Namespace) -> int:
    """Simulate a class, and print what it is made of."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    kinds = [kind for kind in (arguments.kinds or "").split(",") if kind]
    with console.status("Working") as status:
        count = 0

        def tell(_made: SimulatedSubmission) -> None:
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
    console.print(f"{counted(len(made), 'submission')} in {where}", highlight=False, soft_wrap=True)
    due = due_date(Course.at(arguments.course), arguments.lab)
    if found["late"] and due and due > datetime.now(UTC):
        console.print(
            f"{arguments.lab} is due {due:%Y-%m-%d %H:%M} UTC. Those who are late hand in after"
            " that, and grading flags it as yet to come.",
            highlight=False,
            soft_wrap=True,
        )
    return 0
