"""A course: where its labs and submissions are, and the settings that build and grade them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.calendar import Calendar, read_calendar
from mlsys_widgets.course.course_settings import CourseFile
from mlsys_widgets.course.deeper_parts import DeeperParts
from mlsys_widgets.course.settings_tables import read_table
from mlsys_widgets.course.staff import CoursePeople, read_people
from mlsys_widgets.course.student_codes import BY_CODE
from mlsys_widgets.files import COURSE_SETTINGS, NBGRADER_CONFIG

#: Where nbgrader keeps the work of a student at each step, unless the course says otherwise.
_STRUCTURE: Final = "{nbgrader_step}/{student_id}/{assignment_id}"
#: How many seconds nbgrader gives a cell by default.
_CELL_SECONDS: Final = 30.0
_SQLITE: Final = "sqlite:///"


@dataclass(frozen=True)
class Course:
    """A course's folder, with the settings of ``course.toml`` and ``nbgrader_config.py``."""

    root: Path  #: The folder that holds ``assignments/``, ``source/`` and ``release/``.
    variants: bool = True
    #: Part of every draw: change it, and everyone's numbers change. The secret of the course, if it
    #: has one, is in it.
    edition: str = ""
    #: Whether what lies beyond the core of a lab counts, unless the lab itself says so.
    deeper: DeeperParts = "optional"
    secret: str = field(default="", repr=False)  #: What of the edition nobody outside may know.
    #: When labs open and are due, and for whom.
    calendar: Calendar = field(default_factory=Calendar)
    #: The learning system that grades are sent to, as the file has it; checked when it is used.
    lms: Mapping[str, Any] = field(default_factory=dict)
    #: Who teaches, who left, who was renamed.
    people: CoursePeople = field(default_factory=CoursePeople)
    #: nbgrader's configuration, if it was read already.
    given: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def at(cls, root: Path, *, given: Any = None) -> Course:
        """Read the course in a folder from ``assignments/course.toml``.

        ``given`` is nbgrader's configuration, if it was read already. `ValueError` names the file
        and what is allowed.
        """
        path = root / "assignments" / COURSE_SETTINGS
        if not path.parent.is_dir():
            raise ValueError(
                f"there is no folder assignments in {root.resolve()}; run this in the folder of a"
                " course, or name it with --course"
            )
        if not path.is_file():
            return cls(root, given=given)
        try:
            settings = tomllib.loads(path.read_text("utf-8"))
        except tomllib.TOMLDecodeError as problem:
            raise ValueError(f"{path} cannot be read: {problem}") from None
        labs = [each.name for each in path.parent.iterdir() if each.is_dir()]
        try:
            file = CourseFile(**read_table(CourseFile, "", settings))
            calendar = read_calendar(settings, labs)
            people = read_people(settings, calendar.sections)
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}") from None
        if file.student_codes and not file.secret:
            raise ValueError(
                f"{path}: student_codes needs a secret, from which codes are made; give the course"
                ' one of its own: secret = "…", 32 random letters and digits'
            )
        by_code = BY_CODE if file.student_codes else ""
        edition = " ".join(filter(None, (by_code, file.edition, file.secret)))
        return cls(
            root, file.variants, edition, file.deeper, file.secret, calendar, file.lms, people,
            given,
        )  # fmt: skip

    @property
    def home(self) -> Path:
        """The folder as an absolute path."""
        return self.root.resolve()

    # How labs are built.

    def folder(self, step: str, lab: str) -> Path:
        """Return where a lab is at a step: assignments, source or release."""
        return self.root / step / lab

    def deeper_in(self, lab: str) -> DeeperParts:
        """Return whether what lies beyond the core of a lab counts."""
        return self.calendar.dates(lab).deeper or self.deeper

    def is_practice(self, lab: str) -> bool:
        """Return whether a lab is handed out for practice, so that nothing of it is graded."""
        return self.calendar.dates(lab).way == "practice"

    @property
    def draws_by_code(self) -> bool:
        """Return whether each student draws with a code of their own."""
        return self.edition.startswith(BY_CODE)

    @property
    def arguments(self) -> str:
        """What differs from the defaults, as arguments that are built into the cells."""
        differing = [] if self.variants else ["variants=False"]
        differing += [f"edition={self.edition!r}"] if self.edition else []
        return "".join(f", {each}" for each in differing)

    # What nbgrader is told, read once.

    @cached_property
    def nbgrader(self) -> Any:
        """All of ``nbgrader_config.py``."""
        return read_config(self.root / NBGRADER_CONFIG) if self.given is None else self.given

    def _setting(self, name: str, default: Any) -> Any:
        return self.nbgrader.get("CourseDirectory", {}).get(name, default)

    @property
    def course_id(self) -> str:
        """What nbgrader calls the course; empty if it has no name."""
        return str(self._setting("course_id", ""))

    @property
    def db_url(self) -> str:
        """Where the gradebook is, whatever folder this runs in."""
        url: str = self._setting("db_url", f"{_SQLITE}gradebook.db")
        # A relative path starts where nbgrader runs: in the course.
        file = url.removeprefix(_SQLITE)
        return url if file == url else f"{_SQLITE}{self.home / file}"

    @property
    def gradebook(self) -> Path | None:
        """The gradebook's file if it is in the course; `None` if it is elsewhere."""
        path = Path(self.db_url.removeprefix(_SQLITE))
        inside = self.db_url.startswith(_SQLITE) and path.resolve().is_relative_to(self.home)
        return path if inside else None

    def work(self, step: str, student: str, lab: str) -> Path:
        """Return where a student's work on a lab is at a step: submitted, autograded, feedback."""
        structure = self._setting("directory_structure", _STRUCTURE)
        named = self._setting(f"{step}_directory", step)
        path: str = structure.format(nbgrader_step=named, student_id=student, assignment_id=lab)
        return self.home / path

    @property
    def cell_seconds(self) -> float:
        """How many seconds a cell may take."""
        for section in ("Execute", "ExecutePreprocessor"):
            seconds = self.nbgrader.get(section, {}).get("timeout")
            if isinstance(seconds, int | float) and seconds > 0:
                return float(seconds)
        return _CELL_SECONDS

    @property
    def permissions(self) -> int:
        """The permissions of files that are written for graders."""
        return 0o664 if self._setting("groupshared", False) else 0o444


def read_config(path: Path) -> Any:
    """Read a configuration file of nbgrader, in Python or JSON; empty if there is no file."""
    # Notebooks import this module, and only a course has a configuration to read.
    from traitlets.config import Config
    from traitlets.config.loader import JSONFileConfigLoader, PyFileConfigLoader

    if not path.is_file():
        return Config()
    loader = JSONFileConfigLoader if path.suffix == ".json" else PyFileConfigLoader
    try:
        return loader(str(path)).load_config()
    except Exception as problem:  # whatever an instructor's file may raise
        raise ValueError(
            f"{path} cannot be read: {type(problem).__name__}: {problem}; fix that line"
        ) from None
