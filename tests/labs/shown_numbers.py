"""What a lab's instruments show when a student sets them to the student's own values.

A *recipe* is what a student could do to an instrument: choose a context, type some parameters into
controls that can hold them, choose options, perhaps compare with a pinned state. A recipe that
displays the key of a graded number in the same place for one student after another, or that names
the right option of a graded choice and no other, makes the answer something to copy. One hit alone
says little: among thousands of numbers on the screen some meet a key by accident, and nobody would
know which.

For the author of a lab::

    python -m tests.labs.shown_numbers lab_07_kernel_fusion
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

from mlsys_widgets import measured
from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.drawing.scene import Words
from mlsys_widgets.instruments.controls import Control, Select, Several, Slider, Switch
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.judging import ChoiceKey, NumberKey
from mlsys_widgets.labs import Choice, Number, Parameter, Parameters
from mlsys_widgets.measured import queries
from mlsys_widgets.physics import notation, run
from tests.labs.opened_lab import OpenedLab, open_lab_of
from tests.labs.rehearsal import ROOT, Asked, asked
from tests.sampling import takes_everything

STUDENTS = [f"student-{k}" for k in range(50)]
#: How many of them try all recipes; the others try those that showed a key to some of these.
SCOUTS = 12 if takes_everything() else 4
#: To how many of those who are asked a place shows the key within its tolerance, before it counts.
OFTEN = 0.8
#: The same for keys that are shown to the last digit: a rule that holds for some parameters only.
EXACTLY = 0.25
#: Controls with more options than this are tried one option at a time, never in pairs.
FEW_OPTIONS = 4
#: How many pairs of options are tried on one instrument.
PAIRS = 24
#: How many pairs of parameters are typed into it.
TYPED_PAIRS = 90

Value = Callable[[Parameters], Any]

#: What a student would type into several controls at once, by lab and kind of instrument: products
#: and ratios of parameters, and parameters whose unit a control does not name.
EXTRA: dict[str, list[tuple[str, dict[str, Value]]]] = {
    "lab_01_magnitude": [
        (
            "IronLaw",
            {
                "memory": lambda p: p.sram_kb * 1e3,
                "reserve": lambda p: p.reserve_kb * 1e3,
                "data": lambda p: p.kws_kparams * 1e3,
            },
        ),
        (
            "IronLaw",
            {
                "data": lambda p: p.model_mb * 1e6,
                "operations": lambda p: p.model_gflop * 1e9,
                "memory": lambda p: p.sram_kb * 1e3,
                "reserve": lambda p: p.reserve_kb * 1e3,
                "bandwidth": lambda p: p.mcu_mb_per_s * 1e6,
                "rate": lambda p: p.mcu_mflops * 1e6,
            },
        ),
        (
            "IronLaw",
            {"data": lambda p: p.model_mb * 1e6, "operations": lambda p: p.model_gflop * 1e9},
        ),
        *(
            (
                "IronLaw",
                {
                    "data": lambda p: p.model_mb * 1e6,
                    "operations": lambda p: p.model_gflop * 1e9,
                    "batch": lambda p: p.evening_batch,
                    "efficiency": efficiency,
                    "latency": lambda p: p.launch_us * 1e-6,
                },
            )
            for efficiency in (lambda p: p.efficiency_pct / 100, lambda p: 1.0)
        ),
        (
            "IronLaw",
            {
                "data": lambda p: p.model_mb * 1e6,
                "operations": lambda p: p.model_gflop * 1e9,
                "batch": lambda p: p.small_batch,
                "efficiency": lambda p: p.efficiency_pct / 100,
                "latency": lambda p: p.launch_us * 1e-6,
            },
        ),
    ],
    "lab_07_kernel_fusion": [
        (
            "BreakEvenTimeline",
            {
                "compile_time": lambda p: p.compile_s,
                "eager_rate": lambda p: p.eager_rate,
                "gain": lambda p: p.compiled_rate / p.eager_rate - 1,
                "per_day": lambda p: p.server_images,
                "days": lambda p: 1 / p.deploys,
            },
        ),
        (
            "BreakEvenTimeline",
            {
                "compile_time": lambda p: p.compile_s,
                "eager_rate": lambda p: p.eager_rate,
                "gain": lambda p: p.compiled_rate / p.eager_rate - 1,
                "per_day": lambda p: p.server_images,
                "days": lambda p: 1,
            },
        ),
        (
            "BreakEvenTimeline",
            {
                "compile_time": lambda p: p.kws_compile_s,
                "eager_rate": lambda p: 1 / run("kws", "orin-nx").total,
                "gain": lambda p: p.kws_gain,
                "per_day": lambda p: 24 * p.per_hour,
                "days": lambda p: p.service_hours / 24,
            },
        ),
        ("FusionExplorer", {"elements": lambda p: p.rows * p.columns}),
        (
            "FusionExplorer",
            {
                "device": lambda p: "a100-sxm",
                "elements": lambda p: p.rows * p.columns,
                "launch_overhead": lambda p: p.launch_us * 1e-6,
            },
        ),
        (
            "FusionExplorer",
            {
                "device": lambda p: p.gpu,
                "step2": lambda p: p.middle,
                "step3": lambda p: p.activation,
                "precision": lambda p: p.precision,
            },
        ),
        (
            "DispatchWaterfall",
            {
                "kernels": lambda p: p.kernels,
                "launch_cost": lambda p: p.launch_us * 1e-6,
                "speedup": lambda p: p.faster,
            },
        ),
        (
            "DispatchWaterfall",
            {
                "kernels": lambda p: round(5000 / p.kernel_us),
                "launch_cost": lambda p: p.launch_us * 1e-6,
            },
        ),
    ],
    "lab_11_roofline": [
        ("RooflineWidget", {"n": lambda p: p.n}),
        ("RooflineWidget", {"n": lambda p: p.measured_n, "measured": lambda p: True}),
        ("RooflineWidget", {"n": lambda p: p.own_n, "precision": lambda p: "fp32"}),
        (
            "RooflineWidget",
            {
                "workload": lambda p: "llm",
                "batch": lambda p: p.prompts,
                "sequence": lambda p: p.sequence,
            },
        ),
        (
            "RooflineWidget",
            {
                "square": lambda p: False,
                "m": lambda p: p.sequence,
                "n": lambda p: p.width,
                "k": lambda p: p.width,
            },
        ),
    ],
    "lab_review_foundations": [
        *(
            (
                "FusionExplorer",
                {
                    "elements": lambda p: p.chain_melem * 1e6,
                    "chain": lambda p: "own",
                    **{
                        f"step{k + 1}": lambda p, k=k, steps=steps: (
                            *steps(p).split(),
                            *("none",) * 6,
                        )[k]
                        for k in range(6)
                    },
                },
            )
            for steps in (
                lambda p: p.before,
                lambda p: p.after,
                lambda p: f"{p.before} scale {p.after}",
            )
        ),
        (
            "FusionExplorer",
            {
                "bandwidth": lambda p: p.bandwidth_tbs * 1e12,
                "launch_overhead": lambda p: p.launch_us * 1e-6,
                "elements": lambda p: float(p.step.split()[1]) * 1e6,
            },
        ),
        (
            "FusionExplorer",
            {
                "bandwidth": lambda p: p.bandwidth_tbs * 1e12,
                "elements": lambda p: p.activation_melem * 1e6,
            },
        ),
        (
            "RooflineWidget",
            {
                "peak_share": lambda p: p.peak_tflops / 312,
                "bandwidth_share": lambda p: p.bandwidth_tbs / 2,
            },
        ),
        (
            "RooflineWidget",
            {
                "workload": lambda p: "gemm",
                "n": lambda p: int(p.step.split()[0]),
                "peak_share": lambda p: p.peak_tflops / 312,
                "bandwidth_share": lambda p: p.bandwidth_tbs / 2,
            },
        ),
        ("MemoryHierarchy", {"size": lambda p: p.activation_melem * 4e6}),
        ("MemoryHierarchy", {"size": lambda p: float(p.step.split()[1]) * 4e6}),
        ("MemoryHierarchy", {"size": lambda p: p.chain_melem * 2e6}),
        ("MemoryHierarchy", {"size": lambda p: p.batch_before * p.sample_kb * 1e3}),
        ("MemoryHierarchy", {"size": lambda p: p.batch_after * p.sample_kb * 1e3}),
        (
            "MemoryHierarchy",
            {"size": lambda p: p.tile_tensors * p.tile_rows * p.tile_columns * 2.0},
        ),
        ("CompilationSpectrum", {"model": lambda p: tuple(p.constructs.split())}),
    ],
}


# Numbers and their units.

_SCALE = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9,
          "T": 1e12, "P": 1e15}  # fmt: skip
_P = "(?P<p>[nµmkKMGTP]?)"
#: Units as they are shown or named, first match wins: pattern, dimension, and size of one.
_UNITS = [
    (r"(?:%|percent\b|points\b)", "ratio", 0.01),
    (r"(?:×|times\b)", "ratio", 1.0),
    (rf"{_P}(?:FLOP/B|FLOP/byte|FLOP per byte)", "FLOP/B", 1.0),
    (rf"{_P}(?:FLOPS|FLOP/s|OPS)\b", "FLOP/s", 1.0),
    (rf"{_P}FLOP\b", "FLOP", 1.0),
    (rf"{_P}B/s", "B/s", 1.0),
    (rf"{_P}(?:B|bytes?)\b", "B", 1.0),
    (r"(?:images|requests|inferences|tokens|steps)?\s?(?:/s|/second|per second|a second)\b",
     "1/s", 1.0),
    (r"(?:images|requests|inferences|tokens)?\s?(?:/hour|per hour|an hour)\b", "1/s", 1 / 3600),
    (r"(?:images|requests|inferences|tokens)?\s?(?:/day|per day|a day)\b", "1/s", 1 / 86400),
    (rf"{_P}(?:seconds?|s)\b", "s", 1.0),
    (r"(?:minutes?|min)\b", "s", 60.0),
    (r"(?:hours?|h)\b", "s", 3600.0),
    (r"days?\b", "s", 86400.0),
    (r"weeks?\b", "s", 7 * 86400.0),
    (r"years?\b", "s", 365 * 86400.0),
    (rf"{_P}(?:watts?|W)\b", "W", 1.0),
    (rf"{_P}J\b", "J", 1.0),
    (r"thousand\b", "count", 1e3),
    (r"million\b", "count", 1e6),
    (r"billion\b", "count", 1e9),
    (r"k\b", "count", 1e3),
    (r"M\b", "count", 1e6),
    (r"[A-Za-z]+\b", "count", 1.0),
]  # fmt: skip
_COMPILED = [(re.compile(pattern), dimension, size) for pattern, dimension, size in _UNITS]
NUMBER = re.compile(r"(?<![\w.,])[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?!\d)")
_TAG = re.compile(r"<[^>]+>")


@lru_cache(4096)
def unit_of(words: str) -> tuple[str, float]:
    """The dimension of a unit and its size in SI units; what is no unit counts things."""
    text = words.strip()
    for pattern, dimension, size in _COMPILED:
        if found := pattern.match(text):
            return dimension, size * _SCALE[found.groupdict().get("p") or ""]
    return "count", 1.0


@dataclass(frozen=True)
class Shown:
    """A number on the screen: as it is written, in SI units, and how exactly it is written."""

    words: str
    dimension: str
    value: float
    half: float
    digits: int

    def within(self, key: NumberKey, unit: str) -> bool:
        """Whether an answer that is copied from here would earn all points."""
        dimension, size = unit_of(unit)
        if self.dimension == dimension:
            return key.reaches(key.value, self.value / size)
        # A bare number may be a fraction or a multiple of anything.
        return self.dimension == "count" and key.reaches(key.value, self.value)

    def exactly(self, key: NumberKey, unit: str) -> bool:
        """Whether it is the key itself, rounded, and long enough to be no accident."""
        dimension, size = unit_of(unit)
        if self.digits < 3 or self.dimension != dimension:
            return False
        return abs(float(key.value) * size - self.value) <= self.half


@lru_cache(65536)
def numbers_in(text: str) -> tuple[Shown, ...]:
    """The numbers of a text, in order.

    Examples
    --------
    >>> [(n.dimension, n.value) for n in numbers_in("15.5 ms at 2.4×, 133,607 images, −4 %")]
    [('s', 0.0155), ('ratio', 2.4), ('count', 133607.0), ('ratio', -0.04)]
    """
    found = []
    for match in NUMBER.finditer(text):
        plain = match[0].replace(",", "").replace("−", "-")
        _, _, decimals = plain.partition(".")
        gap = re.match(r"[\s\u202f\u00a0]?", text[match.end() :])
        assert gap
        dimension, size = unit_of(text[match.end() + gap.end() : match.end() + 40])
        digits = len(re.sub(r"\D", "", plain).lstrip("0"))
        step = 10.0 ** -len(decimals)
        value = float(plain)
        found.append(Shown(match[0], dimension, value * size, 0.5001 * step * size, digits))
    return tuple(found)


@lru_cache(65536)
def option_named(text: str, options: tuple[tuple[str, str], ...]) -> str:
    """The one option that a text names, or nothing if it names none or several.

    An option is named by its first word that no other option has.

    Examples
    --------
    >>> homes = (("sram", "the shared memory of a block"), ("hbm", "HBM memory"), ("l2", "L2"))
    >>> option_named("It fits into Shared memory.", homes), option_named("L2 or HBM", homes)
    ('sram', '')
    """
    said = set(_WORD.findall(text.casefold()))
    found = [key for key, name in zip(dict(options), _names(options), strict=True) if name in said]
    return found[0] if len(found) == 1 else ""


_WORD = re.compile(r"\w+")


@lru_cache(512)
def _names(options: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The first word of each option that no other option has."""
    # The numbers of an option are a student's own, unless it is nothing else.
    words = [
        [word for word in found if not word.isdigit()] or found
        for found in (_WORD.findall(text.casefold()) for _, text in options)
    ]
    small = {"in", "on", "at", "the", "a", "an", "of", "its", "your", "and", "but", "not"}
    return tuple(
        next(
            (word for word in own if word not in small.union(*words[:k], *words[k + 1 :])),
            "",
        )
        for k, own in enumerate(words)
    )


# What is on the screen of an instrument.


def texts(instrument: Instrument, *, set_here: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Everything that an instrument says now, with its place; folded parts are unfolded."""
    if instrument.locked:
        return
    result = instrument.result
    pin = instrument.pinned
    for label, value, _ in instrument.cards(result):
        yield f"card “{label}”", value
        if pin is not None:
            yield f"card “{label}”, compared with the pinned state", pin.compared(label, value)
    yield "sentence", instrument.sentence(result)
    yield "remark", instrument.remark(result)
    alert = instrument.alert(result)
    yield "alert", alert[0] if alert else ""
    yield "hint", instrument.shown_hint
    yield "text below", _TAG.sub(" ", instrument.html(result))
    for lamp in instrument.lamps:
        yield f"lamp “{_unnumbered(lamp.name)}”", f"{lamp.name}: {lamp.verdict}"
    header, rows = instrument.shown_table
    for number, row in enumerate(rows):
        for column, cell in zip(header, row, strict=False):
            where = f"row {number + 1} “{_unnumbered(str(row[0]))}”, “{_unnumbered(column)}”"
            yield f"table, {where}", str(cell)
    for k, scene in enumerate(instrument.drawn(result)):
        for mark in scene.marks:
            if isinstance(mark, Words):
                yield f"plot {k + 1}, words “{mark.name}”", " ; ".join(mark.text)
        yield f"plot {k + 1}, legend", " ; ".join(words for words, *_ in scene.legend)
    film = instrument.film(result)
    for number, (_, sentence) in enumerate(film.moments if film else ()):
        yield f"film, moment {number + 1}", sentence
    for title, explained in instrument.explanations.items():
        derived = explained.derivation()
        equations = derived.equations(notation.TEXT)
        for step, equation in zip(derived.steps, equations, strict=True):
            yield f"math of {title}, “{step.title}”", equation
    for name, value in instrument.inputs.items():
        if name not in set_here:
            yield f"control “{name}”", instrument.controls[name].shown(value)


def _unnumbered(words: str) -> str:
    """The name of a place, which is the same for students with other numbers."""
    return re.sub(r"\d[\d.,]*", "…", words)


#: Where a number is: the place, and which number of that place it is.
Place = tuple[str, int]


def shown_numbers(
    instrument: Instrument, *, set_here: Sequence[str] = ()
) -> Iterator[tuple[Place, Shown, str]]:
    """Every number that an instrument shows now, with its place and the text around it."""
    for place, text in texts(instrument, set_here=set_here):
        for number, shown in enumerate(numbers_in(text)):
            yield (place, number), shown, text


# Recipes.


@dataclass(frozen=True)
class Setting:
    """A control and what to put into it: words for people, and a function of the parameters."""

    control: str
    words: str
    value: Value


@dataclass(frozen=True)
class Recipe:
    """What a student does to one instrument of a lab."""

    context: str
    #: Which of the lab's instruments, in order.
    instrument: int
    typed: tuple[Setting, ...]
    chosen: tuple[Setting, ...]

    def __str__(self) -> str:
        done = [f"{each.control} = {each.words}" for each in (*self.typed, *self.chosen)]
        return ", ".join(([self.context] if self.context else []) + done) or "as it opens"

    def follow(self, found: OpenedLab, first: Mapping[str, Any]) -> Instrument | None:
        """Do it; `None` where the instrument refuses."""
        instrument, p = found.instruments[self.instrument], found.lab.p
        instrument.unpin()
        try:
            instrument.set(**first)
            instrument.set(**{each.control: each.value(p) for each in self.typed})
            if self.chosen:
                # As a question may suggest: pin what there is, switch, compare.
                instrument.pin()
                instrument.set(**{each.control: each.value(p) for each in self.chosen})
        except ValueError:
            return None
        return instrument


def _constant(value: Any) -> Value:
    return lambda p: value


def _candidates(control: Control[Any], instrument: Instrument, declared: Mapping[str, Parameter]):
    """The parameters that a control can hold, those of its own name first."""
    found = []
    name = control.name or ""
    for parameter, each in declared.items():
        value = _converter(control, instrument, each, parameter)
        if value is not None:
            kin = bool({name, *name.split("_")} & {parameter, *parameter.split("_")})
            found.append((not kin, Setting(name, f"p.{parameter}", value)))
    return [setting for _, setting in sorted(found, key=lambda pair: pair[0])]


def _converter(
    control: Control[Any], instrument: Instrument, declared: Parameter, name: str
) -> Value | None:
    values = declared.values
    if isinstance(control, Select):
        options = control.options(instrument)
        if all(isinstance(v, str) and v in options for v in values):
            return lambda p: p[name]
        return None
    if not isinstance(control, Slider) or any(isinstance(v, str) for v in values):
        return None
    own, size = unit_of(f"1 {control.unit}".removeprefix("1 ")) if control.unit else ("count", 1.0)
    # Sliders keep fractions for percentages, and days and rates as they are named.
    size = {"%": 1.0}.get(control.unit, size)
    theirs, scale = unit_of(declared.unit) if declared.unit else ("ratio", 1.0)
    if theirs != own:
        return None
    factor = scale / size
    if not all(control.low <= float(v) * factor <= control.high for v in values):
        return None
    if control.whole:
        return lambda p: round(p[name] * factor)
    return lambda p: p[name] * factor


def _options(control: Control[Any], instrument: Instrument) -> list[Setting]:
    """Everything that can be chosen in a control."""
    name = control.name or ""
    if isinstance(control, Select):
        return [Setting(name, key, _constant(key)) for key in control.options(instrument)]
    if isinstance(control, Switch):
        return [Setting(name, words, _constant(v)) for words, v in (("on", True), ("off", False))]
    if isinstance(control, Several):
        return [Setting(name, key, _constant((key,))) for key in control.options]
    return []


def recipes(found: OpenedLab, lab: str) -> list[Recipe]:
    """What students would try on the instruments of a lab; the same for all students."""
    made = []
    declared = found.lab.lab.parameters
    toggle = found.names.get("context")
    contexts = list(toggle._contexts) if toggle is not None else [""]
    seen: set[tuple[int, str]] = set()
    for context in contexts:
        if toggle is not None:
            toggle.context = context
        for k, instrument in enumerate(found.instruments):
            start = repr(instrument.inputs)
            if (k, start) in seen:
                continue  # it does not follow the context
            seen.add((k, start))
            typed, together = _typed(instrument, declared, lab)
            controls = instrument.controls.values()
            choices = [_options(c, instrument) for c in controls]
            singles = [(each,) for options in choices for each in options]
            # What stands behind "More" is tried with one way of typing only.
            usual = [(each,) for c in controls if not c.rare for each in _options(c, instrument)]
            few = [options for options in choices if 0 < len(options) <= FEW_OPTIONS]
            pairs = [
                pair for one, two in itertools.combinations(few, 2)
                for pair in itertools.product(one, two)
            ]  # fmt: skip
            made += [Recipe(context, k, each, ()) for each in typed]
            # Everything at once, and whatever a student of this lab would type together.
            # A second instrument of a kind says what the first one says to the same options.
            again = any(type(i) is type(instrument) for i in found.instruments[:k])
            made += [
                Recipe(context, k, each, chosen)
                for number, each in enumerate(together[: 1 if again else None])
                for chosen in (usual if number else [*singles, *pairs[:PAIRS]])
                if not {s.control for s in each} & {s.control for s in chosen}
            ]
    return made


def _typed(
    instrument: Instrument, declared: Mapping[str, Parameter], lab: str
) -> tuple[list[tuple[Setting, ...]], list[tuple[Setting, ...]]]:
    """What may be typed; and of that, what is typed before options are chosen."""
    controls = instrument.controls.values()
    held = {c.name: found for c in controls if (found := _candidates(c, instrument, declared))}
    # A menu that could hold a word is left alone, unless the parameter is named after it.
    best = {
        name: found[0]
        for name, found in held.items()
        if isinstance(instrument.controls[name], Slider) or found[0].words == f"p.{name}"
    }
    together = [tuple(best.values())]
    for number, (kind, settings) in enumerate(EXTRA.get(lab, ()), 1):
        if kind == type(instrument).__name__:
            # Their number tells apart those that fill the same controls.
            extra = [
                Setting(name, f"own values {number} ({', '.join(settings)})", value)
                for name, value in settings.items()
            ]
            together.append(tuple(extra))
    made: list[tuple[Setting, ...]] = [(), *together]
    for name, found in held.items():
        made += [(found[0],), *(tuple({**best, name: each}.values()) for each in found[1:])]
    # Two controls at a time: a question may leave out what a third one would add.
    some = [each for found in held.values() for each in found[:3]]
    two = [(a, b) for a, b in itertools.combinations(some, 2) if a.control != b.control]
    return _once([*made, *two[:TYPED_PAIRS]]), _once(together)


def _once(made: Sequence[tuple[Setting, ...]]) -> list[tuple[Setting, ...]]:
    known = {tuple(sorted((s.control, s.words) for s in each)): each for each in reversed(made)}
    return list(reversed(known.values()))


# Students who try them.


@dataclass
class Trial:
    """One student with the opened lab, the keys, and how each instrument starts."""

    found: OpenedLab
    asked: Asked
    first: dict[tuple[str, int], dict[str, Any]]

    @classmethod
    def of(cls, lab: str, student: str, folder: Path) -> Trial:
        """Open a lab with everything done that opens locks and hints."""
        found = open_lab_of(lab, student, folder, done=True)
        toggle, first = found.names.get("context"), {}
        for context in list(toggle._contexts) if toggle is not None else [""]:
            if toggle is not None:
                toggle.context = context
            for k, instrument in enumerate(found.instruments):
                first[context, k] = instrument.inputs
        return cls(found, asked(Course.at(ROOT), lab, student, work=folder), first)

    @cached_property
    def keys(self) -> dict[str, tuple[NumberKey, str]]:
        """The keys of the graded numbers, with their units."""
        found = {}
        for name, item in self.asked.of(Number).items():
            key = self.asked.keys[name]
            assert isinstance(key, NumberKey)
            found[name] = (key, item.unit)
        return found

    @cached_property
    def decisions(self) -> dict[str, tuple[tuple[tuple[str, str], ...], str]]:
        """The graded choices: what each option is called, and which one is right."""
        found = {}
        for name, item in self.asked.of(Choice).items():
            key = self.asked.keys[name]
            assert isinstance(key, ChoiceKey)
            found[name] = (tuple(item.options.items()), key.value)
        return found

    def hits(self, recipe: Recipe) -> Iterator[tuple[str, Place, bool, str]]:
        """Where a recipe shows a key: question, place, whether to the last digit, the text."""
        toggle = self.found.names.get("context")
        if toggle is not None and toggle.context != recipe.context:
            toggle.context = recipe.context
        first = self.first[recipe.context, recipe.instrument]
        instrument = recipe.follow(self.found, first)
        if instrument is None:
            return
        keys = self.keys.items()
        set_here = [each.control for each in (*recipe.typed, *recipe.chosen)]
        for place, shown, text in shown_numbers(instrument, set_here=set_here):
            for name, (key, unit) in keys:
                if shown.dimension in ("count", unit_of(unit)[0]) and shown.within(key, unit):
                    yield name, place, shown.exactly(key, unit), text
        for where, text in texts(instrument, set_here=set_here):
            for name, (options, right) in self.decisions.items():
                if option_named(text, options) == right:
                    yield name, (where, 0), False, text


@dataclass(frozen=True)
class ReadOff:
    """A graded answer that can be copied from an instrument."""

    lab: str
    question: str
    points: float
    instrument: str
    recipe: str
    place: str
    #: How many of the students see their key there, and how many of them to the last digit.
    students: int
    exactly: int
    text: str

    def __str__(self) -> str:
        return (
            f"{self.lab} / {self.question} ({self.points:g} points) / {self.instrument}:"
            f" {self.place} shows it to {self.students} students ({self.exactly} to the last digit)"
            f" with {self.recipe}: “{self.text[:120]}”"
        )


def read_off(lab: str, folder: Path, students: Sequence[str] = STUDENTS) -> list[ReadOff]:
    """The graded answers of a lab that instruments display, each with its clearest place."""
    load = cache(measured.load)
    with mock.patch.object(measured, "load", load), mock.patch.object(queries, "load", load):
        return _read_off(lab, folder, students)


def _read_off(lab: str, folder: Path, students: Sequence[str]) -> list[ReadOff]:
    first = Trial.of(lab, students[0], folder / "0")
    tried = recipes(first.found, lab)
    within: dict[tuple[int, str, Place], int] = defaultdict(int)
    exactly: dict[tuple[int, str, Place], int] = defaultdict(int)
    said: dict[tuple[int, str, Place], str] = {}
    rights: dict[tuple[int, str, Place], set[str]] = defaultdict(set)
    points: dict[str, float] = {}
    # How many students were asked each question: of a pool, each is asked one.
    asked_of = Counter({each: 0 for pool in first.asked.lab.pools.values() for each in pool})
    promising: Iterable[int] = range(len(tried))
    for k, student in enumerate(students, 1):
        trial = Trial.of(lab, student, folder / str(k)) if k > 1 else first
        question_of = trial.asked.p.asked
        asked_of.update(map(question_of, trial.asked.graded))
        for number in promising:
            once = set()
            for name, place, exact, text in trial.hits(tried[number]):
                at = (number, question_of(name), place)
                if at not in once:
                    once.add(at)
                    within[at] += 1
                    said[at] = text
                    points[at[1]] = float(trial.asked.graded[name].points)
                    exactly[at] += exact
                    if name in trial.decisions:
                        rights[at].add(trial.decisions[name][1])
        if k in _LOOKED_AT and k < len(students) and all(asked_of.values()):
            promising = _promising(tried, within, exactly, asked_of)
    # A text that always names the same option is right for some by accident.
    constant = [at for at, found in rights.items() if len(found) < 2]
    for at in constant:
        del within[at]
    return _clearest(first, lab, tried, within, exactly, said, asked_of, points)


#: After how many students recipes that showed too little are dropped.
_LOOKED_AT = (SCOUTS, 2 * SCOUTS, 4 * SCOUTS, 8 * SCOUTS)
#: How many ways to see a key are followed further, for each question.
_WAYS = 10


def _promising(
    tried: Sequence[Recipe],
    within: Mapping[tuple[int, str, Place], int],
    exactly: Mapping[tuple[int, str, Place], int],
    asked_of: Mapping[str, int],
) -> list[int]:
    """The recipes that may still turn out to show a key to many, the best few of each question."""
    ways: dict[str, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for at, count in within.items():
        number, name, _ = at
        if count > 0.6 * asked_of[name] or exactly[at] > 0.15 * asked_of[name]:
            recipe = tried[number]
            rank = (-exactly[at], -count, len(recipe.typed) + len(recipe.chosen), number)
            ways[name][number] = min(rank, ways[name].get(number, rank))
    kept = {
        number
        for found in ways.values()
        for number in sorted(found, key=lambda each: found[each])[:_WAYS]
    }
    return sorted(kept)


def _clearest(
    trial: Trial,
    lab: str,
    tried: Sequence[Recipe],
    within: Mapping[tuple[int, str, Place], int],
    exactly: Mapping[tuple[int, str, Place], int],
    said: Mapping[tuple[int, str, Place], str],
    asked_of: Mapping[str, int],
    points: Mapping[str, float],
) -> list[ReadOff]:
    best: dict[tuple[str, int], tuple[tuple[float, ...], ReadOff]] = {}
    for at, count in within.items():
        number, name, (place, _) = at
        many = asked_of[name]
        if count < OFTEN * many and exactly.get(at, 0) < max(EXACTLY * many, 2):
            continue
        recipe = tried[number]
        instrument = trial.found.instruments[recipe.instrument]
        made = ReadOff(
            lab, name, points[name], instrument.title, str(recipe), place,
            count, exactly.get(at, 0), " ".join(said[at].split()),
        )  # fmt: skip
        # The simplest way to see it, and among those the one that most students have.
        rank = (-exactly.get(at, 0), len(recipe.typed) + len(recipe.chosen), -count)
        slot = (name, recipe.instrument)
        if slot not in best or rank < best[slot][0]:
            best[slot] = (rank, made)
    return [made for _, made in best.values()]


def missing_bindings(lab: str, folder: Path) -> list[str]:
    """What `EXTRA` names and the lab no longer has: instruments, controls, parameters."""
    found = open_lab_of(lab, STUDENTS[0], folder, done=True)
    gone = []
    for kind, settings in EXTRA.get(lab, ()):
        owners = [i for i in found.instruments if type(i).__name__ == kind]
        if not owners:
            gone.append(f"{lab} has no {kind}")
            continue
        for control, value in settings.items():
            if control not in owners[0].inputs:
                gone.append(f"{kind} has no control {control}")
            try:
                value(found.lab.p)
            except AttributeError as problem:
                gone.append(f"{kind}, {control}: {problem}")
        if not gone and not any(_accepts(each, settings, found.lab.p) for each in owners):
            gone.append(f"{kind} refuses {', '.join(settings)} together")
    return gone


def _accepts(instrument: Instrument, settings: Mapping[str, Value], p: Parameters) -> bool:
    before = instrument.inputs
    try:
        instrument.set(**{name: value(p) for name, value in settings.items()})
    except ValueError:
        return False
    instrument.set(**before)
    return True


def main() -> int:
    """Print what can be read off in one lab."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lab", choices=labs_of(Course.at(ROOT)))
    parser.add_argument("--students", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        found = read_off(given.lab, Path(aside), STUDENTS[: given.students])
    for each in sorted(found, key=str):
        sys.stdout.write(f"{each}\n\n")
    questions = {each.question: each.points for each in found}
    sys.stdout.write(
        f"{len(questions)} graded answers with {math.fsum(questions.values()):g} points are shown"
        " by an instrument.\n"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
