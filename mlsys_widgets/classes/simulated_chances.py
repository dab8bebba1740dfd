"""Second chances in a made-up class: the missed questions, answered again on new numbers."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes.released_lab import ReleasedLab
from mlsys_widgets.classes.responses import key_of
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer, SecondAnswer
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIn
from mlsys_widgets.judging.keys import Given, Key
from mlsys_widgets.labs import Choice, Item, Number
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.attempts import Attempts, answer_name, begun_name
from mlsys_widgets.ledger import Ledger

#: How likely somebody takes a second chance, and is right then.
TAKES: Final = 0.8
LEARNS: Final = 0.7
#: How long after the first hand-in everybody is done.
LATEST: Final = timedelta(hours=16)


def told_and_again(
    of: ReleasedLab,
    student: str,
    folder: Path,
    handed_in: datetime,
    share: float,
    chance: random.Random,
) -> tuple[JudgedHandIn, datetime]:
    """Tell a student about a hand-in, who then answers again in the ledger of a folder.

    Returns what a hub's judge would keep of both hand-ins, and when the last answer was recorded.
    """
    p = of.lab.draw(student, variants=of.variants, edition=of.edition)
    items, attempts = of.lab.items(p), Attempts(of.lab, student, of.edition, of.variants)
    moment = handed_in + timedelta(hours=chance.uniform(1, 12))
    ledger = Ledger.open(folder / LEDGER, clock=lambda: moment)
    answers: dict[str, JudgedAnswer] = {}
    seconds: dict[str, SecondAnswer] = {}
    for name, kept in ledger.state().answers.items():
        key = key_of(of.checks.get(name), Given(p, folder))
        if key is None or not isinstance(items.get(name), Number | Choice):
            continue
        answers[name] = JudgedAnswer.of(key, kept.value, time=_utc(handed_in))
        asked = attempts.at(name, 1)
        missed = answers[name].credit < 1
        if not missed or asked is None or chance.random() >= TAKES:
            continue
        assert isinstance(asked.item, Checked)
        again = of.checks[name](Given(asked.p, folder))
        value: Any = again.value if chance.random() < LEARNS else _wrong(again, asked.item)
        moment += timedelta(minutes=chance.lognormvariate(1.0, 0.5))
        ledger.record_answer(begun_name(name), 1)
        ledger.record_answer(answer_name(name, 1), value)
        judged_again = SecondAnswer.of(
            again, value, time=_utc(moment), share=share, parameters=dict(asked.p)
        )
        seconds[name] = replace(judged_again, answer=asked.item.in_words(value))
    judged = handed_in.isoformat()
    return JudgedHandIn(student, "", judged, judged, None, answers, seconds, {}), moment


def _utc(moment: datetime) -> str:
    """Write a time as the judge of a hub does: in UTC, without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def _wrong(key: Key, item: Item) -> Any:
    if key.beliefs:
        return key.beliefs[0].value
    if isinstance(item, Choice):
        return next(each for each in item.options if each != key.value)
    return 3 * key.value
