"""Questions with options, as quizzes ask them, and how sure somebody was against being right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlsys_widgets.cards.parts import CONFIDENCES
from mlsys_widgets.drawing.scene import Axis, Line, Points, Scene, Words

#: One answered question: how sure, and whether it was right.
Judged = tuple[int, bool]


@dataclass(frozen=True)
class Question:
    """A question of a quiz.

    Parameters
    ----------
    key
        Its name within the quiz.
    words
        What is asked.
    options
        What can be chosen, key and words.
    right
        The option that is right. It stays in the kernel until the question is answered.
    feedback
        A sentence for each option.
    why
        A sentence for everybody, whatever was chosen.
    """

    key: str
    words: str
    options: Mapping[str, str]
    right: str
    feedback: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    def __post_init__(self) -> None:
        for name, keys in (("right", [self.right]), ("feedback", list(self.feedback))):
            for key in keys:
                if key not in self.options:
                    listed = ", ".join(self.options)
                    raise ValueError(f"{name} of {self.key} names {key!r}; it can name: {listed}")


def calibration(judged: Sequence[Judged], chance: float) -> Scene:
    """The share that was right at each confidence, beside that of a perfect judge of oneself.

    Parameters
    ----------
    judged
        The answered questions.
    chance
        The share that guessing gets right: where a confidence of 1 should lie.
    """
    found = [(sure, [good for s, good in judged if s == sure]) for sure in CONFIDENCES]
    kept = [(sure, good) for sure, good in found if good]
    shares = [sum(good) / len(good) for _, good in kept]
    ends = (float(CONFIDENCES[0]), float(CONFIDENCES[-1]))
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Scene(
        Axis("Confidence", 0.5, 5.9, ticks=tuple(map(float, CONFIDENCES))),
        Axis("Right", -0.08, 1.12, ticks=steps, words=tuple(f"{s:.0%}" for s in steps)),
        marks=(
            Line("calibrated", ends, (chance, 1.0), tone="gray", dash="dashed"),
            Points(
                "yours",
                [float(sure) for sure, _ in kept],
                shares,
                tone="prediction",
                symbol="circle",
                size=110.0,
            ),
            Words(
                "counts",
                [sure + 0.12 for sure, _ in kept],
                shares,
                tuple(f"{sum(good)} of {len(good)}" for _, good in kept),
                tone="text",
            ),
        ),
        height=280,
        legend=(
            ("you", "prediction", "circle"),
            ("as sure as right", "gray", "dashed"),
        ),
    )


def calibration_in_words(judged: Sequence[Judged], chance: float) -> str:
    """The plot in a sentence or two.

    Examples
    --------
    >>> calibration_in_words([(5, True), (5, False), (4, False), (1, False)], 0.25)
    'You got 1 of 4 right (25%), and your confidence promised 77%: you were surer than right. Look
    again at what you were sure of.'
    """
    right, count = sum(good for _, good in judged), len(judged)
    promised = sum(chance + (1 - chance) * (sure - 1) / 4 for sure, _ in judged) / count
    share = right / count
    said = (
        f"You got {right} of {count} right ({share:.0%}), and your confidence promised"
        f" {promised:.0%}"
    )
    if abs(promised - share) <= 0.1:
        return f"{said}: you know well what you know."
    if promised > share:
        return f"{said}: you were surer than right. Look again at what you were sure of."
    return f"{said}: you know more than you trust yourself with."
