"""The doctor: what does not work in a course and on its machine, and how to fix it.

Each check tries the thing itself: it starts the kernel, writes to the gradebook and rolls back,
isolates a child, puts a file into the exchange.
"""

from mlsys_widgets.courses.doctor.examination import examine
from mlsys_widgets.courses.doctor.finding import Finding

__all__ = ["Finding", "examine"]
