"""Whatever an instrument shows of a prediction agrees with the comparison of the lab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from mlsys_widgets.cards.reveal import Reveal, _now
from mlsys_widgets.instruments.controls import Select, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs import Prediction
from mlsys_widgets.wording.distance import distance_in_words
from tests.labs.opened_lab import RUN, open_lab_of

#: How far off a prediction is, in any words in which that is said.
FAR = re.compile(
    r"(?:[\d.,]+ (?:percentage points?|points?|orders?(?: of magnitude)?)|a factor of [\d.,]+)"
    r" (?:above|below|too (?:high|low|many|few))|within rounding|correct"
)
#: How much of a comparison's number an instrument may add or leave out: the time to move data.
NEAR = 0.1


def value_of(instrument: Any, quantity: str) -> float:
    """The number that an instrument shows, of a quantity that can be predicted."""
    match quantity:
        case "gap":
            times = float(instrument.result.ratios[instrument.quantity].ratio)
            return max(times, 1 / times)
        case "batch":
            return float(instrument.result.compute_bound_batch)
        case "mfu" if instrument.workload == "llm":
            (norm,) = (op for op in instrument.operations if "norm" in op.name.lower())
            return float(norm.roof.mfu)
    return float(getattr(instrument.result, quantity))


def moved(instrument: Instrument) -> Iterator[str]:
    """Move every control alone to a few places, and yield what was moved."""
    start = instrument.inputs
    yield "nothing"
    for name, control in instrument.controls.items():
        places: list[Any] = []
        if isinstance(control, Select):
            places = list(control.options(instrument))
        elif isinstance(control, Switch):
            places = [not start[name]]
        elif isinstance(control, Slider):
            places = [control.snap(control.low * 1.5), control.snap(control.high / 1.5)]
        for place in places:
            try:
                instrument.set(**{name: place})
            except ValueError:
                continue  # not in this range, with the other inputs as they are
            yield f"{name}={place}"
            instrument.set(**start)


def shown_of(instrument: Instrument) -> list[str]:
    """Everything that an instrument says about a prediction, beside where it belongs."""
    result = instrument.result
    legends = [words for scene in instrument.scenes(result) for words, _, _ in scene.legend]
    cards = [f"{label}: {value}" for label, value, _ in instrument.cards(result)]
    rows = [": ".join(map(str, row)) for row in instrument.shown_table[1]]
    sentences = re.split(r"(?<=\.) ", instrument.sentence(result))
    return [words for words in (*legends, *cards, *rows, *sentences) if "prediction" in words]


def compared(reveal: Reveal) -> list[float]:
    """The numbers with which a prediction is compared."""
    return [_now(source) for _, _, source, _, _ in reveal._compared()]


def test_what_is_shown_agrees_with_the_comparison(lab, tmp_path):
    found = open_lab_of(lab, "student-07", tmp_path, kinds=(*RUN, "reveal"))
    items = found.lab.items.items()
    asked = {name: item for name, item in items if isinstance(item, Prediction)}
    for name, item in asked.items():
        # The first option, or a number that is hardly right.
        found.commit(name, next(iter(item.options)) if item.options else 0.07)
        reveal = found.lab._reveals[name]
        number = item.number(found.lab.card(name).value)
        seen = set()
        for instrument in found.behind(name):
            for place in moved(instrument):
                shown = shown_of(instrument)
                seen.add((bool(shown), place == "nothing"))
                if not shown:
                    continue
                assert item.quantity, f"{name} is named by {instrument}: {shown}"
                now, values = value_of(instrument, item.quantity), compared(reveal)
                near = [value for value in values if abs(now - value) <= NEAR * abs(value)]
                assert near, f"{name} is drawn at {now}, and compared with {values}; {place}"
                said = {far for words in shown for far in FAR.findall(words)}
                told = {
                    distance_in_words(number, value, reveal._distance, item.unit).removesuffix(
                        " of"
                    )
                    for value in values
                }
                assert said <= told, f"{name}, {place}"
        if item.quantity:
            assert (True, True) in seen, f"{name} is drawn by nothing as it starts"
            assert (False, False) in seen, f"{name} is drawn whatever is moved"


@pytest.mark.parametrize("words", ["2.15 percentage points above this", "4 orders too few"])
def test_words_of_a_comparison_are_recognized(words):
    assert FAR.search(words)
