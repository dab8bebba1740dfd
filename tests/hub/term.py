"""A term on a real hub: what teachers and students do from the first week to the last.

Every step is something that somebody does over HTTP or in a terminal of the hub. It ends when the
hub has acknowledged it, and leaves a fact: something that must be true from then on, whatever
happens to the machine. A step that was cut off can be done again.
"""

from __future__ import annotations

import json
import pwd
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import pack
from mlsys_widgets.courses.new_course import init_course
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import ChoiceKey, Given, NumberKey
from mlsys_widgets.labs import Choice, Essay, Number, load
from mlsys_widgets.ledger import Ledger
from tests.hub.running import Hub, Person, bundle
from tests.lms_platform import LearningPlatform

FIRST, SECOND, THIRD = "lab_01_magnitude", "lab_07_kernel_fusion", "lab_11_roofline"
#: What ben types into the question whose key turns out to be too strict.
FACTOR = 3.0
NOTE = "The title says that it is corrected."
REASON = "the tolerance was too strict"
MANUAL = 4.0


def dated_bundle(folder: Path, names: Mapping[str, str], platform: LearningPlatform) -> Path:
    """The course with a calendar, two sections and a learning system."""
    course = init_course(folder / "course", bundle(THIRD))
    settings = course / "assignments" / "course.toml"
    secret = tomllib.loads(settings.read_text())["secret"]
    now = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    day = timedelta(days=1)
    settings.write_text(f"""
variants = true
edition = ""
secret = "{secret}"
deeper = "required"
timezone = "UTC"

[late]
per_day = 10

[labs.{FIRST}]
due = {(now + 7 * day).isoformat()}
weight = 2

[labs.{SECOND}]
due = {(now - day / 2).isoformat()}

[labs.{THIRD}]
release = {(now + 300 * day).isoformat()}
due = {(now + 310 * day).isoformat()}

[sections.morning]
students = ["{names["ada"]}", "{names["ben"]}", "{names["dan"]}"]

[sections.evening]
students = ["{names["cleo"]}"]
[sections.evening.labs.{SECOND}]
due = {(now + 3 * day).isoformat()}
{platform.settings()}""")
    return pack(Course.at(course), folder / "dated.tar.gz")


class Term:
    """The people of a course and what they do.

    Parameters
    ----------
    hub
        A hub with ada, ben, cleo and dan, made from `dated_bundle`.
    platform
        The learning system, for grades that are pushed.
    """

    def __init__(self, hub: Hub, platform: LearningPlatform | None = None) -> None:
        self.hub, self.platform = hub, platform
        tag = hub.names["teacher"].removesuffix("teacher")
        hub.names |= {who: f"{tag}{who}" for who in ("tom", "uma", "eve")}
        self._people: dict[str, Person] = {}
        #: What was acknowledged, and how to look whether it is so.
        self.facts: dict[str, Callable[[], object]] = {}

    @property
    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        """All that happens, in order."""
        return [
            ("a calendar", self.labs_are_dated),
            ("two TAs", self.two_people_teach),
            ("one is added", self.eve_comes),
            ("one leaves", self.dan_leaves),
            ("ada works", lambda: self.works("ada", FIRST)),
            ("ada hands in", lambda: self.hands_in("ada", FIRST)),
            ("ben works", lambda: self.works("ben", FIRST, wrong=True)),
            ("ben hands in", lambda: self.hands_in("ben", FIRST)),
            ("eve works", lambda: self.works("eve", FIRST)),
            ("eve hands in", lambda: self.hands_in("eve", FIRST)),
            ("the first lab is graded", lambda: self.is_graded("tom", FIRST, "ada", "ben", "eve")),
            ("a person grades", self.uma_grades_by_hand),
            ("the key was wrong", self.the_key_was_wrong),
            ("ada begins the second", lambda: self.works("ada", SECOND)),
            ("cleo does the second", lambda: self.works("cleo", SECOND)),
            ("cleo hands in", lambda: self.hands_in("cleo", SECOND)),
            ("the second lab is fixed", self.the_second_lab_is_fixed),
            ("ada takes it over", self.ada_takes_it_over),
            ("ada has longer", self.ada_has_longer),
            ("ada hands in the second", lambda: self.hands_in("ada", SECOND)),
            ("ben does the second", lambda: self.works("ben", SECOND)),
            ("ben hands in late", lambda: self.hands_in("ben", SECOND)),
            (
                "the second lab is graded",
                lambda: self.is_graded("uma", SECOND, "ada", "ben", "cleo"),
            ),
            ("it is split", self.the_work_is_split),
            ("the third opens", self.the_third_lab_opens),
            ("eve does the third", lambda: self.works("eve", THIRD)),
            ("eve hands in the third", lambda: self.hands_in("eve", THIRD)),
            ("the third is graded", lambda: self.is_graded("teacher", THIRD, "eve")),
            ("grades are pushed", self.grades_are_pushed),
        ]

    # People, files and commands.

    def person(self, who: str) -> Person:
        """Somebody whose server runs, also after the machine was cut off."""
        if who not in self._people:
            self._people[who] = Person(self.hub, self.hub.names[who]).arrive()
        else:
            self._people[who].start_server()
        return self._people[who]

    @property
    def course(self) -> Path:
        return self.hub.places.course

    @property
    def exchange(self) -> Path:
        return self.hub.places.exchange / "mlsys"

    def says(self, who: str, command: str) -> str:
        """Have somebody run a command in the course, and return what the screen showed."""
        shown = self.person(who).terminal(f"cd {self.course} && {{ {command}; }}; echo rc=''$?")
        assert "rc=0" in shown, shown
        return shown

    def edits(self, lab: str, file: str, change: Callable[[str], str]) -> None:
        """Have the teacher change a file of a lab, as an editor does."""
        path = f"assignments/{lab}/{file}"
        text = change((self.course / path).read_text())
        person = self.person("teacher")
        answer = person.ask(
            "PUT", f"api/contents/{path}", json={"type": "file", "format": "text", "content": text}
        )
        assert answer.status_code in (200, 201), answer.text

    def keep(self, what: str, is_so: Callable[[], object]) -> None:
        """Take down that something was acknowledged; it must be so now, and stay so."""
        assert is_so(), what
        self.facts[what] = is_so

    # The first week.

    def labs_are_dated(self) -> None:
        released = {path.name for path in (self.exchange / "outbound").iterdir()}
        assert {FIRST, SECOND} <= released
        assert THIRD not in released
        dates = self.hub.places.dates_of(self.hub.names["ada"])
        self.hub.wait(dates.is_file, "ada's own dates are written")
        assert SECOND in dates.read_text()

    def two_people_teach(self) -> None:
        for who, section in (("tom", "morning"), ("uma", "evening")):
            name = self.hub.names[who]
            self.says("teacher", f"mlsys course staff {name} --role ta --section {section}")
            self.keep(f"{who} teaches", lambda name=name: pwd.getpwnam(name))

    def eve_comes(self) -> None:
        name = self.hub.names["eve"]
        self.says("teacher", f"mlsys course add {name} --name 'Eve Test' --section evening")
        self.keep("eve is here", lambda: pwd.getpwnam(name))

    def dan_leaves(self) -> None:
        name = self.hub.names["dan"]
        self.says("teacher", f"mlsys course drop {name}")
        refused = lambda: Person(self.hub, name).login().status_code != 302  # noqa: E731
        self.keep("dan cannot log in", refused)

    # Students.

    def answers(self, who: str, lab: str) -> dict[str, Any]:
        """What is right for somebody, where nothing has to be measured."""
        folder = self.course / "assignments" / lab
        course, of = Course.at(self.course), load(folder)
        p = of.draw(self.hub.names[who], variants=course.variants, edition=course.edition)
        found, checks = {}, load_checks(folder)
        for name, item in of.items(p).items():
            if isinstance(item, Essay):
                found[name] = f"What {who} thinks about {name}, in a sentence that a person grades."
            elif isinstance(item, Number | Choice):
                try:
                    key = checks[name](Given(p, folder))
                except (ValueError, OSError):  # about a file that is not there
                    continue
                assert isinstance(key, NumberKey | ChoiceKey)
                found[name] = key.value
        return found

    def asked_of_ben(self) -> str:
        """The question that ben gets wrong in the first lab: the first that wants a number."""
        right = self.answers("ben", FIRST)
        return next(name for name, value in right.items() if isinstance(value, float | int))

    def fetches(self, person: Person, lab: str) -> None:
        """Fetch a lab, as soon as the student's own server knows that it is open."""
        asks = person.home / lab / "asks.py"

        def is_there() -> bool:
            if not asks.exists():
                person.assignment("fetch", lab)
            return asks.exists()

        self.hub.wait(is_there, f"{person.name} has {lab}")

    def works(self, who: str, lab: str, *, wrong: bool = False) -> None:
        person = self.person(who)
        answers = self.answers(who, lab)
        if wrong:
            answers[self.asked_of_ben()] *= FACTOR
        self.fetches(person, lab)
        kernel = person.kernel(lab)
        said = person.run(
            kernel,
            f"from mlsys_widgets import open_lab\nlab = open_lab({lab!r})\n"
            + "".join(f"lab.answer({name!r}, {value!r})\n" for name, value in answers.items())
            + "print('all', 'recorded')",
        )
        assert "all recorded" in said, said
        person.ask("DELETE", f"api/kernels/{kernel}")
        ledger = person.home / lab / "ledger.jsonl"

        def is_there() -> bool:
            led = Ledger.open(ledger)
            kept = led.state().answers
            return led.verify().ok and all(
                name in kept and kept[name].value == value for name, value in answers.items()
            )

        self.keep(f"{who}'s answers in {lab}", is_there)

    def hands_in(self, who: str, lab: str) -> None:
        person = self.person(who)
        person.assignment("submit", lab)
        wanted = (person.home / lab / "ledger.jsonl").read_bytes()
        pattern = f"inbound/{person.name}+{lab}+*/ledger.jsonl"
        self.keep(
            f"{who} handed in {lab}",
            lambda: any(path.read_bytes() == wanted for path in self.exchange.glob(pattern)),
        )

    # Teachers.

    def is_graded(self, by: str, lab: str, *students: str) -> None:
        self.says(by, f"nbgrader collect {lab} --update && mlsys grade {lab}")
        before = {who: self.total(who, lab) for who in students}
        assert all(before.values()), before
        for who in students:
            self.keep(f"{who} has points in {lab}", lambda who=who: self.total(who, lab))

    def _submission(self, book: Gradebook, who: str, lab: str) -> Any:
        return book.find_submission(lab, self.hub.names[who])

    def _book(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.course / 'gradebook.db'}")

    def total(self, who: str, lab: str) -> float:
        """What somebody has in a lab, after what being late costs."""
        with self._book() as book:
            found = self._submission(book, who, lab)
            return round(float(found.score) - float(found.late_submission_penalty or 0), 2)

    def uma_grades_by_hand(self) -> None:
        with self._book() as book:
            found = self._submission(book, "eve", FIRST)
            grades = [g for nb in found.notebooks for g in nb.grades]
            # After a cut, the points may be there already.
            row = str(next(g.id for g in grades if g.needs_manual_grade or g.manual_score))
        answer = self.person("uma").ask(
            "PUT", f"formgrader/api/grade/{row}",
            json={"id": row, "manual_score": MANUAL, "extra_credit": 0},
        )  # fmt: skip
        assert answer.status_code == 200, answer.text

        def stands() -> bool:
            with self._book() as book:
                found = self._submission(book, "eve", FIRST)
                given = {str(g.id): g.manual_score for nb in found.notebooks for g in nb.grades}
                return given[row] == MANUAL

        self.keep("what uma gave", stands)

    def the_key_was_wrong(self) -> None:
        name = self.asked_of_ben()
        # Three times the right number counts from now on.
        fixed = (
            f"\n\n_{name}_was = {name}\n\n\ndef {name}(given: Given) -> NumberKey:\n"
            f"    was = _{name}_was(given)\n"
            f"    return NumberKey(was.value, tolerance={FACTOR}, says=was.says)\n"
        )
        before = self.facts.get("ben gained")
        self.edits(
            FIRST, "checks.py", lambda text: text if f"_{name}_was" in text else text + fixed
        )
        first = self.total("ben", FIRST) if before is None else 0.0
        shown = self.says("teacher", f"mlsys regrade {FIRST}")
        self.says("teacher", f"mlsys regrade {FIRST} --apply --reason '{REASON}'")
        assert self.hub.names["ben"] in shown or self._points_of_ben(name) > 0
        assert self.total("ben", FIRST) >= first
        self.keep("ben gained", lambda: self._points_of_ben(name) > 0)
        history = self.says("teacher", f"mlsys history {FIRST} --json")
        assert REASON in history.replace("\r\n", "")

    def _points_of_ben(self, question: str) -> float:
        with self._book() as book:
            found = self._submission(book, "ben", FIRST)
            return float(next(g.score for nb in found.notebooks for g in nb.grades
                              if g.name == question))  # fmt: skip

    def the_second_lab_is_fixed(self) -> None:
        def corrected(text: str) -> str:
            return text if "(corrected)" in text else text.replace('title="', 'title="(corrected) ')

        self.edits(SECOND, "asks.py", corrected)
        self.says(
            "teacher",
            f"mlsys build {SECOND} && mlsys course release {SECOND} --note '{NOTE}'",
        )
        there = self.exchange / "outbound" / SECOND / "asks.py"
        self.keep("the corrected lab is released", lambda: "(corrected)" in there.read_text())

    def ada_takes_it_over(self) -> None:
        person, path = self.person("ada"), f"{SECOND}/{SECOND}.ipynb"
        ledger = person.home / SECOND / "ledger.jsonl"
        before = ledger.read_bytes()
        said = person.ask("GET", "mlsys/new-version", params={"path": path}).json()
        if said["offered"] is not None:
            assert said["offered"]["notes"] == [NOTE]
            done = person.ask("POST", "mlsys/new-version", json={"path": path, "do": "take"})
            assert done.status_code == 200, done.text
        assert ledger.read_bytes() == before
        mine = person.home / SECOND / "asks.py"
        self.keep("ada has the corrected lab", lambda: "(corrected)" in mine.read_text())
        # Who did not take it over keeps what there was.
        assert "(corrected)" not in (self.person("cleo").home / SECOND / "asks.py").read_text()

    def ada_has_longer(self) -> None:
        name = self.hub.names["ada"]
        settings = self.course / "assignments" / "course.toml"
        if "illness" not in settings.read_text():
            self.says("teacher", f"mlsys course extend {name} {SECOND} --days 3 --reason illness")
        self.keep("ada has longer", lambda: "illness" in settings.read_text())

    def the_work_is_split(self) -> None:
        shown = self.says("teacher", f"mlsys course split {SECOND}")
        for who in ("tom", "uma"):
            assert self.hub.names[who] in shown, shown

    def the_third_lab_opens(self) -> None:
        path = self.course / "assignments" / "course.toml"
        opened = (datetime.now(UTC) - timedelta(minutes=1)).replace(microsecond=0, tzinfo=None)
        lines = path.read_text().split("\n")
        at = lines.index(f"[labs.{THIRD}]") + 1
        lines[at] = f"release = {opened.isoformat()}"
        answer = self.person("teacher").ask(
            "PUT", "api/contents/assignments/course.toml",
            json={"type": "file", "format": "text", "content": "\n".join(lines)},
        )  # fmt: skip
        assert answer.status_code in (200, 201), answer.text
        there = self.exchange / "outbound" / THIRD
        self.hub.wait(there.is_dir, "the third lab is released")
        self.keep("the third lab is open", there.is_dir)

    def grades_are_pushed(self) -> None:
        shown = self.says("teacher", "mlsys push --keys > ~/keys.json && echo made")
        assert "made" in shown
        assert self.platform
        keys = self.hub.places.home(self.hub.names["teacher"]) / "keys.json"
        self.platform.register(json.loads(keys.read_text()))
        for who in ("ada", "ben", "cleo", "eve"):
            self.platform.enroll(f"lti-{who}", ext_user_username=self.hub.names[who])
        self.says("teacher", f"mlsys push {FIRST} {SECOND} --apply || test $? = 3")

        def arrived() -> bool:
            assert self.platform
            found = self.platform.results(FIRST)
            wanted = {f"lti-{w}": self.total(w, FIRST) for w in ("eve",)}
            return wanted.items() <= {k: v and round(v, 2) for k, v in found.items()}.items()

        self.keep("grades are in the learning system", arrived)
        sent = len(self.platform.sent())
        self.says("teacher", f"mlsys push {FIRST} {SECOND} --apply || test $? = 3")
        assert len(self.platform.sent()) == sent, "a second push sends nothing"

    # What must be true in the end.

    def all_facts(self) -> None:
        """Everything that was ever acknowledged is so."""
        for what, is_so in self.facts.items():
            assert is_so(), f"it was acknowledged, and is not so: {what}"
