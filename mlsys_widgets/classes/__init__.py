"""The report on a class: numbers first, then pictures of them, as a page and as tables.

`class_summary` reads gradebook, journal and ledgers of a lab. The page, the tables and the widget
``ClassReport`` show what it found, and no student's name unless that was asked for.
"""

from mlsys_widgets.classes.gathering import class_summary
from mlsys_widgets.classes.summary import ClassSummary

__all__ = ["ClassSummary", "class_summary"]
