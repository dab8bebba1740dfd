"""From a lab as text to the notebooks of instructors and students.

``assignments/<lab>`` holds the lab: ``lab.py``, ``asks.py`` and ``checks.py``. `build` writes
``source/<lab>`` with solutions and hidden tests, and lets nbgrader make ``release/<lab>`` from it.
"""

from mlsys_widgets.authoring.builder import build, labs_of
from mlsys_widgets.authoring.new_lab import new_lab
from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.course.course import Course

__all__ = ["Course", "TextError", "build", "labs_of", "new_lab"]
