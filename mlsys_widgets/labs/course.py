"""How a course builds its labs: where they lie, and whether everyone has their own numbers."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SETTINGS: Final = "course.toml"
#: What nbgrader reads.
CONFIG: Final = "nbgrader_config.py"


@dataclass(frozen=True)
class Course:
    """A course's folder and its settings, read from ``assignments/course.toml``.

    Parameters
    ----------
    root
        The folder that holds ``assignments/``, ``source/`` and ``release/``.
    variants
        Whether everyone has their own numbers.
    edition
        Part of every draw: change it, and everyone's numbers change.
    """

    root: Path
    variants: bool = True
    edition: str = ""

    @classmethod
    def at(cls, root: Path) -> Course:
        """The course in a folder."""
        path = root / "assignments" / SETTINGS
        if not path.parent.is_dir():
            raise ValueError(
                f"there is no folder assignments in {root.resolve()}; run this in the folder of a"
                " course, or name it with --course"
            )
        if not path.is_file():
            return cls(root)
        try:
            said = tomllib.loads(path.read_text("utf-8"))
        except tomllib.TOMLDecodeError as problem:
            raise ValueError(f"{path} cannot be read: {problem}") from None
        for name, value in said.items():
            wanted = {"variants": bool, "edition": str}.get(name)
            if wanted is None:
                raise ValueError(f"{path} sets {name}; it can set: variants, edition")
            if not isinstance(value, wanted):
                allowed = "true or false" if wanted is bool else "a text in quotes"
                raise ValueError(f"{path} sets {name} to {value!r}; it must be {allowed}")
        return cls(root, **said)

    def folder(self, step: str, lab: str) -> Path:
        """Where a lab lies at a step: assignments, source or release."""
        return self.root / step / lab

    @property
    def arguments(self) -> str:
        """What differs from the defaults, as it is built into cells that depend on it."""
        said = [] if self.variants else ["variants=False"]
        said += [f"edition={self.edition!r}"] if self.edition else []
        return "".join(f", {each}" for each in said)
