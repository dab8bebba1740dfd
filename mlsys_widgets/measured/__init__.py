"""Real hardware beside the model: measurements as data, queries over them, and how to take more.

`load`, `available` and `validate` read documents, `points`, `cases` and `ceilings` ask them, and
`measure` takes a new one of the machine it runs on.

Examples
--------
Which machines were measured?

>>> from mlsys_widgets import measured
>>> for name in measured.available():
...     print(f"{name}: {measured.load(name)['device']['name']}")
cpu-2core-server: Intel(R) Xeon(R) Processor
h200-sxm: NVIDIA H200
"""

from __future__ import annotations

from .checks import MeasurementError, schema, validate
from .documents import available, load, merged, parse, save
from .measurement import measure
from .queries import Case, Ceilings, Point, cases, ceilings, points

__all__ = [
    "Case",
    "Ceilings",
    "MeasurementError",
    "Point",
    "available",
    "cases",
    "ceilings",
    "load",
    "measure",
    "merged",
    "parse",
    "points",
    "save",
    "schema",
    "validate",
]
