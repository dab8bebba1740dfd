"""What labs are made of: the kinds of things they ask, whose numbers, which numbers; no keys.

What one lab asks is written in its ``asks.py``, which travels with the notebook wherever it goes.
Its answer keys are in ``checks.py``, which stays in ``assignments/`` and never leaves the course.

Examples
--------
>>> lab = Lab(
...     "lab_00_demo",
...     title="A demonstration",
...     chapter=0,
...     acts=("Only one",),
...     parameters={
...         "kernels": Parameter(
...             1000, steps(800, 1200, 50), "kernels", "kernels in a forward pass"
...         ),
...     },
... )
>>> @lab.asks
... def launches_us(p):
...     return Number(f"Launching takes 10 µs. How long for {p.kernels:,} kernels?", "µs", points=5)
>>> p = lab.draw("student-01")
>>> 800 <= p.kernels <= 1200, lab.draw("student-01") == p, lab.draw("x", variants=False).kernels
(True, True, 1000)
>>> lab.items(p)["launches_us"].points
5
"""

from mlsys_widgets.labs.answers import Unusable, plain, usable
from mlsys_widgets.labs.identity import Occasion, Student, occasion, student
from mlsys_widgets.labs.items import (
    Checklist,
    Choice,
    Essay,
    Item,
    Message,
    Myths,
    Number,
    Peek,
    Prediction,
    Quiz,
    Record,
    Reflection,
    Takeaways,
)
from mlsys_widgets.labs.lab import Lab, load
from mlsys_widgets.labs.variants import Parameter, Parameters, steps

__all__ = [
    "Checklist",
    "Choice",
    "Essay",
    "Item",
    "Lab",
    "Message",
    "Myths",
    "Number",
    "Occasion",
    "Parameter",
    "Parameters",
    "Peek",
    "Prediction",
    "Quiz",
    "Record",
    "Reflection",
    "Student",
    "Takeaways",
    "Unusable",
    "load",
    "occasion",
    "plain",
    "steps",
    "student",
    "usable",
]
