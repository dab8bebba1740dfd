"""Draws the pictures of docs/physics/serving.md: where the time of a token goes.

Every number comes from the physics core and from the measurement that ships. The page calls these
functions while it is built, so no picture can be older than the model it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Words,
    even,
    from_zero,
)

MODEL, DEVICE, PRECISION = "llama31-8b", "h200-sxm", "fp16"
#: The step that the page takes apart: one sequence with so many tokens in its cache.
ONE_BATCH, ONE_CONTEXT = 1, 2048

Phase = Literal["decode", "prefill"]
Launch = Literal["graph", "async"]
#: Left, bottom, right, top and tone.
Block = tuple[float, float, float, float, str]
#: Ways to launch by the name that measurements give them, and their words.
VARIANTS: Final[dict[Launch, str]] = {"graph": "graph", "async": "eager"}
LAUNCH_WORDS: Final[dict[Launch, str]] = {"graph": "as a graph", "async": "kernel by kernel"}
#: What a pass is made of, in the order in which it is stacked, and its tone.
PARTS: Final = {
    "products": ("products", "blue"),
    "attention": ("attention", "orange"),
    "normalization": ("norms", "green"),
    "small kernels": ("small kernels", "gray"),
    "logits": ("logits", "purple"),
    "gaps": ("gaps between kernels", "text"),
    "waiting": ("waiting for launches", "red"),
}
#: What sets the time of a kernel, and its tone.
REASONS: Final = {
    "bandwidth": ("bandwidth", "orange"),
    "arithmetic": ("arithmetic", "blue"),
    "floor": ("floor of a kernel", "gray"),
    "gaps": ("gaps between kernels", "text"),
    "launch": ("waiting for launches", "red"),
}
BATCHES: Final = tuple(2**k for k in range(9))
CONTEXTS: Final = tuple(2**k for k in range(7, 16))
PROMPTS: Final = tuple(2**k for k in range(5, 14))
#: Batch of the picture that varies the context: the longest of them still fits into memory.
CONTEXT_BATCH: Final = 16


@dataclass(frozen=True)
class Figure:
    """A picture and what it shows, in words, for whoever cannot see it."""

    heading: str
    alternative: str
    scenes: tuple[Scene, ...]

    def svg(self) -> str:
        """Return the picture, ready for a page."""
        return picture.svg(self.scenes, self.alternative, heading=self.heading)


def modeled(phase: Phase, batch: float, sequence: float, launch: Launch) -> ph.ServingTime:
    """Return a pass in the calibrated form."""
    return ph.serving_time(MODEL, DEVICE, phase, batch, sequence, PRECISION, launch=launch)


def textbook(phase: Phase, batch: float, sequence: float) -> float:
    """Return the seconds of a pass in the textbook form."""
    form = {"decode": ph.decode, "prefill": ph.prefill}[phase]
    return float(form(MODEL, DEVICE, batch, sequence, PRECISION).time)


def measurements(phase: Phase, launch: Launch, **shape: float) -> list[measured.Case]:
    """Measured passes of the model."""
    return measured.cases(
        DEVICE, kind="serving", variant=VARIANTS[launch], precision=PRECISION,
        model=MODEL, phase=phase, **shape,
    )  # fmt: skip


def sizes(case: measured.Case) -> tuple[float, float]:
    """Batch and sequence of a measured pass."""
    return float(case.shape["batch"]), float(case.shape["sequence"])


def components(done: ph.ServingTime) -> dict[str, float]:
    """Return the seconds by part, together the time of the pass."""
    found = {str(part): float(seconds) for part, seconds in done.parts.items()}
    found["gaps"] = float(done.kernels * done.node_overhead)
    found["waiting"] = float(done.time) - float(done.device_time)
    return found


def causes(done: ph.ServingTime) -> dict[str, float]:
    """Return the seconds by what sets them, each kernel by its largest term."""
    found = dict.fromkeys(REASONS, 0.0)
    for timed in done.uses:
        found[timed.reason] += float(timed.total)
    found["gaps"] = float(done.kernels * done.node_overhead)
    found["launch"] = float(done.time) - float(done.device_time)
    return found


def show(seconds: float) -> str:
    """Return a modeled time with the two digits that the model's error leaves."""
    return ph.format_quantity(float(f"{seconds:.2g}"), "s")


def exactly(seconds: float) -> str:
    """Return a measured time with all its digits."""
    return ph.format_quantity(seconds, "s")


def one_step() -> Figure:
    """Draw one decode step: textbook, calibrated, measured; as a graph and kernel by kernel."""
    stacked: list[Block] = []
    plain_bars: list[Block] = []
    tops: list[tuple[float, float, str]] = []
    names: list[tuple[float, str]] = []
    sentences = []
    for launch in VARIANTS:
        plain = textbook("decode", ONE_BATCH, ONE_CONTEXT)
        done = modeled("decode", ONE_BATCH, ONE_CONTEXT, launch)
        (case,) = measurements("decode", launch, batch=ONE_BATCH, sequence=ONE_CONTEXT)
        real = case.seconds.median
        parts = components(done)
        colored = [(parts[part], tone) for part, (_, tone) in PARTS.items()]
        for words, pieces, blocks, digits in (
            ("textbook", [(plain, "ink")], plain_bars, show),
            ("calibrated", colored, stacked, show),
            ("measured", [(real, "ink")], plain_bars, exactly),
        ):
            place = len(names) + (0.4 if launch == "async" else 0.0)
            height = _stack(blocks, place, pieces)
            tops.append((place + 0.5, height, digits(height)))
            names.append((place + 0.5, f"{words},\n{LAUNCH_WORDS[launch]}"))
        shares = ", ".join(
            f"{words} {show(parts[part])}" for part, (words, _) in PARTS.items() if parts[part] > 0
        )
        sentences.append(
            f"{LAUNCH_WORDS[launch].capitalize()}: textbook {show(plain)}, calibrated "
            f"{show(float(done.time))} ({shares}), measured {exactly(real)}."
        )
    up = from_zero("time of one step", 1.08 * max(top for _, top, _ in tops), "s")
    across = Axis("", 0.0, 6.4, ticks=tuple(x for x, _ in names), words=tuple(w for _, w in names),
                  grid=False)  # fmt: skip
    x, y, texts = zip(*tops, strict=True)
    marks = (
        Blocks("parts", tuple(stacked)),
        Blocks("textbook and measured", tuple(plain_bars), opacity=0.45),
        Words("times", x, y, texts, "middle"),
    )
    scene = Scene(across, up, marks, 360, _legend(PARTS))
    heading = f"One token of one sequence, {ONE_CONTEXT:,} tokens in the cache"
    return Figure(heading, f"Bars. {heading}. {' '.join(sentences)}", (scene,))


def against_batch(contexts: Sequence[int] = (2048, 512)) -> Figure:
    """Time of a decode step against the batch."""

    def scene(context: int) -> Scene:
        found = [c for launch in VARIANTS for c in measurements("decode", launch, sequence=context)]
        label = f"batch, {context:,} tokens in each cache"
        return _curves(
            "decode", BATCHES, label, "time of one step", lambda batch: (batch, context), found
        )

    first, last = (
        [textbook("decode", b, contexts[0]), *_both(b, contexts[0])] for b in (1, BATCHES[-1])
    )
    words = "; ".join(
        f"batch {batch}: textbook {show(times[0])}, calibrated {show(times[1])} as a graph and "
        f"{show(times[2])} kernel by kernel"
        for batch, times in ((1, first), (BATCHES[-1], last))
    )
    heading = "Time of a decode step against the batch"
    return Figure(
        heading,
        f"Lines, one plot for each context. {heading}. With {contexts[0]:,} tokens, {words}. The "
        f"measured points lie near the calibrated lines and far above the textbook.",
        tuple(map(scene, contexts)),
    )


def against_prompt() -> Figure:
    """Time to read a prompt against its length."""
    scene = _curves(
        "prefill", PROMPTS, "tokens of one prompt", "time to the first token",
        lambda tokens: (1, tokens),
        [case for launch in VARIANTS for case in measurements("prefill", launch, batch=1)],
    )  # fmt: skip
    last = PROMPTS[-1]
    heading = "Time to read one prompt against its length"
    return Figure(
        heading,
        f"Lines. {heading}. {last:,} tokens take {show(textbook('prefill', 1, last))} by the "
        f"textbook and {show(float(modeled('prefill', 1, last, 'graph').time))} in the calibrated "
        f"form; short prompts wait for launches unless they are replayed as a graph.",
        (scene,),
    )


def shares() -> Figure:
    """Draw what fraction each part takes, against batch and against context, as a graph."""
    scenes = (
        _columns(
            f"batch, {ONE_CONTEXT:,} tokens in each cache", BATCHES,
            [components(modeled("decode", batch, ONE_CONTEXT, "graph")) for batch in BATCHES],
            PARTS,
        ),
        _columns(
            f"tokens in each cache, batch {CONTEXT_BATCH}", CONTEXTS,
            [components(modeled("decode", CONTEXT_BATCH, c, "graph")) for c in CONTEXTS], PARTS,
        ),
    )  # fmt: skip
    ends = [
        (f"batch {BATCHES[0]}", modeled("decode", BATCHES[0], ONE_CONTEXT, "graph")),
        (f"batch {BATCHES[-1]}", modeled("decode", BATCHES[-1], ONE_CONTEXT, "graph")),
        (f"{CONTEXTS[0]:,} tokens", modeled("decode", CONTEXT_BATCH, CONTEXTS[0], "graph")),
        (f"{CONTEXTS[-1]:,} tokens", modeled("decode", CONTEXT_BATCH, CONTEXTS[-1], "graph")),
    ]
    words = "; ".join(
        f"{words}: products {done.parts['products'] / done.time:.0%}, attention "
        f"{done.parts['attention'] / done.time:.0%}"
        for words, done in ends
    )
    heading = "What a decode step is made of, replayed as a graph"
    return Figure(heading, f"Stacked columns, in percent. {heading}. {words}.", scenes)


def binding() -> Figure:
    """Draw what sets the time: decoding against batch, reading against length, kernel by kernel."""
    decoding = [modeled("decode", batch, ONE_CONTEXT, "async") for batch in BATCHES]
    reading = [modeled("prefill", 1, tokens, "async") for tokens in PROMPTS]
    scenes = (
        _columns(f"decode: batch, {ONE_CONTEXT:,} tokens in each cache", BATCHES,
                 [causes(done) for done in decoding], REASONS),
        _columns("prefill: tokens of one prompt", PROMPTS,
                 [causes(done) for done in reading], REASONS),
    )  # fmt: skip
    words = "; ".join(
        f"{words} {', '.join(f'{size:,} {done.reason}' for size, done in zip(at, of, strict=True))}"
        for words, at, of in (
            ("decoding, by batch:", BATCHES, decoding),
            ("reading, by tokens:", PROMPTS, reading),
        )
    )
    heading = "What sets the time, launched kernel by kernel"
    return Figure(heading, f"Stacked columns, in percent. {heading}. What binds: {words}.", scenes)


def agreement() -> Figure:
    """Modeled over measured for every measured pass, in both forms."""
    marks: list[AnyMark] = []
    legend, times, ratios = [], [], []
    forms: tuple[tuple[str, str, Callable[[Phase, float, float, Launch], float]], ...] = (
        ("textbook", "gray", lambda phase, b, s, launch: textbook(phase, b, s)),
        ("calibrated", "blue", lambda *asked: float(modeled(*asked).time)),
    )
    signs: dict[tuple[Phase, Launch], str] = {
        ("decode", "graph"): "triangle-up",
        ("decode", "async"): "triangle-down",
        ("prefill", "graph"): "circle",
        ("prefill", "async"): "square",
    }
    for form, tone, compute in forms:
        for (phase, launch), symbol in signs.items():
            found = measurements(phase, launch)
            x = [case.seconds.median for case in found]
            y = [
                compute(phase, *sizes(case), launch) / real
                for case, real in zip(found, x, strict=True)
            ]
            words = f"{form}, {phase}, {LAUNCH_WORDS[launch]}"
            marks.append(Points(words, x, y, tone, symbol))
            legend.append((words, tone, symbol))
            times += x
            ratios += [(form, value) for value in y]
    ticks = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    across = Axis("measured time of the pass", ticks[0] / 1.1, ticks[-1] * 1.1, True, ticks,
                  tuple(ph.format_quantity(tick, "s") for tick in ticks))  # fmt: skip
    percents = even(1.2)
    up = Axis("modeled over measured", 0.0, 1.25, False, percents,
              tuple(f"{tick:.0%}" for tick in percents))  # fmt: skip
    exact = Line("exact", (across.low, across.high), (1.0, 1.0), "ink", "dashed", 1.5)
    words = "; ".join(
        f"{form}: {min(values):.0%} to {max(values):.0%}"
        for form in ("textbook", "calibrated")
        if (values := [value for name, value in ratios if name == form])
    )
    heading = "Every measured pass: modeled over measured"
    return Figure(
        heading,
        f"Points over the measured time. {heading}, {len(times) // 2} passes. {words}.",
        (Scene(across, up, (exact, *marks), 360, tuple(legend)),),
    )


def part_table() -> str:
    """Return the bars of ``one_step`` as a table."""
    rows = ["| part | as a graph | kernel by kernel |", "|---|---:|---:|"]
    passes = [modeled("decode", ONE_BATCH, ONE_CONTEXT, launch) for launch in VARIANTS]
    parts = [components(done) for done in passes]
    for part, (words, _) in PARTS.items():
        cells = [
            f"{show(each[part])}, {each[part] / float(done.time):.0%}" if each[part] > 0 else "–"
            for each, done in zip(parts, passes, strict=True)
        ]
        rows.append(f"| {words} | {' | '.join(cells)} |")
    rows.append(f"| together | {' | '.join(show(float(done.time)) for done in passes)} |")
    return "\n".join(rows)


def _both(batch: float, context: float) -> list[float]:
    return [float(modeled("decode", batch, context, launch).time) for launch in VARIANTS]


def _stack(
    blocks: list[Block],
    place: float,
    pieces: Iterable[tuple[float, str]],
) -> float:
    """Add a column of pieces and say how high it is."""
    low = 0.0
    for length, tone in pieces:
        blocks.append((place + 0.14, low, place + 0.86, low + length, tone))
        low += length
    return low


def _legend(entries: Mapping[str, tuple[str, str]]) -> tuple[tuple[str, str, str], ...]:
    return tuple((words, tone, "") for words, tone in entries.values())


def _columns(
    label: str,
    values: Sequence[float],
    columns: Sequence[Mapping[str, float]],
    entries: Mapping[str, tuple[str, str]],
) -> Scene:
    """Columns of equal height, stacked by fraction of the whole."""
    blocks: list[Block] = []
    for place, seconds in enumerate(columns):
        whole = sum(seconds.values())
        _stack(blocks, place, [(seconds[key] / whole, tone) for key, (_, tone) in entries.items()])
    ticks = tuple(place + 0.5 for place in range(len(columns)))
    percents = even(1.0)
    present = {
        key: words for key, words in entries.items() if any(seconds[key] > 0 for seconds in columns)
    }
    return Scene(
        Axis(label, 0.0, float(len(columns)), ticks=ticks,
             words=tuple(f"{value:,}" for value in values), grid=False),
        Axis("fraction of the time", 0.0, 1.0, ticks=percents,
             words=tuple(f"{tick:.0%}" for tick in percents)),
        (Blocks("parts", tuple(blocks)),),
        260,
        _legend(present),
    )  # fmt: skip


def _curves(
    phase: Phase,
    values: Sequence[int],
    label: str,
    measure: str,
    asked: Callable[[float], tuple[float, float]],
    found: Sequence[measured.Case],
) -> Scene:
    """Textbook, both calibrated lines, and the measured points, on logarithmic axes."""
    ends = [float(values[0]), float(values[-1])]
    # Tiles make time jump: enough places between the ticks to show where.
    places = sorted({
        round(ends[0] * (ends[1] / ends[0]) ** (k / 160)) for k in range(161)
    })  # fmt: skip
    lines = {
        "textbook": [textbook(phase, *asked(place)) for place in places],
        **{
            f"calibrated, {LAUNCH_WORDS[launch]}": [
                float(modeled(phase, *asked(place), launch).time) for place in places
            ]
            for launch in VARIANTS
        },
    }
    looks = (("gray", "dashed"), ("blue", "solid"), ("red", "dash_dotted"))
    marks: list[AnyMark] = []
    legend: list[tuple[str, str, str]] = []
    for (words, seconds), (tone, dash) in zip(lines.items(), looks, strict=True):
        marks.append(Line(words, places, seconds, tone, dash))
        legend.append((words, tone, dash))
    # Where both are the same, the triangle of the graph lies on the square and shows both.
    symbols: tuple[tuple[Launch, str, str], ...] = (
        ("async", "red", "square"), ("graph", "blue", "triangle-up"),
    )  # fmt: skip
    for launch, tone, symbol in symbols:
        some = [case for case in found if case.variant == VARIANTS[launch]]
        x = [sizes(case)[0 if phase == "decode" else 1] for case in some]
        words = f"measured, {LAUNCH_WORDS[launch]}"
        marks.append(Points(words, x, [case.seconds.median for case in some], tone, symbol))
        legend.append((words, tone, symbol))
    everything = [
        *(second for seconds in lines.values() for second in seconds),
        *(case.seconds.median for case in found),
    ]
    steps = [digit * 10.0**power for power in range(-4, 1) for digit in (1, 2, 5)]
    low = max(step for step in steps if step <= min(everything))
    high = min(step for step in steps if step >= max(everything))
    ticks = tuple(step for step in steps if low <= step <= high)
    return Scene(
        Axis(label, ends[0] / 1.1, ends[1] * 1.1, True, tuple(map(float, values)),
             tuple(f"{value:,}" for value in values)),
        Axis(measure, low, high, True, ticks,
             tuple(ph.format_quantity(tick, "s") for tick in ticks)),
        tuple(marks),
        320,
        tuple(legend),
    )  # fmt: skip


FIGURES: Final[tuple[Callable[[], Figure], ...]] = (
    one_step, against_batch, against_prompt, shares, binding, agreement,
)  # fmt: skip
