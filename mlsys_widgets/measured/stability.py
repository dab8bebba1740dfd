"""Whether the fit stands on a few cases: fitted ten times, each time without a tenth of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.measured.calibrating import Chosen, fitted_positions
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.trial import CaseVerdict, Errors, Trial, hold_trial

#: Parts into which the fitted cases are cut; each is left out once.
PARTS: Final = 10


@dataclass(frozen=True)
class ExcludedCase:
    """A fit without some cases, beside the fit with all of them.

    `changed` is the median change of a prediction, `most` exceeds that of nine in ten.
    """

    part: int
    mean_error: float
    changed: float
    most: float


def without(part: int) -> Chosen:
    """Choose the cases that are fitted when one part of them is left out."""

    def chosen(count: int) -> Sequence[int]:
        every = fitted_positions(count)
        return [position for number, position in enumerate(every) if number % PARTS != part]

    return chosen


def left_out(document: Document, whole: Trial) -> Iterator[ExcludedCase]:
    """Leave out each part of the fitted cases once, and compare with the whole fit."""
    before = {_key(v): v.modeled for v in whole.judged}
    for part in range(PARTS):
        again = hold_trial(document, without(part))
        # Cases that were left out of the fit are not judged: both fits are held to the same cases.
        same = [verdict for verdict in again.judged if _key(verdict) in before]
        changes = [abs(v.modeled / before[_key(v)] - 1) for v in same]
        yield ExcludedCase(
            part + 1,
            Errors.of(same).mean,
            statistics.median(changes),
            statistics.quantiles(changes, n=10)[-1],
        )


def _key(verdict: CaseVerdict) -> tuple[str, str]:
    return verdict.case.label, verdict.unit
