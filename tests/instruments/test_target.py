"""Targets: lines where an axis shows the quantity, and lamps that say by how much."""

from __future__ import annotations

import math

import pytest

from mlsys_widgets import (
    BreakEvenTimeline,
    ConceptMap,
    IronLaw,
    MemoryBudget,
    QuantizationExplorer,
)
from mlsys_widgets.drawing.scene import Scene, Strokes, Words
from mlsys_widgets.instruments.target import LimitedQuantity, Target
from tests.instruments.locks import Lock

TIME = LimitedQuantity("s", "in time", "too late", "too late")
RATE = LimitedQuantity("tokens/s", "fast enough", "too slow", "too few")


def lines(scene: Scene) -> tuple[tuple[tuple[float, float], ...], ...]:
    return next(m for m in scene.marks if isinstance(m, Strokes) and m.name == "target lines").paths


def labels(scene: Scene) -> list[str]:
    found = [m for m in scene.marks if isinstance(m, Words) and m.name.startswith("target words")]
    return [word for mark in found for word in mark.text]


def test_a_lamp_says_by_how_much():
    promise = Target("total", 40e-3, "latency promise 40 ms")
    kept, missed = promise.lamp(34e-3, TIME), promise.lamp(52e-3, TIME)
    assert (kept.sign, kept.verdict, kept.short) == ("✓", "34 ms, 6 ms to spare", "in time")
    assert (missed.sign, missed.verdict, missed.short) == ("✗", "52 ms, 12 ms too late", "too late")
    assert missed.sentence == "Latency promise 40 ms: 52 ms, 12 ms too late."
    assert promise.lamp(40e-3, TIME).kept
    assert promise.lamp(math.inf, TIME).verdict == "never"


def test_what_must_not_be_is_counted_once():
    refused = Target("failures", 0, "constructs that go wrong")
    wrong = LimitedQuantity("", "right", "wrong", "too many")
    assert refused.lamp(1, wrong).sentence == "Constructs that go wrong: 1 too many."
    assert refused.lamp(0, wrong).kept


def test_a_lamp_keeps_to_itself_what_a_question_asks():
    room = Target("data", 320e3, "room beside the reserve", spare=False)
    size = LimitedQuantity("B", "fits", "does not fit", "too much")
    assert room.lamp(1e3, size).verdict == "1 KB, fits"
    assert room.lamp(880e3, size).verdict == "880 KB, 560 KB too much"


def test_a_target_can_ask_for_at_least_so_much():
    asked = Target("rate", 100.0, "100 tokens/s at least", "at least")
    assert asked.lamp(120.0, RATE).verdict == "120 tokens/s, 20 tokens/s to spare"
    assert asked.lamp(80.0, RATE).verdict == "80 tokens/s, 20 tokens/s too few"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("total", 1.0, "x", "below"), "direction is 'below'; it must be one of: at most, at leas"),
        (("total", 1.0, " "), "the target for total has no words; name what it promises"),
        (("total", math.nan, "promise"), "the limit of “promise” is nan; it must be a number"),
    ],
)
def test_nonsense_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        Target(*arguments)


def test_an_instrument_refuses_a_quantity_it_does_not_have():
    with pytest.raises(ValueError, match="IronLaw has no quantity 'cost' to set a target for; it"):
        IronLaw(targets=[Target("cost", 1.0, "one dollar")])
    concepts = ConceptMap.__new__(ConceptMap)
    assert concepts.quantities == {}
    law = IronLaw(targets=[Target("total", 1e-3, "1 ms")])
    with pytest.raises(ValueError, match="has no quantity 'cost'"):
        law.targets = [Target("cost", 1.0, "one dollar")]
    assert [each.words for each in law.targets] == ["1 ms"]


def test_lines_stand_where_an_axis_shows_the_quantity():
    law = IronLaw(
        targets=[Target("total", 45e-6, "promise 45 µs"), Target("data", 1e9, "1 GB at most")]
    )
    time, per_one, memory = law.drawn(law.result)
    assert lines(time) == (((45e-6, 0.0), (45e-6, 4.0)),)
    assert labels(time) == ["promise 45 µs"]
    assert labels(memory) == ["1 GB at most"]
    assert not any(mark.name == "target lines" for mark in per_one.marks)
    budget = MemoryBudget(targets=[Target("total", 80e9, "80 GB at most")])
    for scene in budget.drawn(budget.result):
        assert labels(scene) == ["80 GB at most"]
    # The name of the device would stand on the words of the target.
    bar = budget.scenes(budget.result)[0]
    assert next(mark for mark in bar.marks if mark.name == "limit note").text == ()


def test_a_line_beyond_its_axis_is_left_out():
    law = IronLaw(targets=[Target("total", 1e3, "a quarter of an hour")])
    assert lines(law.drawn(law.result)[0]) == ()
    assert law.lamps[0].kept


def test_words_stay_on_the_plot():
    """A line on the right writes to its left."""
    law = IronLaw()
    time = law.scenes(law.result)[0].across
    for part, align in ((0.1, "start"), (0.9, "end")):
        law.targets = [Target("total", part * time.high, "promise")]
        (found,) = [m for m in law.drawn(law.result)[0].marks
                    if m.name.startswith("target words") and m.x]  # fmt: skip
        assert found.align == align
        assert (found.x[0] < part * time.high) == (align == "end")


def test_words_of_a_level_line_stand_where_no_curve_runs_through_them():
    """fp16 takes a little longer than the promise for few rows, and far longer for many."""
    explorer = QuantizationExplorer(precision="fp8", weights="gate_up")
    for limit, align in ((52e-6, "end"), (20e-6, "start")):
        explorer.targets = [Target("time", limit, "product in time")]
        time = explorer.drawn(explorer.result)[1]
        (found,) = [m for m in time.marks if m.name.startswith("target words") and m.x]
        assert found.align == align


def test_words_stand_on_no_bar():
    """A promise below the total, whose bar reaches up to the words' usual place."""
    law = IronLaw()
    total = float(law.result.total)
    law.targets = [Target("total", 0.9 * total, "promise 43 µs")]
    scene = law.drawn(law.result)[0]
    (found,) = [m for m in scene.marks if m.name.startswith("target words") and m.x]
    bars = next(m for m in scene.marks if m.name == "terms").blocks
    behind = [(low, high) for left, low, right, high, _ in bars if right > found.x[0]]
    # A line of words is 15 of the 144 pixels of four rows; a hair's breadth is a hundredth of them.
    line, hair = 4 * 15 / 144, 0.041
    assert behind
    for low, high in behind:
        assert found.y[0] + line <= low + hair or found.y[0] >= high - hair


def test_lamps_follow_every_move():
    law = IronLaw(targets=[Target("total", 60e-6, "promise 60 µs")])
    view = law._open()
    first = view.panel.readout["lamps"]
    assert [lamp[:2] for lamp in first] == [["✓", "Promise 60 µs"]]
    law.set(batch=256)
    sign, _, verdict, tone = view.panel.readout["lamps"][0]
    assert sign == "✗"
    assert verdict.endswith("too late")
    assert tone != first[0][3]
    assert "✗ Promise 60 µs" in law.text()


def test_targets_may_depend_on_something_else():
    limit = {"s": 1.0}
    law = IronLaw(targets=lambda: [Target("total", limit["s"], f"within {limit['s']:g} s")])
    view = law._open()
    assert view.panel.readout["lamps"][0][0] == "✓"
    limit["s"] = 1e-9
    law.aim()
    assert view.panel.readout["lamps"][0][0] == "✗"
    law.targets = ()
    assert view.panel.readout["lamps"] == []
    assert lines(law.drawn(law.result)[0]) == ()


def test_no_lamp_before_the_lock_is_open():
    lock = Lock()
    law = IronLaw(lock=lock, targets=[Target("total", 60e-6, "promise 60 µs")])
    assert law.lamps == ()
    assert "promise" not in law.text()
    lock.open()
    assert len(law.lamps) == 1


def test_what_never_pays_off_is_never_in_time():
    plan = BreakEvenTimeline(gain=0)
    plan.targets = lambda: [Target("days_to_break_even", plan.days, "end of service")]
    assert plan.lamps[0].sentence == "End of service: never."
    assert plan.lamps[0].short == "does not pay off"
    plan.reset()
    assert plan.lamps[0].kept == plan.result.roi_positive
