"""Five stops, what they make of a model, and that all of it is said alike everywhere."""

from __future__ import annotations

import itertools

import pytest

from mlsys_widgets.drawing.scene import Blocks, Points
from mlsys_widgets.instruments import compilation_spectrum as spectrum
from mlsys_widgets.instruments.compilation_spectrum import (
    CONSTRUCTS,
    COURSE,
    ESTIMATE,
    OUTCOMES,
    STOPS,
    CompilationSpectrum,
)


def test_the_ratings_of_day_14() -> None:
    # Day 14, the compilation spectrum: flexibility 5, 3, 2 and 4 stars, optimization 0, 2, 2 and
    # 5; the course gives FX none.
    rated = [stop for stop in STOPS.values() if stop.rated_by == COURSE]
    assert [stop.name for stop in rated] == ["eager", "jit.trace", "jit.script", "torch.compile"]
    assert [stop.flexibility for stop in rated] == [5, 3, 2, 4]
    assert [stop.optimization for stop in rated] == [0, 2, 2, 5]
    assert STOPS["fx"].rated_by == ESTIMATE


@pytest.mark.parametrize(
    ("construct", "fates"),
    [
        # eager, jit.trace, jit.script, FX, torch.compile: tried with PyTorch 2.11, each captured
        # with one input and run on a second of another length and sign. A graph break is a
        # program that runs but is refused with fullgraph=True or counted as a break by Dynamo;
        # "again" one whose second input made a second whole graph.
        ("branch", "works wrong works error break"),
        ("loop", "works wrong works error again"),
        ("print", "works wrong works wrong break"),
        ("list", "works wrong error wrong works"),
        ("sizes", "works works works works again"),
        ("mask", "works works works works break"),
        ("custom", "works works works works error"),
        ("library", "works wrong error error break"),
    ],
)
def test_what_was_tried(construct: str, fates: str) -> None:
    assert [CONSTRUCTS[construct].at(stop)[0].key for stop in STOPS] == fates.split()


def test_day_14_on_traces_and_breaks() -> None:
    # Day 14, questions 4 to 6: a trace keeps the branch of its example without a word; a graph
    # break puts eager Python between compiled graphs.
    assert CompilationSpectrum(stop="trace", model=("branch",)).result.outcome.key == "wrong"
    assert CompilationSpectrum(stop="script", model=("branch",)).result.outcome.key == "works"
    assert CompilationSpectrum(stop="compile", model=("branch",)).result.outcome.key == "break"
    # Misconceptions: shapes that change cost a compilation, not an error.
    assert CompilationSpectrum(stop="compile", model=("sizes",)).result.outcome.key == "again"


def test_what_nobody_notices_is_worst() -> None:
    assert [out.severity for out in OUTCOMES] == sorted(out.severity for out in OUTCOMES)
    assert OUTCOMES[-1].key == "wrong"
    both = CompilationSpectrum(stop="fx", model=("branch", "print"))
    assert both.result.outcome.key == "wrong"
    assert both.result.worst["fx"][1] is CONSTRUCTS["print"]


def test_the_most_optimized_stop_that_stays_right() -> None:
    w = CompilationSpectrum(model=())
    assert w.result.best.key == "compile"
    w.set(model=("custom",))
    assert w.result.best.key == "trace"  # ties with script, and is more flexible
    w.set(model=("custom", "branch"))
    assert w.result.best.key == "script"
    w.set(model=("custom", "branch", "list"))
    assert w.result.best.key == "eager"


def test_everything_shown_agrees_for_every_model_at_every_stop() -> None:
    w = CompilationSpectrum()
    marks = w.marks
    keys = list(CONSTRUCTS)
    models = [m for size in range(len(keys) + 1) for m in itertools.combinations(keys, size)]
    stops = itertools.cycle(STOPS)
    for model in models:
        w.set(model=model, stop=next(stops))
        result = w.result
        stop = result.stop.key
        worst = max(
            (CONSTRUCTS[key].at(stop)[0] for key in model),
            key=lambda out: out.severity,
            default=spectrum.WORKS,
        )
        assert result.outcome is worst
        assert {a: b for a, b, _ in w.cards(result)}["Your model here"] == worst.words
        if worst is not spectrum.WORKS:
            assert worst.words in w.sentence(result)
        header, rows = w.table(result)
        column = header.index(result.stop.name)
        assert rows[-1][column] == worst.words
        assert [row[0] for row in rows[4:-1]] == [CONSTRUCTS[key].name for key in model]
        ratings, fates = w.scenes(result)
        placed = {
            (x, y): mark.name
            for mark in fates.marks
            if isinstance(mark, Points)
            for x, y in zip(mark.x, mark.y, strict=True)
        }
        # A symbol for each construct at each stop, and for the model: each in its own place.
        assert len(placed) == len(STOPS) * (len(model) + 1)
        assert placed[spectrum._PLACES[stop], 1.0] == worst.words
        for key in model:
            place = spectrum._PLACES[stop], spectrum._ROWS[key]
            assert placed[place] == CONSTRUCTS[key].at(stop)[0].words
        assert {mark.name for scene in (ratings, fates) for mark in scene.marks} == set(marks)
        for construct in model:
            assert CONSTRUCTS[construct].at(stop)[1] in w.html(result).replace("&gt;", ">")
    assert all(w.marks[name] is mark for name, mark in marks.items())


def test_bars_are_as_high_as_the_stars() -> None:
    w = CompilationSpectrum()
    ratings, _ = w.scenes(w.result)
    bars = [bar for mark in ratings.marks
            if isinstance(mark, Blocks) and "stars" in mark.name and "stop" not in mark.name
            for bar in mark.blocks]  # fmt: skip
    heights = sorted((bar[0], bar[3]) for bar in bars)
    expected = [n for stop in STOPS.values() for n in (stop.flexibility, stop.optimization)]
    assert [height for _, height in heights] == expected
    _, rows = w.table(w.result)
    assert [cell.count("★") for cell in rows[1][1:]] == expected[::2]


def test_every_fate_has_a_sentence() -> None:
    for construct in CONSTRUCTS.values():
        assert set(construct.fates) == set(STOPS) - {"eager"}
        for stop in STOPS:
            assert construct.at(stop)[1].endswith(".")


def test_an_unknown_construct_is_refused_and_nothing_lost() -> None:
    w = CompilationSpectrum(model=("loop",))
    before = w.inputs
    with pytest.raises(ValueError, match="Your model has is 'magic'; each must be one of: branch"):
        w.set(model=("branch", "magic"), stop="fx")
    with pytest.raises(ValueError, match="Stop is 'xla'"):
        w.set(stop="xla")
    assert w.inputs == before


def test_the_order_of_ticking_does_not_matter() -> None:
    w = CompilationSpectrum(model=("print", "branch"))
    assert w.model == ("branch", "print")
    assert w.code == "CompilationSpectrum(model=('branch', 'print'))"
