"""The doctor: what of a course and the machine it is on does not work, and how to mend it.

Each check tries the thing itself: the kernel is started, the gradebook written and rolled back, a
child shut in, a file put into the exchange.
"""

from mlsys_widgets.courses.doctor.examining import examine
from mlsys_widgets.courses.doctor.finding import Finding

__all__ = ["Finding", "examine"]
