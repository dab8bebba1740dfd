"""The settings of a course that grading needs, from its ``nbgrader_config.py``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

_CONFIG: Final = "nbgrader_config.py"
_STRUCTURE: Final = "{nbgrader_step}/{student_id}/{assignment_id}"


@dataclass(frozen=True)
class Settings:
    """Where a course keeps things, and its rules.

    Parameters
    ----------
    root
        The folder of the course.
    config
        All of its ``nbgrader_config.py``.
    """

    root: Path
    config: Config

    @classmethod
    def of(cls, root: Path) -> Settings:
        """Read the settings of the course in a folder."""
        path = root / _CONFIG
        config = PyFileConfigLoader(str(path)).load_config() if path.is_file() else Config()
        return cls(root.resolve(), config)

    def _course(self, name: str, default: Any) -> Any:
        section = self.config.get("CourseDirectory", {})
        return section.get(name, default)

    @property
    def db_url(self) -> str:
        """Where the gradebook is."""
        url: str = self._course("db_url", f"sqlite:///{self.root / 'gradebook.db'}")
        return url

    def folder(self, step: str, student: str, lab: str) -> Path:
        """Where a lab of a student lies at a step: submitted, autograded."""
        structure = self._course("directory_structure", _STRUCTURE)
        named = self._course(f"{step}_directory", step)
        path = structure.format(nbgrader_step=named, student_id=student, assignment_id=lab)
        return self.root / path

    @property
    def cell_seconds(self) -> float:
        """How long a cell may take."""
        for section in ("Execute", "ExecutePreprocessor"):
            seconds = self.config.get(section, {}).get("timeout")
            if isinstance(seconds, int | float) and seconds > 0:
                return float(seconds)
        return 30.0  # as nbgrader has it

    @property
    def permissions(self) -> int:
        """Of files that are written for graders."""
        return 0o664 if self._course("groupshared", False) else 0o444

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """What being late costs, by the course's own rule."""
        # Only asked for late work, because nbgrader takes seconds to import.
        from nbgrader.preprocessors import AssignLatePenalties

        rule = AssignLatePenalties(config=self.config)
        rule.init_plugin()
        penalty = rule.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else float(penalty)
