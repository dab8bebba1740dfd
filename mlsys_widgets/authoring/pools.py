"""Finds what is wrong with the pools of a lab: questions that cannot stand in for each other."""

from __future__ import annotations

from typing import Final

from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.labs import Choice, Essay, Item, Lab, Number, Prediction, ReflectionPrompt

#: What can have a pool of questions: what is asked and answered as one.
_POOLED: Final = (Number, Choice, Essay, Prediction, ReflectionPrompt)


def validate_pools(lab: Lab) -> None:
    """Refuse a pool whose questions could not take each other's place in the notebook.

    Cells of a notebook are the same for everybody, so the questions of a pool must agree in all
    that a cell, the Lab panel and the gradebook know of them.
    """
    p = lab.draw("", variants=False)
    for item in lab.pools:
        questions = lab.questions(item, p)
        if not isinstance(questions[item], _POOLED):
            kinds = ", ".join(kind.__name__ for kind in _POOLED)
            raise TextError(
                f"{lab.name}: in asks.py {item} has several questions and is a"
                f" {type(questions[item]).__name__}; it must be one of: {kinds}"
            )
        (first, wanted), *others = ((name, _place(asked)) for name, asked in questions.items())
        for name, found in others:
            for what, value in found.items():
                if value != wanted.get(what):
                    raise TextError(
                        f"{lab.name}: in asks.py {name} can be asked instead of {first}, so both"
                        f" must have the same {what}: {value!r} and {wanted.get(what)!r}"
                    )


def _place(item: Item) -> dict[str, object]:
    """What the notebook knows of a question, whoever is asked."""
    return {
        "kind": type(item).__name__,
        "act": item.act,
        "after": tuple(item.after),
        "title": getattr(item, "title", None),
        "points": getattr(item, "points", None),
    }
