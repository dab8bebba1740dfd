"""Changing people in ``course.toml`` without losing a comment or the order of its lines.

The text is changed line by line, and the same change is made to what it says. Only if the new text
says exactly that, it is written; a file in a style that this does not understand stays as it is.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import OtherNames, StaffMember
from mlsys_widgets.files import COURSE_SETTINGS, OWN_FOLDER, held, write_whole

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*(\]\]?)\s*(?:#.*)?$")
_STUDENTS: Final = re.compile(r"^(\s*students\s*=\s*\[)(.*?)(\])", re.M | re.S)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BUSY: Final = "somebody else changes assignments/course.toml right now; try again"


class SettingsEditor:
    r"""The settings of a course, to be changed; `write` makes it so.

    Parameters
    ----------
    root
        The folder of the course.

    Examples
    --------
    >>> edit = SettingsEditor.of_text('[sections.a]  # mornings\nstudents = ["ada", "ben"]\n')
    >>> edit.rename("ada", "ada-l")
    >>> edit.put_into("cleo", "a")
    >>> print(edit.text, end="")
    [sections.a]  # mornings
    students = ["ada-l", "ben", "cleo"]
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / "assignments" / COURSE_SETTINGS
        text = self._path.read_text("utf-8") if self._path.is_file() else ""
        self._start(text)

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Settings that are in no file, and cannot be written."""
        made = cls.__new__(cls)
        made._start(text)
        return made

    def _start(self, text: str) -> None:
        self.text = self._before = text
        self.said: dict[str, Any] = tomllib.loads(text)
        self._wanted = copy.deepcopy(self.said)

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self.text != self._before

    def write(self) -> None:
        """Write the settings, whole or not at all.

        Raises
        ------
        ValueError
            When they would not say what they should, or not be a course's; then nothing changes.
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
        """Refuse a new text that does not say exactly what it should.

        Raises
        ------
        ValueError
            For a file in a style that this does not understand.
        """
        try:
            good = tomllib.loads(self.text) == self._wanted
        except tomllib.TOMLDecodeError:
            good = False
        if not good:
            raise ValueError(
                f"{self._path} is written in a way that this command cannot change safely; change"
                " it in an editor (docs: People), and run the command again"
            )

    def everybody(self) -> set[str]:
        r"""Everybody whom the settings name: students, and who teaches.

        Examples
        --------
        >>> edit = SettingsEditor.of_text('[sections.a]\nstudents = ["ada"]\n[staff.mia]\n')
        >>> sorted(edit.everybody())
        ['ada', 'mia']
        """
        said = self._wanted
        return {
            *(name for it in said.get("sections", {}).values() for name in it.get("students", ())),
            *(one["student"] for one in said.get("extensions", ()) if "student" in one),
            *(name for those in said.get("people", {}).values() for name in those),
            *said.get("names", {}),
            *said.get("staff", {}),
        }

    # What can be changed.

    def put_into(self, student: str, section: str) -> None:
        """Put a student into a section, which is made if needed, and take them out of others."""
        self._in_sections(lambda text: _without(text, student))
        for one in self._wanted.get("sections", {}).values():
            if student in one.get("students", []):
                one["students"].remove(student)
        known = section in self._wanted.get("sections", {})
        place = self._wanted.setdefault("sections", {}).setdefault(section, {})
        place.setdefault("students", []).append(student)
        if known:
            self._in_sections(lambda text: _with(text, student), only=section)
        else:
            self._append(f"[sections.{_key(section)}]\nstudents = {_listed([student])}\n")

    def take_out(self, student: str) -> None:
        """Take a student out of all sections."""
        self._in_sections(lambda text: _without(text, student))
        for one in self._wanted.get("sections", {}).values():
            if student in one.get("students", []):
                one["students"].remove(student)

    def rename(self, old: str, new: str) -> None:
        """Let a student have another name in sections, extensions and lists."""
        self._in_sections(lambda text: _token(old).sub(_quoted(new), text))
        self._in_extensions(
            old, lambda block: re.sub(rf"(?m)^(\s*student\s*=\s*){_token(old).pattern}",
                                      lambda m: f"{m[1]}{_quoted(new)}", block),
        )  # fmt: skip
        for one in self._wanted.get("sections", {}).values():
            if "students" in one:
                one["students"] = [new if each == old else each for each in one["students"]]
        for one in self._wanted.get("extensions", []):
            if one.get("student") == old:
                one["student"] = new
        people = self._wanted.get("people", {})
        lists = {
            name: list(dict.fromkeys(new if each == old else each for each in those))
            for name, those in people.items()
        }
        self.set_people(lists)

    def remove(self, name: str) -> None:
        """Take a name out of everything: sections, extensions, lists, other names, staff."""
        self.take_out(name)
        self._in_extensions(name, lambda _: "")
        if "extensions" in self._wanted:
            left = [each for each in self._wanted["extensions"] if each.get("student") != name]
            self._wanted["extensions"] = left
            if not left:
                del self._wanted["extensions"]
        people = self._wanted.get("people", {})
        self.set_people({key: [n for n in those if n != name] for key, those in people.items()})
        names = {
            login: OtherNames(
                "" if known.get("numbers") == name else known.get("numbers", ""),
                tuple(each for each in known.get("also", ()) if each != name),
            )
            for login, known in self._wanted.get("names", {}).items()
            if login != name
        }
        self.set_names(names)
        if name in self._wanted.get("staff", {}):
            self._set_table(("staff", name), None, "")

    def set_people(self, lists: dict[str, list[str]]) -> None:
        """Write the table ``people``; lists that are empty are left out."""
        said = {name: those for name, those in lists.items() if those}
        lines = "".join(f"{name} = {_listed(those)}\n" for name, those in said.items())
        self._set_table(("people",), said or None, lines)

    def mark(self, student: str, *, added: bool = False, **lists: bool) -> None:
        """Put a student on lists of the table ``people``, or take them off.

        Parameters
        ----------
        student
            Who.
        added
            Whether they are new, for a hub to make an account.
        lists
            ``locked`` and ``dropped``: whether they are.
        """
        people = {name: list(those) for name, those in self._wanted.get("people", {}).items()}
        for name, on in {**({"added": True} if added else {}), **lists}.items():
            those = people.setdefault(name, [])
            if on and student not in those:
                those.append(student)
            elif not on and student in those:
                those.remove(student)
        self.set_people(people)

    def set_names(self, names: dict[str, OtherNames]) -> None:
        """Write who worked under which other names."""
        for login in {*self._wanted.get("names", {}), *names}:
            known = names.get(login, OtherNames())
            said: dict[str, Any] = {"numbers": known.numbers} if known.numbers else {}
            said |= {"also": list(known.also)} if known.also else {}
            lines = f"numbers = {_quoted(known.numbers)}\n" if known.numbers else ""
            lines += f"also = {_listed(known.also)}\n" if known.also else ""
            self._set_table(("names", login), said or None, lines)

    def names(self) -> dict[str, OtherNames]:
        """Who worked under which other names."""
        return {
            login: OtherNames(known.get("numbers", ""), tuple(known.get("also", ())))
            for login, known in self._wanted.get("names", {}).items()
        }

    def set_staff(self, name: str, member: StaffMember | None) -> None:
        """Let somebody teach; `None` takes it back."""
        if member is None:
            self._set_table(("staff", name), None, "")
            return
        said: dict[str, Any] = {"role": member.role}
        lines = f"role = {_quoted(member.role)}\n"
        if member.sections:
            said["sections"] = list(member.sections)
            lines += f"sections = {_listed(member.sections)}\n"
        self._set_table(("staff", name), said, lines)

    # How the text is changed.

    def _append(self, block: str) -> None:
        self.text = (f"{self.text.rstrip()}\n\n" if self.text.strip() else "") + block

    def _set_table(self, path: Sequence[str], said: dict[str, Any] | None, lines: str) -> None:
        """Replace a table of ours as a whole."""
        above = self._wanted
        for each in path[:-1]:
            above = above.setdefault(each, {})
        known = above.get(path[-1])
        if said is None:
            above.pop(path[-1], None)
        else:
            above[path[-1]] = said
        if len(path) > 1 and not above:
            self._wanted.pop(path[0], None)
        if known == said:
            return
        block = "" if said is None else f"[{'.'.join(map(_key, path))}]\n{lines}"
        parts, found = [], False
        for header, text in _blocks(self.text):
            if header == ("[", tuple(path)):
                kept, found = _trailing(text), True
                parts.append(block + kept if block else kept.lstrip("\n"))
            else:
                parts.append(text)
        self.text = "".join(parts)
        if block and not found:
            self._append(block)

    def _in_sections(self, change: Callable[[str], str], *, only: str | None = None) -> None:
        parts = []
        for header, text in _blocks(self.text):
            own = text
            is_section = header and header[1][0] == "sections" and len(header[1]) == 2
            if header and is_section and only in (None, header[1][1]):
                if only is not None and not _STUDENTS.search(own):
                    first, _, rest = own.partition("\n")
                    own = f"{first}\nstudents = []\n{rest}"
                own = _STUDENTS.sub(lambda m: m[1] + change(m[2]) + m[3], own, count=1)
            parts.append(own)
        self.text = "".join(parts)

    def _in_extensions(self, student: str, change: Callable[[str], str]) -> None:
        parts = []
        for header, text in _blocks(self.text):
            if header == ("[[", ("extensions",)):
                kept = _trailing(text)
                own = text[: len(text) - len(kept)]
                said = tomllib.loads(own)["extensions"][0] if _is_toml(own) else {}
                mine = said.get("student") == student
                parts.append(change(own) + kept if mine else text)
            else:
                parts.append(text)
        self.text = "".join(parts)


def _blocks(text: str) -> Iterator[tuple[tuple[str, tuple[str, ...]] | None, str]]:
    """The text in pieces, each from one header to the next; the first has none."""
    header: tuple[str, tuple[str, ...]] | None = None
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        match = _HEADER.match(line)
        path = _path(match[2]) if match and len(match[1]) == len(match[3]) else None
        if match and path:
            yield header, "".join(lines)
            header, lines = (match[1], path), []
        lines.append(line if line.endswith("\n") else f"{line}\n")
    yield header, "".join(lines)


def _path(dotted: str) -> tuple[str, ...] | None:
    try:
        said: Any = tomllib.loads(f"[{dotted}]")
    except tomllib.TOMLDecodeError:
        return None
    path = []
    while said:
        (name, said), *_ = said.items()
        path.append(name)
    return tuple(path)


def _trailing(text: str) -> str:
    """Blank lines and comments at the end of a block: they belong to what comes next."""
    lines = text.splitlines(keepends=True)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return "".join(lines[end:])


def _is_toml(text: str) -> bool:
    try:
        return bool(tomllib.loads(text).get("extensions"))
    except tomllib.TOMLDecodeError:
        return False


def _token(name: str) -> re.Pattern[str]:
    """A name as a text of TOML, in either kind of quotes."""
    return re.compile(rf"(?:{re.escape(_quoted(name))}|'{re.escape(name)}')")


def _without(inside: str, name: str) -> str:
    """A list of texts without one of them.

    Examples
    --------
    >>> _without('"ada", "ben"', "ben"), _without('"ada", "ben"', "ada")
    ('"ada"', '"ben"')
    """
    token = _token(name).pattern
    found = re.search(rf",\s*{token}|{token}\s*,[ \t]*|{token}", inside)
    return inside[: found.start()] + inside[found.end() :] if found else inside


def _with(inside: str, name: str) -> str:
    """A list of texts with one more.

    Examples
    --------
    >>> _with('"ada"', "ben"), _with("", "ben"), _with('"ada",', "ben")
    ('"ada", "ben"', '"ben"', '"ada", "ben"')
    """
    bare = inside.rstrip()
    rest = inside[len(bare) :]
    bare = bare.removesuffix(",")
    return f"{bare}, {_quoted(name)}{rest}" if bare.strip() else f"{_quoted(name)}{rest}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)
