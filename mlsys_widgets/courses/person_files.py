"""``mlsys course forget`` and ``mlsys course copy``: all that a course keeps about one person."""

from __future__ import annotations

import argparse
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.hub_link import HubLink, HubReply, HubRequest
from mlsys_widgets.courses.people_moves import STEPS, exchange_of, inbound_of
from mlsys_widgets.courses.personal_data import KnownNames, Search, Trace
from mlsys_widgets.courses.plain_terminal import agreed
from mlsys_widgets.courses.settings_editor import SettingsEditor
from mlsys_widgets.courses.student_rows import (
    gradebook,
    remove_student,
    rewrite,
    rows_of,
    students,
)
from mlsys_widgets.files import COURSE_SETTINGS, write_whole
from mlsys_widgets.grading.feedback.second_looks import SecondLooks
from mlsys_widgets.grading.gradebook.grade_history import GradeHistory
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.wording.plurals import counted

_SECRET: Final = "submission_secret.txt"
_OWN_TEXT: Final = "it is the course's own text; look at it yourself"
#: What the course is made of.
_COURSE_TEXT: Final = ("assignments", "source", "release", "README.md", "nbgrader_config.py")
_OTHERS: Final = "it is the work of somebody else; look at it yourself"


@dataclass(frozen=True)
class PersonFiles:
    """Where a course keeps something about one person."""

    course: Course
    login: str

    def names(self) -> KnownNames:
        """Return what the person is called, now and before."""
        known = self.course.people.names.get(self.login)
        before = filter(None, (known.numbers, *known.also)) if known else ()
        with gradebook(self.course) as db:
            everybody = students(db)
        row = everybody.get(self.login, {})
        first, last = row.get("first_name", ""), row.get("last_name", "")
        namesakes = [
            each for each in everybody.values()
            if (each["first_name"], each["last_name"]) == (first, last)
        ]  # fmt: skip
        # Where two have one name, it tells nothing about either.
        one = first and last and len(namesakes) == 1
        words = [f"{first} {last}", f"{last}, {first}"] if one else []
        # A number as such may be any number.
        words += [each for each in (row.get("email", ""), row.get("lms_user_id", ""))
                  if each and not each.isdigit()]  # fmt: skip
        logins = (self.login, *before)
        return KnownNames(logins, tuple(words), frozenset(self._feedback_files(logins)))

    def searches(self) -> list[Search]:
        """Return the folders to look into: the course, and its part of the exchange."""
        names, home = self.names(), self.course.home
        apart = {home / "assignments" / COURSE_SETTINGS}
        if self.course.gradebook is not None:
            file = self.course.gradebook.resolve()
            apart |= {file, file.with_name(f"{file.name}-journal")}
        own = {home / each: _OWN_TEXT for each in _COURSE_TEXT}
        others = {
            folder: _OTHERS
            for step in STEPS
            for folder in _folders(self.course.work(step, "x", "y").parent.parent)
            if not names.owns(folder.name)
        }
        found = [Search(home, names, frozenset(apart), own | others)]
        exchange = exchange_of(self.course)
        if exchange is not None and not exchange.is_relative_to(home):
            theirs = {folder: _OTHERS for folder in _folders(exchange / "inbound")
                      if not names.owns(folder.name)}  # fmt: skip
            apart = {exchange / "inbound"} if HubLink(home).exists else set()
            found.append(Search(exchange, names, frozenset(apart), theirs))
        return found

    def _feedback_files(self, logins: Sequence[str]) -> Iterator[str]:
        """Find what nbgrader calls this person's feedback in the exchange."""
        from nbgrader.utils import notebook_hash

        exchange = exchange_of(self.course)
        folders = [
            self.course.work(step, login, lab)
            for login in logins for lab in labs_of(self.course) for step in STEPS
        ]  # fmt: skip
        if exchange is not None:
            folders += [path for each in logins
                        for path, _ in inbound_of(exchange / "inbound", each)]  # fmt: skip
        for folder in folders:
            secret = folder / _SECRET
            if secret.is_file() and not secret.is_symlink():
                for lab in labs_of(self.course):
                    yield f"{notebook_hash(secret=secret.read_text('utf-8'), notebook_id=lab)}.html"

    def rows(self) -> dict[str, Any]:
        """Return what the gradebook holds."""
        with gradebook(self.course) as db:
            return rows_of(db, self.login)

    def settings(self) -> tuple[SettingsEditor, dict[str, Any]]:
        """Return the settings without the person, and what they held."""
        edit = SettingsEditor(self.course.root)
        held: dict[str, Any] = {
            "sections": [s for s, of in edit.settings.get("sections", {}).items()
                         if self.login in of.get("students", [])],
            "extensions": [each for each in edit.settings.get("extensions", [])
                           if each.get("student") == self.login],
            "people": [name for name, those in edit.settings.get("people", {}).items()
                       if self.login in those],
            "names": edit.settings.get("names", {}).get(self.login),
            "staff": edit.settings.get("staff", {}).get(self.login),
        }  # fmt: skip
        for name in self.names().logins:
            edit.remove(name)
        return edit, {name: value for name, value in held.items() if value}

    def exists(self) -> bool:
        """Whether anything is kept about somebody of this name."""
        return bool(
            self.rows().get("student") or self.settings()[0].changed
            or any(search.traces() for search in self.searches())
        )  # fmt: skip


def run_forget(arguments: argparse.Namespace) -> int:
    """Remove a person everywhere, after saying where and asking."""
    console = Console()
    person = PersonFiles(Course.at(arguments.folder), arguments.student)
    link = HubLink.of_instructor(person.course.home)
    edit, held = person.settings()
    rows, searches = person.rows(), person.searches()
    traces = [(search, trace) for search in searches for trace in search.traces()]
    on_hub = arguments.student in (link.status() or HubReply()).people
    if not (rows.get("student") or edit.changed or traces or on_hub):
        raise ValueError(f"nothing in this course names {arguments.student}")
    labs = [each["lab"] for each in rows.get("submissions", ())]
    print_plain(console, f"This permanently removes what is kept about {arguments.student}:")
    if rows.get("student"):
        print_plain(console, f"  gradebook: their entry, and {counted(len(labs), 'submission')}")
    if held:
        print_plain(console, f"  assignments/{COURSE_SETTINGS}: {', '.join(held)}")
    for _, trace in traces:
        if trace.how != "cannot":
            how = "removed" if trace.how == "remove" else trace.why
            print_plain(console, f"  {_shown(trace, person.course)}: {how}")
    if link.exists:
        print_plain(console, "  on the hub: account, home, password, hand-ins, notes, log entries")
    _cannot(console, [trace for _, trace in traces], person.course)
    if not arguments.yes and not agreed("Remove all of this? Type yes: "):
        print_plain(console, "Nothing was removed.")
        return 1
    names = person.names()  # while the gradebook still knows them
    left = _forget(person.course, names, searches)
    edit.write()  # the settings know the names from before, so they come last
    if link.exists:
        answer = link.ask(HubRequest("forget", names.logins, names.words))
        if answer is None:
            raise ValueError(
                "the hub does not answer, so the account and the home are still there; start it"
                f" and run this again: mlsys course forget {arguments.student}"
            )
        # Until the hub removed its notes of hand-ins, the judge may have written about them again.
        left = _forget(person.course, names, searches)
        left += [Trace(Path(each["path"]), "cannot", each["why"]) for each in answer.left]
        print_plain(console, "The hub has removed the account, the home and its own records.")
    _cannot(console, left, person.course)
    ChangeHistory(person.course.home).note("Somebody is forgotten.")
    print_plain(console, "Removed." if not left else "Removed, but for the above.")
    return 0 if not left else 1


def _forget(course: Course, names: KnownNames, searches: Sequence[Search]) -> list[Trace]:
    """Remove everything but settings; return what could not be removed. Can be done again."""
    with ExitStack() as stack:
        for lab in labs_of(course):  # nobody may write about them meanwhile
            stack.enter_context(GradedLog(course.home, lab).alone())
        # These keep more than lines about people: a chain, and answers in the exchange.
        for name in names.logins:
            SecondLooks(course).forget(name)
            for lab in labs_of(course):
                GradeHistory(course.home, lab).forget(name)
        left = []
        for search in searches:
            for trace in search.traces():
                try:
                    search.remove(trace)
                except OSError as problem:
                    why = problem.strerror or str(problem)
                    left.append(Trace(trace.path, "cannot", f"it could not be changed: {why}"))
                else:
                    left += [trace] if trace.how == "cannot" else []
        # The gradebook knows the full name that is looked for, so it comes after the files.
        with gradebook(course, write=True) as db:
            for name in names.logins:
                remove_student(db, name)
        rewrite(course)
    return left


def run_copy(arguments: argparse.Namespace) -> int:
    """Write all that is kept about a person into one archive."""
    console = Console()
    person = PersonFiles(Course.at(arguments.folder), arguments.student)
    target: Path = arguments.to
    if target.exists():
        raise ValueError(f"{target} exists; name a file that does not")
    link = HubLink.of_instructor(person.course.home)
    files: dict[str, bytes] = {}
    unread: list[Trace] = []
    for number, search in enumerate(person.searches()):
        top = "course" if number == 0 else "exchange"
        for trace in search.traces():
            if trace.how == "cannot":
                unread.append(trace)
                continue
            files |= {f"{top}/{name}": each for name, each in search.pieces(trace).items()}
    rows, (_, held) = person.rows(), person.settings()
    if rows.get("student"):
        files["gradebook.json"] = _json(rows)
    if held:
        files["settings.json"] = _json(held)
    if link.exists:
        names = person.names()
        answer = link.ask(HubRequest("copy", names.logins, names.words))
        if answer is None:
            raise ValueError("the hub does not answer; start it and run this again")
        if answer.about:
            files["hub.json"] = _json(answer.about)
    if not files:
        raise ValueError(f"nothing in this course is about {arguments.student}")
    files["README.txt"] = _readme(person.course, arguments.student, unread, hub=link.exists)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, _archive(files), mode=0o600)
    print_plain(console, f"Wrote {target}: {counted(len(files), 'file')}. It is for them alone.")
    _cannot(console, unread, person.course)
    return 0


def _readme(course: Course, student: str, unread: Sequence[Trace], *, hub: bool) -> bytes:
    lines = [
        f"All that the course {course.course_id} keeps about {student}.",
        "",
        "course/          your submissions, graded copies, feedback, and entries in records",
        "exchange/        what you handed in, as nbgrader has it",
        "gradebook.json   your grades and comments, as nbgrader has them",
        "settings.json    sections, extensions and other settings of the course",
    ]
    if hub:
        lines += [
            "hub.json         your account, notes about hand-ins, entries of logs",
            "",
            "Your home on the hub is yours alone: download it in JupyterLab.",
        ]
    if unread:
        lines += ["", "These files of the course mention you, too, and are not in here:"]
        lines += [f"  {_shown(trace, course)}: {trace.why}" for trace in unread]
    return "\n".join([*lines, ""]).encode()


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(name, content)
    return out.getvalue()


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False, default=str).encode() + b"\n"


def _folders(above: Path) -> list[Path]:
    try:
        return [each for each in above.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return []


def _shown(trace: Trace, course: Course) -> str:
    path = trace.path
    return str(path.relative_to(course.home) if path.is_relative_to(course.home) else path)


def _cannot(console: Console, traces: Sequence[Trace], course: Course) -> None:
    left = [each for each in traces if each.how == "cannot"]
    if left:
        print_plain(console, "Found, and left alone:")
    for each in left:
        print_plain(console, f"  {_shown(each, course)}: {each.why}")
