"""What must hold for every instrument: one number one way, no dead control, nothing rebuilt.

Every control is moved over its whole range, alone and in random walks; plot, cards, sentence,
table and result must agree, and nothing that is not a number may be drawn.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlsys_widgets
from mlsys_widgets import ConceptMap
from mlsys_widgets.drawing.scene import Axis, Blocks, Handle, Scene, Strokes, Words
from mlsys_widgets.instruments.control_panel import packed
from mlsys_widgets.instruments.controls import Control, Select, Several, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.instruments.live_math import live_math, matters_most
from tests.instruments.ring import Ring
from tests.sampling import sample


def instruments() -> list[type[Instrument]]:
    found = (getattr(mlsys_widgets, name) for name in mlsys_widgets.__all__)
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, Instrument)]
    return [*(kind for kind in kinds if kind is not Instrument), Ring]


every_instrument = pytest.mark.parametrize("kind", instruments(), ids=lambda kind: kind.__name__)


def whole_range(instrument: Instrument, control: Control) -> list[Any]:
    """Values over the whole range of a control, its ends included."""
    match control:
        case Slider(low=low, high=high):
            shares = np.linspace(0, 1, 9)
            if control.log:
                values = [low * (high / low) ** share for share in shares]
            else:
                values = [low + (high - low) * share for share in shares]
            return [float(round(value)) for value in values] if control.whole else values
        case Select():
            return list(control.options(instrument))
        case Several(options=options):
            pairs = itertools.combinations(options, 2)
            return [(), *((key,) for key in options), *pairs, tuple(options)]
        case Switch():
            return [False, True]
    raise TypeError(f"{control} is no control that this test knows")


def visible(instrument: Instrument) -> dict[str, Control]:
    hidden = instrument.hidden()
    return {n: c for n, c in instrument.controls.items() if n not in hidden}


def numbers(instrument: Instrument) -> Iterator[float]:
    for scene in instrument.drawn(instrument.result):
        for axis in (scene.across, scene.up):
            yield from (axis.low, axis.high, *axis.ticks)
            assert axis.low < axis.high
            assert not axis.log or axis.low > 0
        for mark in scene.marks:
            if isinstance(mark, Blocks):
                for left, low, right, high, _ in mark.blocks:
                    yield from (left, low, right, high)
            elif isinstance(mark, Strokes):
                yield from itertools.chain(*itertools.chain(*mark.paths))
            else:
                assert len(mark.x) == len(mark.y), mark.name
                yield from mark.x
                yield from mark.y
                if isinstance(mark, Words):
                    assert len(mark.text) == len(mark.x)


def seen(instrument: Instrument) -> str:
    """Everything a student can see, as one text."""
    result = instrument.result
    return repr(
        (
            instrument.scenes(result),
            instrument.cards(result),
            instrument.sentence(result),
            instrument.table(result),
            instrument.alert(result),
            instrument.html(result),
            sorted(instrument.hidden()),  # a switch may bring controls to the panel
        )
    )


def check(instrument: Instrument) -> None:
    """The agreement that must hold after every move."""
    assert all(math.isfinite(number) for number in numbers(instrument))
    # More than five entries are no legend; words belong at the marks then.
    assert all(len(scene.legend) <= 5 for scene in instrument.drawn(instrument.result))
    instrument._open()._unfolded |= {"math", "film", "table"}
    instrument._open().show()
    readout = instrument._open().panel.readout
    json.dumps(readout, allow_nan=False, default=list)  # what travels is JSON and finite numbers
    result = instrument.result
    # The panel shows what the instrument says about its result.
    assert readout["sentence"] == instrument.sentence(result)
    cards = [list(card[:2]) for card in instrument.cards(result)]
    assert [card[:2] for card in readout["cards"]] == cards
    header, rows = instrument.shown_table
    assert readout["table"] == {"header": list(header), "rows": [list(row) for row in rows]}
    assert all(len(row) == len(header) for row in rows)
    # The plot shows the scene of that result.
    for plot, scene in zip(instrument._open()._plots, instrument.drawn(result), strict=True):
        assert set(plot.marks) == {mark.name for mark in scene.marks}
        for mark in scene.marks:
            drawn = plot.marks[mark.name]
            if isinstance(mark, Blocks):
                assert drawn.visible == bool(mark.blocks)
                if mark.blocks:
                    # bqplot keeps a single block without its outer dimension.
                    x, y = np.atleast_2d(drawn.x), np.atleast_2d(drawn.y)
                    assert np.array_equal(x[:, 0], [block[0] for block in mark.blocks])
                    assert np.array_equal(y[:, 2], [block[3] for block in mark.blocks])
            elif isinstance(mark, Strokes):
                assert drawn.visible == bool(mark.paths)
                if mark.paths:
                    starts = [path[0][0] for path in mark.paths]
                    assert np.array_equal(np.atleast_2d(drawn.x)[:, 0], starts)
            else:
                assert drawn.visible == (len(mark.x) > 0)
                if len(mark.x):
                    assert np.array_equal(drawn.x, np.asarray(mark.x, float))
                    assert np.array_equal(drawn.y, np.asarray(mark.y, float))


@every_instrument
def test_a_new_one_stands_where_a_reset_leads(kind: type[Instrument]) -> None:
    """So nothing is kept of an instrument that nobody has moved."""
    made = kind()
    assert made.inputs == made.usual
    made.reset()
    assert made.inputs == made.usual


@every_instrument
def test_every_control_over_its_whole_range(kind: type[Instrument]) -> None:
    instrument = kind()
    check(instrument)
    for name, control in visible(instrument).items():
        looks = set()
        for value in whole_range(instrument, control):
            instrument.set(**{name: value})
            check(instrument)
            looks.add(seen(instrument))
        assert len(looks) > 1, f"{name} changes nothing that a student can see"
        instrument.reset()


@every_instrument
def test_no_control_is_dead_where_it_is_shown(kind: type[Instrument]) -> None:
    """Controls that appear only in some states are found by walking there."""
    walk = random.Random(7)
    instrument = kind()
    alive: set[str] = set()
    for _ in range(60):
        shown = visible(instrument)
        for name in set(shown) - alive:
            before, looks = instrument.inputs, set()
            for value in whole_range(instrument, shown[name]):
                instrument.set(**{name: value})
                looks.add(seen(instrument))
            if len(looks) > 1:
                alive.add(name)
            instrument.set(**before)
        if alive == set(instrument.controls):
            return
        name = walk.choice([n for n, c in shown.items() if not isinstance(c, Slider)] or [*shown])
        instrument.set(**{name: walk.choice(whole_range(instrument, shown[name]))})
    assert set(instrument.controls) - alive == set()


@every_instrument
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_random_walks(kind: type[Instrument], data: st.DataObject) -> None:
    instrument = kind()
    marks = instrument.marks
    for _ in range(data.draw(st.integers(1, 12))):
        shown = visible(instrument)
        name = data.draw(st.sampled_from(sorted(shown)))
        value = data.draw(st.sampled_from(whole_range(instrument, shown[name])))
        instrument.set(**{name: value})
        check(instrument)
    # No state is hidden: the same inputs make the same instrument.
    twin = kind(**instrument.inputs)
    assert twin.inputs == instrument.inputs
    assert seen(twin) == seen(instrument)
    assert all(instrument.marks[name] is mark for name, mark in marks.items())


@pytest.mark.long
@every_instrument
def test_moves_rebuild_nothing(kind: type[Instrument]) -> None:
    walk = random.Random(3)
    instrument = kind()
    before = dict(instrument.marks)
    figures = [plot.figure for plot in instrument._open()._plots]
    for _ in sample(range(1000), 60):
        shown = visible(instrument)
        name = walk.choice(sorted(shown))
        instrument.set(**{name: walk.choice(whole_range(instrument, shown[name]))})
    assert set(instrument.marks) == set(before)
    assert all(instrument.marks[name] is mark for name, mark in before.items())
    assert all(a is b.figure for a, b in zip(figures, instrument._open()._plots, strict=True))


@every_instrument
def test_nonsense_is_refused_and_nothing_is_lost(kind: type[Instrument]) -> None:
    instrument = kind()
    before, look = instrument.inputs, seen(instrument)
    for name, control in visible(instrument).items():
        # Beside something sensible, which is not accepted either.
        other, also = next(((n, c) for n, c in visible(instrument).items() if n != name))
        sensible = {other: whole_range(instrument, also)[-1]}
        for nonsense in (None, "nonsense", float("nan"), -1e99, 1e99, 10**400, object(), ["nope"]):
            with pytest.raises(ValueError) as refusal:  # noqa: PT011
                instrument.set(**sensible, **{name: nonsense})
            assert control.label in str(refusal.value) or "write it like" in str(refusal.value)
            assert instrument.inputs == before
    with pytest.raises(ValueError, match="has no input 'color'; it has:"):
        instrument.set(color="red")
    assert seen(instrument) == look


@every_instrument
def test_an_error_in_a_callback_becomes_a_sentence(
    kind: type[Instrument], monkeypatch: pytest.MonkeyPatch
) -> None:
    instrument = kind()
    before, view = seen(instrument), instrument._open()
    name, control = next(iter(visible(instrument).items()))
    now = getattr(instrument, name)
    value = next(value for value in whole_range(instrument, control) if value != now)
    start, compute = instrument.inputs, kind.compute

    def broken(self: Instrument) -> Any:
        if self.inputs != start:
            raise ZeroDivisionError("somebody divided by zero")
        return compute(self)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "compute", broken)
        # As it comes from the browser: nothing may escape into the log, where no student looks.
        view.panel.moved = {name: [value, 1.0]}
    assert view.panel.readout["errors"] == {name: "somebody divided by zero"}
    assert seen(instrument) == before
    view.panel.moved = {name: [value, 2.0]}
    assert view.panel.readout["errors"] == {}
    assert instrument.inputs[name] == kind(**{name: value}).inputs[name]


@every_instrument
def test_every_control_has_help_and_a_label(kind: type[Instrument]) -> None:
    for name, control in kind().controls.items():
        assert control.help.endswith("."), name
        assert control.label


@every_instrument
def test_the_code_makes_the_same_instrument(kind: type[Instrument]) -> None:
    walk = random.Random(11)
    instrument = kind()
    for _ in range(20):
        shown = visible(instrument)
        name = walk.choice(sorted(shown))
        instrument.set(**{name: walk.choice(whole_range(instrument, shown[name]))})
    again = eval(instrument.code, {kind.__name__: kind})
    for name, value in instrument.inputs.items():
        if isinstance(value, float):
            assert getattr(again, name) == pytest.approx(value, rel=1e-4)
        else:
            assert getattr(again, name) == value


@every_instrument
def test_reset_and_undo(kind: type[Instrument]) -> None:
    instrument = kind()
    first = instrument.inputs
    name, control = next(iter(visible(instrument).items()))
    instrument.set(**{name: whole_range(instrument, control)[-1]})
    changed = instrument.inputs
    instrument.reset()
    assert instrument.inputs == first
    instrument.undo_reset()
    assert instrument.inputs == changed


@every_instrument
def test_the_still_twin(kind: type[Instrument]) -> None:
    instrument = kind()
    bundle = instrument._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["image/svg+xml"].startswith("<svg")
    for _, value, _ in instrument.cards(instrument.result):
        assert all(word in bundle["image/svg+xml"] for word in escape(value).split())
    assert instrument.sentence(instrument.result) in bundle["text/plain"]
    assert instrument.figure("png")[:8] == b"\x89PNG\r\n\x1a\n"


def handles(instrument: Instrument) -> list[tuple[Scene, Handle]]:
    return [(s, h) for s in instrument.scenes(instrument.result) for h in s.handles]


def fraction(axis: Axis, value: float) -> float:
    if axis.log:
        return math.log(value / axis.low) / math.log(axis.high / axis.low)
    return (value - axis.low) / (axis.high - axis.low)


def ends(axis: Axis) -> tuple[float, float]:
    return axis.low, axis.high


def place(axis: Axis, part: float) -> float:
    if axis.log:
        return axis.low * (axis.high / axis.low) ** part
    return axis.low + (axis.high - axis.low) * part


@every_instrument
def test_every_handle_moves_a_control_and_lies_in_its_plot(kind: type[Instrument]) -> None:
    instrument = kind()
    names = [handle.name for _, handle in handles(instrument)]
    assert len(set(names)) == len(names)
    for scene, handle in handles(instrument):
        # Arrow keys step a slider.
        assert isinstance(instrument.controls[handle.control], Slider)
        assert handle.along in ("x", "y", "xy")
        assert -1e-9 <= fraction(scene.across, handle.x) <= 1 + 1e-9, handle
        assert -1e-9 <= fraction(scene.up, handle.y) <= 1 + 1e-9, handle


@every_instrument
def test_wherever_a_hand_drags_a_handle_something_sensible_is_shown(kind: type[Instrument]) -> None:
    instrument = kind()
    for name in [handle.name for _, handle in handles(instrument)]:
        for part in (0.0, 0.13, 0.5, 0.87, 1.0):
            found = {h.name: s for s, h in handles(instrument)}
            if name not in found:
                break  # it went away with what it stood for
            scene = found[name]
            instrument.drag(name, place(scene.across, part), place(scene.up, part))
            check(instrument)
        instrument.reset()


@every_instrument
def test_an_axis_stands_still_while_its_handle_is_held(kind: type[Instrument]) -> None:
    instrument = kind()
    for scene, handle in handles(instrument):
        for part in (0.2, 0.9, 0.01, 0.5):
            where = place(scene.across, part), place(scene.up, part)
            instrument.drag(handle.name, *where, held=True)
            found = {h.name: s for s, h in handles(instrument)}
            if handle.name not in found:
                break
            now = found[handle.name]
            if "x" in handle.along:
                assert ends(now.across) == ends(scene.across), handle
            if "y" in handle.along:
                assert ends(now.up) == ends(scene.up), handle
        instrument.reset()
        assert instrument.anchor(handle.name) is instrument.result


@every_instrument
def test_arrow_keys_follow_the_picture(kind: type[Instrument]) -> None:
    """A larger input moves its handle right or up, or the other way if it is flipped."""
    for _, handle in handles(kind()):
        instrument = kind()
        control = instrument.controls[handle.control]
        assert isinstance(control, Slider)
        now = getattr(instrument, handle.control)
        larger = control.snap(1.2 * now)
        if larger <= now:
            continue
        instrument.set(**{handle.control: larger})
        ((_, after),) = [(s, h) for s, h in handles(instrument) if h.name == handle.name]
        moved = after.y - handle.y if handle.along == "y" else after.x - handle.x
        assert moved != 0, handle.name
        assert (moved < 0) == handle.flip, handle.name


@every_instrument
def test_every_instrument_explains_itself(kind: type[Instrument]) -> None:
    instrument = kind()
    if kind is ConceptMap:
        assert not instrument.explanations  # a map of ideas computes nothing
        return
    for part in instrument.explanations:
        shown = live_math(instrument, part)
        assert (shown["part"], bool(shown["steps"])) == (part, True)
        assert all(title and equation for title, equation, _ in shown["steps"])
    if instrument.headline:
        assert instrument.headline in instrument.result.outputs()
        assert matters_most(instrument, instrument.result)


@every_instrument
def test_a_state_is_small_enough_to_travel_at_thirty_a_second(kind: type[Instrument]) -> None:
    """At most 6 KB on the wire, of which Jupyter's own envelopes take about 1.5 KB."""
    instrument = kind()
    view = instrument._open()
    for what in ("math", "table", "hint"):
        view._fold(what, True)
    for part in instrument.explanations or ("",):
        view._look_at(part)
        for name, control in instrument.controls.items():
            if isinstance(control, Slider):
                instrument.set(**{name: control.high})
                assert size(packed(view.panel.readout)) < 4_500, (part, name)


def size(state: Any) -> int:
    """The bytes of a state: JSON, and what travels as bytes."""
    buffers = []

    def aside(value: Any) -> str:
        buffers.append(value.nbytes)
        return ""

    return len(json.dumps(state, default=aside)) + sum(buffers)


@every_instrument
def test_a_film_fits_its_stage(kind: type[Instrument]) -> None:
    instrument = kind()
    film = instrument.film(instrument.result)
    if film is None:
        return
    told = film.to_json()
    # It travels when a hand rests, so it may be twice a move; a block costs its places alone.
    assert size(told) < 12_000
    assert size(told) < 1_000 + 55 * sum(len(actor.path) for actor in film.actors)
    assert all(words.endswith(".") for _, words in film.moments)
    for actor in film.actors:
        for _, left, bottom, width, height in actor.path:
            assert -0.01 <= left <= left + width <= 1.01, actor
            assert -0.01 <= bottom <= bottom + height <= 1.01, actor


PAGES = """
import hashlib, mlsys_widgets
from mlsys_widgets.instruments.instrument import Instrument
for name in sorted(mlsys_widgets.__all__):
    kind = getattr(mlsys_widgets, name)
    if isinstance(kind, type) and issubclass(kind, Instrument) and kind is not Instrument:
        print(name, hashlib.sha256(repr(kind().still()).encode()).hexdigest())
"""


def test_every_still_page_is_the_same_in_every_process():
    """Nothing is drawn in the order of a set, so that two gradings of a notebook agree."""
    told = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PAGES], env=env, capture_output=True, text=True, check=True
        )
        told.append(done.stdout.splitlines())
    assert {line.split()[0] for line in told[0]} == {
        kind.__name__ for kind in instruments() if kind is not Ring
    }
    assert told[0] == told[1]


@every_instrument
def test_two_numbers_lead_and_the_remark_repeats_neither(kind: type[Instrument]) -> None:
    """Those that an instrument names are there, and stand in its picture without a kernel too."""
    instrument = kind(leading=kind.leading)
    cards = instrument.cards(instrument.result)
    leads = [cards[k] for k in instrument.leads(cards)]
    named = [label.partition(",")[0] for label, _, _ in leads]
    assert named[: len(kind.leading)] == list(kind.leading)
    assert len(leads) == min(2, len(cards))
    words = f" {instrument.remark(instrument.result)} "
    assert not [value for _, value, _ in leads if f" {value} " in words and len(value) > 3]
    assert all(f"{label}: {value}" in instrument.text() for label, value, _ in cards)
