"""A class as a whole: its report as a page, tables and a widget; grade export; simulation.

`class_summary` reads gradebook, graded log and ledgers of a lab. The page, the tables and the
widget ``ClassReport`` show what it found, without any student's name unless you ask for names.

Examples
--------
Before anybody has handed in:

>>> summary = ClassSummary("lab_07_kernel_fusion", "Kernel fusion", most=100)
>>> summary, summary.waiting, summary.flagged
(<ClassSummary of lab_07_kernel_fusion: 0 submissions>, 0, 0)
"""

from mlsys_widgets.classes.summary import ClassSummary
from mlsys_widgets.classes.summary_builder import class_summary

__all__ = ["ClassSummary", "class_summary"]
