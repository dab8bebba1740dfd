"""How an answer is judged: keys with tolerances, recognized beliefs, partial credit.

The keys themselves are in the ``checks.py`` of each lab, in ``assignments/``; none is here.

Examples
--------
>>> key = NumberKey(
...     32.3,
...     tolerance=0.02,
...     beliefs=[Belief("no launches", 97.1, credit=0.3, says="Launching costs time too.")],
... )
>>> judge(key, 32.0).credit, judge(key, 97).says
(1.0, 'Launching costs time too.')
"""

from __future__ import annotations

from mlsys_widgets.judging.keys import (
    Belief,
    ChoiceKey,
    CodeKey,
    Given,
    Key,
    NumberKey,
    pooled,
    told_apart,
)
from mlsys_widgets.judging.verdicts import Verdict, judge

__all__ = [
    "Belief",
    "ChoiceKey",
    "CodeKey",
    "Given",
    "Key",
    "NumberKey",
    "Verdict",
    "judge",
    "pooled",
    "told_apart",
]
