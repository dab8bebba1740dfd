"""Labs: what they ask, who is asked, and with which numbers; no answer keys.

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
...         "kernels": Parameter(1000, steps(800, 1200, 50), "kernels", "kernels in a forward pass")
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

from mlsys_widgets.labs.answers import UnusableAnswer, plain
from mlsys_widgets.labs.code_item import Code
from mlsys_widgets.labs.game import Game, Impossible, Played
from mlsys_widgets.labs.identity import Execution, Student, execution, student
from mlsys_widgets.labs.items import (
    Checklist,
    Choice,
    Essay,
    Item,
    Measurement,
    Message,
    Number,
    Peek,
    Record,
    Takeaways,
)
from mlsys_widgets.labs.lab import Lab, load
from mlsys_widgets.labs.prediction import Prediction
from mlsys_widgets.labs.quiz import Myth, Myths, Question, Quiz
from mlsys_widgets.labs.reflection_prompt import ReflectionPrompt
from mlsys_widgets.labs.variants import Parameter, Parameters, steps

#: What the files of labs call a `ReflectionPrompt`.
Reflection = ReflectionPrompt

__all__ = [
    "Checklist",
    "Choice",
    "Code",
    "Essay",
    "Execution",
    "Game",
    "Impossible",
    "Item",
    "Lab",
    "Measurement",
    "Message",
    "Myth",
    "Myths",
    "Number",
    "Parameter",
    "Parameters",
    "Peek",
    "Played",
    "Prediction",
    "Question",
    "Quiz",
    "Record",
    "Reflection",
    "ReflectionPrompt",
    "Student",
    "Takeaways",
    "UnusableAnswer",
    "execution",
    "load",
    "plain",
    "steps",
    "student",
]
