"""What boxes of cards hold, according to the ledger, for those who have no card to ask.

A draft remembers what it was typed over. So what is recorded says which drafts are out of date, and
nobody compares the clock of a browser with that of a server.
"""

from __future__ import annotations

from typing import Any

from mlsys_widgets.labs.answer_units import short_number
from mlsys_widgets.labs.quiz import confidence_box
from mlsys_widgets.ledger import State
from mlsys_widgets.ledger.drafts import Draft
from mlsys_widgets.ledger.values import unfrozen


def recorded_in_boxes(state: State) -> dict[str, Any]:
    """Return what is recorded as boxes show it, by the names that the ledger has for it."""
    kept = (state.reflections, state.answers, state.predictions)
    boxes = {name: _in_box(each.value) for some in kept for name, each in some.items()}
    return boxes | {confidence_box(name): each.confidence for name, each in state.answers.items()}


def is_out_of_date(draft: Draft, item: str, box: str, state: State | None) -> bool:
    """Whether a draft is recorded, or something else was recorded since it was typed."""
    if state is None:
        return False
    if draft.ledger and state.ledger_id and draft.ledger != state.ledger_id:
        return True
    recorded = recorded_in_boxes(state)
    for name in (item, f"{item}.{box}"):
        if name in recorded:
            is_newer = draft.meanwhile or draft.over == recorded[name]
            return not is_newer or draft.value == recorded[name]
    return False


def _in_box(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return short_number(value) if is_number else unfrozen(value)
