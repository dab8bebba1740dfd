"""Five stops, what they make of a model, and that all of it is said alike everywhere."""

from __future__ import annotations

import itertools
import re

from mlsys_widgets.drawing.scene import Blocks, Points
from mlsys_widgets.instruments import compilation_spectrum as spectrum
from mlsys_widgets.instruments.compilation_spectrum import CompilationSpectrum
from mlsys_widgets.instruments.compilation_stops import CONSTRUCTS, OUTCOMES, STOPS
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.instruments.target import Target


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
        _, fates = w.scenes(result)
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
        for construct in model:
            assert CONSTRUCTS[construct].at(stop)[1] in w.html(result).replace("&gt;", ">")


def test_the_alert_says_what_broke_and_the_hint_what_would_help() -> None:
    w = CompilationSpectrum(stop="fx", model=("branch", "print", "mask"))
    words, tone = w.alert(w.result) or ("", "")
    # With FX, print is silently wrong, the branch an error, and the mask works.
    assert words == (
        "With FX, 1 of 3 constructs is silently wrong and 1 of 3 constructs raises an error."
    )
    assert tone == "red"
    hint = w.hint(w.result)
    assert "torch.compile" not in hint.split(" What would help ")[0]
    assert CONSTRUCTS["branch"].instead in hint
    assert CONSTRUCTS["print"].instead in hint
    assert CONSTRUCTS["mask"].instead not in hint
    told = repr((w.cards(w.result), w.sentence(w.result), words, w.html(w.result)))
    assert "torch.compile" not in told
    assert all(construct.instead not in told for construct in CONSTRUCTS.values())
    w.set(stop="compile")
    assert w.alert(w.result) is None
    assert w.hint(w.result).startswith(
        "Cross out every way that gets your model wrong or refuses it"
    )


def test_every_construct_that_goes_as_wrong_is_a_reason() -> None:
    w = CompilationSpectrum(stop="trace", model=("branch", "print", "sizes"))
    assert w.remark(w.result) == "The reasons are a branch on data and print."
    w.set(model=("print", "sizes"))
    assert w.remark(w.result) == "The reason is print."


def test_the_math_counts_what_stays_right_and_the_graphs() -> None:
    w = CompilationSpectrum(stop="compile", model=("branch", "print", "mask"))
    counts = w.result.capture
    # Three breaks: four graphs, all of them right.
    assert (counts.kept, counts.right, counts.graphs) == (3, True, 4)
    told = re.sub(r"<[^>]*>", "", str(live_math(w)))
    assert "G =c×(1+b)" in told
    assert w.dominant(counts) == "graphs"
    w.set(stop="trace")
    counts = w.result.capture
    assert (counts.kept, counts.right, counts.graphs) == (1, False, 1)
    assert w.dominant(counts) == "kept"
    w.set(stop="fx")  # an error leaves no graph
    assert w.result.capture.graphs == 0
    w.set(stop="eager")
    assert (w.result.capture.right, w.result.capture.graphs) == (True, 0)
    for stop in STOPS:
        for model in itertools.combinations(CONSTRUCTS, 3):
            w.set(stop=stop, model=model)
            assert w.result.capture.right == w.result.outcome.right
            assert (w.alert(w.result) is None) == w.result.outcome.right


def test_one_color_means_one_thing_and_each_plot_has_its_legend() -> None:
    w = CompilationSpectrum(stop="fx", model=tuple(CONSTRUCTS))
    ratings, fates = w.scenes(w.result)
    rated = {tone for _, tone, sign in ratings.legend if "way in view" not in _}
    judged = {tone for _, tone, sign in fates.legend}
    assert not rated & judged
    assert {out.tone for out in OUTCOMES if out.right} == {"green"}
    assert {out.tone for out in OUTCOMES if not out.right} == {"red"}
    assert len({out.symbol for out in OUTCOMES}) == len(OUTCOMES)
    # What lies behind the bars of both plots is named in the upper one.
    assert ("The way in view", "gray", "block") in ratings.legend
    assert "FX (estimate)" in ratings.across.words


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


def test_the_order_of_ticking_does_not_matter() -> None:
    w = CompilationSpectrum(model=("print", "branch"))
    assert w.model == ("branch", "print")
    assert w.code == "CompilationSpectrum(model=('branch', 'print'))"


def test_targets_for_results_and_for_a_graph() -> None:
    """A trace of a branch captures a graph that is wrong; eager mode is right and captures none."""
    w = CompilationSpectrum(stop="trace", model=("branch",))
    w.targets = [
        Target("failures", 0, "constructs that fail"),
        Target("graphs", 1, "graphs captured", "at least"),
    ]
    assert [lamp.short for lamp in w.lamps] == ["results not right", "graph captured"]
    w.set(stop="eager")
    assert [lamp.short for lamp in w.lamps] == ["results right", "no graph"]
    assert w.misses == ["Graphs captured: 0, 1 too few."]
