"""How a course builds its labs; the room ``labs`` keeps it, because grading reads it as well."""

from __future__ import annotations

from mlsys_widgets.labs.course import CONFIG, SETTINGS, Course

__all__ = ["CONFIG", "SETTINGS", "Course"]
