"""Changing people and dates in ``course.toml`` without losing a comment or the order of its lines.

Every change is made twice: to the document with its comments, and to the plain values. The file is
written only if the new text holds exactly those values, whatever the document's library does.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

import tomlkit
from tomlkit.container import Container
from tomlkit.items import AoT, Comment, Table, Whitespace

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import OtherNames, StaffMember
from mlsys_widgets.files import COURSE_SETTINGS, OWN_FOLDER, held, write_whole

_BUSY: Final = "somebody else changes assignments/course.toml right now; try again"


class SettingsEditor:
    """The settings of a course, to be changed; `write` makes it so."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / "assignments" / COURSE_SETTINGS
        self._start(self._path.read_text("utf-8") if self._path.is_file() else "")

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Take settings that are in no file, and cannot be written."""
        made = cls.__new__(cls)
        made._start(text)
        return made

    def _start(self, text: str) -> None:
        self._before = text
        #: The values before any change.
        self.settings: dict[str, Any] = tomllib.loads(text)
        self._wanted = copy.deepcopy(self.settings)
        self._document = tomlkit.parse(f"{text.rstrip()}\n" if text.strip() else "")
        _move_comments_down(self._document)
        self._faithful = tomlkit.dumps(self._document).rstrip() == text.rstrip()

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self._wanted != self.settings

    @property
    def text(self) -> str:
        """The settings as they are now."""
        return tomlkit.dumps(self._document).lstrip("\n") if self.changed else self._before

    def write(self) -> None:
        """Write the settings, whole or not at all.

        Raises `ValueError` when they would not say what they should, or not be a course's.
        """
        if not self.changed:
            return
        self.check()
        with held(self._root / OWN_FOLDER / "settings.lock", _BUSY):
            now = self._path.read_text("utf-8") if self._path.is_file() else ""
            if now != self._before:
                raise ValueError(_BUSY)
            write_whole(self._path, self.text)
            try:
                Course.at(self._root)
            except ValueError:
                write_whole(self._path, self._before)
                raise

    def check(self) -> None:
        """Raise `ValueError` for a file in a style that cannot be changed safely."""
        try:
            good = self._faithful and tomllib.loads(self.text) == self._wanted
        except tomllib.TOMLDecodeError:
            good = False
        if not good:
            raise ValueError(
                f"{self._path} is written in a way that this command cannot change safely; change"
                " it in an editor (docs: People), and run the command again"
            )

    def everybody(self) -> set[str]:
        r"""Return everybody whom the settings name: students, and who teaches."""
        now = self._wanted
        return {
            *(name for it in now.get("sections", {}).values() for name in it.get("students", ())),
            *(one["student"] for one in now.get("extensions", ()) if "student" in one),
            *(name for those in now.get("people", {}).values() for name in those),
            *now.get("names", {}),
            *now.get("staff", {}),
        }

    def names(self) -> dict[str, OtherNames]:
        """Return who worked under which other names."""
        return {
            login: OtherNames(known.get("numbers", ""), tuple(known.get("also", ())))
            for login, known in self._wanted.get("names", {}).items()
        }

    def put_into(self, student: str, section: str) -> None:
        """Put a student into a section, which is made if needed, and take them out of others."""
        self.take_out(student)

        def put(settings: Any) -> None:
            known = settings.setdefault("sections", {})
            if section not in known:
                known[section] = {"students": [student]}
            else:
                known[section].setdefault("students", []).append(student)

        self._change(put)

    def take_out(self, student: str) -> None:
        """Take a student out of all sections."""
        self._change(lambda settings: _rename_in(_section_lists(settings), student))

    def rename(self, old: str, new: str) -> None:
        """Let a student have another name in sections, extensions and lists."""

        def rename(settings: Any) -> None:
            _rename_in(_section_lists(settings), old, new)
            _rename_in(settings.get("people", {}).values(), old, new)
            for each in settings.get("extensions", ()):
                if each.get("student") == old:
                    each["student"] = new

        self._change(rename)

    def remove(self, name: str) -> None:
        """Take a name out of everything: sections, extensions, lists, other names, staff."""

        def remove(settings: Any) -> None:
            _rename_in(_section_lists(settings), name)
            _rename_in(settings.get("people", {}).values(), name)
            extensions = settings.get("extensions", [])
            for index in reversed(range(len(extensions))):
                if extensions[index].get("student") == name:
                    del extensions[index]
            settings.get("names", {}).pop(name, None)
            for known in settings.get("names", {}).values():
                if known.get("numbers") == name:
                    del known["numbers"]
                _rename_in([known.get("also", [])], name)
            settings.get("staff", {}).pop(name, None)

        self._change(remove)

    def mark(self, student: str, *, added: bool = False, **lists: bool) -> None:
        """Put a student on lists of the table ``people``, or take them off.

        Who is `added` is new, and a hub makes an account.
        """

        def mark(settings: Any) -> None:
            people = settings.setdefault("people", {})
            for name, on in {**({"added": True} if added else {}), **lists}.items():
                if not on:
                    _rename_in([people.get(name, [])], student)
                elif student not in people.setdefault(name, []):
                    people[name].append(student)

        self._change(mark)

    def set_names(self, names: dict[str, OtherNames]) -> None:
        """Write who worked under which other names."""
        for login in sorted({*self._wanted.get("names", {}), *names}):
            known = names.get(login, OtherNames())
            self._set("names", login, {"numbers": known.numbers, "also": list(known.also)})

    def set_staff(self, name: str, member: StaffMember | None) -> None:
        """Let somebody teach; `None` takes it back."""
        sections = list(member.sections) if member else []
        self._set("staff", name, {"role": member.role if member else "", "sections": sections})

    def set_dates(self, lab: str, dates: Mapping[str, datetime | None], section: str = "") -> None:
        """Give a lab dates, for everybody or for a section; `None` takes one away."""

        def assign(settings: Any) -> None:
            above = settings["sections"][section] if section else settings
            labs = above.setdefault("labs", {})
            given = {name: at for name, at in dates.items() if at is not None}
            if lab not in labs:
                labs[lab] = given
                return
            for name, at in dates.items():
                if at is None:
                    labs[lab].pop(name, None)
                elif labs[lab].get(name) != at:
                    labs[lab][name] = at

        self._change(assign)

    def add_extension(self, values: Mapping[str, Any]) -> None:
        """Give a student more time."""

        def add(settings: Any) -> None:
            if "extensions" not in settings:
                settings["extensions"] = tomlkit.aot() if settings is self._document else []
            settings["extensions"].append(dict(values))

        self._change(add)

    def remove_extensions(self, student: str, lab: str) -> None:
        """Take back what gave a student more time for this lab, or with ``*`` for all labs."""

        def remove(settings: Any) -> None:
            extensions = settings.get("extensions", [])
            for index in reversed(range(len(extensions))):
                of = extensions[index]
                if (of.get("student"), of.get("lab", "*")) == (student, lab):
                    del extensions[index]

        self._change(remove)

    def _set(self, table: str, name: str, values: dict[str, Any]) -> None:
        """Give a person's table these values; one without any goes."""

        def assign(settings: Any) -> None:
            known = settings.setdefault(table, {})
            if name not in known:
                known[name] = {key: value for key, value in values.items() if value}
                return
            for key, value in values.items():
                if not value:
                    known[name].pop(key, None)
                elif known[name].get(key) != value:
                    known[name][key] = value

        self._change(assign)

    def _change(self, change: Callable[[Any], None]) -> None:
        tables = list(_tables(self._document))
        for settings in (self._wanted, self._document):
            change(settings)
            _remove_empty(settings)
        _keep_comments(self._document, tables)


def _section_lists(settings: Any) -> list[Any]:
    return [
        each["students"] for each in settings.get("sections", {}).values() if "students" in each
    ]


def _rename_in(lists: Any, old: str, new: str = "") -> None:
    """Replace a name in lists, once each; without a new name it goes."""
    for names in lists:
        while old in names:
            if new and new not in names:
                names[names.index(old)] = new
            else:
                names.remove(old)


def _remove_empty(settings: Any) -> None:
    """Remove tables and lists about people that hold nothing any more."""
    people, names, staff = (settings.get(name, {}) for name in ("people", "names", "staff"))
    for above in (people, *names.values(), names, staff, settings):
        for name in ("people", "names", "staff", "extensions") if above is settings else [*above]:
            if name in above and not above[name]:
                del above[name]


# Where comments belong. tomlkit counts lines above a header to the table before it, would remove
# them with that table, and would put a new setting of that table below them.


def _tables(container: Container) -> Iterator[Table]:
    """Walk over the tables that have a header of their own, in the order of the file."""
    for key, item in container.body:
        if isinstance(item, AoT):
            for each in item.body:
                yield each
                yield from _tables(each.value)
        elif isinstance(item, Table):
            if key and not key.is_dotted() and not item.is_super_table():
                yield item
            yield from _tables(item.value)


def _move_comments_down(document: tomlkit.TOMLDocument) -> None:
    """Let the lines above a header belong to its table."""
    lines = ""
    for table in _tables(document):
        table.trivia.indent = lines + table.trivia.indent
        lines, body = "", table.value.body
        while body and isinstance(body[-1][1], Whitespace | Comment):
            lines = body.pop()[1].as_string() + lines
    document.body.append((None, Whitespace(lines)))


def _keep_comments(document: tomlkit.TOMLDocument, before: list[Table]) -> None:
    """Keep what stood above tables that went, and put a blank line above new ones."""
    now, known = list(_tables(document)), {id(each) for each in before}
    stay, lines = {id(each) for each in now}, ""
    for table in before:
        above = table.trivia.indent
        if id(table) not in stay:
            lines += above if above.strip() else ""
        elif lines:
            table.trivia.indent, lines = lines + above.lstrip("\n"), ""
    if lines:
        end = document.body[-1][1]
        if isinstance(end, Whitespace):
            document.body.pop()
            lines += end.as_string()
        document.body.append((None, Whitespace(lines)))
    for _, item in document.body:
        if isinstance(item, Table) and item.is_super_table():
            item.trivia.indent = ""  # it has no header that a blank line could stand above
    for table in now:
        if id(table) not in known:
            table.trivia.indent = "\n"
