"""The trial as a page: Markdown tables and plots, generated from a measurement document.

Nothing on the page is typed by hand. ``mlsys validate --report FOLDER`` writes it, and the
documentation includes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import findings, plots
from mlsys_widgets.measured.power_fitting import HELD_BACK
from mlsys_widgets.measured.stability import ExcludedCase
from mlsys_widgets.measured.trial import ENERGY, POWER, CaseVerdict, Errors, Topic, Trial
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import format_quantity

_show = format_quantity


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table.

    Examples
    --------
    >>> print(table(["N", "share"], [["512", "8%"]]))
    | N | share |
    |---|---|
    | 512 | 8% |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"|{'|'.join(line)}|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines
    )


def topic_rows(trial: Trial) -> list[list[str]]:
    """Return a row per topic and one for all: cases, judged ones, errors of both forms."""
    rows = [_row(topic.name, topic.verdicts, topic.judged) for topic in trial.topics]
    everything = [verdict for topic in trial.topics for verdict in topic.verdicts]
    return [*rows, _row("all", everything, trial.judged)]


def family_rows(trial: Trial) -> list[list[str]]:
    """Return one row per family of kernels, where a topic has several."""
    verdicts: dict[str, list[CaseVerdict]] = {}
    for topic in trial.topics:
        for verdict in topic.verdicts:
            if verdict.family:
                verdicts.setdefault(verdict.family, []).append(verdict)
    return [
        _row(name, some, judged)
        for name, some in verdicts.items()
        if (judged := [verdict for verdict in some if not verdict.fitted])
    ]


def _row(name: str, verdicts: Sequence[CaseVerdict], judged: Sequence[CaseVerdict]) -> list[str]:
    model, textbook = Errors.of(judged), Errors.of(judged, textbook=True)
    errors = (textbook.median, model.mean, model.median, model.tenth, model.worst)
    return [name, str(len(verdicts)), str(len(judged)), *(_show(error, "%") for error in errors)]


TOPIC_HEADER = (
    "topic", "cases", "judged", "textbook, median", "model, mean", "median", "90th percentile",
    "worst",
)  # fmt: skip


def goal_rows(trial: Trial) -> list[list[str]]:
    """Return one row per goal: the limit, what was reached, and whether that is enough."""
    return [
        [
            goal.what,
            _show(goal.limit, "%"),
            _show(goal.reached, "%"),
            "met" if goal.met else "MISSED",
        ]
        for goal in trial.goals
    ]


GOAL_HEADER = ("goal", "at most", "reached", "")


def stability_rows(found: Iterable[ExcludedCase]) -> list[list[str]]:
    """Return one row per part that was left out of the fit."""
    return [
        [str(one.part), *(_show(value, "%") for value in (one.mean_error, one.changed, one.most))]
        for one in found
    ]


STABILITY_HEADER = (
    "part left out", "mean error", "prediction changed, median", "changed, 90th percentile",
)  # fmt: skip


def case_rows(topic: Topic) -> list[list[str]]:
    """Return one row per case: measured, modeled, error."""
    return [
        [
            verdict.case.label,
            *(
                _show(value, verdict.unit)
                for value in (verdict.measured, verdict.textbook, verdict.modeled)
            ),
            f"{verdict.error:+.1%}",
            "fitted" if verdict.fitted else "judged",
        ]
        for verdict in topic.verdicts
    ]


CASE_HEADER = ("case", "measured", "textbook", "model", "error of the model", "")


def fusion_rows(found: Iterable[findings.FusionFinding]) -> list[list[str]]:
    """Return one row per chain and size: speed-ups claimed, modeled and measured."""

    def cell(values: dict[str, float], way: str) -> str:
        return _show(values[way], "×") if way in values else "–"

    claim = _show(findings.CLAIMED_FUSION_SPEEDUP, "×")
    return [
        [
            f.chain.replace("_", ", "),
            f"{f.rows:,} × {f.columns:,}",
            claim if "dropout" in f.chain else "–",
            _show(f.modeled, "×"),
            _show(f.traffic, "×"),
            *(cell(f.wall, way) for way in ("compiled", "compiled_graph", "triton")),
            cell(f.device, "compiled"),
            cell(f.device, "triton"),
        ]
        for f in found
    ]


FUSION_HEADER = (
    "chain", "size", "claim", "model", "traffic alone", "compiled, wall", "with graphs, wall",
    "by hand, wall", "compiled, device", "by hand, device",
)  # fmt: skip


def break_even_rows(found: Iterable[findings.BreakEvenFinding]) -> list[list[str]]:
    """Return one row per model, batch and way of compiling: rates, cost, and when it pays off."""
    return [
        [
            f.model,
            str(f.batch),
            f.variant.replace("_", " with "),
            _show(f.eager_rate, "/s"),
            _show(f.compiled_rate, "/s"),
            _show(f.compile_time, "s"),
            _show(f.break_even, "inferences"),
        ]
        for f in found
    ]


BREAK_EVEN_HEADER = (
    "model", "batch", "how", "eager", "compiled", "compile time", "break-even",
)  # fmt: skip


def write(trial: Trial, folder: Path) -> Path:
    """Write the page and its plots; return the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    key = trial.roofs.key
    pictures = plots.draw(trial, folder)
    page = folder / f"{key}.md"
    page.write_text("\n\n".join(_sections(trial, pictures)) + "\n", encoding="utf-8")
    return page


def _sections(trial: Trial, pictures: dict[str, str]) -> Iterable[str]:
    document, roofs = trial.document, trial.roofs
    software = ", ".join(f"{name} {version}" for name, version in document["software"].items())
    yield f"# The model on trial: {roofs.name}"
    yield (
        f"Measured on {document['date'][:10]} with {software}. Roofs: {roofs.source}. "
        "The calibrated model is fitted to every other case of each family of kernels and judged on"
        " the rest. Layers, whole models, naive attention and training steps are sums of those"
        " kernels; of them, only the cost of a launch is fitted."
    )
    yield table(TOPIC_HEADER, topic_rows(trial))
    if document["device"]["kind"] == "gpu":
        yield "## The goals"
        yield table(GOAL_HEADER, goal_rows(trial))
    yield "## By family of kernels"
    yield (
        "Which kernel a library takes depends on the size too, so a topic may hold several"
        " families, each with a law of its own."
    )
    yield table(("family", *TOPIC_HEADER[1:]), family_rows(trial))
    if "roofline" in pictures:
        yield f"![Measured points under the roofs]({pictures['roofline']})"
    yield from _launches(trial, pictures)
    yield from _products(trial, pictures)
    yield from _roofs(trial)
    yield from _fusion(trial, pictures)
    yield from _break_even(trial)
    yield from _energy(trial, pictures)
    yield "## What was fitted"
    fitted = {group: words for topic in trial.topics for group, words in topic.parameters.items()}
    yield table(["family", "parameters"], [[*each] for each in fitted.items()])
    yield "## How it was measured"
    method = document["method"]
    yield "\n".join(
        f"- **{name.replace('_', ' ')}**: {text}"
        for name, text in method.items()
        if isinstance(text, str)
    )
    yield "## Every case"
    for topic in trial.topics:
        rows = table(CASE_HEADER, case_rows(topic))
        title = f"{topic.name}, {counted(len(topic.verdicts), 'case')}"
        yield f":::{{dropdown}} {title}\n{rows}\n:::"


def _launches(trial: Trial, pictures: dict[str, str]) -> Iterable[str]:
    found = findings.launches(trial)
    if found is None:
        return
    yield "## Do launches wait for their kernels?"
    follows = found.follows == "asynchronous"
    yield (
        f"{'No' if follows else 'Yes'}: wall time follows **{found.follows}** launches. Over "
        f"{found.streams} streams of 10 to 10,000 kernels, the median error is "
        f"{_show(found.async_error, '%')} for the asynchronous form and "
        f"{_show(found.serial_error, '%')} for the serial one. The kernels' own time comes from "
        f"the profiler. The cost of a launch, {found.launch}, is the same in both forms; it comes "
        "from every other stream that waits for the host, and those streams are not judged."
    )
    if warning := disturbed(trial):
        yield warning
    if "dispatch" in pictures:
        yield f"![Time per kernel against its length]({pictures['dispatch']})"


def disturbed(trial: Trial) -> str:
    """Warn of times that contradict each other; nothing if none do."""
    found = findings.disturbed_streams(trial.document)
    if not found:
        return ""
    short, long = found[0]
    return (
        f"The host was disturbed while streams were timed: {int(short.shape['launches']):,} kernels"
        f" took {_show(short.seconds.median, 's')}, and as many longer ones only"
        f" {_show(long.seconds.median, 's')} ({counted(len(found), 'such pair')}). Measure the"
        " section dispatch again on a quieter machine."
    )


def _products(trial: Trial, pictures: dict[str, str]) -> Iterable[str]:
    rows = findings.shortfalls(trial) or findings.shortfalls(trial, "fp32")
    if not rows:
        return
    yield "## How far below its roof does a matrix product run, and why?"
    largest = rows[-1]
    yield (
        f"At N = {largest.n:,} in {largest.precision} it reaches "
        f"{_show(largest.attained, 'FLOP/s')}, {_show(largest.share, '%')} of its roof. "
        "That fraction is the product of three factors: **floor**, because no kernel is faster "
        "than the smallest one; **waves**, because the last wave of 128 × 128 tiles leaves "
        "multiprocessors idle (known only once there is a full wave); and the **rest**, whose "
        "cause was not measured. Candidates are clocks under a power limit, inefficiency of the "
        "kernel itself and, for odd sizes, a different kernel. A rest above 1 means that the "
        "library uses other tiles."
    )
    yield table(
        ["N", "attained", "fraction of the roof", "floor", "waves", "rest"],
        [
            [
                f"{row.n:,}",
                _show(row.attained, "FLOP/s"),
                *(_show(value, "%") for value in (row.share, row.floor, row.waves, row.rest)),
            ]
            for row in rows
        ],
    )
    if "gemm" in pictures:
        yield f"![Fraction of the roof by N]({pictures['gemm']})"


def _roofs(trial: Trial) -> Iterable[str]:
    yield "## Is anything above a roof?"
    above = findings.above_a_roof(trial.document, trial.roofs)
    if not above:
        yield (
            "No. Every measured case lies under its roof, even if it moves only the fewest bytes "
            "possible."
        )
        return
    yield f"Yes, {counted(len(above), 'case')}, so a roof or a measurement is wrong:"
    yield table(
        ["case", "above its roof by"], [[case.label, f"{excess:.2f}×"] for case, excess in above]
    )


def _fusion(trial: Trial, pictures: dict[str, str]) -> Iterable[str]:
    found = findings.fusions(trial.document, trial.roofs)
    if not found:
        return
    yield "## How much does fusion gain?"
    claim = _show(findings.CLAIMED_FUSION_SPEEDUP, "×")
    best = max((f.wall.get("triton", 0.0) for f in found), default=0.0)
    yield (
        f"The text claims {claim} for LayerNorm, Dropout and ReLU. On the wall clock, one "
        f"hand-written kernel reaches up to {_show(best, '×')}, where launches dominate. Compiled "
        "code adds a cost of its own to every call and can be slower than eager on small tensors."
    )
    yield table(FUSION_HEADER, fusion_rows(found))
    if "fusion" in pictures:
        yield f"![Speed-up of fusion]({pictures['fusion']})"


def _energy(trial: Trial, pictures: dict[str, str]) -> Iterable[str]:
    topics = {topic.name: topic for topic in trial.topics}
    law = trial.calibration.power
    if law is None or not {POWER, ENERGY} <= set(topics):
        return
    yield "## What does a token cost in joules?"
    power, energy = topics[POWER].judged, topics[ENERGY].judged
    below = [verdict for verdict in power if verdict.measured < HELD_BACK * law.limit]
    error = f", by {_show(Errors.of(below).mean, '%')} below the limit" if below else ""
    yield (
        f"A card that waits draws {_show(law.idle, 'W')}. At work it draws"
        f" {_show(law.byte_energy, 'J/B')} and {_show(law.flop_energy, 'J/FLOP')} more, up to a"
        f" limit of {_show(law.limit, 'W')}. On cases that were not fitted, power is off by"
        f" {_show(Errors.of(power).mean, '%')} on average{error}, and the energy of a step, whose"
        f" time is modeled too, by {_show(Errors.of(energy).mean, '%')}."
    )
    if "energy" in pictures:
        yield f"![Energy of a token against the tokens written at once]({pictures['energy']})"


def _break_even(trial: Trial) -> Iterable[str]:
    found = findings.break_evens(trial.document)
    if not found:
        return
    resnet = ph.workloads["resnet50"]
    assert isinstance(resnet, ph.ModelPass)
    text = ph.break_even(
        resnet.compile_time or 0.0, resnet.eager_rate or 1.0, resnet.compiled_rate or 1.0
    )
    yield "## When does compiling pay off?"
    yield (
        f"The text's ResNet-50 breaks even after {_show(text, 'images')}. On this device the "
        "answer depends on the batch size, because small batches wait for launches and large ones "
        "do not:"
    )
    yield table(BREAK_EVEN_HEADER, break_even_rows(found))
