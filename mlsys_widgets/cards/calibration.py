"""How sure somebody was, compared with how often they were right: as a plot and in words."""

from __future__ import annotations

from collections.abc import Sequence

from mlsys_widgets.cards.parts import CONFIDENCES
from mlsys_widgets.drawing.scene import Axis, Line, Points, Scene, Words

#: An answered question: the confidence, and whether the answer was right.
JudgedAnswer = tuple[int, bool]


def calibration(judged: Sequence[JudgedAnswer], chance: float) -> Scene:
    """Draw the fraction that was right at each confidence; ``chance`` is that of guessing."""
    found = [(sure, [good for s, good in judged if s == sure]) for sure in CONFIDENCES]
    kept = [(sure, good) for sure, good in found if good]
    shares = [sum(good) / len(good) for _, good in kept]
    ends = (float(CONFIDENCES[0]), float(CONFIDENCES[-1]))
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Scene(
        Axis("Confidence", 0.5, 5.5, ticks=tuple(map(float, CONFIDENCES))),
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
                # Above its point: beside it, the last one would be cut off on a phone.
                [float(sure) for sure, _ in kept],
                [share + 0.05 for share in shares],
                tuple(f"{sum(good)} of {len(good)}" for _, good in kept),
                align="middle",
            ),
        ),
        height=280,
        legend=(("you", "prediction", "circle"), ("perfectly calibrated", "gray", "dashed")),
    )


def calibration_in_words(judged: Sequence[JudgedAnswer], chance: float) -> str:
    """The plot in a sentence or two.

    Examples
    --------
    >>> calibration_in_words([(5, True), (5, False), (4, False), (1, False)], 0.25)
    'You got 1 of 4 right (25%), while your confidence promised 77%: you were overconfident. Look
    again at the answers you were sure of.'
    """
    right, count = sum(good for _, good in judged), len(judged)
    promised = sum(chance + (1 - chance) * (sure - 1) / 4 for sure, _ in judged) / count
    share = right / count
    summary = (
        f"You got {right} of {count} right ({share:.0%}), while your confidence promised"
        f" {promised:.0%}"
    )
    if abs(promised - share) <= 0.1:
        return f"{summary}: you judge your own knowledge well."
    if promised > share:
        return f"{summary}: you were overconfident. Look again at the answers you were sure of."
    return f"{summary}: you know more than you give yourself credit for."
