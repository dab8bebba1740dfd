"""The audit: some of those who were judged by their records are run too, and compared."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from mlsys_widgets.grading.gradebook.graded_submission import AUDITED
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.messages import JudgedSubmission, NotJudged
from mlsys_widgets.grading.reading.readers import ReaderMessage

#: The usual audit: as small as it can be and still find what a whole class does.
_USUAL: Final = 0.02
_FEWEST: Final = 2


def draw_sample(names: Sequence[str], share: float | None, *, isolated: bool) -> set[str]:
    """Draw those who are run to compare: without a seed, so that nobody can know who.

    `None` for ``share``, a fraction of the class, draws the usual few where submissions are
    isolated.
    """
    if share is not None:
        count = ceil(len(names) * share)
    elif isolated:
        count = min(len(names), max(_FEWEST, ceil(len(names) * _USUAL)))
    else:
        count = 0  # nobody asked to run this without isolation
    return set(secrets.SystemRandom().sample(names, count))


def compare(by_record: JudgedSubmission, by_run: ReaderMessage) -> JudgedSubmission:
    """Return what was judged by its record, with a flag if a run gives other points."""
    graded = by_record.graded
    flags: tuple[Flag, ...] = ()
    if isinstance(by_run, NotJudged):
        flags = (Flag(FlagKind.AUDIT, detail=f"it could not be run: {by_run.why}"),)
    elif isinstance(by_run, JudgedSubmission):
        ran = {score.name: score.auto for score in by_run.graded.scores}
        flags = tuple(
            Flag(FlagKind.AUDIT, s.name, f"{_points(s.auto)}, and {_points(ran.get(s.name))}")
            for s in graded.scores
            if s.auto != ran.get(s.name)
        )
    audited = replace(graded, way=AUDITED, flags=(*graded.flags, *flags))
    return replace(by_record, graded=audited)


def _points(auto: float | None) -> str:
    return "a person decides" if auto is None else f"{auto:g} points"
